"""Studies whose trials are in PostgreSQL, in MariaDB or behind optuna's proxy."""

import glob
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.trial import TrialState

from lns.cli.main import main
from lns.instances.errors import InputError
from lns.params import Params
from lns.tuning import session as workers
from lns.tuning import study as studies
from lns.tuning.objective import Trace
from lns.tuning.session import search_task
from lns.tuning.storage import connect, redact_url, storage_errors
from lns.tuning.study import StudyRequest, open_study
from tests.tuning.made_up import REQUEST, MadeUp

PASSWORD = "se:cret-w@rd"
QUOTED = "se%3Acret-w%40rd"  # in a URL
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of alembic and SQLAlchemy


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("sqlite:///a.db", "SQLite is no storage for several machines"),
        ("redis://host/0", "no URL of a storage: redis://…; expected postgresql://USER@HOST/DATABASE"),
        ("postgresql:///local", "no URL of a storage"),
        ("grpc://host", "no URL of a storage: grpc://…; expected"),
        ("postgresql://u:word@h:x/d", "no URL of a storage: postgresql://…; expected"),
        ("study.db", "no URL of a storage: …; expected"),
        ("postgresql://lns:word@127.0.0.1:9/d", "the storage postgresql://lns@127.0.0.1:9/d refuses: "),
        ("postgresql://u:wo?rd@h/d", "no URL of a storage: postgresql://…; expected"),
        ("postgresql://u:wo#rd@h/d", "/ ? # @ are written %2F %3F %23 %40"),
        ("postgresql://u:wo/rd@h/d", "no URL of a storage: postgresql://…; expected"),
        ("postgresql://lns:word", "no URL of a storage: postgresql://…; expected"),
        ("user=lns password=word host=h", "no URL of a storage: …; expected"),
        ("postgresql:u:word@h/d", "no URL of a storage: …; expected"),
        ("mysql://u:word@127.0.0.1:9/d?charset=bad", "mysql://u@127.0.0.1:9/d: its URL cannot be used ("),
        ("mysql://u:word@127.0.0.1:9/d?ssl_ca=/nope", "its URL cannot be used (FileNotFoundError)"),
        ("mysql://u:word@127.0.0.1:9/d?read_timeout=x", "its URL cannot be used ("),
        ("mysql://u:wo\N{SNOWMAN}rd@127.0.0.1:9/d", "its URL cannot be used (UnicodeEncodeError)"),
        ("postgresql://u:w@127.0.0.1:9/d?nosuch=1&sslpassword=word", 'invalid connection option "***"'),
        ("postgresql+asyncpg://u:word@127.0.0.1:9/d", "No module named 'asyncpg'"),
    ],
)
def test_a_storage_that_cannot_be_is_one_sentence(url: str, sentence: str, tmp_path: Path, capsys: Any) -> None:
    arguments = ["tune", "--family", "like-e2:6x6", "--nodes", "4000", "--quiet", "--study", str(tmp_path / "s")]
    assert main([*arguments, "--storage", url]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "word" not in said, said
    assert not re.search(r"\b(wo|rd)\b", said) and sentence in said


@pytest.mark.parametrize(
    ("error", "package", "installed"),
    [
        (ModuleNotFoundError("No module named 'pymysql'", name="pymysql"), "pymysql", "'PyMySQL[rsa]'"),
        (RuntimeError("'cryptography' package is required for caching_sha2_password"), "cryptography", "cryptography"),
    ],
)
def test_a_driver_that_is_not_installed_is_named(error: Exception, package: str, installed: str) -> None:
    sentence = f"mysql://u@h/d needs {package}, which is not installed (extra 'storage'): pip install {installed}, or"
    with pytest.raises(InputError, match=re.escape(sentence)), storage_errors("mysql://u:word@h/d"):
        raise error
    with pytest.raises(RuntimeError, match="other"), storage_errors("mysql://u:word@h/d"):
        raise RuntimeError("other")


def test_no_part_of_a_password_is_shown_whatever_the_url() -> None:
    """Passwords of any characters, at each place where a URL takes one, and a storage that repeats the URL."""
    assert redact_url(f"postgresql://lns:{QUOTED}@host:5432/db?password=word") == "postgresql://lns@host:5432/db"
    public = ["grpc://host:13000", "postgresql://host:5432/db"]
    assert list(map(redact_url, public)) == public
    rng = random.Random(1)
    for _ in range(3000):
        word = "".join(rng.choices(["SECRET", "HIDDEN", *":/?#@&=%[] ;'\"\\"], k=rng.randrange(1, 9)))
        alone = word.replace("@", "")  # what follows it is a host
        url = rng.choice(
            ("postgresql://u:{}@host:1/d", "mysql://u:{}@host/d", f"mysql://u:{alone}", "grpc://u:{}@host:1", "x://u:{}@host",
             "mysql://u@host/d?passwd={}", "mysql://u:w@host/d?ssl_ca=/x&password={}", "u=me password={}", "u:{}@host")
        ).replace("{}", word)  # fmt: skip
        with pytest.raises(InputError) as found, storage_errors(url):
            raise optuna.exceptions.StorageInternalError(f"no {word} at {url}")
        assert not re.search("SECRET|HIDDEN", redact_url(url) + str(found.value)), url


# -- servers ----------------------------------------------------------------------------------------------------------


@contextmanager
def postgres() -> Iterator[str]:
    """A server with a password; the URL of its database."""
    found = [shutil.which("initdb"), *sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))[::-1]]  # noqa: PTH207
    folder = next((f"{Path(path).resolve().parent}/" for path in found if path), "")
    if not folder:
        pytest.skip("PostgreSQL is not installed")
    make = f"{folder}initdb -D PLACE/data -U lns -A scram-sha-256 --pwfile PLACE/word -N"
    serve = f"{folder}postgres -D PLACE/data -p PORT -h 127.0.0.1 -k PLACE -F"
    ask = f"{folder}pg_isready -h 127.0.0.1 -p PORT"
    with _server("postgres", (make, serve, ask), signal.SIGINT) as (_, port):  # it does not wait for connections
        yield f"postgresql://lns:{QUOTED}@127.0.0.1:{port}/postgres"


@contextmanager
def mariadb() -> Iterator[str]:
    """A server with a password; the URL of its database."""
    if shutil.which("mariadbd") is None:
        pytest.skip("MariaDB is not installed")
    at, client = "--no-defaults --datadir=PLACE/data", "mariadb --no-defaults -S PLACE/s -u root"
    make = f"mariadb-install-db {at} --auth-root-authentication-method=normal --skip-test-db"
    serve = f"mariadbd {at} --socket=PLACE/s --port=PORT --bind-address=127.0.0.1 --innodb-flush-log-at-trx-commit=0"
    with _server("mysql", (make, serve, f"{client} -e DO(0)"), signal.SIGTERM) as (place, port):
        account = f"CREATE USER lns@127.0.0.1 IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON tuning.* TO lns@127.0.0.1"
        begun = [*client.replace("PLACE", place).split(), "-e", f"CREATE DATABASE tuning; {account}"]
        subprocess.run(begun, check=True)
        yield f"mysql://lns:{QUOTED}@127.0.0.1:{port}/tuning"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@contextmanager
def _server(account: str, commands: tuple[str, str, str], ending: signal.Signals) -> Iterator[tuple[str, int]]:
    """A server until ``ending`` is sent to it, its folder and its port; run by ``account`` if this is root.

    The commands make a database, serve it, and succeed as soon as the server answers.
    """
    user, port = account if os.getuid() == 0 else None, _free_port()
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "word").write_text(PASSWORD)
        for path in (place, f"{place}/word") if user else ():
            shutil.chown(path, account)
        make, serve, ask = (text.replace("PLACE", place).replace("PORT", str(port)).split() for text in commands)
        subprocess.run(make, check=True, capture_output=True, user=user, cwd=place)
        server = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user, cwd=place)
        try:
            end = time.monotonic() + 60
            while subprocess.run(ask, capture_output=True).returncode:
                assert time.monotonic() < end and server.poll() is None, "the server did not start"
                time.sleep(0.1)
            yield place, port
        finally:
            server.send_signal(ending)
            server.wait(60)


@contextmanager
def proxy() -> Iterator[str]:
    """Optuna's proxy of a storage in memory."""
    port = _free_port()
    at, serve = {"host": "127.0.0.1", "port": port}, optuna.storages.run_grpc_proxy_server
    threading.Thread(target=serve, args=(optuna.storages.InMemoryStorage(),), kwargs=at, daemon=True).start()
    connect(f"grpc://127.0.0.1:{port}")
    yield f"grpc://127.0.0.1:{port}"


PLACES = {"psycopg": postgres, "pymysql": mariadb, "grpc": proxy}  # by the package that is its driver


@pytest.fixture(scope="module", params=PLACES)
def shared(request: pytest.FixtureRequest) -> Iterator[str]:
    pytest.importorskip(request.param, reason=f"{request.param} is not installed: it comes with the extra 'storage'")
    with PLACES[request.param]() as url:
        yield url


def test_two_machines_share_plan_trials_and_runs(
    made_up: None, shared: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = (tmp_path / machine / "one" for machine in ("here", "there"))
    first = open_study(here, replace(REQUEST, storage=shared))
    second = open_study(there, StudyRequest(storage=shared))
    assert first.plan == second.plan and first.base == second.base
    search_task(here, 0, 10, shared)
    assert [trial.number for trial in second.finished] == list(range(10))

    class NotTheDefaults(MadeUp):
        def __init__(self, engine: str, params: Params, *more: Any) -> None:
            assert params != first.base, "the defaults are run once"
            super().__init__(engine, params, *more)

    monkeypatch.setattr(workers, "TrialRun", NotTheDefaults)
    search_task(there, 0, 12, shared)
    long = 6 * (workers.CALIBRATION_TRIALS - 1)  # of the first trials, the defaults among them
    assert len(open_study(there, StudyRequest(storage=shared)).runs) == 12 + long
    assert len(first.finished) == 12
    with pytest.raises(InputError, match=r"the trials are in [a-z]*://(lns@)?127"):
        open_study(here, StudyRequest())
    with pytest.raises(InputError, match="--seed asks for 4, but this study has 3"):
        open_study(tmp_path / "third" / "one", replace(REQUEST, storage=shared, seed=4))


def test_the_password_is_in_no_file_and_no_message(made_up: None, shared: str, tmp_path: Path, capsys: Any) -> None:
    study = tmp_path / "secret"
    open_study(study, replace(REQUEST, storage=shared))
    search_task(study, 0, 2, shared)
    assert main(["tune", "--study", str(study), "--storage", shared, "--report"]) in (0, 1)
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    said = capsys.readouterr()
    shown_texts = [said.out.encode(), said.err.encode(), *files]
    assert len(files) > 2 and not any(word.encode() in text for text in shown_texts for word in (PASSWORD, QUOTED))
    if QUOTED in shared:
        assert main(["tune", "--study", str(study), "--storage", shared.replace(QUOTED, "wr0ng"), "--quiet"]) == 2
        refused = capsys.readouterr().err
        assert "refuses" in refused and "wr0ng" not in refused and refused.count("\n") == 1


def test_a_plan_and_runs_of_any_length_are_shared(made_up: None, shared: str, tmp_path: Path) -> None:
    """An attribute has 65,535 bytes at most in MySQL; the largest puzzles and long runs have more."""
    here, there = (tmp_path / machine / "long" for machine in ("here", "there"))
    first = open_study(here, replace(REQUEST, storage=shared, command="x" * 200_000))
    second = open_study(there, StudyRequest(storage=shared))
    assert first.plan == second.plan
    key = first.key(first.base, first.pairs[0])
    assert second.runs.get(key) is None
    long = Trace(tuple((score, 5 * score) for score in range(20_000)), 200_000, False, 1.0)
    first.runs.add(key, long)
    assert open_study(there, StudyRequest(storage=shared)).runs.get(key) == long


def test_a_study_in_a_journal_stays_there(made_up: None, tmp_path: Path) -> None:
    open_study(tmp_path / "s", REQUEST)
    with pytest.raises(InputError, match=r"journal\.log: this file has the trials of the study; expected no --storage"):
        open_study(tmp_path / "s", StudyRequest(storage="grpc://host:1"))


def search(path: Path, trials: int, storage: str | None) -> None:
    workers.TrialRun = MadeUp  # type: ignore[misc]
    search_task(path, 0, trials, storage)


def finished(study: studies.Study) -> dict[int, str]:
    return {trial.number: json.dumps([trial.params, trial.value]) for trial in study.finished}


def kill_processes(places: list[Path], url: str | None, trials: int, kills: int) -> None:
    """Processes search; one is killed, another one starts, and so on; a last one goes on. Nothing finished is lost."""
    watcher = open_study(places[0], replace(REQUEST, storage=url))
    for place in places[1:]:
        open_study(place, StudyRequest(storage=url))
    context, known, count = multiprocessing.get_context("spawn"), dict[int, str](), 2 * len(places)
    processes = [
        context.Process(target=search, args=(places[i % len(places)], trials, url), daemon=True)
        for i in range(count + kills)
    ]
    for process in processes[:count]:
        process.start()
    end = time.monotonic() + 120
    for kill in range(kills):
        while len(finished(watcher)) < 4 * (kill + 1) or not watcher.trials(TrialState.RUNNING):
            assert time.monotonic() < end
            time.sleep(0.02)
        processes[kill].kill()
        processes[count + kill].start()
        now = finished(watcher)
        assert known.items() <= now.items()
        known = now
    for process in processes:
        process.join(120)
    search_task(places[0], 0, trials, url)
    again = open_study(places[0], StudyRequest(storage=url))
    now = finished(again)
    assert known.items() <= now.items() and len(set(now.values())) == len(now)
    # one killed before it was signed is not seen; machines may begin the last one at the same time
    assert trials - (kills if url else 0) <= len(now) < trials + len(places)
    assert not [trial for trial in again.trials(TrialState.RUNNING) if "holder" in trial.user_attrs], "tried again"


@pytest.mark.slow
def test_two_processes_share_a_study_and_one_that_is_killed_costs_nothing_finished(
    made_up: None, tmp_path: Path
) -> None:
    kill_processes([tmp_path / "s"], None, 30, 1)


@pytest.mark.slow
def test_killed_processes_of_two_machines_lose_no_finished_trial(made_up: None, shared: str, tmp_path: Path) -> None:
    kill_processes([tmp_path / machine / "kills" for machine in ("a", "b")], shared, 40, 2)
