"""Compare the methods of the four papers on edge matching, and methods of this project, on the same puzzles.

The puzzles have 5x5 to 10x10 cells and 2 to 30 colours, drawn uniformly for each inner edge. Each method searches for a
first solution within a limit of processor time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from io import StringIO
from itertools import product
from typing import Any

from lns.exact.colorpairs.options import Heuristic, Options
from lns.exact.compare import ComparisonRow, Runs
from lns.exact.execution import Request
from lns.exact.optional_deps import is_installed
from lns.exact.paper import cuvillier2010
from lns.exact.paper.runs import Plan, crossed, grouped, mean_of, rounded, solver_run, times, uniform_classes
from lns.exact.registry import SOLVERS
from lns.exact.text_table import aligned

PLAIN, HERE = "plain", "here"
BENOIST, JOLIVET, BAILLEUX, CUVILLIER = "Benoist", "Jolivet", "Bailleux", "Cuvillier"
GROUPS = (PLAIN, BENOIST, JOLIVET, BAILLEUX, CUVILLIER, HERE)
"""Groups of methods: one for each paper, `PLAIN` for the row scan, `HERE` for methods of this project."""


@dataclass(frozen=True)
class Method:
    """A method that is compared, and how tables and pictures show it."""

    letter: str  # short name of the method in tables
    colour: str  # colour of the method in pictures, as #rrggbb
    group: str  # group of the method, one of `GROUPS`
    title: str
    solver: str  # name of the solver in `lns.exact.registry.SOLVERS`
    request: Request = field(default_factory=Request)  # request that names the SAT solver or options of ColorPairs


_KISSAT, _CADICAL = Request(sat_solver="kissat404"), Request(sat_solver="cadical195")
_ROW_MAJOR = Request(options=Options(heuristic=Heuristic.ROW_MAJOR))
METHODS = {
    "rowscan": Method("R", "#999999", PLAIN, "row by row, the zig-zag of Jolivet", "rowscan"),
    "colorpairs": Method("C", "#0072b2", BENOIST, "ColorPairs, MinExpectedGap", "colorpairs"),
    "blocks": Method("B", "#009e73", JOLIVET, "2x2 blocks, even sides only", "blocks"),
    "dlx:binary": Method("D", "#66c2a5", JOLIVET, "exact cover, binary code of colours", "dlx:binary"),
    "half-3": Method("H", "#d55e00", BAILLEUX, "HALF-3 with kissat", "sat:half-3", _KISSAT),
    "triangles": Method("T", "#cc79a7", CUVILLIER, "triangles with CaDiCaL", "sat:triangles", _CADICAL),
    "adaptg2wsat": Method("G", "#882255", CUVILLIER, "local search, simplified formula", "sls:adaptg2wsat"),
    "row-major": Method("M", "#56b4e9", HERE, "ColorPairs in reading order", "colorpairs", _ROW_MAJOR),
    "xcc": Method("X", "#006d4f", HERE, "exact cover with colours, nodes counted", "xcc:counted"),
    "half-2": Method("2", "#e69f00", HERE, "HALF-2 with CaDiCaL", "sat:half-2", _CADICAL),
    "cp": Method("P", "#332288", HERE, "AllDifferent and tables, CP-SAT", "cp"),
}
GROUPING = "blocks"
_INSTALLED = tuple(
    name for name, method in METHODS.items() if (extra := SOLVERS[method.solver].extra) is None or is_installed(extra)
)
PLAN = Plan((5, 6, 7, 8, 9, 10), _INSTALLED, (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 30))
FULL = replace(PLAN, solvers=tuple(METHODS), per_size=10, seconds=600.0)


def runs(plan: Plan) -> Runs:
    """Yield a planned run of each method on each puzzle; the method `GROUPING` gets boards of even sides only."""
    for side, colours, seed, puzzle in uniform_classes(plan):
        for name in plan.solvers:
            if name != GROUPING or side % 2 == 0:
                request = replace(METHODS[name].request, seconds=plan.seconds)
                yield solver_run(f"{side}x{side}-c{colours}-s{seed}", puzzle, METHODS[name].solver, request, label=name)


@dataclass(frozen=True)
class Score:
    """The result of a method in a class: how many puzzles it solved and tried, and mean seconds of those solved."""

    method: str
    solved: int
    tried: int
    seconds: float

    @property
    def text(self) -> str:
        """The mean seconds as text, then the percentage of puzzles solved unless it is 100; '-' if none is solved."""
        if not self.solved:
            return "-"
        share = "" if self.solved == self.tried else f" {100 * self.solved // self.tried}%"
        return ("<0.001" if self.seconds < 0.0005 else f"{self.seconds:.3f}") + share


Scores = dict[tuple[int, int], list[Score]]


def scores(rows: Sequence[ComparisonRow]) -> Scores:
    """Return the scores of methods by class (side, colours), the best first: largest share solved, then least time."""
    found: Scores = {}
    for (name, method), chosen in grouped(rows).items():
        board, colours = name.split("-c")
        solved = times(chosen)
        score = Score(method, len(solved), len(chosen), mean_of(solved) if solved else float("inf"))
        found.setdefault((int(board.split("x")[0]), int(colours)), []).append(score)
    for of_class in found.values():
        of_class.sort(key=lambda score: (-score.solved / score.tried, score.seconds))
    return dict(sorted(found.items()))


def printed(side: int, colours: int) -> str:
    """Return the result with the most puzzles solved that Cuvillier & Szymkowiak print for a class; '-' without any."""
    cells = [table.get(colours, {}).get(side * side) for table in cuvillier2010.PAPER.values()]
    known = [(-solved, seconds / solved) for seconds, solved in filter(None, cells) if solved]
    if not known:
        return "-"
    solved, seconds = min(known)
    return f"{rounded(seconds)} ({-solved}%)"


def tables(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """Return three tables as text: best method by class, results by method, best result of each group by class."""
    by_class = scores(rows)

    def fastest(colours: int, side: int) -> str:
        best = by_class.get((side, colours), [None])[0]
        return "" if best is None else f"{best.method} {best.text}" if best.solved else "-"

    solved_by = [[score.method for score in ranked if score.solved] for ranked in by_class.values()]
    methods = [["method", "", "of", "solved", "alone", "first in", "mean s", "mean nodes", "what it is"]]
    for name in plan.solvers:
        own = [row for row in rows if row.solver == name]
        solved = [row for row in own if row.status == "solved"]
        alone, first = sum(names == [name] for names in solved_by), sum(names[:1] == [name] for names in solved_by)
        means = (rounded(mean_of(times(solved))), rounded(mean_of([row.nodes for row in solved if row.nodes >= 0])))
        if own:
            counts = (f"{len(solved)} of {len(own)}", str(alone), str(first), *means)
            methods.append([name, METHODS[name].letter, METHODS[name].group, *counts, METHODS[name].title])
    groups = [["board", "colours", *GROUPS, "report of 2010"]]
    for (side, colours), ranked in by_class.items():
        best = {METHODS[score.method].group: score.text for score in reversed(ranked)}
        cells = [best.get(group, "") for group in GROUPS]
        groups.append([f"{side}x{side}", str(colours), *cells, printed(side, colours)])
    columns = {f"{side}x{side}": side for side in plan.sizes}
    return "\n\n".join([
        f"{plan.per_size} uniform puzzle{'s' * (plan.per_size > 1)} for each class, first solution, at most "
        f"{plan.seconds:g} s of processor time",
        "the fastest method and its mean seconds; -: none solved it\n"
        + crossed("colours", {str(colours): colours for colours in plan.colours}, columns, fastest),
        "methods: puzzles solved, classes that no other solves, classes in which it is the fastest\n"
        + aligned(methods),
        "the best of each paper and of what was added here: mean seconds of those solved, -: none;\n"
        "last: the best of the six tables of Cuvillier & Szymkowiak, its seconds a puzzle and share\n"
        + aligned(groups, repeated=2),
    ])  # fmt: skip


# -- pictures ---------------------------------------------------------------------------------------------------------

_SHADES = ((0.001, "#fde725"), (0.01, "#8fd744"), (0.1, "#35b779"), (1.0, "#21908d"), (10.0, "#31688e"))
_SLOWER, _NONE, _EMPTY = "#443a83", "#eeeeee", "#ffffff"


def shade(seconds: float) -> str:
    """Return the colour that stands for a time in pictures; light means fast."""
    return next((fill for limit, fill in _SHADES if seconds <= limit), _SLOWER)


def _draw_fastest(figure: Any, rows: Sequence[ComparisonRow]) -> None:
    """Draw a map with a field for each class (side, colours): the best method (see `scores`) and its mean seconds."""
    by_class = scores(rows)

    def cell(key: tuple[int, int]) -> tuple[str, str]:
        best = by_class.get(key, [None])[0]
        if best is None or not best.solved:
            return (_EMPTY, "") if best is None else (_NONE, "none")
        return METHODS[best.method].colour, best.text.split(" ")[0]

    figure.set_size_inches(9.5, 4)
    _map(figure.subplots(), by_class, cell, "Fastest method by side and colours, seconds")
    names = dict.fromkeys(ranked[0].method for ranked in by_class.values() if ranked[0].solved)
    _legend(figure, {name: METHODS[name].colour for name in names})


def _draw_methods(figure: Any, rows: Sequence[ComparisonRow]) -> None:
    """Draw a small map for each method: mean seconds by side and colours; grey: none solved, white: none tried."""
    by_class = scores(rows)
    of_method = {(key, score.method): score for key, ranked in by_class.items() for score in ranked}
    names = [name for name in METHODS if any(row.solver == name for row in rows)]
    lines = (len(names) + 1) // 2
    figure.set_size_inches(10, 1.9 * lines + 0.6)
    for at, name in enumerate(names, 1):

        def cell(key: tuple[int, int], name: str = name) -> tuple[str, str]:
            score = of_method.get((key, name))
            if score is None or not score.solved:
                return (_EMPTY if score is None else _NONE), ""
            return shade(score.seconds), "" if score.solved == score.tried else str(score.solved)

        _map(figure.add_subplot(lines, 2, at), by_class, cell, f"{name}: {METHODS[name].title}")
    limits = {f"{limit:g} s at most": fill for limit, fill in _SHADES}
    _legend(figure, limits | {"more": _SLOWER, "not solved": _NONE})


def _draw_solved(figure: Any, rows: Sequence[ComparisonRow]) -> None:
    """Draw a curve for each method, over a logarithmic axis of time: the puzzles solved in at most that time each."""
    figure.set_size_inches(8, 4.5)
    axes = figure.subplots()
    for name, method in METHODS.items():
        own = [row for row in rows if row.solver == name]
        at = [1e-4, *(max(seconds, 1e-4) for seconds in sorted(times(own))), 10.0]
        solved = [*range(len(at) - 1), len(at) - 2]
        if own:
            axes.step(at, solved, where="post", color=method.colour, label=f"{name} {len(at) - 2}")
    axes.set(xscale="log", xlim=(1e-4, 10), xlabel="seconds of processor time", ylabel="puzzles solved")
    axes.set_title("Puzzles solved within a time of each")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


def _svg(draw: Callable[[Any, Sequence[ComparisonRow]], None], rows: Sequence[ComparisonRow]) -> str:
    """Return, as SVG text, the matplotlib figure on which ``draw`` draws ``rows``."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    text = StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "lns", "font.size": 8, "axes.titlesize": 9}):
        figure = Figure(layout="constrained")
        draw(figure, rows)
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def _map(axes: Any, by_class: Scores, cell: Callable[[tuple[int, int]], tuple[str, str]], title: str) -> None:
    """Draw a map of coloured fields by side and number of colours; ``cell``: class -> (colour of the field, text)."""
    from matplotlib.colors import to_rgb

    sides, colours = (sorted(set(axis)) for axis in zip(*by_class, strict=True))
    cells = [[cell((side, colour_count)) for colour_count in colours] for side in sides]
    axes.pcolormesh([[to_rgb(fill) for fill, _ in row] for row in cells], edgecolors="white")
    axes.invert_yaxis()
    for row, column in product(range(len(sides)), range(len(colours))):
        fill, text = cells[row][column]
        is_dark = sum(part * share for part, share in zip(to_rgb(fill), (0.299, 0.587, 0.114), strict=True)) < 0.55
        ink = "white" if is_dark else "black"
        axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=ink)
    ticks = {f"{axis}ticks": [at + 0.5 for at in range(len(found))] for axis, found in (("x", colours), ("y", sides))}
    axes.set(title=title, **ticks)
    axes.set(xticklabels=colours, yticklabels=[f"{side}x{side}" for side in sides])


def _legend(figure: Any, fills: dict[str, str]) -> None:
    """Draw a legend below the maps; ``fills``: label -> colour."""
    from matplotlib.patches import Patch

    patches = [Patch(color=fill, label=label) for label, fill in fills.items()]
    figure.legend(handles=patches, loc="outside lower center", ncols=8, frameon=False)


PICTURES: dict[str, Callable[[Sequence[ComparisonRow]], str]] = {
    "fastest": partial(_svg, _draw_fastest),
    "methods": partial(_svg, _draw_methods),
    "solved": partial(_svg, _draw_solved),
}
"""Name of a picture -> function that draws result rows and returns SVG text. The functions need matplotlib."""
