"""What a solver is asked to do: the same few fields for every method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from exact.colorpairs.options import Options
from exact.driver import ProgressCallback
from instances.board import Board
from lns_support.errors import InputError


@dataclass(frozen=True)
class Request:
    """What is asked of a solver: the first solution or all of them, and within which limits.

    Parameters
    ----------
    count_all : bool
        Search for all solutions; otherwise for the first.
    nodes : int, optional
        Budget of nodes, in the solver's own unit (see `exact.outcome.Outcome`). None is no limit.
    seconds : float, optional
        Budget of time, without compilation; building a model counts. None is no limit.
    options : Options
        Parts of ColorPairs to switch on or off. Other solvers ignore it.
    on_progress : callable, optional
        Called with a `exact.driver.Progress` about every tenth of a second.
    memory : int, optional
        Limit in bytes on the address space, for solvers that run in a child process.
    sat_solver : str, optional
        python-sat's name of the SAT solver, for the solvers ``sat:...``.
    seed : int
        Random seed, for the local searches ``sls:...`` and for ``options.random_cell``.
    on_solution : callable, optional
        Called with each board found. A solver that distinguishes duplicate pieces may report boards that look equal.
    processor_time : bool
        Seconds are of processor time, both as a limit and in the answer: fair on a busy machine.

    Raises
    ------
    InputError
        If a budget is negative or not a number.
    """

    count_all: bool = False
    nodes: int | None = None
    seconds: float | None = None
    options: Options = field(default_factory=Options)
    on_progress: ProgressCallback | None = None
    memory: int | None = None
    sat_solver: str | None = None
    seed: int = 0
    on_solution: Callable[[Board], None] | None = None
    processor_time: bool = False

    def __post_init__(self) -> None:
        for name in ("nodes", "seconds", "memory"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InputError(f"a budget of {value} {name.replace('memory', 'bytes')}; expected 0 or more")
