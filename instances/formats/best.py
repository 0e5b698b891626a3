"""``best.json``, the result file of the optimizer: a board with its score, instance and viewer URL. Schema 1.

``placements`` has [piece, rotation] for each cell, row by row; pieces count from 0 in file order, rotations are
clockwise quarter turns, null is an empty cell or a hole. ``url`` is empty if a viewer URL has no letter for some
colour. ``set_sha256`` is the key of the pieces in any numbering, and ``numbering`` has the number of each piece in the
set and its turns (`instances.piece_set`); it is empty if the set has no order of its own. Older files have neither.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from instances.board import Board
from instances.eternity2 import STARTER, official_clues
from instances.formats import viewer
from instances.formats.base import Document, Format, Source, Target
from instances.formats.sources import holds_url, shipped_instances
from instances.formats.text import board_shape
from instances.piece_set import numbering, set_sha256, translate, translation
from instances.puzzle import MAX_CELLS, Puzzle
from instances.verify import verify
from lns_support.errors import InputError
from lns_support.json_values import JsonFields, bounded_integer, bounded_row, describe_found, json_object
from lns_support.text import quoted

INSTANCE_COPY = "instance.json"  # the copy of the puzzle in a run directory
_MAX_SEED = 2**128
_MAX_SECONDS = 1e10
_MAX_URL = 64 * MAX_CELLS  # characters
_HEX = re.compile(r"[0-9a-f]{64}")


def best_json(puzzle: Puzzle, board: Board, *, instance: str, seed: int, elapsed_s: float) -> dict[str, Any]:
    """The content of a ``best.json``.

    Parameters
    ----------
    puzzle : Puzzle
    board : Board
        Its score is counted here.
    instance : str
        Path or shipped name of the puzzle.
    seed : int
        Random seed of the search.
    elapsed_s : float
        Seconds from the start of the search to this board.

    Returns
    -------
    dict
        The JSON object.
    """
    verification = verify(puzzle, board)
    return {
        "schema": 1,
        "instance": instance,
        "instance_sha256": puzzle.sha256,
        "width": puzzle.width,
        "height": puzzle.height,
        "score": verification.score,
        "max_score": verification.max_score,
        "placements": board.without_blanks(puzzle).pairs(),
        "seed": seed,
        "elapsed_s": elapsed_s,
        "url": viewer.url_if_any(puzzle, board),
        "set_sha256": set_sha256(puzzle),
        "numbering": [list(pair) for pair in numbering(puzzle) or ()],
    }


def looks_like(text: str) -> bool:
    """Whether a text is a ``best.json``, also one that has lost its placements; its URL does not stand for them."""
    return text.lstrip().startswith("{") and ('"placements"' in text or '"instance_sha256"' in text)


class _Best(NamedTuple):
    """The fields of a ``best.json`` that are used."""

    instance: str
    sha256: str
    score: int
    max_score: int
    board: Board
    url: str


def read(source: Source) -> Document:
    """Read the board. Its puzzle is the one given, else the instance that the file names, else that of its URL."""
    best = _parse(source.text)
    notes: list[str] = []
    instance, puzzle, board = best.instance, source.puzzle, best.board
    if puzzle is not None:
        board = _board_of(best, puzzle, source, notes)
    elif (located := _find_instance(best, source, notes)) is not None:
        instance, puzzle = located
    elif not best.url:
        notes.append(f"instance {quoted(best.instance)} not found, and there is no url to define it")
        return Document(FORMAT.name, None, None, tuple(notes), shape=(board.width, board.height))
    else:
        notes.append(f"instance {quoted(best.instance)} not found: taken from the url")
        document = _from_url(best, source)
        notes += document.notes
        if document.puzzle is None or document.board is None:
            return Document(FORMAT.name, None, None, tuple(notes), document.quads, document.shape)
        _check_url(best)
        puzzle, board = document.puzzle, document.board
    pieces = int(board.placements.max(initial=0)) >> 2
    if pieces >= puzzle.piece_count:
        raise InputError(f"'placements' names piece {pieces}; expected 0 to {puzzle.piece_count - 1}")
    if best.max_score != puzzle.max_score:
        raise InputError(f"'max_score': {describe_found(best.max_score)}; expected {puzzle.max_score}")
    score = verify(puzzle, board).score
    if score != best.score:
        notes.append(f"the file says score {best.score}; the board has {score}")
    return Document(FORMAT.name, puzzle, board, tuple(notes), instance=instance)


def _parse(text: str) -> _Best:
    fields = JsonFields(json_object(text))
    fields.integer("schema", 1, 1)
    instance = fields.text("instance", _MAX_URL)
    for name in ("instance_sha256", *["set_sha256"] * ("set_sha256" in fields)):
        if not _HEX.fullmatch(sha256 := fields.text(name, 64)):
            raise InputError(f"'{name}': {describe_found(sha256)}; expected 64 hexadecimal digits")
    width, height = fields.integer("width", 1, MAX_CELLS), fields.integer("height", 1, MAX_CELLS)
    board_shape(width, height)
    cells = width * height
    max_score = fields.integer("max_score", 0, height * (width - 1) + width * (height - 1))  # less with holes
    score = fields.integer("score", 0, max_score)
    bounds = [(0, cells - 1), (0, 3)]
    pairs = [
        None if entry is None else bounded_row(entry, bounds, f"cell {cell} of 'placements'", "piece, rotation")
        for cell, entry in enumerate(fields.array("placements", cells))
    ]
    for entry in fields.array("numbering", default=[]):
        bounded_row(entry, bounds, "an entry of 'numbering'", "piece, rotation")
    bounded_integer(fields.get("seed"), 0, _MAX_SEED, "'seed'")
    fields.number("elapsed_s", 0, _MAX_SECONDS)
    url = fields.text("url", _MAX_URL)
    if url and not holds_url(url):
        raise InputError(f"'url': {describe_found(url)}; expected a viewer URL with board_edges, or an empty text")
    board = Board.from_pairs(pairs, width, height)
    return _Best(instance, fields.text("instance_sha256", 64), score, max_score, board, url)


def _board_of(best: _Best, puzzle: Puzzle, source: Source, notes: list[str]) -> Board:
    """The board as one of ``puzzle``.

    Raises InputError unless ``puzzle`` has the file's hash, or its pieces show the same board as the url, or those of
    the url are its pieces in another numbering.
    """
    best.board.check_shape(puzzle)
    if puzzle.sha256 == best.sha256:
        return best.board
    if best.url:
        letters = viewer.parse(best.url, puzzle, [])
        quads = [None if quad[0] < 0 else tuple(quad) for quad in best.board.colours(puzzle).tolist()]
        if quads == list(letters.quads):
            notes.append(f"made for {quoted(best.instance)}, whose pieces on the board are those of {puzzle.name}")
            return best.board
        shown = _from_url(best, source)
        if shown.puzzle is not None and shown.board is not None and translation(shown.puzzle, puzzle) is not None:
            notes.append(f"made for {quoted(best.instance)}, which numbers the pieces of {puzzle.name} otherwise")
            return translate(shown.board, shown.puzzle, puzzle)
    raise InputError(
        f"made for {quoted(best.instance)} (sha256 {best.sha256[:12]}…); expected a board of {puzzle.name} "
        f"(sha256 {puzzle.sha256[:12]}…)"
    )


def _find_instance(best: _Best, source: Source, notes: list[str]) -> tuple[str, Puzzle] | None:
    """The place and puzzle of the instance that the file names, if its hash is the one in the file; else None.

    The puzzle may have its own clues there, none, or official ones. It is searched in the folder of the file, where a
    run directory has a copy, then in the working directory, then among the shipped instances.
    """
    places = [best.instance] if best.instance else []
    if source.folder is not None:
        places = [str(source.folder / place) for place in [*places, INSTANCE_COPY]] + places
    if best.instance in shipped_instances():
        places.append(str(shipped_instances()[best.instance]))
    for place in places:
        try:
            puzzle = source.find_puzzle(place)
        except (InputError, OSError):
            continue
        official = official_clues(puzzle)
        starter = [clue for clue in official if clue.cell == STARTER]
        for clues in (puzzle.clues, (), official, starter):  # as --clues may have said
            if (chosen := puzzle.with_clues(clues)).sha256 == best.sha256:
                return place, chosen
        notes.append(f"{quoted(place, 200)} is another puzzle (sha256 {puzzle.sha256[:12]}…, not {best.sha256[:12]}…)")
    return None


def _from_url(best: _Best, source: Source) -> Document:
    """The puzzle and board that the url defines. Raises InputError if they have another shape."""
    document = viewer.read(Source(best.url, None, source.name, None, None, source.find_puzzle))
    shape = document.shape if document.board is None else (document.board.width, document.board.height)
    if shape != (best.board.width, best.board.height):
        raise InputError(
            f"'url' shows a board of {shape}; expected {(best.board.width, best.board.height)} as in the file"
        )
    return document


def _check_url(best: _Best) -> None:
    """Raise InputError unless ``placements`` has the pieces of the url, whose board is full.

    Rotations cannot be compared, because the file does not define unturned pieces; nor can the numbers of the pieces if
    the url has no ``board_pieces``.
    """
    pieces = [oriented >> 2 for oriented in best.board.placements.tolist()]
    stated = viewer.parse(best.url, None, []).numbers
    if sorted(pieces) != [*range(len(pieces))] or (stated is not None and pieces != [*stated]):
        raise InputError("'placements' and 'url' show different boards; expected the same pieces on the same cells")


def write(target: Target) -> str:
    assert target.board is not None
    best = best_json(target.puzzle, target.board, instance=target.instance, seed=0, elapsed_s=0.0)
    return json.dumps(best) + "\n"


FORMAT = Format("best", "board", "best.json: board, score, instance and URL", looks_like, read, write)
