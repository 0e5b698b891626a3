"""JSON for puzzles: any board, clues, rules, name. All numbers count from 0, as inside the program.

``{"schema": 1, "name", "width", "height", "pieces": [[up, right, down, left], ...],
"clues": [[cell, piece, rotation], ...]}``

Three more fields are written where they are not the usual ones: ``"holes": [cell, ...]``, whose blanks are not among
the pieces, ``"framed": false`` and ``"turns": false``. See `instances.puzzle.Puzzle`. Width, height and pieces suffice.
"""

from __future__ import annotations

import json

import numpy as np

from instances.formats.base import Document, Format, Source, Target
from instances.formats.text import board_shape
from instances.puzzle import MAX_CELLS, MAX_COLOUR, Clue, Puzzle
from lns_support.json_values import JsonFields, bounded_integer, bounded_row, json_object
from lns_support.text import printable


def looks_like(text: str) -> bool:
    if "board_edges" in text and '"pieces"' not in text:  # a viewer URL in some field
        return False
    return text.lstrip().startswith("{") and '"placements"' not in text


def read(source: Source) -> Document:
    fields = JsonFields(json_object(source.text))
    if "schema" in fields:
        fields.integer("schema", 1, 1)
    width = fields.integer("width", 1, MAX_CELLS)
    height = fields.integer("height", 1, MAX_CELLS)
    board_shape(width, height)
    cells = width * height
    holes = [
        bounded_integer(cell, 0, cells - 1, f"entry {index} of 'holes'")
        for index, cell in enumerate(fields.array("holes", default=[]))
    ]
    framed, turns = (fields.boolean(name, default=True) for name in ("framed", "turns"))
    count = max(0, cells - len(holes))
    pieces = [
        bounded_row(quad, [(0, MAX_COLOUR)] * 4, f"piece {piece} of 'pieces'", "up, right, down, left")
        for piece, quad in enumerate(fields.array("pieces", count))
    ]
    bounds = [(0, cells - 1), (0, cells - 1), (0, 3)]
    clues = [
        Clue(*bounded_row(entry, bounds, f"entry {index} of 'clues'", "cell, piece, rotation"))
        for index, entry in enumerate(fields.array("clues", default=[]))
    ]
    name = printable(fields.text("name", 200, default=source.name)) or source.name
    quads = np.array(pieces, dtype=np.int32).reshape(-1, 4)
    puzzle = Puzzle(quads, width, height, tuple(clues), name, tuple(holes), framed=framed, turns=turns)
    return Document(FORMAT.name, puzzle, None)


def write(target: Target) -> str:
    puzzle = target.puzzle
    head = {"schema": 1, "name": puzzle.name[:200], "width": puzzle.width, "height": puzzle.height}
    head |= puzzle.unusual_fields()
    quads = ",\n  ".join(json.dumps(quad) for quad in puzzle.pieces[: puzzle.piece_count].tolist())
    clues = json.dumps([[clue.cell, clue.piece, clue.rotation] for clue in puzzle.clues])
    return f'{json.dumps(head)[:-1]},\n "pieces": [\n  {quads}],\n "clues": {clues}}}\n'


FORMAT = Format("json", "puzzle", "JSON for puzzles: any shape, clues, rules, name", looks_like, read, write)
