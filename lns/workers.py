"""Where the rounds of islands are searched: the interface `Workers`, and two forms of it on this machine.

`lns.cluster.DaskWorkers` is the form on other machines.
"""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Protocol, runtime_checkable

from instances.board import Board
from lns.rounds import Report, Task, run_round
from lns.worker_pool import WorkerPool
from lns_support.errors import InputError

FIRST_ROUND_S, ROUND_S = 0.5, 2.0
MAX_LOST_ROUNDS = 5  # in a row; the island is then abandoned
GRACE_S = 1.0  # for rounds that are running at the end; a worker that compiles or hangs is then killed


class WorkersGone(InputError):
    """No worker can be reached any more, and none will come."""


@runtime_checkable
class Workers(Protocol):
    """Searches rounds for an `lns.islands.Archipelago`.

    Attributes
    ----------
    first_round_s, round_s : float
        Seconds of the first round of an island, and of the later ones.
    state_s : float
        Seconds between two reports of an island that have its state; 0: all have it.
    grace_s : float
        Seconds that rounds under way have at the end.
    max_lost : int
        Rounds of an island that may be lost in a row; it is then abandoned.
    """

    first_round_s: float
    round_s: float
    state_s: float
    grace_s: float
    max_lost: int

    @property
    def room(self) -> int:
        """Number of islands that can be searched side by side at present; 0 if that is not known."""

    @property
    def began(self) -> float | None:
        """Monotonic time at which the first worker began to search, if it is known."""

    def submit(self, task: Task) -> Future[Report]:
        """Search a round. The future fails with `lns.worker_pool.WorkerLost` if its worker is lost."""

    def check(self) -> None:
        """Raise `WorkersGone` if no round can be searched any more."""

    def announce(self, board: Board, score: int) -> None:
        """Tell the rounds under way the best board; returns at once."""

    def ask_to_stop(self) -> None:
        """End the rounds under way at their next step; returns at once."""

    def kill(self) -> None:
        """End the rounds under way now; they are lost."""

    def close(self) -> None:
        """End the work for this search. A second call does nothing."""


class ExecutorWorkers:
    """Workers of any ``concurrent.futures.Executor``. States travel with each round, as its workers keep nothing.

    Parameters
    ----------
    executor : Executor
        Runs the rounds. It stays open.
    """

    first_round_s, round_s, state_s, grace_s = FIRST_ROUND_S, ROUND_S, 0.0, 2 * ROUND_S
    max_lost = MAX_LOST_ROUNDS
    room = 0
    began: float | None = None

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, task: Task) -> Future[Report]:
        return self._executor.submit(run_round, task)

    def check(self) -> None:
        """An executor that is broken fails the rounds."""

    def announce(self, board: Board, score: int) -> None:
        """Rounds are short; the next one brings the board."""

    def ask_to_stop(self) -> None:
        """Rounds are short."""

    def kill(self) -> None:
        """The caller owns the executor."""

    def close(self) -> None:
        """The caller owns the executor."""


class LocalWorkers(ExecutorWorkers):
    """Worker processes on this machine, one for each island.

    Parameters
    ----------
    count : int
        Number of processes.
    """

    grace_s = GRACE_S

    def __init__(self, count: int) -> None:
        self._pool = WorkerPool(count)
        super().__init__(self._pool)

    @property
    def began(self) -> float | None:  # type: ignore[override]
        return self._pool.began

    def ask_to_stop(self) -> None:
        self._pool.ask_to_stop()

    def kill(self) -> None:
        self._pool.kill()

    def close(self) -> None:
        self._pool.shutdown()
