"""What is searched, and how: the arguments of `lns.solve` and `lns.resume`, what stands for those not given."""

from __future__ import annotations

import logging
import multiprocessing
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from lns import params as parameters
from lns.api.files import BoardSource, PuzzleSource
from lns.api.kept_params import DEFAULTS, find
from lns.api.progress import ProgressView
from lns.api.stopping import MaxSteps, StopRule
from lns.cores import available_cores, max_workers
from lns.engine import FoundBoard
from lns.engines import ENGINES
from lns.instances.arguments import checked_class
from lns.instances.errors import InputError
from lns.instances.pairing import pairing
from lns.instances.puzzle import Puzzle
from lns.instances.text import count_of, printable
from lns.params import Params
from lns.rounds import MAX_ISLANDS
from lns.runs.directory import LEAST_CHECKPOINT_S
from lns.runs.history import UNLIMITED_S, RunHistory
from lns.worker_pool import UNGUARDED, WORKER_NAME, Workers

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger("lns")

DEFAULT_SECONDS = 60.0
Pins = str | Iterable[int]
ParamsSource = Params | dict[str, Any] | str | os.PathLike[str]


@checked_class
@dataclass(frozen=True, kw_only=True)
class SessionSpec:
    """How one session of a search is made; the fields are those of `RunSpec`."""

    time: float | None = None
    workers: int | None = None
    steps: int | None = None
    stop: StopRule | None = None
    on_improve: Callable[[FoundBoard], object] | None = None
    progress: str | bool | ProgressView | None = "auto"
    raise_interrupt: bool = False
    executor: Executor | Client | None = None

    @property
    def seconds(self) -> float:
        """Seconds of search at most. Raises InputError for a time that cannot be."""
        if self.time is None:
            return DEFAULT_SECONDS if self.steps is None and self.stop is None else UNLIMITED_S
        if not 0 < self.time <= UNLIMITED_S:
            raise InputError(f"a time of {self.time} s; expected more than 0 and at most {UNLIMITED_S:.0f} s")
        return float(self.time)

    @property
    def rules(self) -> tuple[StopRule, ...]:
        """The rules each of which ends the search."""
        return () if self.stop is None else self.stop.alternatives

    @property
    def most_steps(self) -> int | None:
        """Steps of each island at most, by ``steps`` and by the rule; None without a limit."""
        limits = [rule.steps for rule in self.rules if isinstance(rule, MaxSteps)]
        return min([*limits, *([] if self.steps is None else [self.steps])], default=None)

    @property
    def grows(self) -> bool:
        """Whether islands are added where there is room for more."""
        return self.workers is None and self.most_steps is None

    def check_workers(self) -> None:
        """Raise InputError for a number of workers that cannot be."""
        here = self.executor is None or isinstance(self.executor, Executor)
        if self.workers is not None:
            check_workers(self.workers, max_workers() if here else MAX_ISLANDS)


@checked_class
@dataclass(frozen=True, kw_only=True)
class RunSpec(SessionSpec):
    """A run that is to be made: what is searched, from where, how long, and where it is recorded.

    Parameters
    ----------
    puzzle : Puzzle, str or path-like
        Puzzle, or what `load_puzzle` reads. Of a board only the pieces and the official clues that it holds are taken;
        ``start`` begins with a board.
    time : float, optional
        Seconds of search at most; the compilation of kernels does not count. A minute by default, no limit if
        ``steps`` or ``stop`` is given.
    workers : int, optional
        Islands: independent searches that tell each other their best boards, a process each. By default one for each
        core that this process may use; one in all if an ``executor`` is given that is no client of a cluster, or if an
        operator is registered in this process only.
    seed : int, optional
        Random seed. One worker with the same seed and version makes the same search. By default it is drawn at random;
        ``Result.seed`` and ``best.json`` have it.
    start : Board, str or path-like, optional
        Board to polish first. Empty cells are filled; the result is never worse.
    pins : str or iterable of int, optional
        Cells of the start board that stay: numbers from 0, or a text such as ``"3,10-20,r0-11"`` (``r``: rows).
    params : Params, dict, str or path-like, optional
        Parameters: an object, nested dicts as in TOML, or a TOML file; ``"default"`` for the defaults. Without it,
        those that `lns.tune` has proved better for this puzzle or its family on this machine, else the defaults.
    engine : {"auto", "construct", "beam", "tabu", "lns"}
        The whole loop, or one part alone.
    target : int, optional
        Matched inner edges at which the search ends; a perfect board always ends it.
    steps : int, optional
        Steps of each island: a limit that does not depend on the speed of the machine.
    stop : StopRule, optional
        Rule that ends the search, such as ``MaxTime(600) | NoImprovement(120)``.
    run_dir : str or path-like, optional
        New directory for best board, log, checkpoints. Without it nothing is written.
    min_score : int, optional
        Boards of at least this score go into the log of the run directory; by default the best so far less one.
    checkpoint_s : float
        Seconds between two checkpoints of a run directory.
    on_improve : callable, optional
        Called with each new best (a `FoundBoard`: ``board``, ``score``, ``origin``), in the calling thread.
    progress : {"auto", "terminal", "notebook", "none"}, bool or ProgressView
        How to show where the search is; False: not at all. ``"auto"``: a bar of tqdm in a notebook, a line on a
        terminal, else nothing.
    raise_interrupt : bool
        Whether Ctrl-C, after it has ended the search in order, raises KeyboardInterrupt; by default the result is
        returned.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Searches the islands instead of processes on this machine. Workers of a Dask cluster keep their islands, and
        ``workers`` is by default the number of their threads, also of those that join later. To other executors the
        state of an island travels with each round of two seconds.
    instance : str, optional
        How ``best.json`` and ``run.json`` name the puzzle; by default the source, or the puzzle's name.
    start_format : str, optional
        Format of the start board, as for `load_board`.
    start_number : int, optional
        Which of several boards in ``start``, from 1.
    notes : sequence of str
        Sentences on how the puzzle was read, for the log.
    """

    puzzle: PuzzleSource = field(kw_only=False)
    seed: int | None = None
    start: BoardSource | None = None
    pins: Pins | None = None
    params: ParamsSource | None = None
    engine: str = "auto"
    target: int | None = None
    run_dir: str | os.PathLike[str] | None = None
    min_score: int | None = None
    checkpoint_s: float = 60.0
    instance: str | None = None
    start_format: str | None = None
    start_number: int | None = None
    notes: Sequence[str] = ()

    def name_of(self, puzzle: Puzzle) -> str:
        """How the files of the run name its puzzle."""
        name = self.instance
        if name is None and not isinstance(self.puzzle, Puzzle):
            name = os.fspath(self.puzzle)
        return puzzle.name if name is None or "\n" in name else name

    def check(self, puzzle: Puzzle) -> None:
        """Raise InputError for a number or a name that cannot be, of a run for ``puzzle``."""
        most = puzzle.max_score
        if self.engine not in ENGINES:
            near = get_close_matches(str(self.engine), ENGINES, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"expected one of {', '.join(ENGINES)}"
            raise InputError(f"unknown engine '{self.engine}': {hint}")
        self.check_workers()
        if self.seed is not None and not 0 <= self.seed < 2**64:
            raise InputError(f"a seed of {self.seed}; expected 0 to 2**64 - 1")
        if self.target is not None and not 0 <= self.target <= most:
            raise InputError(f"a target of {self.target} cannot be reached: {puzzle.name} has {most} inner edges")
        if self.target is not None and self.target > (possible := pairing(puzzle)).best_possible:
            raise InputError(f"a target of {self.target} cannot be reached: {possible}")
        if self.steps is not None and self.steps < 1:
            raise InputError(f"{self.steps} steps; expected 1 or more")
        if self.min_score is not None and not 0 <= self.min_score <= most:
            raise InputError(f"a least score of {self.min_score}; expected 0 to {most}, the best of {puzzle.name}")
        if not self.checkpoint_s >= LEAST_CHECKPOINT_S:
            raise InputError(
                f"a checkpoint every {self.checkpoint_s:g} s is too often; expected {LEAST_CHECKPOINT_S:g} seconds or "
                "more"
            )


@checked_class
@dataclass(frozen=True, kw_only=True)
class ResumeSpec(SessionSpec):
    """A run that goes on.

    Parameters
    ----------
    run_dir : str or path-like
        Run directory that `solve` made; it may have been moved.
    time : float, optional
        Seconds more, instead of what is left of the time that was asked for.
    workers : int, optional
        Islands; by default as many as last time. With fewer the others wait for a later call.
    steps, stop, on_improve, progress, raise_interrupt, executor
        As for `solve`.
    """

    run_dir: str | os.PathLike[str] = field(kw_only=False)


class ChosenParams(NamedTuple):
    """The parameters of a search."""

    params: Params
    source: str  # where they are from, for run.json
    note: str  # what is said of them; "" where there is nothing to say


def choose_parameters(params: ParamsSource | None, puzzle: Puzzle, engine: str) -> ChosenParams:
    """The parameters that are given; if none are, those that a study proved for the puzzle, else the defaults."""
    if isinstance(params, Params):
        return ChosenParams(params, "given", "")
    if isinstance(params, dict):
        return ChosenParams(parameters.from_dict(params), "given", "")
    if params is not None and os.fspath(params) != DEFAULTS:
        return ChosenParams(parameters.load(os.fspath(params)), printable(os.fspath(params), 1000), "")
    kept, note = find(puzzle, engine) if params is None else (None, "")
    if kept is None:
        return ChosenParams(Params(), DEFAULTS, note)
    said = f"parameters of {kept} (use --params default for the defaults)"
    return ChosenParams(kept.params, f"{kept.study}: {kept.gain}", said)


def where_to_search(executor: Executor | Client | None, checkpoint_s: float) -> Executor | None:
    """Where rounds are searched; a client of a cluster becomes its workers."""
    if executor is None or isinstance(executor, Executor):
        return executor
    from lns.cluster import DaskWorkers
    from lns.cluster_client import is_client

    if not is_client(executor):
        raise InputError(
            f"the executor is of the type {type(executor).__name__}; expected a concurrent.futures.Executor or a "
            "distributed.Client"
        )
    return DaskWorkers(executor, state_s=checkpoint_s)


def capacity_of(searching: Executor | None) -> int:
    """Threads of a cluster; 0 elsewhere."""
    return searching.capacity if isinstance(searching, Workers) else 0


def default_workers(engine: str, searching: Executor | None) -> int:
    """One worker for each core or thread of a cluster; one in all where workers would not know all operators."""
    if searching is not None:
        return max(1, capacity_of(searching))
    if engine == "lns":
        from lns.neighbourhoods.operators import process_only_operators

        if process_only_operators():
            return 1
    return available_cores()


def resumed_workers(searching: Executor | None, history: RunHistory) -> int:
    """As many workers as a cluster has threads; elsewhere as in the last session, if this machine may have as many."""
    if capacity := capacity_of(searching):
        return capacity
    last = history.sessions[-1].workers if history.sessions else 1
    if last <= max_workers():
        return last
    cores = available_cores()
    log.warning(
        "the last session had %s, more than this machine may have: now %s, one for each core; --workers sets another "
        "number", count_of(last, "worker"), count_of(cores, "worker"),
    )  # fmt: skip
    return cores


def check_workers(workers: int, most: int) -> None:
    """Raise InputError for a number of workers that cannot be."""
    if workers > most:
        where = f"{os.cpu_count()} processors" if most < MAX_ISLANDS else "one run"
        raise InputError(f"{workers} workers are too many for {where}; expected at most {most}")
    if workers < 1:
        raise InputError(f"{workers} workers; expected 1 or more")


def refuse_import_of_main(function: str) -> None:
    """Raise InputError in a process that imports a script whose call is not guarded: workers would start workers.

    A worker of `lns` ends with a status that tells its parent, which says so once.
    """
    process = multiprocessing.current_process()
    if getattr(process, "_inheriting", False):
        if process.name.startswith(WORKER_NAME):
            raise SystemExit(UNGUARDED)
        raise InputError(
            f"{function} was called while a worker imports the main module; expected the call in the script under "
            "if __name__ == '__main__':"
        )
