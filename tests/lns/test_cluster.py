"""Islands on a Dask cluster: what travels, where islands are, and what happens when a part of the cluster is gone."""

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import lns
from lns.engine import FoundBoard, PackedState, Statistics, unpacked
from lns.engines import make_engine
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.islands import Archipelago
from lns.rounds import Island, NotKept, Report, Search, Task, Worker
from lns.runs import checkpoint as checkpoints
from lns.runs.checkpoint import Checkpoint
from lns.runs.files import CHECKPOINT
from lns.runs.history import RunHistory
from lns.worker_pool import InProcessExecutor, WorkerLost, WorkersGone
from tests.lns.run_parts import QUICK, small_puzzle
from tests.lns.test_islands import Staged, same

distributed = pytest.importorskip("distributed", reason="Dask is not installed: it comes with the extra 'cluster'")
from lns import cluster as clusters  # noqa: E402
from lns.cluster import DaskWorkers, check_address, differences  # noqa: E402


def task(puzzle: Puzzle, report: Report | None = None, **options: Any) -> Task:
    """A round of island 0 of two, whose worker keeps it."""
    island = None if report is None else report.island
    values = {"steps": 3, "run": "test", "keeps": True, "is_kept": report is not None, "with_state": False, **options}
    return Task(Search(puzzle, QUICK, 7, "tabu"), 0, 2, island, None, -1, puzzle.max_score, 60.0, **values)


def test_a_packed_state_is_the_state(tmp_path: Any) -> None:
    engine = make_engine("tabu", small_puzzle(), QUICK, 1, 0)
    engine.step()
    state = engine.state()
    packed = PackedState.of(state)
    assert same(unpacked(packed), state) and list(unpacked(packed)) == list(state)
    assert all(unpacked(packed)[name].dtype == array.dtype for name, array in state.items())
    assert len(packed.data) < sum(array.nbytes for array in state.values()) / 5
    evil = PackedState(np.lib.format.MAGIC_PREFIX)
    with pytest.raises((ValueError, EOFError)):
        evil.unpacked()


def test_a_packed_state_stays_packed_in_a_checkpoint(tmp_path: Any) -> None:
    puzzle = small_puzzle()
    engine = make_engine("tabu", puzzle, QUICK, 1, 0)
    template = engine.state()
    engine.step()
    state = engine.state()
    packed, fixed = PackedState.of(state), next(name for name, array in template.items() if array.size)
    islands = {2: Island(2, packed, -1, Statistics(), 1), 5: Island(5, state, -1, Statistics(), 1)}
    checkpoints.save(tmp_path, "run", puzzle, Checkpoint(RunHistory(1.0), islands, 0))
    read = checkpoints.load(tmp_path / CHECKPOINT, "run", puzzle, template).islands
    assert isinstance(read[2].state, PackedState) and read[2].state.data == packed.data
    assert same(unpacked(read[2].state), state) and same(unpacked(read[5].state), state)
    for wrong, why in (
        (PackedState.of({**state, "more": np.zeros(3)}), "differ in 'more'"),
        (PackedState.of({name.replace("best", "bast"): array for name, array in state.items()}), "differ in 'bast"),
        (PackedState.of({**state, fixed: np.zeros(10**7, dtype=np.int8)}), f"'{fixed}' is int8 of shape"),
        (PackedState(b"no zip"), CHECKPOINT),
        (PackedState(packed.data[:-30]), CHECKPOINT),
    ):
        islands = {2: Island(2, wrong, -1, Statistics(), 1)}
        checkpoints.save(tmp_path, "run", puzzle, Checkpoint(RunHistory(1.0), islands, 0))
        with pytest.raises(InputError, match=why):
            checkpoints.load(tmp_path / CHECKPOINT, "run", puzzle, template)


def test_a_worker_keeps_an_island_and_its_state_travels_when_it_is_asked_for() -> None:
    puzzle, worker = small_puzzle(), Worker()
    report: Report | None = None
    through: Report | None = None
    while report is None or report.island.steps < 20:
        made = 0 if report is None else report.island.steps
        report = worker.run_round(task(puzzle, report, steps=min(3, 20 - made)))
        assert not report.has_state and not report.island.state
    while through is None or through.island.steps < 20:
        made = 0 if through is None else through.island.steps
        through = Worker().run_round(task(puzzle, through, steps=20 - made, is_kept=False, with_state=True))
    last = worker.run_round(task(puzzle, report, steps=0, with_state=True, keeps=False))
    assert last.island.steps == 20 and same(unpacked(last.island.state), unpacked(through.island.state))
    with pytest.raises(NotKept):
        worker.run_round(task(puzzle, last))
    assert worker.run_round(task(puzzle, last, is_kept=False)).island.steps > 20, "it goes on with the state"


def test_an_island_goes_on_when_the_number_of_islands_grows_and_is_refused_in_another_state() -> None:
    puzzle, worker = small_puzzle(), Worker()
    first = worker.run_round(task(puzzle))
    assert worker.run_round(replace(task(puzzle, first), islands=5)).island.steps > first.island.steps
    with pytest.raises(NotKept):
        worker.run_round(task(puzzle, first))


def test_a_round_that_fails_leaves_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its engine may have made steps that nobody heard of."""
    puzzle, worker = small_puzzle(), Worker()
    engine = Staged(puzzle, [0.0, 0.0], [[7], []])
    monkeypatch.setattr("lns.engines.make_engine", lambda *arguments: engine)
    first = worker.run_round(task(puzzle, steps=1))
    engine.seconds[1] = -1.0
    with pytest.raises(ValueError, match="non-negative"):
        worker.run_round(task(puzzle, first))
    with pytest.raises(NotKept):
        worker.run_round(task(puzzle, first))


def test_what_is_received_acts_on_the_round_under_way() -> None:
    puzzle, worker = small_puzzle(), Worker()
    donor = Worker().run_round(task(puzzle, steps=12))
    assert donor.best is not None
    worker.receive_incumbent("test", donor.best, donor.island.best_score)
    first = worker.run_round(task(puzzle, steps=1))
    assert first.island.best_score >= donor.island.best_score
    worker.receive_stop("test")
    stopped = worker.run_round(task(puzzle, first, steps=None))
    assert stopped.island.steps == first.island.steps and stopped.has_state


def test_a_run_that_is_forgotten_during_a_step_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle, worker = small_puzzle(), Worker()

    class Overtaken(Staged):
        """An engine whose run is forgotten during its first step."""

        def step(self) -> None:
            super().step()
            worker.forget("test")

    engine = Overtaken(puzzle, [0.0] * 5, [[7], [], [], [], []])
    monkeypatch.setattr("lns.engines.make_engine", lambda *arguments: engine)
    report = worker.run_round(replace(task(puzzle, steps=None), incumbent_score=7))  # the board of 7 does not end it
    assert report.island.steps == engine.steps == 1 and report.best is not None
    worker.receive_incumbent("test", report.best, 7)  # these calls may come late
    worker.receive_stop("test")
    with pytest.raises(NotKept):
        worker.run_round(task(puzzle, report))


def test_a_worker_remembers_the_last_runs_that_it_forgot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lns.rounds.MAX_FORGOTTEN", 3)
    puzzle, worker = small_puzzle(), Worker()
    for number in range(5):
        worker.forget(str(number))
    steps = [worker.run_round(task(puzzle, run=str(number), steps=1)).island.steps for number in range(5)]
    assert steps == [1, 1, 0, 0, 0]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A cluster of two workers inside this process."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address="127.0.0.1:0",
            protocol="tcp",
            host="127.0.0.1",
        ) as cluster,
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
        assert same(unpacked(local.state), unpacked(there.state))
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


class Foreign:
    """A client of a worker with other versions."""

    def __init__(self, **described: str) -> None:
        self.described = described

    def get_versions(self, packages: list[str]) -> Any:
        own = dict.fromkeys(("python", *packages), "3")
        return {
            "client": {"packages": own},
            "workers": {"tcp://a:1": {"packages": {name: self.described.get(name, "3") for name in own}}},
        }

    def run(self, function: Any, *, workers: list[str], **_: Any) -> dict[str, dict[str, str]]:
        return {at: {name: self.described.get(name, value) for name, value in function().items()} for at in workers}


@pytest.mark.parametrize(
    ("described", "sentence"),
    [
        ({"lns": "", "parameters": ""}, "worker tcp://a:1 has no lns; expected lns 0"),
        ({"numba": "0.1", "lns": "9"}, "worker tcp://a:1 has lns 9, numba 0.1; expected lns 0"),
        ({"python": "2"}, "worker tcp://a:1 has python 2; expected python 3, as here"),
        ({"parameters": "other"}, "worker tcp://a:1 has other parameters; expected the lns"),
    ],
)
def test_a_worker_of_another_version_is_named(described: dict[str, str], sentence: str) -> None:
    client: Any = Foreign(**described)
    (problem,) = differences(client, ["tcp://a:1"]).values()
    assert problem.startswith(sentence)
    same: Any = Foreign()
    assert not differences(same, ["tcp://a:1"])


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


def test_workers_are_closed_once_and_take_no_round_then(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    workers, told = DaskWorkers(client), []
    monkeypatch.setattr(client, "run", lambda _, what, *arguments, **how: told.append(what))
    workers.shutdown()
    workers.shutdown()
    assert told == ["forget"] and not threads_of_clusters()
    with pytest.raises(WorkerLost, match="the search was ended"):
        workers.submit(Worker().run_round, task(small_puzzle())).result(0)


def test_a_scheduler_that_is_gone_ends_the_search(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    workers = DaskWorkers(client)
    workers.check()
    monkeypatch.setattr(clusters, "GONE_S", -1.0)
    with pytest.raises(WorkersGone, match="is gone; what was found is saved"):
        workers.check()
    workers.shutdown()
