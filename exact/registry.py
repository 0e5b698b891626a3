"""The exact solvers by name: those of this project, those registered in this process, those of installed packages.

A solver is a function ``(puzzle, request) -> Outcome``. Another package offers a solver through an entry point::

    [project.entry-points."lns.solvers"]
    my-solver = "my_package.module:function"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from lns.instances.arguments import checked
from lns.instances.errors import InputError
from lns.instances.text import unknown

if TYPE_CHECKING:
    from lns.exact.execution import Request
    from lns.exact.outcome import Outcome
    from lns.instances.puzzle import Puzzle

ENTRY_POINTS = "lns.solvers"
UNCHECKED = "mates", "rim", "copies"
"""The rules of puzzles, as in `Puzzle.rules`, that a solver from outside this project refuses by default."""


@dataclass(frozen=True)
class SolverEntry:
    """A solver and its properties."""

    description: str  # the method in one line
    source: str  # where the method comes from: paper and section, or package
    function: Callable[..., Any] | str  # (*arguments, puzzle, request) -> Outcome or PausedSearch; or its 'module:name'
    arguments: tuple[Any, ...] = ()
    extra: str | None = None  # key in `lns.exact.optional_deps.EXTRAS` of the optional package that the solver needs
    can_count: bool = True  # whether the solver can search for all solutions
    kernel_module: str | None = None  # dotted name of the module whose kernel the first call compiles
    refuses: tuple[str, ...] = ("copies",)  # the rules of puzzles, as in `Puzzle.rules`, that the solver cannot handle

    def make(self, puzzle: Puzzle, request: Request) -> Any:
        """Call the solver's function and return its result, an Outcome or a PausedSearch."""
        function = _load(self.function) if isinstance(self.function, str) else self.function
        return function(*self.arguments, puzzle, request)

    def __call__(self, puzzle: Puzzle, request: Request) -> Outcome:
        from lns.exact.execution import build_and_run

        return build_and_run(partial(self.make, puzzle, request), request)


def _load(path: str) -> Callable[..., Any]:
    """Import and return the object named by 'module:name'."""
    loaded: Callable[..., Any] = EntryPoint("", path, "").load()
    return loaded


@checked
def register_solver(
    name: str,
    function: Callable[[Puzzle, Request], Outcome],
    *,
    description: str = "registered in this process",
    source: str = "own",
    can_count: bool = True,
    refuses: tuple[str, ...] = UNCHECKED,
) -> None:
    """Make ``function`` available as a solver in this process.

    Child processes, such as those of `lns exact compare`, do not know this solver; solvers of installed packages (entry
    points of the group 'lns.solvers') are known in all processes.

    Parameters
    ----------
    name : str
        Name of the solver for `lns.exact.solve` and `lns.exact.count`.
    function : callable
        ``(puzzle, request) -> Outcome``; see `lns.exact.Request` and `lns.exact.Outcome`. The caller verifies the first
        board of an outcome.
    description, source : str
        The method in one line, and where it comes from, for the list of solvers.
    can_count : bool
        Whether the solver can search for all solutions.
    refuses : tuple of str
        Rules of puzzles that the solver cannot handle (see `Puzzle.rules`): any of 'holes', 'no frame', 'no turns',
        'mates', 'rim', 'copies'.

    Raises
    ------
    InputError
        If a solver of that name exists.
    """
    if name in SOLVERS or name in _plugins():
        raise InputError(f"a solver '{name}' exists already; expected another name")
    SOLVERS[name] = SolverEntry(description, source, function, can_count=can_count, refuses=refuses)


def solver_for(name: str, puzzle: Puzzle, *, count_all: bool) -> SolverEntry:
    """Return the solver ``name``. Raises InputError if it is unknown, refuses the puzzle, or cannot ``count_all``."""
    entry = find_solver(name)
    if count_all and not entry.can_count:
        raise InputError(f"{name} finds one solution and proves nothing, so it cannot count; expected a tree search")
    if refused := [rule for rule in puzzle.rules if rule in entry.refuses]:
        other = "rowscan" if puzzle.copies else "colorpairs"
        raise InputError(
            f"solver {name} takes no puzzle with {' and '.join(refused)}; expected another solver, such as {other}"
        )
    return entry


def find_solver(name: str) -> SolverEntry:
    """Return the solver called ``name``; entry points are read only if no other solver has that name.

    Raises InputError if the solver is unknown, or an entry point has the name of another solver.
    """
    if name in SOLVERS:
        return SOLVERS[name]
    known = all_solvers()
    if name not in known:
        raise InputError(unknown("solver", name, known))
    return known[name]


def all_solvers() -> dict[str, SolverEntry]:
    """Return all solvers by name, those of installed packages last. No solver is imported.

    Raises
    ------
    InputError
        If an entry point has the name of another solver.
    """
    return SOLVERS | _plugins()


def _plugins() -> dict[str, SolverEntry]:
    """Return the solvers that installed packages offer as entry points, by name."""
    plugins: dict[str, SolverEntry] = {}
    for point in entry_points(group=ENTRY_POINTS):
        package = "an installed package" if point.dist is None else point.dist.name
        if point.name in SOLVERS or point.name in plugins:
            raise InputError(f"{package} offers a solver '{point.name}', which exists already; expected another name")
        about, call = f"{point.value}, of {package}", partial(_call_plugin, point)
        plugins[point.name] = SolverEntry(about, package, call, refuses=UNCHECKED)
    return plugins


def _call_plugin(point: EntryPoint, puzzle: Puzzle, request: Request) -> Outcome:
    """Load and call the solver of an entry point. Raises InputError if it cannot be loaded or returns no `Outcome`."""
    from lns.exact.outcome import Outcome

    try:
        function = point.load()
    except Exception as error:
        raise InputError(
            f"solver '{point.name}' cannot be loaded from {point.value} ({type(error).__name__}: {error})"
        ) from error
    answer = function(puzzle, request) if callable(function) else function
    if not isinstance(answer, Outcome):
        raise InputError(f"solver '{point.name}' returned {type(answer).__name__}; expected lns.exact.Outcome")
    return answer


BENOIST, JOLIVET, KNUTH = "Benoist & Bourreau 2008", "Jolivet 2008", "Knuth, TAOCP 7.2.2.1"
BAILLEUX, CUVILLIER = "Bailleux 2025", "Cuvillier & Szymkowiak 2010"


def _pairs(puzzle: Puzzle, request: Request) -> Any:
    return _load("lns.exact.colorpairs.kernel:ColorPairs")(puzzle, request.options, request.seed)


def _cover(code: str) -> Callable[[Puzzle, Request], Any]:
    return lambda puzzle, request: _load("lns.exact.cover.search:Cover")(puzzle, code)


SOLVERS: dict[str, SolverEntry] = {
    "auto": SolverEntry("row scan, ColorPairs and exact cover take turns; the first to end answers", "lns",
                        "lns.exact.portfolio:Portfolio", kernel_module="lns.exact.rowscan", refuses=()),
    "colorpairs": SolverEntry("pairs of colours, preemption, backjumping", BENOIST, _pairs,
                              kernel_module="lns.exact.colorpairs.kernel"),
    "rowscan": SolverEntry("plain depth first, row by row, tables of what fits", f"{BENOIST}, 6; {JOLIVET}, 2.1",
                           lambda puzzle, request: _load("lns.exact.rowscan:RowScan")(puzzle),
                           kernel_module="lns.exact.rowscan", refuses=()),
    "dlx": SolverEntry("exact cover, k items an edge", f"{JOLIVET}, 2.2", _cover("unary"),
                       kernel_module="lns.exact.cover.kernel", refuses=()),
    "dlx:binary": SolverEntry("exact cover, about log2 k items an edge", f"{JOLIVET}, 2.2", _cover("binary"),
                              kernel_module="lns.exact.cover.kernel", refuses=()),
    "xcc": SolverEntry("exact cover with colours, by xcover (reports no nodes)", KNUTH,
                       "lns.exact.cover.search:run_xcover", extra="cover"),
    "xcc:counted": SolverEntry("exact cover with colours, nodes counted", KNUTH, _cover("colours"),
                               kernel_module="lns.exact.cover.kernel", refuses=()),
    "blocks": SolverEntry("all 2x2 blocks, then row by row; even sides only", f"{JOLIVET}, 2.3",
                          lambda puzzle, request: _load("lns.exact.blocks:Blocks")(puzzle),
                          kernel_module="lns.exact.blocks"),
    "cp": SolverEntry("AllDifferent and tables, by OR-tools CP-SAT", f"{BENOIST}, 2.2 and 6", "lns.exact.cp:run_cp",
                      extra="cp"),
    **{
        f"cp:{model}": SolverEntry(f"{description}, by OR-tools' classic solver", f"{BENOIST}, 2.2",
                                   "lns.exact.cp:run_classic", (model,), "cp")
        for model, description in {
            "element": "an Element for each side of a cell, disequalities",
            "element-alldifferent": "an Element for each side of a cell, AllDifferent",
            "table": "a table for each cell, disequalities",
            "table-alldifferent": "a table for each cell, AllDifferent",
        }.items()
    },
    **{
        f"sat:{name}": SolverEntry(description, source, "lns.exact.sat.search:run_sat", (name,), "sat",
                                   # the encodings by triangles give all copies of a piece the same rotation
                                   refuses=("copies",) * name.startswith("triangles"))
        for name, description, source in (
            ("full-4", "piece and rotation, edges in extension", f"{BAILLEUX}, 2.1.1"),
            ("full-2", "oriented pieces, edges in extension", f"{BAILLEUX}, 2.1.2"),
            ("half-3", "piece, rotation and colours of edges", f"{BAILLEUX}, 2.1.3"),
            ("half-2", "oriented pieces and colours of edges", f"{BAILLEUX}, 2.1.4"),
            *((f"{name}-pairs", f"{name}, at most one pair by pair", f"{BAILLEUX}, 2.3.1")
              for name in ("full-4", "full-2", "half-3", "half-2")),
            ("triangles", "placements, orientations, coloured triangles", f"{CUVILLIER}, 2.2"),
            ("triangles-restricted", "coloured triangles, decisions on pieces and orientations only",
             f"{CUVILLIER}, 3.2"),
        )
    },
    **{
        f"sls:{rule}{suffix}": SolverEntry(f"local search: {description}{after}", f"{CUVILLIER}, 1.2.2.1",
                                           "lns.exact.sat.local_search:run_sls", (rule, not suffix), can_count=False,
                                           kernel_module="lns.exact.sat.local_search")
        for rule, description in {
            "adaptnovelty+": "AdaptNovelty+ (Hoos 2002)",
            "adaptg2wsat": "AdaptG2WSAT (Li, Wei, Zhang 2007)",
            "rsaps": "RSAPS (Hutter, Tompkins, Hoos 2002)",
            "dcrwalk": "deterministic conflict-directed random walk (Tompkins, Hoos 2006)",
            "irots": "IRoTS (Smyth, Hoos, Stützle 2003)",
        }.items()
        for suffix, after in (("", ""), ("-raw", ", formula not simplified"))
    },
}  # fmt: skip
