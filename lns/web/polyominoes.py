"""Grids of polyominoes for the page: read, cut, filled step by step with what the search places."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from exact.driver import Progress, run_search
from exact.outcome import SolveStatus
from exact.polyominoes.cut import CutLimits, cut_grid
from exact.polyominoes.grid import IQ_PUZZLER_PRO, NO_WEIGHT, WEIGHTS, Cell, Grid, parse
from exact.polyominoes.levels import random_level
from exact.polyominoes.model import build_model
from exact.polyominoes.search import COUNTING_WEIGHT, FIRST_STEP, FillingSearch
from exact.polyominoes.steps import StepRecorder
from lns_support.errors import InputError
from lns_support.json_values import JsonFields

MOST_STEPS = 5_000
"""Placements of a search that are recorded."""
MOST_CELLS = 1_000
"""Cells of a grid on the page."""
SHOW_S = 0.2


def read_grid(fields: JsonFields) -> Grid:
    """The grid in the field ``text``, a picture as `exact.polyominoes.grid.parse` reads; "" is IQ Puzzler Pro."""
    return checked(parse(fields.text("text", 100_000) or IQ_PUZZLER_PRO))


def checked(grid: Grid) -> Grid:
    """The grid. Raises InputError if it is too large for the page."""
    if sum(map(len, grid.rows)) > MOST_CELLS:
        raise InputError(f"the grid has {sum(map(len, grid.rows))} cells; expected at most {MOST_CELLS} on the page")
    return grid


def grid_to_json(grid: Grid) -> dict[str, Any]:
    """Rows and pieces."""
    return {
        "rows": list(grid.rows),
        "pieces": {name: [list(cell) for cell in shape] for name, shape in grid.pieces.items()},
    }


def cut(fields: JsonFields) -> dict[str, Any]:
    """A grid cut into random pieces, and the filling it was cut from."""
    width, height = fields.integer("width", 2, 100), fields.integer("height", 2, 100)
    if width * height > MOST_CELLS:
        raise InputError(f"{width} x {height} has {width * height} cells; expected at most {MOST_CELLS} on the page")
    grid, _ = cut_grid(
        width, height, fields.integer("seed", 0, 2**31), fields.integer("pieces", 1, 87), _limits(fields)
    )
    return grid_to_json(grid)


def _limits(fields: JsonFields) -> CutLimits | None:
    """The limits on size and shape that are asked for; None for none."""

    def number(name: str, otherwise: int | None) -> int | None:
        return otherwise if fields.get(name) is None else fields.integer(name, 1, MOST_CELLS)

    names = ("smallest", "largest", "longest", "thinnest")
    distinct = fields.boolean("distinct", default=False)
    if not distinct and all(fields.get(name) is None for name in names):
        return None
    smallest = number("smallest", CutLimits.smallest) or CutLimits.smallest
    largest = number("largest", max(smallest, CutLimits.largest)) or CutLimits.largest
    thinnest = number("thinnest", CutLimits.thinnest) or CutLimits.thinnest
    return CutLimits(min(smallest, largest), largest, number("longest", None), thinnest, distinct)


def check_fill(fields: JsonFields) -> dict[str, Any]:
    """The fields of the task `fill`, checked."""
    read_grid(fields)
    weight = fields.text("weight", 40)
    if weight not in (NO_WEIGHT, *WEIGHTS):
        raise InputError(f"unknown weight; expected {NO_WEIGHT}, {', '.join(WEIGHTS)}")
    return {
        "text": fields.get("text"),
        "weight": weight,
        "zones": fields.boolean("zones", default=True),
        "dead_ends": fields.boolean("dead_ends", default=True),
        "count": fields.boolean("count", default=False),
    }


class Recorder(StepRecorder):
    """Records what a search places, as the page reads it.

    A step is [level, name of the piece, its cells as numbers, outcome]; the outcome is a `StepOutcome`.
    """

    def __init__(self, search: FillingSearch) -> None:
        super().__init__(search)
        self._width = len(search.model.grid.rows[0])

    def as_json(self) -> list[list[Any]]:
        """The recorded steps."""
        return [[step.level, step.piece, self._numbers(step.cells), int(step.outcome)] for step in self.steps]

    def placed_as_json(self) -> list[list[Any]]:
        """[name, cells] of the pieces that are placed now."""
        return [[name, self._numbers(cells)] for name, cells in self.placed()]

    def _numbers(self, cells: Iterable[Cell]) -> list[int]:
        return [row * self._width + column for row, column in cells]


def fill(values: dict[str, Any], send: Callable[..., None]) -> dict[str, Any]:
    """Fill a grid; the first steps are recorded, and what is placed is shown while it goes on."""
    fields = JsonFields(values)
    grid = read_grid(fields)
    weight, count_all = values["weight"], values["count"]
    model = build_model(grid, reduced=count_all)
    search = FillingSearch(model, weight, zones=values["zones"], dead_ends=values["dead_ends"])
    search.advance(0, True)  # compiles
    recorder = Recorder(search)
    shown = 0.0

    def report(now: Progress) -> None:
        nonlocal shown
        if now.seconds - shown > SHOW_S:
            shown = now.seconds
            send(type="progress", nodes=now.nodes, solutions=now.solutions, seconds=now.seconds, pruned=search.pruned,
                 explored=now.explored, placed=recorder.placed_as_json())  # fmt: skip

    began = time.perf_counter()
    recorder.record(MOST_STEPS, count_all=count_all)
    recorded = time.perf_counter() - began
    if search.exhausted or (search.solutions and not count_all):
        status, spent = SolveStatus.SOLVED if search.solutions else SolveStatus.INFEASIBLE, 0.0
    else:
        seconds = fields.number("time", 0.1, 86400)
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


def level(values: dict[str, Any], send: Callable[..., None]) -> dict[str, Any]:
    """A level of IQ Puzzler Pro: the game with some pieces on it that can be completed."""
    return {"status": "done", **grid_to_json(random_level(values["placed"], values["seed"]))}


def record(grid: Grid, most: int) -> dict[str, Any]:
    """The first steps of a search for a filling, large pieces first, as `lns.web.recording` plays them."""
    search = FillingSearch(build_model(grid, reduced=False), COUNTING_WEIGHT)
    recorder = Recorder(search)
    recorder.record(most)
    ended = SolveStatus.SOLVED if search.solutions else SolveStatus.INFEASIBLE
    status = ended if search.solutions or search.exhausted else SolveStatus.BUDGET_SPENT
    return {"solver": "polyomino", "status": str(status), "view": "grid", "steps": recorder.as_json()}
