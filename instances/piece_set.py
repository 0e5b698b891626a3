"""Sets of pieces, compared whatever the numbers of their pieces and colours and the rotations in which files list them.

Two files can list one set of pieces in different ways. `set_sha256` is the key that such files share, `numbering` says
which piece of the set each piece of a file is, and `translate` carries boards from one file to the other. Exchanging
two identical pieces changes no colour of a board, but a clue names one of them: see `normalise_clue_pieces`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import GREY, Clue, IntArray, Puzzle, canonical, digest, rotate

Quad = Sequence[int]
Pair = tuple[int, int]
MOST_TRIES = 200  # most colour refinements that `translation` makes before it gives up
MARK, FILLER, FIRST_NODE = 0, 1, 2  # colours of the pieces that encode a graph: mark, filler, first node


@dataclass(frozen=True)
class PieceList:
    """Pieces as a file lists them, with the rules of their `Puzzle` that concern pieces and colours."""

    quads: Sequence[Quad]  # colours up, right, down, left of each piece
    copies: Sequence[int] = ()
    mates: Sequence[Pair] = ()  # pairs of colours that match; a renaming must map mates to mates
    rim: int = GREY  # colour of the rim; a renaming must map it to the rim colour of the other set
    turns: bool = True  # whether pieces may be turned, so that their rotations are the same piece

    @classmethod
    def of(cls, puzzle: Puzzle, *, mirrored: bool = False) -> PieceList:
        """List the pieces of a puzzle, or their mirror images with left and right exchanged."""
        quads = puzzle.pieces[: puzzle.piece_count, [0, 3, 2, 1] if mirrored else slice(None)]
        return cls(quads.tolist(), puzzle.copies, puzzle.mates, puzzle.rim, puzzle.turns)


def colour_ranks(pieces: PieceList, *, keep_grey: bool = True, apart: Sequence[int] = ()) -> dict[int, int]:
    """Number the colours by where they lie on the pieces (colour refinement); return the number of each colour.

    Colours are told apart by the other sides and the copies of the pieces that have them, and by their mates, in rounds
    until nothing changes; colours that are not told apart share a number. The rim colour and the mates of colours on
    the pieces have numbers too. With ``keep_grey``, grey has number 0 and is told apart from the start, as are the rim
    colour and each of the colours ``apart`` in any case.
    """
    rim = [pieces.rim] * bool(pieces.rim)
    listed = {colour for quad in (*pieces.quads, rim) for colour in quad}
    pairs = [pair for pair in pieces.mates if not listed.isdisjoint(pair)]
    mate = {one: other for pair in pairs for one, other in (pair, pair[::-1])}
    ranks = {colour: int(not keep_grey or colour != GREY) for colour in listed} | dict.fromkeys(mate, 2)
    ranks |= {colour: 3 + number for number, colour in enumerate([*rim, *apart])}
    copies = pieces.copies or [1] * len(pieces.quads)
    while True:
        seen: dict[int, list[tuple[int, ...]]] = {colour: [] for colour in ranks}
        for quad, most in zip(pieces.quads, copies, strict=True):
            for side, colour in enumerate(quad):
                around = [ranks[quad[(side + step) % 4]] for step in (1, 2, 3)]
                seen[colour].append((0 if pieces.turns else side, *around, most))
        marks = {c: (ranks[c], tuple(sorted(around)), ranks[mate.get(c, c)]) for c, around in seen.items()}
        number = {mark: index for index, mark in enumerate(sorted(set(marks.values())))}
        refined = {colour: number[mark] for colour, mark in marks.items()}
        if len(number) == len(set(ranks.values())):
            return refined
        ranks = refined


def ranked(pieces: PieceList, ranks: Mapping[int, int]) -> list[tuple[int, int, int, int]]:
    """Return the pieces with colours replaced by ``ranks``, each in its smallest rotation if pieces may be turned."""
    named = ([ranks[colour] for colour in quad] for quad in pieces.quads)
    return [canonical(quad) if pieces.turns else rotate(quad, 0) for quad in named]


def find_renaming(
    first: PieceList, second: PieceList, *, keep_grey: bool = True, check: Callable[[], object] = lambda: None
) -> dict[int, int] | None:
    """Return a renaming of colours that turns the first set into the second, or None (isomorphism; Jolivet 2008, 5.1).

    If `colour_ranks` gives some colours the same number, one of these is matched in turn with each colour of that
    number in the second set. The search is exact; its time is exponential in the worst case. ``check`` is called
    before each refinement; an error that it raises ends the search.
    """
    pending: list[tuple[Pair, ...]] = [()]
    while pending:
        matched = pending.pop()
        check()
        ranks, other_ranks = (
            colour_ranks(pieces, keep_grey=keep_grey, apart=[pair[at] for pair in matched])
            for at, pieces in enumerate((first, second))
        )
        same_grey = not keep_grey or (GREY in ranks) == (GREY in other_ranks)
        if not same_grey or _form(first, ranks) != _form(second, other_ranks):
            continue
        candidates: dict[int, list[int]] = defaultdict(list)
        for colour, rank in sorted(other_ranks.items()):
            candidates[rank].append(colour)
        shared = [colour for colour, rank in ranks.items() if len(candidates[rank]) > 1]
        if not shared:
            return {colour: candidates[rank][0] for colour, rank in ranks.items()}
        chosen = min(shared, key=lambda colour: (len(candidates[ranks[colour]]), colour))
        pending += [(*matched, (chosen, other)) for other in reversed(candidates[ranks[chosen]])]
    return None


@lru_cache(maxsize=64)
def set_sha256(puzzle: Puzzle) -> str:
    """Return a key of the board and the set of pieces of a puzzle, as 64 hexadecimal digits.

    The key does not depend on the order of the pieces, the numbers of the colours, the rotations in which the pieces
    are listed (if pieces may be turned), nor the clues. The mirror image of a set is another set.

    Different keys prove that two puzzles differ in board or set. Equal keys prove that both have the same set if
    `colour_ranks` tells all colours apart, as for Eternity II and nearly all puzzles; otherwise they prove only that
    colour refinement does not tell the sets apart, and `translation` decides.
    """
    pieces = PieceList.of(puzzle)
    fields = {"width": puzzle.width, "height": puzzle.height} | puzzle.unusual_fields()
    board = {name: fields[name] for name in ("width", "height", "holes", "framed", "turns") if name in fields}
    return digest(board | _form(pieces, colour_ranks(pieces)))


@lru_cache(maxsize=64)
def numbering(puzzle: Puzzle) -> tuple[Pair, ...] | None:
    """Return, for each piece of a puzzle, its number in the set of pieces, and its rotation from its `ranked` form.

    A set is numbered from 0 in the sort order of the `ranked` forms, identical pieces in the order of the file. The
    rotation is the number of clockwise quarter turns from the ranked form to the piece. Returns None if `colour_ranks`
    does not tell all colours apart, since the sort order is then ambiguous.
    """
    pieces = PieceList.of(puzzle)
    ranks = colour_ranks(pieces)
    return _numbering(pieces, ranks) if len(set(ranks.values())) == len(ranks) else None


@lru_cache(maxsize=64)
def translation(source: Puzzle, target: Puzzle) -> IntArray | None:
    """Return, for each oriented piece of ``source``, the equal oriented piece of ``target``: int32 (pieces * 4,).

    Returns None if the sets of pieces or the boards differ, or if `MOST_TRIES` refinements do not decide whether they
    do. Clues are ignored.
    """
    if set_sha256(source) != set_sha256(target):
        return None
    oriented = np.arange(4 * len(source.pieces), dtype=np.int32)
    pieces, others = PieceList.of(source), PieceList.of(target)
    if pieces == others:
        return oriented
    tries = iter(range(MOST_TRIES))
    try:
        renaming = find_renaming(pieces, others, check=lambda: next(tries))
    except StopIteration:
        renaming = None
    if renaming is None:
        return None
    own = {colour: colour for quad in others.quads for colour in quad}
    at = {number: (piece, turns) for piece, (number, turns) in enumerate(_numbering(others, own))}
    for piece, (number, turned) in enumerate(_numbering(pieces, renaming)):
        other, other_turned = at[number]
        oriented[4 * piece : 4 * piece + 4] = 4 * other + (np.arange(4) + turned - other_turned) % 4
    return oriented


def translate(board: Board, source: Puzzle, target: Puzzle) -> Board:
    """Return a board of ``source``, partial or full, as a board of ``target``, which has the same set of pieces.

    The new board has the same score and mismatches with the pieces of ``target``. Raises InputError if `translation`
    returns None.
    """
    table = translation(source, target)
    if table is None:
        raise InputError(
            f"{source.name} (set {set_sha256(source)[:12]}…) has other pieces than {target.name} "
            f"(set {set_sha256(target)[:12]}…); expected the same pieces, in any numbering"
        )
    known = (board.placements >= 0) & (board.placements < len(table))
    placements = np.where(known, table[np.where(known, board.placements, 0)], board.placements)
    return Board(placements, board.width, board.height)


def translated_clues(source: Puzzle, target: Puzzle, clues: Sequence[Clue]) -> tuple[Clue, ...]:
    """Return clues of ``source`` as clues of ``target``. Raises InputError as `translate` does."""
    lying = {clue.cell: (clue.piece, clue.rotation) for clue in clues}
    board = Board.from_pairs(map(lying.get, range(source.cells)), source.width, source.height)
    pairs = enumerate(translate(board, source, target).pairs())
    return tuple(Clue(cell, *pair) for cell, pair in pairs if pair is not None)


def _form(pieces: PieceList, ranks: dict[int, int]) -> dict[str, Any]:
    """Return a set of pieces in terms of its colour ranks: the ranks and ranked pieces, with mates, rim and copies."""
    named = ranked(pieces, ranks)
    form: dict[str, Any] = {"pieces": (sorted(ranks.values()), sorted(named))}
    if mates := sorted(sorted((ranks[one], ranks[other])) for one, other in pieces.mates if one in ranks):
        form["mates"] = mates
    if pieces.rim:
        form["rim"] = ranks[pieces.rim]
    if pieces.copies:
        form["copies"] = sorted(zip(named, pieces.copies, strict=True))
    return form


def _numbering(pieces: PieceList, names: Mapping[int, int]) -> tuple[Pair, ...]:
    forms = ranked(pieces, names)
    place = {piece: number for number, piece in enumerate(sorted(range(len(forms)), key=lambda at: (forms[at], at)))}
    return tuple(
        (place[piece], next(turn for turn in range(4) if rotate(form, turn) == tuple(names[side] for side in quad)))
        for piece, (quad, form) in enumerate(zip(pieces.quads, forms, strict=True))
    )


# -- identical pieces --------------------------------------------------------------------------------------------------


def normalise_clue_pieces(puzzle: Puzzle, board: Board, freed: Iterable[int] = ()) -> Board:
    """Exchange identical pieces so that the cells of clues hold the pieces that clues name; the colours on cells stay.

    A cell that shows the colours of its clue gets the clue's own piece, which is exchanged with the identical piece
    there. A clue's piece that lies on another cell is exchanged with an identical piece that no clue names, and that
    lies nowhere or on a cell of ``freed`` (cells that the caller will empty). If there is no such piece, or if the
    clue's piece itself lies on a cell of ``freed``, it stays there.
    """
    placements = board.placements.copy()
    emptied = set(freed)
    clues = sorted(puzzle.clues, key=lambda clue: clue.cell not in emptied)
    for clue in clues:
        oriented, others = int(placements[clue.cell]), _identical(puzzle, clue.piece) - {clue.piece}
        if oriented >> 2 in others and (puzzle.turned[oriented] == puzzle.turned[clue.oriented]).all():
            _exchange(puzzle, placements, oriented >> 2, clue.piece)
    cell_of = {oriented >> 2: cell for cell, oriented in enumerate(placements.tolist()) if cell not in emptied}
    for clue in clues:
        if cell_of.get(clue.piece, clue.cell) != clue.cell:
            unused = _identical(puzzle, clue.piece) - cell_of.keys() - {clue.piece for clue in clues}
            if unused:
                _exchange(puzzle, placements, clue.piece, min(unused))
                cell_of[min(unused)] = cell_of.pop(clue.piece)
    return Board(placements, board.width, board.height)


def _identical(puzzle: Puzzle, piece: int) -> set[int]:
    """Return the pieces identical to ``piece``, itself included; up to rotation unless the puzzle forbids turns."""
    looks = puzzle.turned[4 * piece : 4 * piece + (4 if puzzle.turns else 1)]
    return set(np.flatnonzero((puzzle.pieces[:, None] == looks).all(axis=2).any(axis=1)).tolist())


def _exchange(puzzle: Puzzle, placements: IntArray, first: int, second: int) -> None:
    """Exchange two identical pieces wherever they lie, in place; the colours on the cells stay."""
    for cell in np.flatnonzero(np.isin(placements >> 2, (first, second))):
        other = 4 * (first + second - (placements[cell] >> 2))
        alike = (puzzle.turned[other : other + 4] == puzzle.turned[placements[cell]]).all(axis=1)
        placements[cell] = other + np.argmax(alike)


# -- graphs as sets of pieces, and back (Jolivet 2008, figure 7) ----------------------------------------------------


def pieces_of_graph(adjacency: Mapping[str, Iterable[str]]) -> list[tuple[int, int, int, int]]:
    """Encode an undirected graph as pieces (after Jolivet 2008, figure 7); the nodes become colours from 2 on.

    A piece is (MARK, node, neighbour, FILLER); a node without neighbours has FILLER in place of a neighbour. The paper
    has two neighbours on a piece, but then the pieces depend on the order in which neighbours are paired. Two graphs
    are isomorphic if and only if `find_renaming` finds a renaming of their pieces with ``keep_grey``, which keeps MARK.
    ``adjacency`` maps each node to its neighbours.
    """
    number = {node: index for index, node in enumerate(adjacency, FIRST_NODE)}
    pieces = []
    for node, neighbours in adjacency.items():
        around = [number[other] for other in neighbours]
        pieces += [(MARK, number[node], other, FILLER) for other in around or [FILLER]]
    return pieces


def graph_of_pieces(pieces: Iterable[Quad]) -> dict[int, list[int]]:
    """Return the graph that pieces of `pieces_of_graph`, in any rotation, encode: from each node to its neighbours.

    The nodes are colours. Raises InputError if a piece has another form, or if a node names a neighbour that does not
    name this node.
    """
    neighbours: dict[int, list[int]] = {}
    for piece in pieces:
        quad = tuple(map(int, piece))
        turned = [turn for turn in (rotate(quad, k) for k in range(4)) if turn[0] == MARK and turn[3] == FILLER]
        if quad.count(MARK) != 1 or not turned or turned[0][1] < FIRST_NODE:
            raise InputError(f"the piece {quad} encodes no node of a graph; expected mark 0, node, neighbour, filler 1")
        _, node, other, _ = turned[0]
        neighbours.setdefault(node, [])
        if other >= FIRST_NODE:
            neighbours[node].append(other)
    for node, others in neighbours.items():
        for other in others:
            if node not in neighbours.get(other, ()):
                raise InputError(f"node {node} has the neighbour {other}, which does not name it; expected both pieces")
    return neighbours
