"""JSON of this program: the formats ``json`` (puzzles) and ``best`` (``best.json``), and links to the page Board.

A puzzle has ``"schema": 1, "name", "width", "height", "pieces": [[up, right, down, left], ...]`` and ``"clues": [[cell,
piece, rotation], ...]``; all numbers count from 0, as inside the program. Six more fields are written if they differ
from the default: ``"holes": [cell, ...]`` (no blanks are listed for them), ``"framed": false``, ``"turns": false``,
``"mates": [[colour, colour], ...]``, ``"rim": colour`` and ``"copies": [number, ...]`` (uses of each piece, 0 for any
number). See `lns.instances.puzzle.Puzzle`. Only width, height and pieces are required.

A ``best.json`` is a board with its score, instance and viewer URL. ``placements`` has [piece, rotation] for each cell,
row by row; pieces count from 0 in file order, rotations are clockwise quarter turns, null is an empty cell or a hole.
``url`` is empty if a viewer URL has no letter for some colour. ``set_sha256`` is a hash of the set of pieces, the same
for every numbering. ``numbering`` has [index in the set, rotation] for each piece (`lns.instances.piece_set`); it is
empty if the pieces of the set have no unique order. Older files lack ``set_sha256`` and ``numbering``.

A link to the page Board of ``lns web`` is ``http://HOST:PORT/board#lns=LETTERS``. The page makes LETTERS from a JSON
object by raw deflate (RFC 1951), then URL-safe base64 without padding. The object has ``puzzle`` as in the format
``json``, ``board`` with the oriented piece on each cell or -1, and ``pinned``, a list of cells.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from lns.instances.board import EMPTY, Board
from lns.instances.errors import InputError
from lns.instances.eternity2 import named_clues
from lns.instances.formats import viewer
from lns.instances.formats.base import Document, Format, Source, Target, holds_url
from lns.instances.json_values import JsonFields, bounded_row, describe_found, json_object, left_out_fields
from lns.instances.piece_set import numbering, set_sha256, translate
from lns.instances.puzzle import MAX_CELLS, MAX_COLOUR, Clue, Puzzle, check_shape
from lns.instances.text import printable, quoted
from lns.instances.verify import verify

INSTANCE_COPY = "instance.json"  # name of the copy of the puzzle in a run directory
_MAX_URL = 64 * MAX_CELLS  # most characters of a text in a ``best.json``, such as the viewer URL
_HEX = re.compile(r"[0-9a-f]{64}")


# -- puzzles: the format json ------------------------------------------------------------------------------------------


def _shape(fields: JsonFields) -> tuple[int, int]:
    width, height = fields.integer("width", 1, MAX_CELLS), fields.integer("height", 1, MAX_CELLS)
    check_shape(width, height)
    return width, height


def puzzle_in(fields: JsonFields, name: str) -> Puzzle:
    """Return the puzzle in a JSON object, called ``name`` if it has no name. Raises InputError for any other object."""
    fields.integer("schema", 1, 1, default=1)
    width, height = _shape(fields)
    last = width * height - 1
    holes = fields.integers("holes", 0, last, default=[])
    copies = tuple(fields.integers("copies", 0, MAX_CELLS, default=[]))
    rules: dict[str, Any] = {name: fields.boolean(name, default=True) for name in ("framed", "turns")}
    rules["mates"] = tuple((one, other) for one, other in fields.rows("mates", [(1, MAX_COLOUR)] * 2, "two colours"))
    rules["rim"] = fields.integer("rim", 0, MAX_COLOUR, default=0)
    count = len(copies) or max(0, last + 1 - len(holes))
    pieces = fields.rows("pieces", [(0, MAX_COLOUR)] * 4, "up, right, down, left", count, "piece")
    bounds = [(0, last), (0, max(len(copies) - 1, last)), (0, 3)]
    clues = tuple(Clue(*entry) for entry in fields.rows("clues", bounds, "cell, piece, rotation"))
    name = printable(fields.text("name", 200, default=name)) or name
    quads = np.array(pieces, dtype=np.int32).reshape(-1, 4)
    return Puzzle(quads, width, height, clues, name, tuple(holes), copies=copies, **rules)


def _read_puzzle_file(source: Source) -> Document:
    fields = JsonFields(json_object(source.text))
    puzzle = puzzle_in(fields, source.name)
    return Document("json", puzzle, None, left_out_fields(name for name in fields.values if name not in fields.used))


def _write_puzzle(target: Target) -> str:
    puzzle = target.puzzle
    head = {"schema": 1, "name": puzzle.name[:200], "width": puzzle.width, "height": puzzle.height}
    head |= puzzle.unusual_fields()
    quads = ",\n  ".join(json.dumps(quad) for quad in puzzle.pieces[: puzzle.piece_count].tolist())
    clues = json.dumps([[clue.cell, clue.piece, clue.rotation] for clue in puzzle.clues])
    return f'{json.dumps(head)[:-1]},\n "pieces": [\n  {quads}],\n "clues": {clues}}}\n'


# -- boards: the format best -------------------------------------------------------------------------------------------


def best_json(
    puzzle: Puzzle, board: Board, *, instance: str, seed: int, elapsed_s: float, score: int | None = None
) -> dict[str, Any]:
    """Return the content of a ``best.json``; the score of the board is counted unless a verified ``score`` is given.

    ``instance`` is the path or shipped name of the puzzle, ``seed`` the seed of the search, ``elapsed_s`` the seconds
    from the start of the search to this board.
    """
    return {
        "schema": 1,
        "instance": instance,
        "instance_sha256": puzzle.sha256,
        "width": puzzle.width,
        "height": puzzle.height,
        "score": verify(puzzle, board).score if score is None else score,
        "max_score": puzzle.max_score,
        "placements": board.without_blanks(puzzle).pairs(),
        "seed": seed,
        "elapsed_s": elapsed_s,
        "url": viewer.url_if_any(puzzle, board),
        "set_sha256": set_sha256(puzzle),
        "numbering": [list(pair) for pair in numbering(puzzle) or ()],
    }


class _Best(NamedTuple):
    """The fields of a ``best.json`` that identify its board and puzzle."""

    instance: str
    sha256: str
    url: str
    set_sha256: str  # hash of the set of pieces; empty for an older file without it
    board: Board


def _parse(fields: JsonFields) -> _Best:
    fields.integer("schema", 1, 1)
    instance, sha256, url = (fields.text(name, _MAX_URL) for name in ("instance", "instance_sha256", "url"))
    if not _HEX.fullmatch(sha256):
        raise InputError(f"'instance_sha256': {describe_found(sha256)}; expected 64 hexadecimal digits")
    if url and not holds_url(url):
        raise InputError(f"'url': {describe_found(url)}; expected a viewer URL with board_edges, or an empty text")
    width, height = _shape(fields)
    bounds = [(0, MAX_CELLS - 1), (0, 3)]  # a puzzle with copies may list more pieces than it has cells
    pairs = [
        None if entry is None else bounded_row(entry, bounds, f"cell {cell} of 'placements'", "piece, rotation")
        for cell, entry in enumerate(fields.array("placements", width * height))
    ]
    key = fields.text("set_sha256", 64, default="")
    return _Best(instance, sha256, url, key, Board.from_pairs(pairs, width, height))


def _read_best(source: Source) -> Document:
    """Read a board. Its puzzle is that of ``source``, else the instance named by the file, else that in its URL."""
    fields = JsonFields(json_object(source.text))
    best, notes = _parse(fields), list[str]()
    instance, puzzle, board = best.instance, source.puzzle, best.board
    stated = fields.integer("score", 0, 2 * board.width * board.height - board.width - board.height)
    if puzzle is not None:
        board = _board_of(best, puzzle, source, notes)
    elif (located := _find_instance(best, source, notes)) is not None:
        instance, puzzle = located
    elif not best.url:
        notes.append(f"instance {quoted(best.instance)} not found, and there is no url to define it")
        return Document(BEST.name, None, None, tuple(notes))
    else:
        shown = _from_url(best, source)
        taken = "" if shown.puzzle is None else ": taken from the url"
        notes += [f"instance {quoted(best.instance)} not found{taken}", *shown.notes]
        if shown.puzzle is None or shown.board is None:
            return Document(BEST.name, None, None, tuple(notes))
        puzzle, board = shown.puzzle, shown.board
    cell = int(board.placements.argmax())
    if (piece := int(board.placements[cell]) >> 2) >= puzzle.piece_count:
        raise InputError(f"cell {cell} of 'placements' names piece {piece}; expected 0 to {puzzle.piece_count - 1}")
    if (score := verify(puzzle, board).score) != stated:
        notes.append(f"the file says score {stated}; the board has {score}")
    return Document(BEST.name, puzzle, board, tuple(notes), instance)


def _board_of(best: _Best, puzzle: Puzzle, source: Source, notes: list[str]) -> Board:
    """Return the board in the numbering of ``puzzle``: as stated if the hash agrees, else as the viewer URL shows it.

    Raises InputError for a board of another shape, or if the hash differs and the viewer URL shows no board of the
    puzzle that is legal apart from clues.
    """
    best.board.check_shape(puzzle)
    if puzzle.sha256 == best.sha256:
        return best.board
    if best.url and best.set_sha256 in ("", set_sha256(puzzle)):
        viewer.parse(best.url, puzzle, [])  # only to raise InputError for a malformed URL
        bare = puzzle.with_clues([])
        with suppress(InputError):  # raised if the URL shows pieces that the puzzle lacks
            board = viewer.read(Source(best.url, bare, source.name, source.find_puzzle)).board
            if board is not None and not verify(bare, board).violations:
                notes.append(f"made for {quoted(best.instance)}, in the numbering of {puzzle.name}")
                return board.without_blanks(puzzle)
    made = f"made for {quoted(best.instance)} (sha256 {best.sha256[:12]}…)"
    raise InputError(f"{made}; expected a board of {puzzle.name} (sha256 {puzzle.sha256[:12]}…)")


def _find_instance(best: _Best, source: Source, notes: list[str]) -> tuple[str, Puzzle] | None:
    """Return the path or name, and the puzzle, of the instance that the file names if its hash agrees; else None.

    The hash may be that of the puzzle with its own clues, without clues, with the official clues or with the starter
    clue. The instance, and then a run's copy of it, are sought in the folder of the file; after that the instance from
    the working directory, and then by shipped name.
    """
    places = [best.instance] if best.instance else []
    if source.folder is not None:
        places = [str(source.folder / place) for place in [*places, INSTANCE_COPY]] + places
    for place in places:
        try:
            puzzle = source.find_puzzle(place)
        except (InputError, OSError):
            continue
        for clues in (puzzle.clues, *named_clues(puzzle).values()):  # the run may have had other clues by --clues
            if (chosen := puzzle.with_clues(clues)).sha256 == best.sha256:
                return place, chosen
        notes.append(f"{quoted(place, 200)} is another puzzle (sha256 {puzzle.sha256[:12]}…, not {best.sha256[:12]}…)")
    return None


def _from_url(best: _Best, source: Source) -> Document:
    """Return the puzzle and board that the viewer URL defines; neither if a URL cannot state the puzzle's rules."""
    viewer.parse(best.url, None, [])  # only to raise InputError for a malformed URL
    with suppress(InputError):  # raised if the pieces fit no board with a frame
        shown = viewer.read(Source(best.url, None, source.name, source.find_puzzle))
        if shown.puzzle is None or best.set_sha256 in ("", set_sha256(shown.puzzle)):
            return shown
    return Document(BEST.name, None, None, ("the url alone, without the rules of the puzzle, holds no pieces",))


# JSON with a viewer URL and no pieces is read as ``url``, except that a ``best.json`` without placements is an error.
JSON = Format(
    "json", "puzzle", "JSON for puzzles: any shape, clues, rules, name", _read_puzzle_file, _write_puzzle,
    looks_like=lambda text: text.lstrip().startswith("{")
    and '"placements"' not in text
    and ("board_edges" not in text or '"pieces"' in text), rules=True,
)  # fmt: skip
BEST = Format(
    "best", "board", "best.json: board, score, instance and URL", _read_best,
    lambda to: json.dumps(best_json(to.puzzle, to.laid, instance=to.instance, seed=0, elapsed_s=0.0)) + "\n",
    looks_like=lambda text: text.lstrip().startswith("{") and ('"placements"' in text or '"instance_sha256"' in text),
)  # fmt: skip


# -- links to the page Board -------------------------------------------------------------------------------------------

_MOST_BYTES = 2_000_000  # most bytes of the JSON in a link; the page Board has the same limit
_LETTERS = re.compile(r"#lns=([\w-]*)")


def read_link(source: Source) -> Document:
    """Read the first link in a text, which must hold one; ``source.puzzle``, if given, replaces the link's puzzle."""
    found = _LETTERS.search(source.text)
    assert found is not None
    letters, inflater = found[1], zlib.decompressobj(wbits=-zlib.MAX_WBITS)
    try:
        packed = base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4))
        fields = JsonFields(json_object(inflater.decompress(packed, _MOST_BYTES).decode()))
    except (ValueError, zlib.error):
        fields = None
    if fields is None or not inflater.eof or inflater.unused_data:
        raise InputError("damaged or not whole; expected all of a link that the button Link on the page Board has made")
    puzzle = read_puzzle(fields)
    board, pinned = read_board(fields, puzzle), read_cells(fields, puzzle, "pinned")
    if source.puzzle is not None:
        board, puzzle = translate(board.without_blanks(puzzle), puzzle, source.puzzle), source.puzzle
    return Document("link", puzzle, board, pinned=tuple(pinned))


def read_puzzle(fields: JsonFields, name: str = "puzzle") -> Puzzle:
    """Return the puzzle in the field ``name``. Raises InputError if the field holds no puzzle."""
    value = fields.get(name)
    if not isinstance(value, dict):
        raise InputError(f"'{name}': {describe_found(value)}; expected a puzzle as an object")
    return puzzle_in(JsonFields(value), "puzzle")


def read_board(fields: JsonFields, puzzle: Puzzle) -> Board:
    """Return the board in the field ``board``. Raises InputError if the field holds no board of ``puzzle``."""
    placements = fields.integers("board", EMPTY, puzzle.piece_count * 4 - 1)
    return Board(np.array(placements, dtype=np.int32), puzzle.width, puzzle.height).with_blanks(puzzle)


def read_cells(fields: JsonFields, puzzle: Puzzle, name: str = "cells") -> list[int]:
    """Return the cells in the field ``name``, sorted, each once. Raises InputError if the field is no list of cells."""
    cells = fields.integers(name, 0, puzzle.cells - 1)
    if len(cells) > MAX_CELLS:
        raise InputError(f"'{name}' has {len(cells)} entries; expected at most {MAX_CELLS}")
    return sorted({*cells})
