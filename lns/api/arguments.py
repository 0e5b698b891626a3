"""The arguments of `lns.solve` and `lns.resume`: what stands for one that is not given, and what is refused."""

from __future__ import annotations

import logging
import multiprocessing
import os
from concurrent.futures import Executor
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from instances.pairing import pairing
from instances.puzzle import Puzzle
from lns import params as parameters
from lns.api.kept_params import DEFAULTS, find
from lns.api.stopping import StopRule
from lns.engines import ENGINES
from lns.params import Params
from lns.rounds import MAX_ISLANDS
from lns.runs.directory import LEAST_CHECKPOINT_S
from lns.runs.history import UNLIMITED_S, RunHistory
from lns.worker_pool import UNGUARDED, WORKER_NAME, Workers
from lns_support.cores import available_cores, max_workers
from lns_support.errors import InputError
from lns_support.text import count_of, printable

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger("lns")

DEFAULT_SECONDS = 60.0


class ChosenParams(NamedTuple):
    """The parameters of a search."""

    params: Params
    source: str  # where they are from, for run.json
    note: str  # what is said of them; "" where there is nothing to say


def choose_parameters(
    params: Params | dict[str, Any] | str | os.PathLike[str] | None, puzzle: Puzzle, engine: str
) -> ChosenParams:
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
    return ChosenParams(
        kept.params, f"{kept.study}: {kept.gain}", f"parameters of {kept} (use --params default for the defaults)"
    )


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


def default_workers(engine: str, searching: Executor | None) -> int:
    """One worker for each core or thread of a cluster; one in all where workers would not know all operators."""
    if searching is not None:
        return max(1, capacity_of(searching))
    if engine == "lns":
        from lns.neighbourhoods.operators import process_only_operators

        if process_only_operators():
            return 1
    return available_cores()


def search_seconds(time: float | None, steps: int | None, stop: StopRule | None) -> float:
    if time is None:
        return DEFAULT_SECONDS if steps is None and stop is None else UNLIMITED_S
    if not 0 < time <= UNLIMITED_S:
        raise InputError(f"a time of {time} s; expected more than 0 and at most {UNLIMITED_S:.0f} s")
    return float(time)


def most_workers(executor: Executor | Client | None) -> int:
    """Most islands that are accepted: on this machine `max_workers`."""
    return max_workers() if executor is None or isinstance(executor, Executor) else MAX_ISLANDS


def check_workers(workers: int, most: int) -> None:
    if workers > most:
        where = f"{os.cpu_count()} processors" if most < MAX_ISLANDS else "one run"
        raise InputError(f"{workers} workers are too many for {where}; expected at most {most}")
    if workers < 1:
        raise InputError(f"{workers} workers; expected 1 or more")


def check_arguments(
    puzzle: Puzzle,
    *,
    workers: int | None,
    most: int,
    seed: int,
    engine: str,
    target: int | None,
    steps: int | None,
    min_score: int | None,
    checkpoint_s: float,
) -> None:
    """Raises InputError for an argument that cannot be."""
    if engine not in ENGINES:
        near = get_close_matches(str(engine), ENGINES, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"expected one of {', '.join(ENGINES)}"
        raise InputError(f"unknown engine '{engine}': {hint}")
    if workers is not None:
        check_workers(workers, most)
    if not 0 <= seed < 2**64:
        raise InputError(f"a seed of {seed}; expected 0 to 2**64 - 1")
    if target is not None and not 0 <= target <= puzzle.max_score:
        raise InputError(f"a target of {target} cannot be reached: {puzzle.name} has {puzzle.max_score} inner edges")
    if target is not None and target > (possible := pairing(puzzle)).best_possible:
        raise InputError(f"a target of {target} cannot be reached: {possible}")
    if steps is not None and steps < 1:
        raise InputError(f"{steps} steps; expected 1 or more")
    if min_score is not None and not 0 <= min_score <= puzzle.max_score:
        raise InputError(f"a least score of {min_score}; expected 0 to {puzzle.max_score}, the best of {puzzle.name}")
    if not checkpoint_s >= LEAST_CHECKPOINT_S:
        raise InputError(
            f"a checkpoint every {checkpoint_s:g} s is too often; expected {LEAST_CHECKPOINT_S:g} seconds or more"
        )


def refuse_import_of_main(function: str) -> None:
    """Raises InputError in a process that imports a script whose call is not guarded: workers would start workers.

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
