"""Steps of a search as JSON, and as one HTML file that plays them without a server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from lns.exact.outcome import SolveStatus
from lns.exact.polyominoes.grid import Cell, Grid
from lns.exact.polyominoes.model import FillingSearch, StepRecorder, build_model
from lns.exact.polyominoes.search import COUNTING_WEIGHT
from lns.exact.sat.steps import Painting
from lns.exact.trace import Step, Trace
from lns.instances.draw.palette import CLUE, GREY, MISMATCH, MOTIFS, PALETTE, SOCKET, hex_code
from lns.instances.puzzle import Puzzle
from lns.web.wire import puzzle_to_json

_HERE = Path(__file__).parent
_STATIC = _HERE / "static"
_OF_BOARDS = ("elements.js", "model.js", "draw.js", "player.js", "steps_view.js")
_OF_GRIDS = ("elements.js", "draw.js", "player.js", "grid_view.js")
_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|class|function|let) )", re.MULTILINE)


def colours() -> dict[str, Any]:
    """What the scripts need to draw: the palette and the motifs."""
    return {
        "palette": ["#" + hex_code(colour) for colour in PALETTE],
        "grey": "#" + hex_code(GREY),
        "mismatch": "#" + hex_code(MISMATCH),
        "clue": "#" + hex_code(CLUE),
        "motifs": list(MOTIFS),
        "socket": SOCKET,
    }


def trace_to_json(trace: Trace) -> dict[str, Any]:
    """The steps as lists.

    With the view "pieces" [depth, cell, oriented, outcome, depth after, why], of a SAT solver, with the view
    "triangles", [depth, decided, outcome, [[cell, side, colour, depth], ...], [[cell, piece, depth], ...], why].
    """
    sat = any(isinstance(step, Painting) for step in trace.steps)
    return {
        "solver": trace.solver,
        "status": str(trace.status),
        "view": "triangles" if sat else "pieces",
        "steps": [_step(step) for step in trace.steps],
    }


def _step(step: Step | Painting) -> list[Any]:
    if isinstance(step, Painting):
        return [step.depth, step.decided, step.outcome, step.triangles, step.pieces, step.why]
    return [step.depth, step.cell, step.oriented, step.outcome, step.depth_after, step.why]


def grid_to_json(grid: Grid) -> dict[str, Any]:
    """Rows and pieces."""
    return {
        "rows": list(grid.rows),
        "pieces": {name: [list(cell) for cell in shape] for name, shape in grid.pieces.items()},
    }


class GridRecorder(StepRecorder):
    """Records what a search for a filling places, as the page reads it.

    A step is [level, name of the piece, its cells as numbers, outcome]; the outcome is a `StepOutcome`.
    """

    def as_json(self) -> list[list[Any]]:
        """The recorded steps."""
        return [[step.level, step.piece, self._numbers(step.cells), int(step.outcome)] for step in self.steps]

    def placed_as_json(self) -> list[list[Any]]:
        """[name, cells] of the pieces that are placed now."""
        return [[name, self._numbers(cells)] for name, cells in self.placed()]

    def _numbers(self, cells: Iterable[Cell]) -> list[int]:
        width = len(self.search.model.grid.rows[0])
        return [row * width + column for row, column in cells]


def record_grid(grid: Grid, most: int) -> dict[str, Any]:
    """The first steps of a search for a filling, large pieces first, as `grid_page` plays them."""
    search = FillingSearch(build_model(grid, reduced=False), COUNTING_WEIGHT)
    recorder = GridRecorder(search)
    recorder.record(most)
    ended = SolveStatus.SOLVED if search.solutions else SolveStatus.INFEASIBLE
    status = ended if search.solutions or search.exhausted else SolveStatus.BUDGET_SPENT
    return {"solver": "polyomino", "status": str(status), "view": "grid", "steps": recorder.as_json()}


def page(puzzle: Puzzle, trace: Trace) -> str:
    """One HTML file with scripts, styles and the steps of a search in it."""
    data = {"puzzle": puzzle_to_json(puzzle), "trace": trace_to_json(trace)}
    title = f"{puzzle.name}: {trace.solver} step by step"
    return _page(title, _OF_BOARDS, data, "watchSteps(new Puzzle(given.puzzle), given.trace);")


def grid_page(name: str, grid: Grid, trace: dict[str, Any]) -> str:
    """The same for a grid of polyominoes; ``trace`` as `record_grid` returns it."""
    data = {"grid": grid_to_json(grid), "trace": trace}
    return _page(f"{name} step by step", _OF_GRIDS, data, "watchGrid(given.grid, given.trace);")


def _page(title: str, scripts: Sequence[str], data: dict[str, Any], start: str) -> str:
    text = json.dumps(data | {"colours": colours()})
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    script = "\n".join(_plain((_STATIC / name).read_text(encoding="utf-8")) for name in scripts)
    style = (_STATIC / "style.css").read_text(encoding="utf-8")
    return template("recording").substitute(title=escape(title), style=style, data=text, script=script, start=start)


def template(name: str) -> Template:
    """The HTML of a page, in which ``$name`` stands for what is filled in."""
    return Template((_HERE / "pages" / f"{name}.html").read_text(encoding="utf-8"))


def _plain(script: str) -> str:
    """A module without its imports and exports."""
    return _EXPORT.sub("", _IMPORT.sub("", script))
