"""Islands on a Dask cluster: what travels, where islands are, and what happens when a part of the cluster is gone."""

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

import lns
from lns.engine import FoundBoard
from lns.engines import make_engine
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.islands import Archipelago
from lns.rounds import Report, Search, Task, Worker
from lns.worker_pool import InProcessExecutor, WorkerLost, WorkersGone
from tests.lns.run_parts import QUICK, small_puzzle
from tests.lns.test_islands import Staged

distributed = pytest.importorskip("distributed", reason="Dask is not installed: it comes with the extra 'cluster'")
from lns import cluster as clusters  # noqa: E402
from lns.cluster import DaskWorkers, check_address, differences  # noqa: E402


def task(puzzle: Puzzle, report: Report | None = None, **options: Any) -> Task:
    """A round of island 0 of two, on a cluster."""
    island = None if report is None else report.island
    values = {"steps": 3, "run": "test", **options}
    return Task(Search(puzzle, QUICK, 7, "tabu"), 0, 2, island, None, -1, puzzle.max_score, 60.0, **values)


def test_a_worker_goes_on_with_its_engine_only_where_that_has_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle, worker, made = small_puzzle(), Worker(), []
    monkeypatch.setattr("lns.engines.make_engine", lambda *arguments: made.append(1) or make_engine(*arguments))
    first = worker.run_round(task(puzzle))
    second = worker.run_round(task(puzzle, first))
    assert len(made) == 1 and second.island.steps > first.island.steps and second.worker == 0
    for another in (
        task(puzzle, first),  # its report was lost, or another worker made it
        replace(task(puzzle, first), islands=5),  # the prefixes are partitioned anew
        replace(task(puzzle, first), run="another"),
    ):
        before, again = len(made), worker.run_round(another)
        assert len(made) == before + 1 and again.island.steps > first.island.steps
        assert again.island.state == second.island.state or another.islands == 5
    worker.receive_stop("another")
    stopped = worker.run_round(task(puzzle, first, run="another"))
    assert stopped.island == first.island, "a round that comes late ends at once"


def test_a_round_that_fails_leaves_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its engine may have made steps that nobody heard of."""
    puzzle, worker = small_puzzle(), Worker()
    engines = [Staged(puzzle, [0.0, -1.0], [[7], []]), Staged(puzzle, [0.0], [[7]])]
    monkeypatch.setattr("lns.engines.make_engine", lambda *arguments: engines.pop(0))
    first = worker.run_round(task(puzzle, steps=1))
    with pytest.raises(ValueError, match="non-negative"):
        worker.run_round(task(puzzle, first))
    assert worker.run_round(task(puzzle, first, steps=1)).island.steps == 2 and not engines


def test_what_is_received_acts_on_the_round_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle, worker = small_puzzle(), Worker()
    donor = Worker().run_round(task(puzzle, steps=12))
    best = max(donor.found_boards, key=lambda found: found.score)
    assert best.score == donor.island.best_score
    worker.receive_incumbent("test", best.board, best.score)
    assert worker.run_round(task(puzzle, steps=1)).island.best_score >= donor.island.best_score

    class Overtaken(Staged):
        """An engine whose run ends during its first step."""

        def step(self) -> None:
            super().step()
            worker.receive_stop("another")

    engine = Overtaken(puzzle, [0.0] * 5, [[7], [], [], [], []])
    monkeypatch.setattr("lns.engines.make_engine", lambda *arguments: engine)
    report = worker.run_round(
        replace(task(puzzle, steps=None, run="another"), incumbent_score=7)
    )  # the board of 7 does not end it
    assert report.island.steps == engine.steps == 1 and report.found_boards


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A cluster of two workers inside this process."""
    where = {"protocol": "tcp", "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, **where) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def good_board(puzzle: Puzzle) -> Any:
    """A board that no island improves in a few steps."""
    return lns.solve(
        puzzle, time=30, seed=3, params=QUICK, engine="tabu", steps=60, executor=InProcessExecutor(), progress=None
    )


def test_islands_on_a_cluster_search_as_local_ones(client: Any) -> None:
    puzzle = small_puzzle("like-e2-8x8")
    start = good_board(puzzle)
    found = {}
    for name in ("local", "cluster"):
        with InProcessExecutor() if name == "local" else DaskWorkers(client) as executor:
            known = FoundBoard(start.board, start.score, "start")
            archipelago = Archipelago(Search(puzzle, QUICK, 5, "tabu"), 3, start=known, executor=executor)
            assert archipelago.run(60.0, puzzle.max_score, lambda _: None, steps=7) == "steps made"
        assert archipelago.best_score == start.score, "otherwise boards are exchanged"
        found[name] = archipelago
    for number in range(3):  # by two workers
        local, there = (found[name].islands[number] for name in ("local", "cluster"))
        assert local.steps == there.steps == 7 and local.statistics == there.statistics
        assert local.state == there.state
    assert not found["cluster"].pids, "processes of other machines are not observed here"


def test_a_run_goes_from_here_to_a_cluster_and_back(client: Any, tmp_path: Any) -> None:
    options: dict[str, Any] = {"progress": None, "steps": 4}
    run = tmp_path / "run"
    lns.solve("like-e2-6x6", seed=3, params=QUICK, engine="tabu", run_dir=run, executor=InProcessExecutor(), **options)
    there = lns.resume(run, time=60, executor=client, **options)
    assert sorted(there.islands) == [0, 1] and there.islands[0].steps == 8
    back = lns.resume(run, time=60, workers=1, executor=InProcessExecutor(), **options)
    assert back.islands[0].steps == 12 and back.islands[1].steps == 4
    whole = lns.solve(
        "like-e2-6x6", seed=3, params=QUICK, engine="tabu", steps=12, executor=InProcessExecutor(), progress=None
    )
    assert back.score >= min(whole.score, there.score)


def test_a_time_limit_ends_rounds_at_their_next_step(client: Any) -> None:
    result = lns.solve(
        "like-e2-8x8", seed=3, params=QUICK, engine="tabu", time=1, target=112, executor=client, progress=None
    )
    assert result.why in ("time over", "target reached") and result.elapsed_s < 10
    assert len(result.islands) == 2 and verify(result.puzzle, result.board).score == result.score


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_other_executors_carry_the_state_in_tasks_and_results(kind: type[Executor]) -> None:
    puzzle, results = small_puzzle(), []
    options: dict[str, Any] = {"seed": 3, "params": QUICK, "engine": "tabu", "steps": 5, "progress": None}
    with kind(1) as executor:  # type: ignore[call-arg]
        for where in (InProcessExecutor(), executor):
            results.append(lns.solve(puzzle, executor=where, **options))
    assert results[0].board == results[1].board and results[0].statistics == results[1].statistics


@pytest.mark.parametrize(
    "address", ["", "http://host:1", "tcp://host", "host:8786", "tcp://u@h:1", "tcp://h:1/x", "tcp://h:p", "locale"]
)
def test_an_address_is_checked(address: str) -> None:
    with pytest.raises(InputError, match="expected tcp://HOST:PORT, tls://HOST:PORT or local"):
        check_address(address)
    for good in ("local", "tcp://10.0.0.1:8786", "tls://node-1.example:8786"):
        check_address(good)


@pytest.mark.parametrize(
    ("described", "sentence"),
    [
        (ModuleNotFoundError("lns"), "worker tcp://a:1 has no lns, or a much older one; expected lns 0"),
        ({"numba": "0.1", "lns": "9"}, "worker tcp://a:1 has lns 9, numba 0.1; expected lns 0"),
        ({"python": "2"}, "worker tcp://a:1 has python 2; expected python 3"),
        ({"parameters": "other"}, "worker tcp://a:1 has other parameters; expected the lns"),
    ],
)
def test_a_worker_of_another_version_is_named(described: Any, sentence: str) -> None:
    class Foreign:
        """A client of a worker with other versions."""

        def run(self, function: Any, *, workers: list[str], on_error: str) -> dict[str, Any]:
            return {at: described if isinstance(described, Exception) else function() | described for at in workers}

    client: Any = Foreign()
    (problem,) = differences(client, ["tcp://a:1"]).values()
    assert problem.startswith(sentence)
    described = {}
    assert not differences(client, ["tcp://a:1"])


def test_a_foreign_worker_ends_the_start_and_is_left_out_later(
    client: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    workers = DaskWorkers(client)
    monkeypatch.setattr(
        clusters, "differences", lambda client, addresses: {at: f"worker {at} is old" for at in addresses}
    )
    with pytest.raises(InputError, match="is old"):
        DaskWorkers(client)
    with caplog.at_level(logging.INFO, "lns"):
        workers._join({"tcp://127.0.0.1:1": 1}, strict=False)
    assert "worker tcp://127.0.0.1:1 is old; it is left out" in caplog.text and workers.capacity == 2
    workers.shutdown()


def threads_of_clusters() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("lns-cluster")]


def test_a_search_that_cannot_begin_leaves_no_thread(client: Any, tmp_path: Any) -> None:
    (tmp_path / "note").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        lns.solve("like-e2-4x4", executor=client, time=1, run_dir=tmp_path, progress=None)
    assert not threads_of_clusters()


def test_workers_that_are_closed_take_no_round(client: Any) -> None:
    workers = DaskWorkers(client)
    for _ in range(2):
        workers.shutdown()
        assert not threads_of_clusters()
    with pytest.raises(WorkerLost, match="the search was ended"):
        workers.submit(Worker().run_round, task(small_puzzle())).result(0)


def test_a_scheduler_that_is_gone_ends_the_search(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    workers = DaskWorkers(client)
    workers.check()
    monkeypatch.setattr(clusters, "GONE_S", -1.0)
    with pytest.raises(WorkersGone, match="is gone; what was found is saved"):
        workers.check()
    workers.shutdown()
