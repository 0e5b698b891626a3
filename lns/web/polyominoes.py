"""Grids of polyominoes for the page: read, cut, filled step by step with what the search places."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from exact.cover.kernel import LEVEL
from exact.driver import Progress, run_search
from exact.outcome import SolveStatus
from exact.polyominoes.cut import cut_grid
from exact.polyominoes.grid import Grid
from exact.polyominoes.model import build_model
from exact.polyominoes.search import FIRST_STEP, FillingSearch
from exact.polyominoes.shapes import WEIGHTS
from exact.polyominoes.text import IQ_PUZZLER_PRO, parse
from lns_support.errors import InputError
from lns_support.json_values import JsonFields

MOST_STEPS = 5_000
"""Placements of a search that are recorded."""
MOST_CELLS = 1_000
"""Cells of a grid on the page."""
SHOW_S = 0.2
NO_WEIGHT = "none"


def read_grid(fields: JsonFields) -> Grid:
    """The grid in the field ``text``, a picture as `exact.polyominoes.text.parse` reads; "" is IQ Puzzler Pro."""
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
    grid, _ = cut_grid(width, height, fields.integer("seed", 0, 2**31), fields.integer("pieces", 1, 87))
    return grid_to_json(grid)


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
        "count": fields.boolean("count", default=False),
    }


class Recorder:
    """Records what a search places, one step a tested placement.

    A step is [level, name of the piece, its cells as numbers, outcome]: the pieces of this level and deeper ones are
    taken off, then this one is placed. Outcome: 0 it stays, 1 some cell or piece has no place left, 2 a zone cannot be
    filled, 3 a filling.
    """

    def __init__(self, search: FillingSearch) -> None:
        self.search = search
        self.steps: list[list[Any]] = []
        width = len(search.model.grid.rows[0])
        self._numbers = [row * width + column for row, column in search.model.grid.free]

    def record(self, count_all: bool) -> None:
        """Search for at most `MOST_STEPS` placements, to the end, or to the first filling unless ``count_all``."""
        search, counters = self.search, self.search.counters
        while len(self.steps) < MOST_STEPS and not search.exhausted and (count_all or not search.solutions):
            nodes, pruned, solutions = search.nodes, search.pruned, search.solutions
            search.advance(1, not count_all)
            if search.nodes == nodes:  # the last step back, or a filling counted
                if self.steps and search.solutions > solutions:
                    self.steps[-1][3] = 3
                continue
            level = int(counters[LEVEL])
            stayed = search.state.chosen[level] < 0
            at = level - 1 if stayed else level
            outcome = 0 if stayed else 2 if search.pruned > pruned else 1
            self.steps.append([at, *self._piece(at), outcome])

    def placed(self) -> list[list[Any]]:
        """[name, cells] of the pieces that are placed now."""
        levels = range(int(self.search.counters[LEVEL]))
        return [list(self._piece(level)) for level in levels if self.search.state.chosen[level] >= 0]

    def _piece(self, level: int) -> tuple[str, list[int]]:
        """Name and cells of the piece at a level; equal pieces are told apart by their order."""
        model, chosen = self.search.model, self.search.state.chosen
        kinds = [int(model.item[model.begin[chosen[i] + 1] - 1]) - model.cells for i in range(level + 1)]
        option = int(chosen[level])
        *cells, _ = model.item[model.begin[option] : model.begin[option + 1]].tolist()
        name = model.names[kinds[level]][kinds[:level].count(kinds[level])]
        return name, [self._numbers[cell] for cell in cells]


def fill(values: dict[str, Any], send: Callable[..., None]) -> dict[str, Any]:
    """Fill a grid; the first steps are recorded, and what is placed is shown while it goes on."""
    fields = JsonFields(values)
    grid = read_grid(fields)
    weight, count_all = values["weight"], values["count"]
    model = build_model(grid, reduced=count_all)
    search = FillingSearch(model, "descender" if weight == NO_WEIGHT else weight, zones=values["zones"])
    if weight == NO_WEIGHT:
        search.state.rank[:] = range(model.options)  # in the order of the pieces
    search.advance(0, True)  # compiles
    recorder = Recorder(search)
    shown = 0.0

    def report(now: Progress) -> None:
        nonlocal shown
        if now.seconds - shown > SHOW_S:
            shown = now.seconds
            send(type="progress", nodes=now.nodes, solutions=now.solutions, seconds=now.seconds, pruned=search.pruned,
                 explored=now.explored, placed=recorder.placed())  # fmt: skip

    began = time.perf_counter()
    recorder.record(count_all)
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
        "deepest": max((step[0] + 1 for step in recorder.steps), default=0),
        "filling": None if ended is None else ended.first_filling(),
        "steps": recorder.steps,
    }


def level(values: dict[str, Any], send: Callable[..., None]) -> dict[str, Any]:
    """A level of IQ Puzzler Pro: the game with some pieces on it that can be completed."""
    from exact.paper.perrin_iq import level as make_level

    return {"status": "done", **grid_to_json(make_level(values["placed"], values["seed"]))}
