"""JSON of puzzles, boards, grids and steps between page and server, and HTML files that play the steps of a search.

JSON from a page is untrusted and is checked like a file. The HTML files need no server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from lns.exact.outcome import SolveStatus
from lns.exact.polyominoes.grid import IQ_PUZZLER_PRO, Cell, Grid
from lns.exact.polyominoes.grid import parse as parse_grid
from lns.exact.polyominoes.levels import CutLimits, cut_grid
from lns.exact.polyominoes.model import FillingSearch, StepRecorder, build_model
from lns.exact.polyominoes.search import COUNTING_WEIGHT
from lns.exact.sat.steps import Painting
from lns.exact.trace import Trace
from lns.instances.board import Board
from lns.instances.draw.palette import CLUE, GREY, MISMATCH, MOTIFS, PALETTE, SOCKET, hex_code
from lns.instances.errors import InputError
from lns.instances.formats import is_url, load_puzzle, parse, render, shipped_instances
from lns.instances.formats.base import Document, NeedsPuzzleError
from lns.instances.formats.own_json import read_board as read_board
from lns.instances.formats.own_json import read_cells as read_cells
from lns.instances.formats.own_json import read_puzzle as read_puzzle
from lns.instances.json_values import JsonFields
from lns.instances.puzzle import Puzzle, refuse_copies
from lns.instances.text import printable
from lns.instances.verify import verify
from lns.terminal.output import picked

MAX_TEXT = 1_000_000  # most characters of a puzzle or board that a page sends as text
MOST_CELLS = 1_000  # most cells of a grid of polyominoes
_HERE = Path(__file__).parent
_STATIC = _HERE / "static"
_OF_BOARDS = ("elements.js", "model.js", "draw.js", "player.js", "steps_view.js")
_OF_GRIDS = ("elements.js", "draw.js", "player.js", "grid_view.js")
_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|class|function|let) )", re.MULTILINE)


def puzzle_to_json(puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle in the format ``json`` (`lns.instances.formats.own_json`), with a name that is safe to show.

    Raises InputError for a puzzle with copies of pieces, which the pages cannot show.
    """
    refuse_copies(puzzle, "a page")
    fields: dict[str, Any] = json.loads(render("json", puzzle, None)[0])
    return fields | {"name": printable(puzzle.name, 200)}


def board_to_json(puzzle: Puzzle, board: Board) -> list[int]:
    """Return the oriented piece on each cell, -1 for empty cells and holes."""
    board.check_shape(puzzle)
    placements: list[int] = board.without_blanks(puzzle).placements.tolist()
    return placements


def read_grid(fields: JsonFields) -> Grid:
    """Return the grid in the field ``text`` (see `lns.exact.polyominoes.grid.parse`); "" stands for IQ Puzzler Pro."""
    grid = parse_grid(fields.text("text", 100_000) or IQ_PUZZLER_PRO)
    if (cells := sum(map(len, grid.rows))) > MOST_CELLS:
        raise InputError(f"the grid has {cells} cells; expected at most {MOST_CELLS} on the page")
    return grid


def cut_random_grid(fields: JsonFields) -> Grid:
    """Return a grid that is cut into random pieces, within the requested limits on their size and shape."""
    width, height = fields.integer("width", 2, 100), fields.integer("height", 2, 100)
    if width * height > MOST_CELLS:
        raise InputError(f"{width} x {height} has {width * height} cells; expected at most {MOST_CELLS} on the page")
    names = ("smallest", "largest", "longest", "thinnest")
    given = {name: fields.integer(name, 1, MOST_CELLS) for name in names if fields.get(name) is not None}
    distinct, limits = fields.boolean("distinct", default=False), None
    if given or distinct:
        smallest = given.get("smallest", CutLimits.smallest)
        largest = given.get("largest", max(smallest, CutLimits.largest))
        limits = CutLimits(**given | {"smallest": min(smallest, largest), "largest": largest}, distinct=distinct)
    return cut_grid(width, height, fields.integer("seed", 0, 2**31), fields.integer("pieces", 1, 87), limits)[0]


def find_shipped(source: str) -> Puzzle:
    """Load a shipped instance. Raises InputError for any other name, so that text from a page opens no other file."""
    shipped = shipped_instances()
    if source in shipped or source in {str(path) for path in shipped.values()}:
        return load_puzzle(str(shipped.get(source, source)))
    raise InputError("no shipped instance has this name; expected the puzzle itself")


def parse_text(text: str, puzzle: Puzzle | None = None, format: str | None = None, name: str = "puzzle") -> Document:
    """Read a puzzle, with its board if there is one, from text in any format, a viewer URL or a link.

    ``puzzle`` is used for a board that neither names nor defines its puzzle. Raises InputError for text in no known
    format, and for a board of an unknown puzzle.
    """
    form, name = format or ("url" if is_url(text) else None), printable(name, 100) or "puzzle"
    refusals: list[InputError] = []
    for known in dict.fromkeys([None, puzzle]):
        try:
            document = parse(text, puzzle=known, format=form, name=name, find_puzzle=find_shipped)
            if document.puzzle is not None:
                return document
            told = [*document.notes, "this is a board; expected its puzzle to be open before it"]
            raise NeedsPuzzleError("; ".join(told))
        except InputError as error:
            refusals.append(error)
    raise refusals[-1] if isinstance(refusals[0], NeedsPuzzleError) else refusals[0]


def document_to_json(document: Document) -> dict[str, Any]:
    """Return what a page needs of a document: puzzle, board if there is one, pinned cells, notes, and `facts`."""
    puzzle, board = document.puzzle, document.board
    assert puzzle is not None
    return {
        "format": document.format,
        "puzzle": puzzle_to_json(puzzle),
        "board": None if board is None else board_to_json(puzzle, board),
        "pinned": document.pinned,
        "notes": [printable(note, 500) for note in document.notes],
        **facts(puzzle, board),
    }


def facts(puzzle: Puzzle, board: Board | None) -> dict[str, Any]:
    """Return the highest possible score and the hash of a puzzle, and what the verifier says of its board, if any."""
    found = picked(puzzle, "max_score", "sha256")
    if board is None:
        return found
    checked = verify(puzzle, board)
    problems = [printable(problem, 300) for problem in checked.problems[:100]]
    return found | picked(checked, "score", "placed", "valid") | {"problems": problems}


# -- steps of a search ------------------------------------------------------------------------------------------------


def colours() -> dict[str, Any]:
    """Return what the scripts need to draw boards: the palette and the colour motifs."""
    return {
        "palette": ["#" + hex_code(colour) for colour in PALETTE],
        "grey": "#" + hex_code(GREY),
        "mismatch": "#" + hex_code(MISMATCH),
        "clue": "#" + hex_code(CLUE),
        "motifs": list(MOTIFS),
        "socket": SOCKET,
    }


def trace_to_json(trace: Trace) -> dict[str, Any]:
    """Return a trace for JSON; a step lists the values of `lns.exact.trace.Step` or, for a SAT solver, `Painting`."""
    sat = any(isinstance(step, Painting) for step in trace.steps)
    return {
        "solver": trace.solver,
        "status": str(trace.status),
        "view": "triangles" if sat else "pieces",
        "steps": [[*vars(step).values()] for step in trace.steps],
    }


def grid_to_json(grid: Grid) -> dict[str, Any]:
    """Return the rows and pieces of a polyomino grid."""
    return {
        "rows": list(grid.rows),
        "pieces": {name: [list(cell) for cell in shape] for name, shape in grid.pieces.items()},
    }


class GridRecorder(StepRecorder):
    """Records the placements that a search for a filling tests, in the form that the page reads.

    A step is [level, name of the piece, its cells as ``row*width + column``, `StepOutcome` as a number].
    """

    def as_json(self) -> list[list[Any]]:
        """Return the recorded steps."""
        return [[step.level, step.piece, self._numbers(step.cells), int(step.outcome)] for step in self.steps]

    def placed_as_json(self) -> list[list[Any]]:
        """Return [name of the piece, its cells] for each piece that is placed now."""
        return [[name, self._numbers(cells)] for name, cells in self.placed()]

    def _numbers(self, cells: Iterable[Cell]) -> list[int]:
        width = len(self.search.model.grid.rows[0])
        return [row * width + column for row, column in cells]


def record(search: FillingSearch, most: int, *, count_all: bool = False) -> tuple[GridRecorder, SolveStatus]:
    """Record at most ``most`` steps of a search for one filling or (``count_all``) all; return recorder and status."""
    recorder = GridRecorder(search)
    recorder.record(most, count_all=count_all)
    if not search.exhausted and (count_all or not search.solutions):
        return recorder, SolveStatus.BUDGET_SPENT
    return recorder, SolveStatus.SOLVED if search.solutions else SolveStatus.INFEASIBLE


def record_grid(grid: Grid, most: int) -> dict[str, Any]:
    """Return the first steps of a search that fills a grid, large pieces first, in the form that `grid_page` plays."""
    recorder, status = record(FillingSearch(build_model(grid), COUNTING_WEIGHT), most)
    return {"solver": "polyomino", "status": str(status), "view": "grid", "steps": recorder.as_json()}


def page(puzzle: Puzzle, trace: Trace) -> str:
    """Return the text of an HTML file that plays the steps of a search; scripts and styles are included."""
    data = {"puzzle": puzzle_to_json(puzzle), "trace": trace_to_json(trace)}
    title = f"{puzzle.name}: {trace.solver} step by step"
    return _page(title, _OF_BOARDS, data, "watchSteps(new Puzzle(given.puzzle), given.trace);")


def grid_page(name: str, grid: Grid, trace: dict[str, Any]) -> str:
    """Return the text of an HTML file that plays ``trace``, what `record_grid` returned for the grid ``grid``."""
    data = {"grid": grid_to_json(grid), "trace": trace}
    return _page(f"{name} step by step", _OF_GRIDS, data, "watchGrid(given.grid, given.trace);")


def _page(title: str, scripts: Sequence[str], data: dict[str, Any], start: str) -> str:
    text = json.dumps(data | {"colours": colours()})
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    script = "\n".join(_plain((_STATIC / name).read_text(encoding="utf-8")) for name in scripts)
    style = (_STATIC / "style.css").read_text(encoding="utf-8")
    return template("recording").substitute(title=escape(title), style=style, data=text, script=script, start=start)


def template(name: str) -> Template:
    """Return the HTML template ``name``, in which each word after ``$`` is a placeholder."""
    return Template((_HERE / "pages" / f"{name}.html").read_text(encoding="utf-8"))


def _plain(script: str) -> str:
    """Return the text of a JavaScript module without its import lines and ``export`` keywords."""
    return _EXPORT.sub("", _IMPORT.sub("", script))
