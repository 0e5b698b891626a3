"""Links to the page Board of ``lns web``, ``http://HOST:PORT/board#lns=LETTERS``, and the JSON that the page sends.

The letters are base64 for URLs, without padding, of raw deflate (RFC 1951) of a JSON object: ``puzzle`` as in the
format ``json``, ``board`` with the oriented piece on each cell or -1, and ``pinned``, a list of cells. The page writes
them.
"""

from __future__ import annotations

import base64
import re
import zlib

import numpy as np

from lns.instances.board import EMPTY, Board
from lns.instances.errors import InputError
from lns.instances.formats.base import Document, Source
from lns.instances.formats.own_json import puzzle_in
from lns.instances.json_values import JsonFields, bounded_integer, describe_found, json_object
from lns.instances.piece_set import translate
from lns.instances.puzzle import MAX_CELLS, Puzzle

_MOST_BYTES = 2_000_000  # of JSON, as on the page
_LETTERS = re.compile(r"#lns=([\w-]*)")


def read(source: Source) -> Document:
    """Read the first link in a text that holds one."""
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
    """The puzzle in a field. Raises InputError if it is none."""
    value = fields.get(name)
    if not isinstance(value, dict):
        raise InputError(f"'{name}': {describe_found(value)}; expected a puzzle as an object")
    return puzzle_in(JsonFields(value), "puzzle")


def read_board(fields: JsonFields, puzzle: Puzzle, name: str = "board") -> Board:
    """The board of ``puzzle`` in a field. Raises InputError if it is none."""
    most = puzzle.piece_count * 4 - 1
    placements = [
        bounded_integer(oriented, EMPTY, most, f"cell {cell} of '{name}'")
        for cell, oriented in enumerate(fields.array(name, puzzle.cells))
    ]
    return Board(np.array(placements, dtype=np.int32), puzzle.width, puzzle.height).with_blanks(puzzle)


def read_cells(fields: JsonFields, puzzle: Puzzle, name: str = "cells") -> list[int]:
    """A list of different cells in a field. Raises InputError if it is none."""
    cells = fields.array(name)
    if len(cells) > MAX_CELLS:
        raise InputError(f"'{name}' has {len(cells)} entries; expected at most {MAX_CELLS}")
    return sorted({bounded_integer(cell, 0, puzzle.cells - 1, f"an entry of '{name}'") for cell in cells})
