"""`compare`: exact solvers on instances, each run in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lns.api.files import PuzzleSource, load_puzzle
from lns.exact.compare import ComparisonRow, table
from lns.exact.compare import compare as run_solvers
from lns.exact.execution import Request
from lns.exact.registry import all_solvers, find_solver
from lns.instances.arguments import checked
from lns.instances.puzzle import Puzzle
from lns.instances.records import Records


@dataclass(frozen=True)
class SolverRun(ComparisonRow):
    """One solver on one instance. Numbers are None where nothing is known."""

    solutions: Any = None
    nodes: Any = None
    seconds: Any = None
    megabytes: Any = None


@dataclass(frozen=True)
class Comparison(Records):
    """Solvers on instances: a row for each run."""

    rows: tuple[SolverRun, ...]
    interrupted: bool = False  # whether Ctrl-C ended the comparison; the rows are those of the runs before

    def records(self) -> list[dict[str, Any]]:
        """A dict for each run; None where a number is unknown."""
        return [asdict(row) for row in self.rows]

    def summary(self) -> str:
        """The rows as an aligned table."""
        return table(self.rows)


@checked
def compare(
    puzzles: PuzzleSource | Iterable[PuzzleSource] | Mapping[str, PuzzleSource],
    solvers: str | Iterable[str] = ("colorpairs", "rowscan"),
    *,
    count: bool = False,
    time: float | None = 60.0,
    memory: int | None = None,
    fix_corner: bool = False,
    sat_solver: str | None = None,
    seed: int = 0,
    output: str | os.PathLike[str] | None = None,
    on_row: Callable[[SolverRun], object] | None = None,
) -> Comparison:
    """Run several exact solvers on several puzzles.

    Parameters
    ----------
    puzzles : Puzzle, str, path-like, or iterable of them, or dict
        Puzzles, or what `load_puzzle` reads; a dict gives them names for the table.
    solvers : str or iterable of str
        Names of exact solvers; ``"all"`` for all. `lns exact solvers` lists them.
    count : bool
        Whether all solutions are counted; by default the first one is searched for.
    time : float, optional
        Seconds of each search, without compilation.
    memory : int, optional
        Limit of each run in bytes.
    fix_corner, sat_solver, seed
        Whether rotated copies count once; python-sat's name of the SAT solver; random seed of the local searches.
    output : str or path-like, optional
        CSV file to which a row for each run is appended; runs that it has already are not repeated.
    on_row : callable, optional
        Called with each row (a `SolverRun`) as it is made.

    Returns
    -------
    Comparison
        ``to_frame()`` and ``summary()`` are the table.

    Raises
    ------
    InputError
        Unknown solver, or a file that holds something else. A solver that refuses a puzzle has a row that says so.
    OSError
        The file cannot be written.

    Notes
    -----
    Runs of `lns.solve`, which the command `lns compare` compares, are rows of `lns.status`.
    """
    names = [solvers] if isinstance(solvers, str) else [*solvers]
    names = [*all_solvers()] if names == ["all"] else names
    for name in names:
        find_solver(name)
    if isinstance(puzzles, Mapping):
        named = [*puzzles.items()]
    else:
        each = [puzzles] if isinstance(puzzles, Puzzle | str | os.PathLike) else puzzles
        named = [(one.name if isinstance(one, Puzzle) else os.fspath(one), one) for one in each]
    known = [(name, load_puzzle(source)) for name, source in named]
    request = Request(count, None, time, memory=memory, sat_solver=sat_solver, seed=seed, fix_corner=fix_corner)
    rows: list[SolverRun] = []
    try:
        for row in run_solvers(known, names, request, None if output is None else Path(output)):
            values: dict[str, Any] = {name: None if value == -1 else value for name, value in asdict(row).items()}
            rows.append(SolverRun(**values))
            if on_row is not None:
                on_row(rows[-1])
    except KeyboardInterrupt:
        return Comparison(tuple(rows), interrupted=True)
    return Comparison(tuple(rows))
