"""Pictures of the documentation, as SVG. ``python -m docs.tools.pictures DIRECTORY`` writes them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from docs.tools import charts
from lns.construct.schedule import BreakSchedule, cell_order, quota_end, tail_cut
from lns.engines import make_engine
from lns.exact.compare import run_experiment
from lns.exact.paper import outcome
from lns.exact.region.resolve import resolve, warm_up
from lns.exact.region.windows import rows
from lns.instances.board import EMPTY, Board
from lns.instances.draw import svg
from lns.instances.formats import load_board, load_puzzle, shipped_instances
from lns.instances.puzzle import Puzzle
from lns.loop.construction import Construction
from lns.loop.search_loop import SearchLoop
from lns.params import ConstructParams, from_dict

_BLUE, _ORANGE, _GREEN, _GREY = "#0072b2", "#e69f00", "#009e73", "#999999"
_PITCH = 24  # side of a drawn cell


class _Chart:
    """Axes of a line chart; ``x`` and ``y`` turn values into positions."""

    def __init__(self, title: str, x_label: str, x_range: tuple[float, float], y_range: tuple[float, float]) -> None:
        self.width, self.height, self.left, self.top, self.low = 640.0, 300.0, 60.0, 40.0, 250.0
        self.x_range, self.y_range = x_range, y_range
        self.title = title
        self.parts = [charts.label(self.left, 22, title, size=14), charts.label(350, 290, x_label, anchor="middle")]
        self.parts.append(charts.line([(self.left, self.top), (self.left, self.low), (620, self.low)], charts.INK, 1))

    def x(self, value: float) -> float:
        first, last = self.x_range
        return self.left + (value - first) / (last - first) * (620 - self.left)

    def y(self, value: float) -> float:
        first, last = self.y_range
        return self.low - (value - first) / (last - first) * (self.low - self.top)

    def ticks(self, xs: Iterable[float] = (), ys: Iterable[float] = (), unit: str = "") -> None:
        for value in xs:
            self.parts.append(charts.label(self.x(value), self.low + 16, f"{value:g}", anchor="middle", size=11))
        for value in ys:
            self.parts.append(charts.label(self.left - 6, self.y(value) + 4, f"{value:g}{unit}", anchor="end", size=11))
            self.parts.append(charts.line([(self.left, self.y(value)), (620, self.y(value))], charts.PALE, 0.5))

    def svg(self) -> str:
        return charts.document(self.width, self.height, self.parts, self.title)


def order() -> str:
    """The comb order on a 16x16 board: cells shaded by the depth at which they are filled."""
    size, width = 26, 16
    puzzle, params = load_puzzle("like-e2-16x16"), ConstructParams()
    cells = cell_order(puzzle, params)
    cut, end = tail_cut(puzzle, params), quota_end(puzzle.cells)
    parts = []
    for depth, cell in enumerate(cells.tolist()):
        x, y = 10 + cell % width * size, 10 + cell // width * size
        shade = 245 - round(110 * depth / len(cells))
        fill = f"rgb({shade},{shade},255)" if depth < end else f"rgb(255,{shade},{shade - 60})"
        fill = _GREEN if depth >= cut else fill
        parts.append(f'<rect x="{x}" y="{y}" width="{size}" height="{size}" fill="{fill}" stroke="#ffffff"/>')
        parts.append(charts.label(x + size / 2, y + 17, str(depth), size=9, anchor="middle"))
    legend = [("rgb(200,200,255)", "quota, no break"), ("rgb(255,170,110)", "breaks allowed"), (_GREEN, "exact tail")]
    for i, (fill, label) in enumerate(legend):
        parts.append(f'<rect x="{440}" y="{24 + 28 * i}" width="18" height="18" fill="{fill}"/>')
        parts.append(charts.label(466, 38 + 28 * i, label))
    parts += [charts.label(440, 130, "Numbers: order in which"), charts.label(440, 147, "the cells are filled.")]
    return charts.document(610, 436, parts, "The comb order on a 16x16 board")


@cache
def _run() -> tuple[SearchLoop, Construction, BreakSchedule]:
    """A short search of a 12x12 board with short restarts, its construction, and the first schedule of that."""
    params = {
        "construct": {"restart_nodes": 20_000_000, "restart_nodes_without_prefix": 4_000_000},
    }
    search = make_engine("construct", load_puzzle("like-e2-12x12"), from_dict(params), 1, 0)
    engine, first = search.construction, None
    assert engine is not None
    for _ in range(150):
        search.step()
        if first is None and engine.constructor is not None:
            first = engine.constructor.schedule
    assert first is not None
    return search, engine, first


def schedule() -> str:
    """The quota and the break schedule of a 12x12 board, by depth."""
    _, _, plan = _run()
    cells, end = len(plan.order), quota_end(len(plan.order))
    most = int(plan.quota_floor.max())
    chart = _Chart("Quota and break schedule of like-e2-12x12", "cells filled", (0, cells), (0, most * 1.1))
    chart.ticks(range(0, cells + 1, 24), range(0, most + 1, 20))
    chart.parts.append(charts.line([(chart.x(i), chart.y(int(plan.quota_floor[i]))) for i in range(end)], _BLUE))
    chart.parts.append(
        charts.label(
            chart.x(end) - 4, chart.y(most) - 6, "favoured half-edges used, at least", anchor="end", colour=_BLUE
        )
    )
    allowed = plan.allowed.tolist()
    scale = most / max(1, len(plan.unlock))
    steps = [(chart.x(i), chart.y(allowed[i] * scale)) for i in range(end, cells)]
    stairs = [point for a, b in pairwise(steps) for point in (a, (b[0], a[1]))]
    chart.parts.append(charts.line(stairs, _ORANGE))
    for number, depth in enumerate(plan.unlock.tolist(), 1):
        chart.parts.append(
            charts.label(chart.x(depth) + 2, chart.y(number * scale) - 4, str(number), size=10, colour=_ORANGE)
        )
    chart.parts.append(
        charts.label(
            chart.x(plan.unlock[0]) - 6, chart.y(scale) + 4, "breaks allowed, at most", anchor="end", colour=_ORANGE
        )
    )
    chart.parts.append(charts.line([(chart.x(plan.cut), chart.top), (chart.x(plan.cut), chart.low)], _GREEN, 1, "4 3"))
    chart.parts.append(charts.label(chart.x(plan.cut) + 3, chart.low - 60, "tail", colour=_GREEN))
    return chart.svg()


def bandit() -> str:
    """The arms of the bandit after a short search: nodes spent and boards expected by quota scale."""
    search, engine, _ = _run()
    arms, puzzle = engine.bandit.arms, engine.orientation.puzzle
    expected = engine.bandit.boards(puzzle.max_score - search.best_score - 1)
    rates = [boards / max(1.0, arm.node_equivalents) for boards, arm in zip(expected, arms, strict=True)]
    spent = [arm.node_equivalents for arm in arms]
    chart = _Chart("Arms of the bandit, like-e2-12x12", "quota scale, %", (-0.7, len(arms) - 0.3), (0, 1.2))
    for number, (arm, rate) in enumerate(zip(arms, rates, strict=True)):
        x, share, value = chart.x(number), arm.node_equivalents / max(spent), rate / (max(rates) or 1.0)
        for left, height, colour in ((-14, share, _BLUE), (1, value, _ORANGE)):
            top = chart.y(height)
            chart.parts.append(
                f'<rect x="{x + left:.1f}" y="{top:.1f}" width="13" height="{chart.low - top:.1f}" fill="{colour}"/>'
            )
        label = f"{arm.restarts} restart{'s' * (arm.restarts > 1)}"
        chart.parts.append(charts.label(x, chart.y(max(share, value)) - 5, label, size=10, anchor="middle"))
        chart.parts.append(charts.label(x, chart.low + 16, f"{arm.scale_percent:g}", size=11, anchor="middle"))
    chart.parts.append(charts.label(70, 50, "nodes spent", colour=_BLUE))
    chart.parts.append(charts.label(70, 66, "expected boards of the next score, a node", colour=_ORANGE))
    return chart.svg()


def _drawn(puzzle: Puzzle, board: Board, x: int, label: str, marks: str = "") -> str:
    """A board at ``x`` under a label. ``marks`` lie over it: a cell is 24 wide, the first one at (8, 8)."""
    picture = svg.render(puzzle, board, scale=_PITCH)
    body = picture[picture.index("<title>") :].removesuffix("</svg>\n")
    side = _PITCH * puzzle.width + 16
    body = body.replace(f'<rect width="{side}"', f'<rect x="0" y="0" width="{side}"')
    return f'<g transform="translate({x},30)">{body}{marks}</g>{charts.label(x + 8, 20, label)}'


def _solution(name: str) -> tuple[Puzzle, Board]:
    puzzle = load_puzzle(name)
    return puzzle, load_board(shipped_instances()[name].with_suffix(".solution.txt"), puzzle)[1]


def region() -> str:
    """A board whose last three rows are in disorder, and their best refill."""
    puzzle, solution = _solution("like-e2-12x12")
    freed = rows(puzzle, puzzle.height - 3, puzzle.height)
    inner = [
        cell
        for cell in freed
        if cell // puzzle.width < puzzle.height - 1 and 0 < cell % puzzle.width < puzzle.width - 1
    ]
    placements = solution.placements.copy()
    placements[inner] = np.roll(placements[inner], 3)
    warm_up("static")
    result = resolve(puzzle, Board(placements, puzzle.width, puzzle.height), freed, nodes=50_000_000)
    top, side = 8 + _PITCH * (puzzle.height - 3), _PITCH * puzzle.width
    frame = (
        f'<rect x="8" y="{top}" width="{side}" height="{3 * _PITCH}" fill="none" stroke="#ffffff" stroke-width="4"/>'
    )
    labels = (
        f"{result.score_before} of {puzzle.max_score}; the framed rows are freed",
        f"{result.score} of {puzzle.max_score}: {'no refill has more' if result.proven else f'at most {result.bound}'}",
    )
    before = Board(placements, puzzle.width, puzzle.height)
    parts = [_drawn(puzzle, before, 0, labels[0], frame), _drawn(puzzle, result.board, side + 40, labels[1], frame)]
    return charts.document(2 * side + 72, side + 54, parts, "A region before and after it is re-solved")


def colorpairs() -> str:
    """A board that is begun: at each cell with two known sides, the demand of its pair of colours and the offer."""
    puzzle, solution = _solution("like-e2-6x6")
    width, placements = puzzle.width, solution.placements.copy()
    placements[[cell for cell in range(puzzle.cells) if sum(divmod(cell, width)) > 4]] = EMPTY
    board = Board(placements, width, puzzle.height)
    free = set(range(puzzle.cells)) - {int(value) // 4 for value in placements if value >= 0}
    pieces = [puzzle.pieces[piece].tolist() for piece in free]
    offer = Counter(pair for quad in pieces for pair in {(quad[side - 1], quad[side]) for side in range(4)})
    pairs = {}  # cell -> (colour on its left side, colour on its upper side)
    for cell in range(width, puzzle.cells):
        left, above = placements[cell - 1] if cell % width else EMPTY, placements[cell - width]
        if placements[cell] == EMPTY and above != EMPTY and (left != EMPTY or cell % width == 0):
            pairs[cell] = (int(puzzle.oriented[left][1]) if cell % width else 0, int(puzzle.oriented[above][2]))
    demand = Counter(pairs.values())
    marks = "".join(
        f'<rect x="{10 + x}" y="{10 + y}" width="20" height="20" fill="#3a3a3a"/>'
        + charts.label(20 + x, 24 + y, f"{demand[pair]} : {offer[pair]}", size=9, anchor="middle", colour="#ffffff")
        for cell, pair in pairs.items()
        for x, y in ((_PITCH * (cell % width), _PITCH * (cell // width)),)
    )
    side = 2 * (_PITCH * width + 16)
    lines = (
        "A marked cell has two known sides next to each",
        "other: a pair of colours.",
        "Left number: demand, the open cells that need this pair.",
        "Right number: offer, the free pieces that carry it.",
        "Demand > offer: a dead end.",
        "Demand = offer: these pieces are kept for these cells.",
    )
    parts = [f'<g transform="translate(0,-20) scale(2)">{_drawn(puzzle, board, 0, "", marks)}</g>']
    parts += [charts.label(side + 20, 110 + 22 * i, line, size=14) for i, line in enumerate(lines)]
    return charts.document(side + 420, side + 44, parts, "Offer and demand of colour pairs")


def _outcome(name: str) -> str:
    """A picture of the rows that `lns exact paper outcome` measured."""
    csv = Path(__file__).parent.parent / "papers/data/outcome.csv"
    rows = list(run_experiment(outcome.runs(outcome.PLAN), csv, missing=[]))
    return outcome.PICTURES[name](rows)


PICTURES: dict[str, Callable[[], str]] = {
    "order": order,
    "schedule": schedule,
    "bandit": bandit,
    "region": region,
    "colorpairs": colorpairs,
    **{f"outcome-{name}": partial(_outcome, name) for name in outcome.PICTURES},
}


def main(directory: str) -> None:
    """Write all pictures."""
    for name, draw in PICTURES.items():
        Path(directory, f"{name}.svg").write_text(draw())


if __name__ == "__main__":
    main(sys.argv[1])
