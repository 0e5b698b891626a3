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
from exact.paper.runs import PlannedRun, mean_of, rounded, solver_run, uniform_classes
from exact.registry import SOLVERS
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


@dataclass(frozen=True)
class Plan:
    """The runs: ``per_size`` puzzles for each of ``sizes`` (sides of boards) and ``colours``, by all ``solvers``.

    ``seconds``: limit of a run, in processor time; ``seed``: seed of the first puzzle of each class, the next ones
    count up; ``solvers``: keys of `METHODS`, by default those whose packages are installed.
    """

    sizes: tuple[int, ...] = (5, 6, 7, 8, 9, 10)
    colours: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 30)
    per_size: int = 1
    seconds: float = 1.0
    seed: int = 1
    solvers: tuple[str, ...] = tuple(name for name, method in METHODS.items() if method.installed)


FULL = Plan(per_size=10, seconds=600.0, solvers=tuple(METHODS))


def runs(plan: Plan) -> Iterator[PlannedRun]:
    """Plan all runs; `GROUPING` takes even sides only."""
    for side, colours, seed, puzzle in uniform_classes(plan):
        for name in plan.solvers:
            if name == GROUPING and side % 2:
                continue
            method = METHODS[name]
            yield solver_run(
                f"{side}x{side}-c{colours}-s{seed}",
                puzzle,
                method.solver,
                plan.seconds,
                method.sat_solver,
                label=name,
                options=method.options,
            )


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


def scores(rows: Sequence[ComparisonRow]) -> dict[tuple[int, int], list[Score]]:
    """The scores of a class, (side, colours), best first; classes in their order."""
    found: dict[tuple[int, int], dict[str, list[ComparisonRow]]] = {}
    for row in rows:
        found.setdefault(class_of(row), {}).setdefault(row.solver, []).append(row)
    return {
        key: sorted((_score(method, of_class[method]) for method in of_class), key=lambda score: score.rank)
        for key, of_class in sorted(found.items())
    }


def class_of(row: ComparisonRow) -> tuple[int, int]:
    """Side and colours of the puzzle of a row, whose name is like 6x6-c5-s1."""
    board, colours, _ = row.instance.split("-")
    return int(board.split("x")[0]), int(colours[1:])


def _score(method: str, rows: Sequence[ComparisonRow]) -> Score:
    times = [row.seconds for row in rows if row.status == "solved"]
    return Score(method, len(times), len(rows), mean_of(times) if times else float("inf"))


def tables(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """The text of three tables: the fastest by class, the methods, and the best of each group by class."""
    by_class = scores(rows)
    solvers = [name for name in plan.solvers if any(row.solver == name for row in rows)]
    head = (
        f"{plan.per_size} uniform puzzle{'s' * (plan.per_size > 1)} for each class, first solution, at most "
        f"{plan.seconds:g} s of processor time\n\n"
    )
    parts = [_fastest(by_class, plan), _methods(rows, by_class, solvers), _groups(by_class)]
    return head + "\n\n".join(parts)


def _fastest(by_class: dict[tuple[int, int], list[Score]], plan: Plan) -> str:
    lines = [["colours", *(f"{side}x{side}" for side in plan.sizes)]]
    for colours in plan.colours:
        line = [str(colours)]
        for side in plan.sizes:
            best = next(iter(by_class.get((side, colours), [])), None)
            line.append("" if best is None else "-" if not best.solved else f"{best.method} {_seconds(best)}")
        lines.append(line)
    return "the fastest method and its mean seconds; -: none solved it\n" + aligned(lines)


def _methods(
    rows: Sequence[ComparisonRow], by_class: dict[tuple[int, int], list[Score]], solvers: Sequence[str]
) -> str:
    lines = [["method", "", "of", "solved", "alone", "first in", "mean s", "mean nodes", "what it is"]]
    for name in solvers:
        own = [row for row in rows if row.solver == name]
        solved = [row for row in own if row.status == "solved"]
        nodes = [row.nodes for row in solved if row.nodes >= 0]
        first = sum(bool(ranked[0].solved) and ranked[0].method == name for ranked in by_class.values())
        alone = sum(
            any(score.method == name and score.solved for score in ranked)
            and sum(score.solved > 0 for score in ranked) == 1
            for ranked in by_class.values()
        )
        lines.append(
            [
                name,
                METHODS[name].letter,
                METHODS[name].group,
                f"{len(solved)} of {len(own)}",
                str(alone),
                str(first),
                rounded(mean_of([row.seconds for row in solved])),
                rounded(mean_of(nodes)),
                METHODS[name].title,
            ]
        )
    return "methods: puzzles solved, classes that no other solves, classes in which it is the fastest\n" + aligned(
        lines
    )


def _groups(by_class: dict[tuple[int, int], list[Score]]) -> str:
    lines = [["board", "colours", *GROUPS, "report of 2010"]]
    for (side, colours), ranked in by_class.items():
        line = [f"{side}x{side}", str(colours)]
        for group in GROUPS:
            best = best_of(ranked, group)
            line.append("" if best is None else _seconds(best))
        lines.append([*line, printed(side, colours)])
    return (
        "the best of each paper and of what was added here: mean seconds of those solved, -: none;\n"
        "last: the best of the six tables of Cuvillier & Szymkowiak, its seconds a puzzle and share\n"
        + aligned(lines, repeated=2)
    )


def best_of(ranked: Sequence[Score], group: str) -> Score | None:
    """The best score of a group, None if none of its methods was tried."""
    return next((score for score in ranked if METHODS[score.method].group == group), None)


def printed(side: int, colours: int) -> str:
    """The best published figures of Cuvillier & Szymkowiak for a class: seconds for each solved puzzle, and share."""
    cells = [table.get(colours, {}).get(side * side) for table in cuvillier2010.PAPER.values()]
    known = [(-solved, seconds / solved) for seconds, solved in filter(None, cells) if solved]
    if not known:
        return "-"
    solved, seconds = min(known)
    return f"{rounded(seconds)} ({-solved}%)"


def _seconds(score: Score) -> str:
    if not score.solved:
        return "-"
    share = "" if score.solved == score.tried else f" {100 * score.solved // score.tried}%"
    return ("<0.001" if score.seconds < 0.0005 else f"{score.seconds:.3f}") + share


_SHADES = ((0.001, "#fde725"), (0.01, "#8fd744"), (0.1, "#35b779"), (1.0, "#21908d"), (10.0, "#31688e"))
_SLOWER, _NONE = "#443a83", "#eeeeee"


def shade(seconds: float) -> str:
    """The colour of a time: light is fast."""
    return next((fill for limit, fill in _SHADES if seconds <= limit), _SLOWER)


def fastest_picture(rows: Sequence[ComparisonRow]) -> str:
    """A map of the classes: the fastest method of each, with its mean seconds."""
    by_class = scores(rows)
    sides, colours = _axes(by_class)

    def cell(row: int, column: int) -> tuple[str, str]:
        ranked = by_class.get((sides[row], colours[column]))
        if ranked is None:
            return "#ffffff", ""
        best = ranked[0]
        return (METHODS[best.method].colour, _seconds(best).split(" ")[0]) if best.solved else (_NONE, "none")

    title = "Fastest method by side and colours, seconds"
    wide = 52
    parts = [charts.label(20, 22, title, size=14)]
    parts += charts.cell_map(60, 52, _names(sides), list(map(str, colours)), cell, pitch=(wide, 26))
    y = 52 + 26 * len(sides) + 24
    for at, name in enumerate(dict.fromkeys(ranked[0].method for ranked in by_class.values() if ranked[0].solved)):
        x = 60 + 150 * (at % 4)
        parts.append(charts.rectangle(x, y - 11 + 20 * (at // 4), 14, 14, METHODS[name].colour))
        parts.append(charts.label(x + 20, y + 20 * (at // 4), name))
    return charts.document(max(80 + wide * len(colours), 660), y + 60, parts, title)


def methods_picture(rows: Sequence[ComparisonRow]) -> str:
    """A small map for each method: its mean seconds by side and colours, grey where it solved nothing."""
    by_class = scores(rows)
    sides, colours = _axes(by_class)
    title = "Seconds of each method by side and colours"
    names = [name for name in METHODS if any(row.solver == name for row in rows)]
    wide, high = 24, 15
    step_x, step_y = max(wide * len(colours) + 60, 370), high * len(sides) + 52
    parts = [charts.label(20, 22, title, size=14)]
    for at, name in enumerate(names):
        x, y = 45 + step_x * (at % 2), 76 + step_y * (at // 2)

        def cell(row: int, column: int, name: str = name) -> tuple[str, str]:
            ranked = by_class.get((sides[row], colours[column]), [])
            score = next((score for score in ranked if score.method == name), None)
            if score is None:
                return "#ffffff", ""
            if not score.solved:
                return _NONE, ""
            return shade(score.seconds), "" if score.solved == score.tried else str(score.solved)

        parts.append(charts.label(x, y - 20, f"{name}: {METHODS[name].title}", size=11))
        parts += charts.cell_map(x, y, _names(sides), list(map(str, colours)), cell, pitch=(wide, high), size=8)
    y = 76 + step_y * ((len(names) + 1) // 2) - 20
    legend = [(fill, f"{limit:g} s at most") for limit, fill in _SHADES] + [(_SLOWER, "more"), (_NONE, "not solved")]
    for at, (fill, text) in enumerate(legend):
        parts.append(charts.rectangle(45 + 98 * at, y - 10, 12, 12, fill))
        parts.append(charts.label(61 + 98 * at, y, text, size=10))
    return charts.document(max(2 * step_x, 740) + 10, y + 24, parts, title)


def solved_picture(rows: Sequence[ComparisonRow]) -> str:
    """A curve for each method: the puzzles that it solves within a time, on a logarithmic axis."""
    title = "Puzzles solved within a time of each"
    names = [name for name in METHODS if any(row.solver == name for row in rows)]
    most = max((sum(row.solver == name for row in rows) for name in names), default=1)
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
    for name in names:
        times = sorted(row.seconds for row in rows if row.solver == name and row.status == "solved")
        points = [(left, low)]
        for number, seconds in enumerate(times, 1):
            at = x(log10(max(seconds, 1e-9)))
            points += [(at, points[-1][1]), (at, y(number))]
        points.append((right, points[-1][1]))
        parts.append(charts.line(points, METHODS[name].colour))
        ends.append((points[-1][1], f"{name} {len(times)}", METHODS[name].colour))
    below = top - 15
    for height, text, colour in sorted(ends):  # labels apart from each other
        below = max(below + 15, height)
        parts.append(charts.label(right + 8, below + 4, text, colour=colour))
    return charts.document(right + 130, low + 50, parts, title)


def _axes(by_class: dict[tuple[int, int], list[Score]]) -> tuple[list[int], list[int]]:
    """The sides and the numbers of colours of the classes, in order."""
    return sorted({side for side, _ in by_class}), sorted({colours for _, colours in by_class})


def _names(sides: Sequence[int]) -> list[str]:
    return [f"{side}x{side}" for side in sides]


PICTURES: dict[str, Callable[[Sequence[ComparisonRow]], str]] = {
    "fastest": fastest_picture,
    "methods": methods_picture,
    "solved": solved_picture,
}
"""Name -> function of rows that draws an SVG document."""
