"""Boards in viewer URLs: their letters become colours, and their cells pieces.

`instances.formats.viewer_text` has the text of the URLs. Letters are matched to the colours of a known puzzle; a full
board without one defines its own.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from instances.board import Board
from instances.eternity2 import mirror
from instances.formats.base import Document, Format, Quad, Source, Target
from instances.formats.letters import match_letters
from instances.formats.piece_index import PieceIndex
from instances.formats.shipped import shipped_instances
from instances.formats.viewer_text import (
    DEFAULT_ORDERS,
    MOTIFS_ORDERS,
    Letters,
    looks_like,
    parse,
    translation,
    viewer_url,
)
from instances.puzzle import GREY, Puzzle, canonical, cell_label
from lns_support.errors import InputError
from lns_support.text import count_of, quoted


def read(source: Source) -> Document:
    notes: list[str] = []
    letters = parse(source.text, source.puzzle, notes, source.number)
    if source.option is not None:
        if source.option not in DEFAULT_ORDERS and translation(source.option) is None:
            raise InputError(f"motifs_order {quoted(source.option)}; expected one of {', '.join(MOTIFS_ORDERS)}")
        letters = replace(letters, order=source.option)
    if source.puzzle is not None:
        return _on_puzzle(letters, source.puzzle, notes)
    shipped = _shipped_puzzle(letters, source)
    if shipped is not None:
        notes.append(f"shipped instance {shipped.name}, found by name and pieces")
        return _on_puzzle(letters, shipped, notes)
    return _on_its_own(letters, notes)


def write(target: Target) -> str:
    assert target.board is not None
    if target.puzzle.clues:
        target.notes.append(f"{FORMAT.name} does not mark clues: {len(target.puzzle.clues)} left out")
    return viewer_url(target.puzzle, target.board, motifs_order=target.option) + "\n"


# -- colours and pieces ------------------------------------------------------------------------------------------------


def _translated(quads: Sequence[Quad | None], table: Sequence[int]) -> list[Quad | None]:
    return [quad and (table[quad[0]], table[quad[1]], table[quad[2]], table[quad[3]]) for quad in quads]


def _on_puzzle(letters: Letters, puzzle: Puzzle, notes: list[str]) -> Document:
    """The board of a known puzzle, by the stated order of letters, else the default, else any that fits the pieces."""
    index = PieceIndex(puzzle)
    tables = {"default letters": list(range(26))}
    declared = translation(letters.order)
    if declared is not None:
        tables = {f"motifs_order {letters.order}": declared, **tables}
    shown = [_translated(letters.quads, table) for table in tables.values()]
    unmatched = [index.cells_without_piece(quads) for quads in shown]
    contradictions = {at: index.board(shown[at], letters.numbers)[1] for at in range(len(shown)) if not unmatched[at]}
    chosen = min(contradictions, key=contradictions.__getitem__, default=None)
    numbered = letters.numbers is not None and any(number is not None for number in letters.numbers)
    if numbered and (chosen is None or contradictions[chosen]):
        boards = _boards(letters, index, match_letters(letters.quads, index, letters.numbers))
        if len(boards) == 1:
            notes.append("letters matched to the colours by board_pieces")
            return _document(letters, boards[0], index, notes)
    if chosen is not None:
        notes.append(list(tables)[chosen])
        return _document(letters, shown[chosen], index, notes)
    boards = _boards(letters, index, match_letters(letters.quads, index))
    if not boards:
        if _is_mirrored(letters, shown, index):
            raise InputError(
                f"the board shows the mirror images of the pieces of {puzzle.name}; expected its pieces "
                "(`lns convert --mirror` makes the board of them)"
            )
        unmatched += [
            index.cells_without_piece(_translated(letters.quads, table))
            for order in MOTIFS_ORDERS
            if (table := translation(order)) is not None
        ]
        nearest = min(unmatched, key=len)
        quad = "".join(chr(ord("a") + side) for side in letters.quads[nearest[0]] or ())
        more = f" (nor are {len(nearest) - 1} other cells)" if len(nearest) > 1 else ", the only such cell"
        raise InputError(
            f"{puzzle.cell_label(nearest[0])} shows '{quad}', no piece of {puzzle.name}{more}, and no other order of "
            "the letters makes every cell one; expected a board of this puzzle"
        )
    if len(boards) > 1:
        raise InputError(
            f"the letters fit the colours of {puzzle.name} in several ways, which place different pieces; expected "
            "board_pieces that agree with one of them, or the letters by name (--format url:jef, say)"
        )
    notes.append("letters matched to the colours by the pieces")
    return _document(letters, boards[0], index, notes)


def _is_mirrored(letters: Letters, shown: Sequence[Sequence[Quad | None]], index: PieceIndex) -> bool:
    """Whether the mirror image of every cell is a piece, in some order of the letters."""
    if any(not index.cells_without_piece([quad and mirror(quad) for quad in quads]) for quads in shown):
        return True
    with contextlib.suppress(InputError):  # the search takes too long
        return bool(match_letters([quad and mirror(quad) for quad in letters.quads], index))
    return False


def _boards(letters: Letters, index: PieceIndex, maps: Sequence[dict[int, int]]) -> list[list[Quad | None]]:
    """The different boards, as colours on the cells, that maps from letters to colours show; by their pieces."""
    boards: dict[bytes, list[Quad | None]] = {}
    for colour_of in maps:
        quads = _translated(letters.quads, [colour_of.get(letter, GREY) for letter in range(26)])
        boards.setdefault(index.board(quads, letters.numbers)[0].placements.tobytes(), quads)
    return list(boards.values())


def _document(letters: Letters, quads: Sequence[Quad | None], index: PieceIndex, notes: list[str]) -> Document:
    board, contradicted = index.board(quads, letters.numbers)
    if contradicted:
        notes.append(
            f"board_pieces names another piece than board_edges shows on {contradicted} cells; board_edges is used"
        )
    return Document(FORMAT.name, index.puzzle, board, tuple(notes))


def _shipped_puzzle(letters: Letters, source: Source) -> Puzzle | None:
    """The shipped instance with the URL's name, if every cell shows one of its pieces."""
    if letters.name not in shipped_instances():
        return None
    puzzle = source.find_puzzle(letters.name)
    if (letters.width, letters.height) != (puzzle.width, puzzle.height):
        return None
    quads = _translated(letters.quads, translation(letters.order) or range(26))
    return None if PieceIndex(puzzle).cells_without_piece(quads) else puzzle


def _repeated_sentence(quads: Sequence[Quad | None], repeated: int, width: int) -> str:
    cells_of: dict[Quad, list[int]] = {}
    for cell, quad in enumerate(quads):
        if quad is not None:
            cells_of.setdefault(canonical(quad), []).append(cell)
    first, second, *_ = next(cells for cells in cells_of.values() if len(cells) > 1)
    more = (
        f", and so {'does' if repeated == 2 else 'do'} {count_of(repeated - 1, 'other cell')}" if repeated > 1 else ""
    )
    return (
        f"{cell_label(first, width)} and {cell_label(second, width)} show the same piece{more}: identical pieces, or "
        "one placed twice (--puzzle INSTANCE tells)"
    )


def _on_its_own(letters: Letters, notes: list[str]) -> Document:
    """A full board defines its own puzzle: each cell is a piece, numbered by board_pieces or else by cell."""
    table = translation(letters.order)
    if letters.order not in DEFAULT_ORDERS and table is None:
        notes.append(f"motifs_order {quoted(letters.order)} is not known: the default order is assumed")
    quads = _translated(letters.quads, table or range(26))
    shape = letters.width, letters.height
    if None in quads:
        empty = quads.count(None)
        notes.append(f"{empty} of {len(quads)} cells are empty: a partial board does not define its puzzle")
        return Document(FORMAT.name, None, None, tuple(notes), tuple(quads), shape)
    cell_of = list(range(len(quads)))
    if letters.numbers is not None and {*letters.numbers} == {*range(len(quads))}:
        cell_of = [letters.numbers.index(piece) for piece in cell_of]
        notes.append("the board defines the puzzle; pieces numbered by board_pieces")
    else:
        notes.append("the board defines the puzzle; pieces numbered by cell")
    repeated = sum(Counter(canonical(quad) for quad in quads if quad is not None).values()) - len(
        {canonical(quad) for quad in quads if quad is not None}
    )
    if repeated:
        notes.append(_repeated_sentence(quads, repeated, letters.width))
    puzzle = Puzzle(np.array([quads[cell] for cell in cell_of], dtype=np.int32), *shape, name=letters.name)
    placements = np.empty(len(quads), dtype=np.int32)
    placements[cell_of] = 4 * np.arange(len(quads), dtype=np.int32)
    return Document(FORMAT.name, puzzle, Board(placements, *shape), tuple(notes))


FORMAT = Format(
    "url",
    "board",
    "viewer URL (e2.bucas.name); url:jblackwood for another order of letters",
    looks_like,
    read,
    write,
    "MOTIFS_ORDER",
)
