"""Rounds, workers and the loop around them, and how long they search."""

import json
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lns.engine import FoundBoard, State, Statistics
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.islands import Archipelago, RunningTime
from lns.params import Params
from lns.rounds import Island, Report, Search, Task, run_round
from lns.runs.run_summary import load_summary
from lns.warmup import warm_up
from lns.worker_pool import InProcessExecutor, WorkerLost, WorkerPool, Workers
from tests.cli.run_program import ONE_WORKER, program, wait_for
from tests.lns.run_parts import QUICK, small_puzzle

ENGINES = ("auto", "tabu", "lns", "beam")


@pytest.mark.slow
@pytest.mark.parametrize("restored", [True, False])
def test_the_ends_of_rounds_do_not_change_the_search(restored: bool) -> None:
    """Neither with an engine restored for each round nor with the one that a worker keeps."""
    with InProcessExecutor() if restored else WorkerPool(1) as executor:
        for engine in ENGINES:
            same_search(executor, engine)


def same_search(executor: Executor, engine: str) -> None:
    puzzle = small_puzzle("like-e2-8x8")
    search = Search(puzzle, QUICK, 7, engine)

    def rounds(*steps: int) -> tuple[Report, list[int]]:
        report: Report | None = None
        scores: list[int] = []
        made = 0
        for end in np.cumsum(steps).tolist():
            while made < end:  # a new best ends a round sooner
                island = report.island if report is not None else None
                task = Task(search, 0, 1, island, None, -1, puzzle.max_score, 60.0, end - made)
                report = executor.submit(run_round, task).result(60)
                made = report.island.steps
                scores += [find.score for find in report.found_boards]
        assert report is not None
        return report, scores

    (one, found_by_one), (three, found_by_three) = rounds(9), rounds(2, 3, 4)
    assert one.island.state == three.island.state
    assert one.island.best_score == three.island.best_score and one.island.steps == three.island.steps == 9
    assert found_by_one == found_by_three and found_by_one
    assert one.island.statistics == three.island.statistics


def test_two_islands_share_the_best_board_and_search_differently() -> None:
    puzzle = small_puzzle("like-e2-8x8")
    archipelago = Archipelago(Search(puzzle, QUICK, 1, "tabu"), 2, executor=InProcessExecutor())
    scores: list[int] = []
    archipelago.run(60.0, puzzle.max_score, lambda archipelago: scores.append(archipelago.best_score), steps=8)
    assert scores == sorted(scores)
    assert archipelago.best is not None and verify(puzzle, archipelago.best).score == archipelago.best_score
    first, second = (archipelago.islands[number] for number in (0, 1))
    assert first.state != second.state
    assert archipelago.statistics == first.statistics + second.statistics
    assert all(number in (0, 1) for number, _ in archipelago.pop_boards())


class Staged:
    """An engine with prescribed steps: the duration of each, and the scores of the boards that it finds."""

    def __init__(self, puzzle: Puzzle, seconds: list[float], scores: list[list[int]]) -> None:
        self.board = Board(np.full(puzzle.cells, -1, dtype=np.int32), puzzle.width, puzzle.height)
        self.seconds, self.scores = seconds, scores
        self.steps, self.found_boards, self.best, self.best_score, self.origin = 0, [], None, -1, "staged"
        self.statistics = Statistics()

    def step(self) -> None:
        time.sleep(self.seconds[self.steps])
        for score in self.scores[self.steps]:
            self.found_boards.append(FoundBoard(self.board, score, "staged"))
            if score > self.best_score:
                self.best, self.best_score = self.board, score
        self.steps += 1

    def pop_boards(self) -> list[FoundBoard]:
        found_boards, self.found_boards = self.found_boards, []
        return found_boards

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        """Does nothing."""


def staged(
    monkeypatch: pytest.MonkeyPatch, scores: list[list[int]], seconds: list[float] | None = None, **limits: Any
) -> tuple[Archipelago, str]:
    """One island whose engine goes through ``scores``, unless ``limits`` end it before, and why it ended."""
    puzzle = small_puzzle()
    engine = Staged(puzzle, seconds or [0.0] * len(scores), scores)
    monkeypatch.setattr("lns.engines.make_engine", lambda *arguments: engine)
    archipelago = Archipelago(
        Search(puzzle, QUICK, 1, "tabu"), 1, executor=InProcessExecutor(), min_score=limits.pop("min_score", 0)
    )
    on_report, limits = limits.pop("on_report", lambda _: None), {"steps": len(scores), **limits}
    return archipelago, archipelago.run(limits.pop("time", 60.0), limits.pop("target", 60), on_report, **limits)


def test_the_first_step_counts_as_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    archipelago, _ = staged(monkeypatch, [[1], [2], [3]], [0.6, 0.2, 0.2], time=0.5)
    assert archipelago.islands[0].steps == 1 and archipelago.elapsed >= 0.6


def test_a_first_board_is_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []

    def note(archipelago: Archipelago) -> None:
        seen.append((archipelago.islands[0].steps, archipelago.best_score))

    staged(monkeypatch, [[1], [2], [3]], [0.0] * 3, on_report=note)
    assert seen[:3] == [(1, 1), (2, 2), (3, 3)], "so is every new best"
    seen.clear()
    staged(monkeypatch, [[3], [2], [1], [5]], [0.0] * 4, on_report=note)
    assert seen[0] == (1, 3) and seen[1] == (4, 5), "steps without one share a round"


def test_new_bests_are_reported_whatever_goes_into_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    archipelago, _ = staged(monkeypatch, [[3, 2, 5], [5, 4, 7, 6]], min_score=50)
    assert [find.score for _, find in archipelago.pop_boards()] == [3, 5, 7]
    many = [4] * 5000
    archipelago, _ = staged(monkeypatch, [[3, 9, *many, 3, 5]], min_score=4)
    assert [find.score for _, find in archipelago.pop_boards()] == [3, 9, *many, 5]


def test_a_lone_island_gets_no_incumbent_from_the_steps_that_it_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """An incumbent would change its search. Several islands, and new ones, get the best board, unless it is one that
    was made because the first step took too long."""
    incumbents: list[Board | None] = []
    monkeypatch.setattr("lns.islands.run_round", lambda task: incumbents.append(task.incumbent) or 1 / 0)
    puzzle = small_puzzle()
    board = Board(np.full(puzzle.cells, -1, dtype=np.int32), puzzle.width, puzzle.height)
    islands = {number: Island(number, b"", 30, Statistics(), 4) for number in (0, 1)}
    for workers, known, origin in (
        (1, [0], "start"), (1, [], "start"), (1, [0, 1], "tabu"), (2, [0, 1], "start"), (1, [], "greedy"),
    ):  # fmt: skip
        archipelago = Archipelago(
            Search(puzzle, QUICK, 1), workers, start=FoundBoard(board, 40, origin), executor=InProcessExecutor(),
            islands={number: islands[number] for number in known},
        )  # fmt: skip
        with pytest.raises(ZeroDivisionError):
            archipelago.run(60.0, 60, lambda _: None)
    assert incumbents == [None, board, board, board, board, None]


def test_reports_of_other_islands_are_taken_before_an_error_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle = small_puzzle()
    engine = Staged(puzzle, [0.0], [[7]])

    def made(name: str, puzzle: Puzzle, params: Params, seed: int, island: int, *_: Any) -> Staged:
        if island == 0:
            raise InputError("no")
        return engine

    monkeypatch.setattr("lns.engines.make_engine", made)
    archipelago = Archipelago(Search(puzzle, QUICK, 1, "tabu"), 2, executor=InProcessExecutor())
    with pytest.raises(InputError, match="no"):
        archipelago.run(60.0, 60, lambda _: None)
    assert [find.score for _, find in archipelago.pop_boards()] == [7] and archipelago.best_score == 7


def test_the_reason_of_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = [[1], [2], [3]]
    assert staged(monkeypatch, scores, target=2)[1] == "target reached"
    assert staged(monkeypatch, scores, steps=2)[1] == "steps made"
    assert staged(monkeypatch, scores, [0.3] * 3, time=0.1)[1] == "time over"
    assert staged(monkeypatch, scores, [0.6] * 3, steps=3, on_report=Archipelago.stop)[1] == "stopped"


def compiled_later(engine: str, turn: int, steps: int) -> list[str]:
    """Names of the kernels that a search compiles although `warm_up` was called."""
    warm_up(engine, turn)
    before = machine_code()
    puzzle = small_puzzle("like-e2-8x8")
    run_round(Task(Search(puzzle, QUICK, 7, engine), 0, 1, None, None, -1, puzzle.max_score, 60.0, steps))
    return sorted(name for name, versions in machine_code().items() if versions > before.get(name, 0))


def machine_code() -> dict[str, int]:
    """The kernels of this process and how many signatures each is compiled for."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith(("exact.", "lns.")):
            for kernel in vars(module).values():
                if signatures := getattr(kernel, "signatures", None):
                    found[f"{kernel.__module__}.{kernel.__name__}"] = len(signatures)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "turn"), [*((engine, 0) for engine in ENGINES), ("auto", 1)])
def test_no_kernel_is_compiled_after_the_warm_up(engine: str, turn: int) -> None:
    with WorkerPool(1) as pool:
        assert pool.submit(compiled_later, engine, turn, 60).result(300) == []


class Losing(InProcessExecutor):
    """An executor that loses some rounds: those of which ``is_lost`` says so, by their number and their task."""

    def __init__(self, is_lost: Callable[[int, Task], bool]) -> None:
        self.is_lost, self.calls = is_lost, 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls += 1
        if not self.is_lost(self.calls, args[0]):
            return super().submit(fn, *args, **kwargs)
        future: Future[Any] = Future()
        future.set_exception(BrokenExecutor("gone"))
        return future


def test_a_lost_round_is_repeated(caplog: pytest.LogCaptureFixture) -> None:
    puzzle = small_puzzle()
    whole, torn = (
        Archipelago(
            Search(puzzle, QUICK, 1, "tabu"), 1, executor=Losing(lambda call, _, end=end: call in range(1, end, 2))
        )
        for end in (0, 6)
    )
    for archipelago in (whole, torn):
        archipelago.run(60.0, puzzle.max_score, lambda _: None, steps=6)
    assert whole.islands[0].state == torn.islands[0].state
    assert caplog.text.count("continues island 0 from its last round") == 3


@pytest.mark.parametrize(
    ("islands", "lost", "why"), [(2, True, "workers lost"), (3, True, "workers lost"), (3, False, "steps made")]
)
def test_the_search_ends_if_islands_are_abandoned_and_the_others_end(
    islands: int, lost: bool, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    puzzle = small_puzzle()
    engines = [Staged(puzzle, [0.0] * 3, [[7]] * 3) for _ in range(islands)]
    monkeypatch.setattr("lns.engines.make_engine", lambda *arguments: engines[arguments[4]])
    executor = Losing(lambda _, task: lost and task.number == 1)
    archipelago = Archipelago(Search(puzzle, QUICK, 1, "tabu"), islands, executor=executor)
    assert archipelago.run(60.0, 60, lambda _: None, steps=2) == why and archipelago.best_score == 7
    assert [archipelago.steps_of(number) for number in range(islands) if number != 1] == [2] * (islands - 1)


def test_workers_that_always_die_are_an_input_error(caplog: pytest.LogCaptureFixture) -> None:
    archipelago = Archipelago(Search(small_puzzle(), QUICK, 1), 2, executor=Losing(lambda *_: True))
    with pytest.raises(InputError, match="no worker stays alive"):
        archipelago.run(60.0, 100, lambda _: None)
    assert caplog.text.count("continues island 0") == Workers.max_lost - 1


def kill_me_once(flag: str) -> int:
    if not os.path.exists(flag):  # noqa: PTH110
        open(flag, "w").close()  # noqa: PTH123
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def nap(seconds: float) -> None:
    time.sleep(seconds)


def fail_deep_inside() -> None:
    raise ZeroDivisionError("in the engine")


def complain() -> None:
    raise InputError("no", "file", 3)


def test_a_killed_worker_costs_its_task_and_is_replaced(tmp_path: Any) -> None:
    with WorkerPool(1) as pool:
        with pytest.raises(WorkerLost) as lost:
            pool.submit(kill_me_once, str(tmp_path / "flag")).result(30)
        assert lost.value.exitcode == -signal.SIGKILL
        pid = pool.submit(kill_me_once, str(tmp_path / "flag")).result(30)
        assert pid != os.getpid() and f"worker {pid} " not in str(lost.value)
        with pytest.raises(InputError, match="no"):
            pool.submit(complain).result(30)
        with pytest.raises(ZeroDivisionError, match="in the engine") as error:
            pool.submit(fail_deep_inside).result(30)
        assert "in fail_deep_inside" in "".join(traceback.format_exception(error.value)), "where it was raised"
        with pytest.raises(AttributeError):
            pool.submit(lambda: 1).result(30)  # cannot be pickled
        assert pool.submit(os.getpid).result(30) == pid
    assert not [child for child in multiprocessing.active_children() if child.pid == pid]


def test_the_end_is_not_delayed_by_a_busy_worker() -> None:
    pool = WorkerPool(1)
    pool.submit(os.getpid).result(30)
    busy = pool.submit(nap, 60.0)
    while not busy.running():
        time.sleep(0.01)
    waits = pool.submit(os.getpid)
    pool.shutdown()
    assert isinstance(busy.exception(5), WorkerLost), "its process was killed: it did not return"
    assert isinstance(waits.exception(5), WorkerLost)


def test_a_worker_that_cannot_be_started_fails_one_task_only(monkeypatch):
    with WorkerPool(1) as pool:
        process = pool._context.Process

        def refuse(*args, **kwargs):
            raise OSError(11, "Resource temporarily unavailable")

        monkeypatch.setattr(pool._context, "Process", refuse)
        with pytest.raises(WorkerLost, match=r"could not be started: .*temporarily unavailable"):
            pool.submit(os.getpid).result(30)
        monkeypatch.setattr(pool._context, "Process", process)
        assert pool.submit(os.getpid).result(60) != os.getpid()


# -- time in which the process did not run is no time of search -------------------------------------------------------


class Clocks:
    """The clocks of `RunningTime`, moved by the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monotonic, self.passed, self.used = 100.0, 900.0, 1.0
        monkeypatch.setattr(RunningTime, "_look", staticmethod(lambda: (self.monotonic, self.passed, self.used)))

    def move(self, seconds: float, *, asleep: float = 0.0, used: float = 0.0) -> None:
        self.monotonic += seconds
        self.passed += seconds + asleep
        self.used += used


def test_gaps_are_taken_out_and_said(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    clocks = Clocks(monkeypatch)
    running = RunningTime()
    assert running.since(None) == 0.0
    clocks.move(1.0)
    began = clocks.monotonic
    for _ in range(20):
        clocks.move(0.5)
        running.since(began)
    assert running.since(began) == 10.0 and not caplog.text
    clocks.move(20.0)
    assert running.since(began) == 10.0, "the first that looks finds the gap"
    assert "the process did not run for 20 s" in caplog.text
    clocks.move(3.0)
    assert running.since(began) == 13.0
    clocks.move(0.2, asleep=3600.0)
    assert running.since(began) == pytest.approx(13.0, abs=0.3), "sleep is no part of the monotonic clock"
    assert "the process did not run for 3600 s" in caplog.text
    caplog.clear()
    clocks.move(8.0, used=7.5)
    assert running.since(began) == pytest.approx(21.0, abs=0.3), "a long step in this process is search"
    assert not caplog.text


def test_a_gap_before_the_search_is_not_taken_out_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = Clocks(monkeypatch)
    running = RunningTime()
    clocks.move(30.0)
    running.since(None)
    assert running.since(clocks.monotonic) == 0.0
    began = clocks.monotonic
    clocks.move(2.0)
    assert running.since(began) == 2.0
    clocks.move(12.0)  # the search began in a worker, 4 s before the end of the gap
    assert running.since(clocks.monotonic - 4.0) == pytest.approx(0.0)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no SIGSTOP")
def test_a_stopped_search_searches_as_long_as_it_was_told(tmp_path: Path) -> None:
    """2.5 s of search with 3 s stopped in their middle; before, less than a second was searched after the stop."""
    run = tmp_path / "run"
    command = ["solve", "like-e2-8x8", "--time", "2.5", "--engine", "tabu", "--quiet", "--run-dir"]
    with program(*command, str(run), *ONE_WORKER, constants={"lns.islands.GAP_S": 0.7}) as process:
        wait_for(lambda: (run / "status.json").exists() and bool(load_summary(run).heartbeat.pids), "the start", 120)
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(3.0)
        os.killpg(process.pid, signal.SIGCONT)
        assert process.wait(60) == 0
        wall = time.monotonic() - began
    summary = load_summary(run)
    assert 2.4 < summary.history.elapsed_s < 3.5 and wall > 3.0 + 1.5
    assert summary.history.sessions[-1].seconds == pytest.approx(summary.history.elapsed_s, abs=0.01)
    log = (run / "run.log").read_text()
    assert "the process did not run for 3 s" in log and json.loads((run / "best.json").read_text())["elapsed_s"] < 3.5
