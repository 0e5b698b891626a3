"""Which method solves which puzzle: the methods of all papers, and those added here, on the same uniform puzzles.

Sides 5 to 10 and 2 to 30 colours; the first solution, within a limit of processor time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log10

from exact.colorpairs.options import Heuristic, Options
from exact.compare import ComparisonRow
from exact.paper import charts, cuvillier2010
from exact.paper.runs import Plan, PlannedRun, Rows, mean_of, rounded, solver_run, times, uniform_classes
from exact.registry import SOLVERS
from exact.request import Request
from lns_support.optional_deps import is_installed
from lns_support.text_table import aligned

PLAIN, HERE = "plain", "here"
BENOIST, JOLIVET, BAILLEUX, CUVILLIER = "Benoist", "Jolivet", "Bailleux", "Cuvillier"
GROUPS = (PLAIN, BENOIST, JOLIVET, BAILLEUX, CUVILLIER, HERE)


@dataclass(frozen=True)
class Method:
    """A method of the comparison.

    Parameters
    ----------
    letter, colour : str
        Its signs in tables and pictures.
    group : str
        One of `GROUPS`: the paper that it is of, `PLAIN` for the row scan that the papers compare with, or `HERE`.
    title : str
        What it is.
    solver : str
        A name of `exact.registry.SOLVERS`.
    sat_solver : str, optional
        The solver of python-sat, for the solvers ``sat:...``.
    options : Options
        Parts of ColorPairs.
    """

    letter: str
    colour: str
    group: str
    title: str
    solver: str
    sat_solver: str | None = None
    options: Options = field(default_factory=Options)

    @property
    def installed(self) -> bool:
        """Whether its optional package is there."""
        extra = SOLVERS[self.solver].extra
        return extra is None or is_installed(extra)


METHODS = {
    "rowscan": Method("R", "#999999", PLAIN, "row by row, the zig-zag of Jolivet", "rowscan"),
    "colorpairs": Method("C", "#0072b2", BENOIST, "ColorPairs, MinExpectedGap", "colorpairs"),
    "blocks": Method("B", "#009e73", JOLIVET, "2x2 blocks, even sides only", "blocks"),
    "dlx:binary": Method("D", "#66c2a5", JOLIVET, "exact cover, binary code of colours", "dlx:binary"),
    "half-3": Method("H", "#d55e00", BAILLEUX, "HALF-3 with kissat", "sat:half-3", "kissat404"),
    "triangles": Method("T", "#cc79a7", CUVILLIER, "triangles with CaDiCaL", "sat:triangles", "cadical195"),
    "adaptg2wsat": Method("G", "#882255", CUVILLIER, "local search, simplified formula", "sls:adaptg2wsat"),
    "row-major": Method(
        "M", "#56b4e9", HERE, "ColorPairs in reading order", "colorpairs", None, Options(heuristic=Heuristic.ROW_MAJOR)
    ),
    "xcc": Method("X", "#006d4f", HERE, "exact cover with colours, nodes counted", "xcc:counted"),
    "half-2": Method("2", "#e69f00", HERE, "HALF-2 with CaDiCaL", "sat:half-2", "cadical195"),
    "cp": Method("P", "#332288", HERE, "AllDifferent and tables, CP-SAT", "cp"),
}
GROUPING = "blocks"
_SIZES, _COLOURS = (5, 6, 7, 8, 9, 10), (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 30)
PLAN = Plan(_SIZES, tuple(name for name, method in METHODS.items() if method.installed), _COLOURS)
FULL = Plan(_SIZES, tuple(METHODS), _COLOURS, per_size=10, seconds=600.0)


def runs(plan: Plan) -> Iterator[PlannedRun]:
    """Plan all runs; `GROUPING` takes even sides only."""
    for side, colours, seed, puzzle in uniform_classes(plan):
        for name in plan.solvers:
            if name != GROUPING or side % 2 == 0:
                method = METHODS[name]
                request = Request(seconds=plan.seconds, sat_solver=method.sat_solver, options=method.options)
                instance = f"{side}x{side}-c{colours}-s{seed}"
                yield solver_run(instance, puzzle, method.solver, request, label=name)


@dataclass(frozen=True)
class Score:
    """What a method reached in a class: solved puzzles, tried puzzles, and the mean seconds of those solved."""

    method: str
    solved: int
    tried: int
    seconds: float

    @property
    def rank(self) -> tuple[float, float]:
        """The smaller the better: most puzzles solved, then least time."""
        return -self.solved / self.tried, self.seconds

    @property
    def text(self) -> str:
        """The seconds, and the share of puzzles solved if it is not all."""
        if not self.solved:
            return "-"
        share = "" if self.solved == self.tried else f" {100 * self.solved // self.tried}%"
        return ("<0.001" if self.seconds < 0.0005 else f"{self.seconds:.3f}") + share


Scores = dict[tuple[int, int], list[Score]]


def scores(rows: Sequence[ComparisonRow]) -> Scores:
    """The scores of a class, (side, colours), best first; classes in their order."""
    found: Scores = {}
    for (name, method), chosen in Rows(rows).items():
        board, colours = name.split("-c")
        solved = times(chosen)
        score = Score(method, len(solved), len(chosen), mean_of(solved) if solved else float("inf"))
        found.setdefault((int(board.split("x")[0]), int(colours)), []).append(score)
    return {key: sorted(of_class, key=lambda score: score.rank) for key, of_class in sorted(found.items())}


def best_of(ranked: Sequence[Score], group: str) -> Score | None:
    """The best score of the methods of a group; None if none was tried."""
    return next((score for score in ranked if METHODS[score.method].group == group), None)


def printed(side: int, colours: int) -> str:
    """The best published figures of Cuvillier & Szymkowiak for a class: seconds for each solved puzzle, and share."""
    cells = [table.get(colours, {}).get(side * side) for table in cuvillier2010.PAPER.values()]
    known = [(-solved, seconds / solved) for seconds, solved in filter(None, cells) if solved]
    if not known:
        return "-"
    solved, seconds = min(known)
    return f"{rounded(seconds)} ({-solved}%)"


# -- tables -----------------------------------------------------------------------------------------------------------


def tables(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """The text of three tables: the fastest by class, the methods, and the best of each group by class."""
    by_class = scores(rows)
    head = (
        f"{plan.per_size} uniform puzzle{'s' * (plan.per_size > 1)} for each class, first solution, at most "
        f"{plan.seconds:g} s of processor time"
    )
    return "\n\n".join([head, _fastest(by_class, plan), _methods(rows, by_class, plan), _groups(by_class)])


def _fastest(by_class: Scores, plan: Plan) -> str:
    lines = [["colours", *(f"{side}x{side}" for side in plan.sizes)]]
    for colours in plan.colours:
        ranked = [by_class.get((side, colours)) for side in plan.sizes]
        cells = [("" if of is None else f"{of[0].method} {of[0].text}" if of[0].solved else "-") for of in ranked]
        lines.append([str(colours), *cells])
    return "the fastest method and its mean seconds; -: none solved it\n" + aligned(lines)


def _methods(rows: Sequence[ComparisonRow], by_class: Scores, plan: Plan) -> str:
    solved_by = [[score.method for score in ranked if score.solved] for ranked in by_class.values()]
    lines = [["method", "", "of", "solved", "alone", "first in", "mean s", "mean nodes", "what it is"]]
    for name in plan.solvers:
        own = [row for row in rows if row.solver == name]
        solved = [row for row in own if row.status == "solved"]
        if own:
            lines.append([
                name,
                METHODS[name].letter,
                METHODS[name].group,
                f"{len(solved)} of {len(own)}",
                str(sum(names == [name] for names in solved_by)),
                str(sum(names[:1] == [name] for names in solved_by)),
                rounded(mean_of([row.seconds for row in solved])),
                rounded(mean_of([row.nodes for row in solved if row.nodes >= 0])),
                METHODS[name].title,
            ])  # fmt: skip
    head = "methods: puzzles solved, classes that no other solves, classes in which it is the fastest\n"
    return head + aligned(lines)


def _groups(by_class: Scores) -> str:
    lines = [["board", "colours", *GROUPS, "report of 2010"]]
    for (side, colours), ranked in by_class.items():
        best = [best_of(ranked, group) for group in GROUPS]
        cells = ["" if score is None else score.text for score in best]
        lines.append([f"{side}x{side}", str(colours), *cells, printed(side, colours)])
    return (
        "the best of each paper and of what was added here: mean seconds of those solved, -: none;\n"
        "last: the best of the six tables of Cuvillier & Szymkowiak, its seconds a puzzle and share\n"
        + aligned(lines, repeated=2)
    )


# -- pictures ---------------------------------------------------------------------------------------------------------

_SHADES = ((0.001, "#fde725"), (0.01, "#8fd744"), (0.1, "#35b779"), (1.0, "#21908d"), (10.0, "#31688e"))
_SLOWER, _NONE, _EMPTY = "#443a83", "#eeeeee", "#ffffff"


def shade(seconds: float) -> str:
    """The colour of a time: light is fast."""
    return next((fill for limit, fill in _SHADES if seconds <= limit), _SLOWER)


def fastest_picture(rows: Sequence[ComparisonRow]) -> str:
    """A map of the classes: the fastest method of each, with its mean seconds."""
    by_class = scores(rows)
    sides, colours = _axes(by_class)

    def cell(side: int, colour_count: int) -> tuple[str, str]:
        ranked = by_class.get((side, colour_count))
        if ranked is None:
            return _EMPTY, ""
        best = ranked[0]
        return (METHODS[best.method].colour, best.text.split(" ")[0]) if best.solved else (_NONE, "none")

    title = "Fastest method by side and colours, seconds"
    parts = [charts.label(20, 22, title, size=14), *_map(60, 52, sides, colours, cell, pitch=(52, 26))]
    y = 52 + 26 * len(sides) + 24
    names = dict.fromkeys(ranked[0].method for ranked in by_class.values() if ranked[0].solved)
    for at, name in enumerate(names):
        x, below = 60 + 150 * (at % 4), 20 * (at // 4)
        parts.append(charts.rectangle(x, y - 11 + below, 14, 14, METHODS[name].colour))
        parts.append(charts.label(x + 20, y + below, name))
    return charts.document(max(80 + 52 * len(colours), 660), y + 60, parts, title)


def methods_picture(rows: Sequence[ComparisonRow]) -> str:
    """A small map for each method: its mean seconds by side and colours, grey where it solved nothing."""
    by_class = scores(rows)
    sides, colours = _axes(by_class)
    of_method = {(key, score.method): score for key, ranked in by_class.items() for score in ranked}
    title = "Seconds of each method by side and colours"
    names = [name for name in METHODS if any(row.solver == name for row in rows)]
    wide, high = 24, 15
    step_x, step_y = max(wide * len(colours) + 60, 370), high * len(sides) + 52
    parts = [charts.label(20, 22, title, size=14)]
    for at, name in enumerate(names):
        x, y = 45 + step_x * (at % 2), 76 + step_y * (at // 2)

        def cell(side: int, colour_count: int, name: str = name) -> tuple[str, str]:
            score = of_method.get(((side, colour_count), name))
            if score is None or not score.solved:
                return (_EMPTY if score is None else _NONE), ""
            return shade(score.seconds), "" if score.solved == score.tried else str(score.solved)

        parts.append(charts.label(x, y - 20, f"{name}: {METHODS[name].title}", size=11))
        parts += _map(x, y, sides, colours, cell, pitch=(wide, high), size=8)
    y = 76 + step_y * ((len(names) + 1) // 2) - 20
    legend = [(fill, f"{limit:g} s at most") for limit, fill in _SHADES] + [(_SLOWER, "more"), (_NONE, "not solved")]
    for at, (fill, text) in enumerate(legend):
        parts.append(charts.rectangle(45 + 98 * at, y - 10, 12, 12, fill))
        parts.append(charts.label(61 + 98 * at, y, text, size=10))
    return charts.document(max(2 * step_x, 740) + 10, y + 24, parts, title)


def solved_picture(rows: Sequence[ComparisonRow]) -> str:
    """A curve for each method: the puzzles that it solves within a time, on a logarithmic axis."""
    title = "Puzzles solved within a time of each"
    of_method = {name: [row for row in rows if row.solver == name] for name in METHODS}
    of_method = {name: own for name, own in of_method.items() if own}
    most = max(map(len, of_method.values()), default=1)
    left, right, top, low = 50.0, 560.0, 40.0, 330.0
    first, decades = -4, 5  # from 0.1 ms to 10 s

    def x(power: float) -> float:
        return left + (min(max(power, first), first + decades) - first) / decades * (right - left)

    def y(solved: float) -> float:
        return low - solved / most * (low - top)

    parts = [
        charts.label(left, 22, title, size=14),
        charts.line([(left, top), (left, low), (right, low)], charts.INK, 1),
    ]
    for power in range(first, first + decades + 1):
        parts.append(charts.line([(x(power), top), (x(power), low)], charts.PALE, 0.5))
        parts.append(charts.label(x(power), low + 16, f"{10.0**power:g}", size=11, anchor="middle"))
    for part in range(5):
        solved = most * part // 4
        parts.append(charts.label(left - 6, y(solved) + 4, str(solved), size=11, anchor="end"))
    parts.append(charts.label((left + right) / 2, low + 34, "seconds of processor time", anchor="middle"))
    ends = []
    for name, own in of_method.items():
        points = [(left, low)]
        for number, seconds in enumerate(sorted(times(own)), 1):
            at = x(log10(max(seconds, 1e-9)))
            points += [(at, points[-1][1]), (at, y(number))]
        points.append((right, points[-1][1]))
        parts.append(charts.line(points, METHODS[name].colour))
        ends.append((points[-1][1], f"{name} {len(times(own))}", METHODS[name].colour))
    below = top - 15
    for height, text, colour in sorted(ends):  # labels apart from each other
        below = max(below + 15, height)
        parts.append(charts.label(right + 8, below + 4, text, colour=colour))
    return charts.document(right + 130, low + 50, parts, title)


def _axes(by_class: Scores) -> tuple[list[int], list[int]]:
    """The sides and the numbers of colours of the classes, in order."""
    return sorted({side for side, _ in by_class}), sorted({colours for _, colours in by_class})


def _map(
    x: float,
    y: float,
    sides: Sequence[int],
    colours: Sequence[int],
    cell: Callable[[int, int], tuple[str, str]],
    *,
    pitch: tuple[float, float],
    size: float = 10,
) -> list[str]:
    """A table of coloured cells from (x, y) on; ``cell``: (side, colours) -> (fill, text)."""
    (wide, high), grey = pitch, "#555555"
    parts = [
        charts.label(x + wide * (at + 0.5), y - 4, str(name), size=size, anchor="middle", colour=grey)
        for at, name in enumerate(colours)
    ]
    for row, side in enumerate(sides):
        base = y + high * (row + 0.5) + size / 3
        parts.append(charts.label(x - 5, base, f"{side}x{side}", size=size, anchor="end", colour=grey))
        for at, colour_count in enumerate(colours):
            fill, text = cell(side, colour_count)
            parts.append(charts.rectangle(x + wide * at, y + high * row, wide - 1, high - 1, fill))
            if text:
                ink = "#ffffff" if _is_dark(fill) else charts.INK
                middle = x + wide * (at + 0.5)
                parts.append(charts.label(middle, base, text, size=size, anchor="middle", colour=ink))
    return parts


def _is_dark(fill: str) -> bool:
    """Whether white text is easier to read on a colour #rrggbb than black text."""
    red, green, blue = (int(fill[at : at + 2], 16) for at in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue < 140


PICTURES: dict[str, Callable[[Sequence[ComparisonRow]], str]] = {
    "fastest": fastest_picture,
    "methods": methods_picture,
    "solved": solved_picture,
}
"""Name -> function of rows that draws an SVG document."""
