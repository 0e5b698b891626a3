"""Grids of polyominoes for the page: read, cut, filled step by step with what the search places."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from exact.driver import Progress, run_search
from exact.outcome import SolveStatus
from exact.polyominoes.cut import CutLimits, cut_grid
from exact.polyominoes.grid import Grid
from exact.polyominoes.levels import random_level
from exact.polyominoes.model import build_model
from exact.polyominoes.search import COUNTING_WEIGHT, FIRST_STEP, FillingSearch
from exact.polyominoes.shapes import NO_WEIGHT, WEIGHTS, Cell
from exact.polyominoes.steps import StepRecorder
from exact.polyominoes.text import IQ_PUZZLER_PRO, parse
from lns_support.errors import InputError
from lns_support.json_values import JsonFields

MOST_STEPS = 5_000
"""Placements of a search that are recorded."""
MOST_CELLS = 1_000
"""Cells of a grid on the page."""
SHOW_S = 0.2


def read_grid(fields: JsonFields) -> Grid:
    """The grid in the field ``text``, a picture as `exact.polyominoes.text.parse` reads; "" is IQ Puzzler Pro."""
    grid = parse(fields.text("text", 100_000) or IQ_PUZZLER_PRO)
    if (cells := sum(map(len, grid.rows))) > MOST_CELLS:
        raise InputError(f"the grid has {cells} cells; expected at most {MOST_CELLS} on the page")
    return grid


def grid_to_json(grid: Grid) -> dict[str, Any]:
    """Rows and pieces."""
    return {
        "rows": list(grid.rows),
        "pieces": {name: [list(cell) for cell in shape] for name, shape in grid.pieces.items()},
    }


def cut(fields: JsonFields) -> Grid:
    """A grid cut into random pieces, within the limits on size and shape that are asked for."""
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


class Recorder(StepRecorder):
    """Records what a search places, as the page reads it.

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


def fill(fields: JsonFields) -> Callable[[Callable[..., None]], dict[str, Any]]:
    """The task of filling a grid; the first steps are recorded, and what is placed is shown while it goes on."""
    grid, weight = read_grid(fields), fields.text("weight", 40)
    if weight not in (NO_WEIGHT, *WEIGHTS):
        raise InputError(f"unknown weight; expected {NO_WEIGHT}, {', '.join(WEIGHTS)}")
    zones, dead_ends = fields.boolean("zones", default=True), fields.boolean("dead_ends", default=True)
    count_all, seconds = fields.boolean("count", default=False), fields.number("time", 0.1, 86400)

    def work(send: Callable[..., None]) -> dict[str, Any]:
        model = build_model(grid, reduced=count_all)
        search = FillingSearch(model, weight, zones=zones, dead_ends=dead_ends)
        search.advance(0, True)  # compiles
        recorder = Recorder(search)
        shown = 0.0

        def report(now: Progress) -> None:
            nonlocal shown
            if now.seconds - shown > SHOW_S:
                shown = now.seconds
                send(type="progress", nodes=now.nodes, solutions=now.solutions, seconds=now.seconds,
                     pruned=search.pruned, explored=now.explored, placed=recorder.placed_as_json())  # fmt: skip

        began = time.perf_counter()
        recorder.record(MOST_STEPS, count_all=count_all)
        recorded = time.perf_counter() - began
        if search.exhausted or (search.solutions and not count_all):
            status, spent = SolveStatus.SOLVED if search.solutions else SolveStatus.INFEASIBLE, 0.0
        else:
            status, spent = run_search(
                search, count_all=count_all, nodes=None, seconds=seconds, on_progress=report, first_step=FIRST_STEP
            )
        ended = search.ended
        return {
            "status": str(status),
            "solutions": search.solutions,
            "nodes": search.nodes,
            "seconds": recorded + spent,
            "pruned": search.pruned,
            "options": model.options,
            "pieces": len(grid.loose),
            "branches": search.branches,
            "deepest": search.deepest,
            "filling": None if ended is None else ended.first_filling(),
            "steps": recorder.as_json(),
        }

    return work


def level(fields: JsonFields) -> Callable[[Callable[..., None]], dict[str, Any]]:
    """The task of making a level of IQ Puzzler Pro: the game with some pieces on it that can be completed."""
    placed, seed = fields.integer("placed", 0, 11), fields.integer("seed", 0, 10**6)
    return lambda send: {"status": "done", **grid_to_json(random_level(placed, seed))}


def record(grid: Grid, most: int) -> dict[str, Any]:
    """The first steps of a search for a filling, large pieces first, as `lns.web.recording` plays them."""
    search = FillingSearch(build_model(grid, reduced=False), COUNTING_WEIGHT)
    recorder = Recorder(search)
    recorder.record(most)
    ended = SolveStatus.SOLVED if search.solutions else SolveStatus.INFEASIBLE
    status = ended if search.solutions or search.exhausted else SolveStatus.BUDGET_SPENT
    return {"solver": "polyomino", "status": str(status), "view": "grid", "steps": recorder.as_json()}
