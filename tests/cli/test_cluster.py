"""`--cluster` with a scheduler and workers that are processes of their own, some of which are killed."""

import json
import logging
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lns.cli.main import main
from lns.cluster import connected
from lns.instances.errors import InputError
from lns.runs.directory import read_best, read_run
from lns.runs.run_summary import load_summary
from tests.cli.conftest import Typed
from tests.cli.run_program import program, wait_for
from tests.dask_processes import Cluster, dask_cluster

distributed = pytest.importorskip("distributed", reason="Dask is not installed: it comes with the extra 'cluster'")

TABU = ["--engine", "tabu", "--seed", "1"]
SHORT_ROUNDS = {"lns.cluster.ROUND_S": 2.0, "lns.cluster.DaskWorkers.round_s": 2.0}  # users have 10 s


def steps(run: Path) -> int:
    """Tabu moves that status.json tells; 0 before."""
    try:
        return load_summary(run).heartbeat.statistics.moves
    except ValueError:
        return 0


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "tls://127.0.0.1:9"])
def test_a_cluster_that_cannot_be_is_one_sentence(
    address: str, here: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    monkeypatch.setattr("lns.cluster.ANSWER_S", 1.0)
    refused = typed.refused(f"solve like-e2-4x4 --run-dir run --cluster {address}")
    assert f"no Dask scheduler answers at {address} (" in refused and not Path("run").exists()


def test_dask_tells_nothing_beside_the_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    loggers = [log for log in logging.root.manager.loggerDict.values() if isinstance(log, logging.Logger)]
    of_dask = [log for log in loggers if log.name.partition(".")[0] in ("distributed", "tornado")]
    told: list[str] = []

    def client(*_: object, **__: object) -> None:
        told.extend(log.name for log in of_dask if log.isEnabledFor(logging.CRITICAL))
        raise OSError("nobody")

    monkeypatch.setattr(distributed, "Client", client)
    with pytest.raises(InputError, match="nobody"), connected("tcp://127.0.0.1:9"):
        pass
    assert of_dask and told == []


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with dask_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as cluster:
        yield cluster


@pytest.mark.slow
def test_a_killed_worker_is_replaced_and_ctrl_c_saves(cluster: Cluster, tmp_path: Path, params: str) -> None:
    run = tmp_path / "run"
    options = ["--cluster", cluster.address, "--run-dir", str(run), "--params", params, "--checkpoint", "1", *TABU]
    with program("solve", "like-e2-12x12", "--time", "600", *options, constants=SHORT_ROUNDS) as search:
        wait_for(lambda: steps(run) > 0, "the first steps")
        assert load_summary(run).workers == 2
        os.killpg(cluster.workers[0].pid, signal.SIGKILL)
        wait_for(lambda: "is gone" in (run / "run.log").read_text(), "the loss of a worker")
        cluster.add()
        wait_for(lambda: "joined, 2 in all" in (run / "run.log").read_text(), "a worker that joins")
        before = steps(run)
        wait_for(lambda: steps(run) > before, "more steps")
        search.send_signal(signal.SIGINT)
        _, errors = search.communicate(timeout=60)
        assert search.returncode == 130 and "Traceback" not in errors, errors
    summary = load_summary(run)
    best = read_best(run, read_run(run)[1])
    assert best is not None and best.score == summary.history.best_score
    assert main(["resume", str(run), "--time", "600", "--steps", "1", "--workers", "2", "--quiet"]) == 0
    assert load_summary(run).heartbeat.statistics.moves > summary.heartbeat.statistics.moves


@pytest.mark.slow
def test_the_loss_of_the_scheduler_ends_the_run_saved(tmp_path: Path, params: str) -> None:
    run = tmp_path / "run"
    with dask_cluster(tmp_path, workers=1) as cluster:
        options = ["--cluster", cluster.address, "--run-dir", str(run), "--params", params, "--checkpoint", "1", *TABU]
        waits = {**SHORT_ROUNDS, "lns.cluster.GONE_S": 5.0}
        with program("solve", "like-e2-8x8", "--time", "600", *options, constants=waits) as search:
            wait_for(lambda: steps(run) > 0, "the first steps")
            os.killpg(cluster.scheduler.pid, signal.SIGKILL)
            output, errors = search.communicate(timeout=60)
        assert search.returncode == 2 and output == "", errors
        assert "is gone; what was found is saved" in errors.splitlines()[-1] and "Traceback" not in errors
    assert load_summary(run).why == "cluster lost"
    assert main(["resume", str(run), "--time", "60", "--steps", "1", "--quiet"]) == 0


def certificate(folder: Path) -> list[str]:
    """A self-signed certificate; the options of Dask that name it."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(cert),
         "-days", "1", "-subj", "/CN=localhost"], check=True, capture_output=True,
    )  # fmt: skip
    return ["--tls-ca-file", str(cert), "--tls-cert", str(cert), "--tls-key", str(key)]


@pytest.mark.slow
def test_a_cluster_with_tls(tmp_path: Path, params: str) -> None:
    try:
        options = certificate(tmp_path)
    except FileNotFoundError:
        pytest.skip("openssl, which makes the certificate, is not installed")
    tls: dict[str, Any] = {"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": options[1]}
    tls |= {f"DASK_DISTRIBUTED__COMM__TLS__CLIENT__{name}": options[at] for name, at in (("CERT", 3), ("KEY", 5))}
    command = ["solve", "like-e2-6x6", "--steps", "3", "--params", params, "--json", "--quiet", *TABU]
    with dask_cluster(tmp_path, workers=1, options=options, protocol="tls") as cluster:
        assert cluster.address.startswith("tls://")
        for address, known, status in (
            (cluster.address, tls, 0),
            (cluster.address, {}, 2),
            (cluster.address.replace("tls", "tcp"), tls, 2),
        ):
            run = tmp_path / f"run{status}{len(known)}{address[:3]}"
            where = ["--cluster", address, "--run-dir", str(run)]
            waits = SHORT_ROUNDS if status == 0 else {"lns.cluster.ANSWER_S": 2.0}
            with program(*command, *where, constants=waits, env={**os.environ, **known}) as search:
                output, errors = search.communicate(timeout=90)
            assert search.returncode == status, errors
            assert json.loads(output)["score"] > 0 if status == 0 else "no Dask scheduler answers at" in errors
