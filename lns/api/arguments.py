"""The arguments of `lns.solve` and `lns.resume`, their checks, and their default values."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from lns import cells
from lns import params as parameters
from lns.api.files import BoardSource, PuzzleSource, is_text, legal_start, pinned, read_board
from lns.api.kept_params import DEFAULTS, find
from lns.api.result import ProgressView
from lns.api.stopping import MaxSteps, StopRule
from lns.assignment import fill
from lns.cores import max_workers
from lns.engine import FoundBoard
from lns.engines import ENGINES
from lns.gpu import check_card
from lns.instances.arguments import checked_class
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import source_name
from lns.instances.pairing import pairing
from lns.instances.puzzle import Clue, Puzzle, refuse_copies
from lns.instances.text import printable, unknown
from lns.instances.verify import verify
from lns.params import Params
from lns.rounds import MAX_ISLANDS
from lns.runs.directory import LEAST_CHECKPOINT_S
from lns.runs.history import UNLIMITED_S

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger("lns")

P = ParamSpec("P")
Spec = TypeVar("Spec")
R = TypeVar("R")

DEFAULT_SECONDS = 60.0
Pins = str | Iterable[int]
ParamsSource = Params | dict[str, Any] | str | os.PathLike[str]


@checked_class
@dataclass(frozen=True, kw_only=True)
class SessionSpec:
    """Arguments that `solve` and `resume` have in common; `RunSpec` describes them."""

    time: float | None = None
    workers: int | None = None
    steps: int | None = None
    stop: StopRule | None = None
    on_improve: Callable[[FoundBoard], object] | None = None
    progress: str | bool | ProgressView | None = "auto"
    raise_interrupt: bool = False
    executor: Executor | Client | None = None

    def __post_init__(self) -> None:
        """Raise InputError if the time limit, the number of workers or the number of steps is out of range."""
        check_workers(self.workers, elsewhere=not isinstance(self.executor, Executor | None))
        if self.time is not None and not 0 < self.time <= UNLIMITED_S:
            raise InputError(f"a time of {self.time} s; expected more than 0 and at most {UNLIMITED_S:.0f} s")
        if self.steps is not None and self.steps < 1:
            raise InputError(f"{self.steps} steps; expected 1 or more")

    @property
    def seconds(self) -> float:
        """The time limit in seconds: ``time`` or its default; `UNLIMITED_S` if the time is not limited."""
        if self.time is None:
            return DEFAULT_SECONDS if self.steps is None and self.stop is None else UNLIMITED_S
        return float(self.time)

    @property
    def rules(self) -> tuple[StopRule, ...]:
        """The stop rules each of which alone can end the search; empty without ``stop``."""
        return () if self.stop is None else self.stop.alternatives

    @property
    def most_steps(self) -> int | None:
        """Most steps of each island: the least of ``steps`` and all limits by `MaxSteps`; None without a limit."""
        limits = [rule.steps for rule in self.rules if isinstance(rule, MaxSteps)]
        return min([*limits, *([] if self.steps is None else [self.steps])], default=None)


@checked_class
@dataclass(frozen=True, kw_only=True)
class RunSpec(SessionSpec):
    """Arguments of `solve`: the puzzle, start board, engine, limits and run directory of a new run.

    Parameters
    ----------
    puzzle : Puzzle, str or path-like
        Puzzle, or a source for `load_puzzle`. From a board only the puzzle is taken, with its own clues or else the
        official clues that the board holds; pass the board as ``start`` to begin the search with it.
    time : float, optional
        Time limit of the search in seconds; the compilation of kernels does not count. By default a minute,
        or no limit if ``steps`` or ``stop`` is given.
    workers : int, optional
        Number of islands: searches in processes of their own that exchange their best boards. By default one per core
        that this process may use; one with an ``executor`` that is no cluster client, or with engine ``"lns"`` if an
        operator is registered in this process only.
    seed : int, optional
        Random seed. With one worker, the same seed and version repeat the same search. By default it is drawn at
        random; ``Result.seed`` and ``best.json`` record it.
    start : Board, str or path-like, optional
        Board from which the search begins. Its empty cells are filled; the result is never worse.
    pins : str or iterable of int, optional
        Cells of the start board to keep unchanged: indices from 0, or a text such as ``"3,10-20,r0-11"`` (``r``: rows).
    params : Params, dict, str or path-like, optional
        Parameters: an object, nested dicts as in TOML, or a TOML file; ``"default"`` for the defaults. If not
        given: those that `lns.tune` has proved better on this machine for this puzzle or its family, else the defaults.
    engine : {"auto", "gpu", "construct", "beam", "tabu", "lns"}
        ``"auto"``: the whole search; ``"gpu"``: the same with a graphics card; each other name: that part alone.
    target : int, optional
        Score (matched inner edges) at which the search ends; a perfect board always ends the search.
    steps : int, optional
        Most steps of each island, where a step applies one operator; this limit does not depend on the machine's speed.
    stop : StopRule, optional
        Rule that ends the search, such as ``MaxTime(600) | NoImprovement(120)``.
    run_dir : str or path-like, optional
        New directory for the best board, log and checkpoints. Without it nothing is written.
    min_score : int, optional
        Least score of boards to log in the run directory; by default the parameter ``search_floor`` if it is set, else
        the best score so far minus one.
    checkpoint_s : float
        Seconds between two checkpoints of a run directory.
    on_improve : callable, optional
        Called with new best boards (each a `FoundBoard`: ``board``, ``score``, ``origin``), in the calling thread.
    progress : {"auto", "terminal", "notebook", "none"}, bool or ProgressView
        How to show progress; False: not at all. ``"auto"``: a tqdm bar in a notebook, one line on a terminal, and
        nothing anywhere else.
    raise_interrupt : bool
        Whether to raise KeyboardInterrupt once Ctrl-C has stopped the search and the run is saved; by default the
        result is returned even then.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Runs the islands in place of processes on this machine. On a Dask cluster each worker keeps the state of its
        islands, and ``workers`` is by default the number of the cluster's threads, including those that join later.
        To any other executor the state of each island is sent with every round of two seconds.
    instance : str, optional
        Name of the puzzle in ``best.json`` and ``run.json``; by default the source, or the puzzle's own name.
    start_format : str, optional
        Format of the start board, as for `load_board`.
    start_number : int, optional
        Number of the board, from 1, if ``start`` holds several.
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

    def __post_init__(self) -> None:
        super().__post_init__()
        check_seed(self.seed)
        if not self.checkpoint_s >= LEAST_CHECKPOINT_S:
            every, least = f"{self.checkpoint_s:g} s", f"{LEAST_CHECKPOINT_S:g} seconds"
            raise InputError(f"a checkpoint every {every} is too often; expected {least} or more")

    def name_of(self, puzzle: Puzzle) -> str:
        """Return the name of the puzzle for the run's files: ``instance``, the source, or the puzzle's own name."""
        name = self.instance
        if name is None and not isinstance(self.puzzle, Puzzle):
            name = os.fspath(self.puzzle)
        return puzzle.name if name is None or is_text(name) else name

    def start_board(self, puzzle: Puzzle) -> tuple[FoundBoard | None, tuple[Clue, ...], tuple[str, ...]]:
        """Return the filled start board (None without one), clues that keep its pinned cells, and notes for the log.

        Raises InputError if the board breaks a rule, or if cells cannot be pinned.
        """
        if self.start is None:
            if self.pins is not None:
                raise InputError("pins keep cells of a start board; expected a start board beside them")
            return None, (), ()
        given, notes = read_board(self.start, puzzle, self.start_format, self.start_number)
        source = None if isinstance(self.start, Board) else source_name(os.fspath(self.start))
        full = fill(puzzle, legal_start(puzzle, given, source))
        named = cells.parse(self.pins, puzzle) if isinstance(self.pins, str) else self.pins
        pins = () if named is None else pinned(puzzle, given, full, named)
        score = verify(puzzle, full).score
        noted = *(f"start board: {note}" for note in notes), f"the start board has score {score} of {puzzle.max_score}"
        return FoundBoard(full, score, "start"), pins, noted

    def check(self, puzzle: Puzzle) -> None:
        """Raise InputError if no run can search ``puzzle``, or if engine, target or ``min_score`` is impossible."""
        refuse_copies(puzzle, "polish" if self.engine == "polish" else "solve")
        most = puzzle.max_score
        if self.engine not in ENGINES:
            raise InputError(unknown("engine", self.engine, ENGINES))
        if self.engine == "gpu":
            check_card(puzzle)
        if self.target is not None and not 0 <= self.target <= most:
            raise InputError(f"a target of {self.target} cannot be reached: {puzzle.name} has {most} inner edges")
        if self.target is not None and self.target > (possible := pairing(puzzle)).best_possible:
            raise InputError(f"a target of {self.target} cannot be reached: {possible}")
        if self.min_score is not None and not 0 <= self.min_score <= most:
            raise InputError(f"a least score of {self.min_score}; expected 0 to {most}, the best of {puzzle.name}")


@checked_class
@dataclass(frozen=True, kw_only=True)
class ResumeSpec(SessionSpec):
    """Arguments of `resume`, which continues a run.

    Parameters
    ----------
    run_dir : str or path-like
        Run directory that `solve` made; it may have been moved.
    time : float, optional
        Further seconds of search; by default what remains of the run's time limit.
    workers : int, optional
        Number of islands to search; by default as many as in the last session, or as a cluster has threads. Further
        islands of the run wait for a later session.
    steps, stop, on_improve, progress, raise_interrupt, executor
        As for `solve`.
    """

    run_dir: str | os.PathLike[str] = field(kw_only=False)


def takes(spec: Callable[P, Spec]) -> Callable[[Callable[[Spec], R]], Callable[P, R]]:
    """Return a decorator for a function of one object of class ``spec``: callers then pass the object's fields instead.

    ``spec`` is a dataclass. The section "Parameters", which ends its docstring, is added to the function's docstring.
    """

    def decorate(function: Callable[[Spec], R]) -> Callable[P, R]:
        signature = inspect.signature(spec).replace(return_annotation=function.__annotations__["return"])

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            return function(spec(*args, **kwargs))

        call.__signature__ = signature  # type: ignore[attr-defined]
        annotations = {name: one.annotation for name, one in signature.parameters.items()}
        call.__annotations__ = annotations | {"return": signature.return_annotation}
        what, _, section = inspect.cleandoc(function.__doc__ or "").partition("\nReturns\n")
        described = (inspect.getdoc(spec) or "").partition("\nParameters\n")[2]
        call.__doc__ = f"{what}\nParameters\n{described}\n\nReturns\n{section}"
        return call

    return decorate


def choose_parameters(params: ParamsSource | None, puzzle: Puzzle, engine: str) -> tuple[Params, str, str]:
    """Return the parameters of a run, their source for run.json, and a note for the log ("" without one).

    Parameters are ``params``, else those that a study proved better for the puzzle or its family, else the defaults.
    """
    if isinstance(params, Params | dict):
        return params if isinstance(params, Params) else parameters.from_dict(params), "given", ""
    if params is not None and os.fspath(params) != DEFAULTS:
        return parameters.load(os.fspath(params)), printable(os.fspath(params), 1000), ""
    kept, note = find(puzzle, engine) if params is None else (None, "")
    if kept is None:
        return Params(), DEFAULTS, note
    note = f"parameters of {kept} (use --params default for the defaults)"
    return kept.params, f"{kept.study}: {kept.gain}", note


def log_choice(source: str, note: str) -> None:
    """Log the note that `choose_parameters` returned, as a warning if kept parameters cannot be used."""
    if note:
        log.log(logging.WARNING if source == DEFAULTS else logging.INFO, "%s", note)


def check_seed(seed: int | None) -> None:
    """Raise InputError for a random seed that is not from 0 to 2**64 - 1; None is accepted."""
    if seed is not None and not 0 <= seed < 2**64:
        raise InputError(f"a seed of {seed}; expected 0 to 2**64 - 1")


def check_workers(workers: int | None, *, elsewhere: bool = False) -> None:
    """Raise InputError unless ``workers`` is None or from 1 to the limit of this machine, of a run if ``elsewhere``."""
    if workers is None:
        return
    most, where = (MAX_ISLANDS, "one run") if elsewhere else (max_workers(), f"{os.cpu_count()} processors")
    if workers > most:
        raise InputError(f"{workers} workers are too many for {where}; expected at most {most}")
    if workers < 1:
        raise InputError(f"{workers} workers; expected 1 or more")
