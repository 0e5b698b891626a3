"""`make queue`: order, turns, what is resumed; nothing committed is lost or done twice, however it is killed."""

import csv
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lns.api.files import load_board
from lns.cli.main import find_command, parser_of
from lns.exact.file_lock import try_lock
from lns.instances.formats import best_json, load_puzzle, shipped_instances
from lns.tuning import queue

ROOT = Path(__file__).resolve().parents[2]
FAKE = """#!/bin/sh
# stands for `python -m lns`: "status N", "hang", "die", "run DIR" (a run directory, then waits), "resume DIR"
shift 2
echo "$@" >> calls
cat /proc/self/autogroup > priority 2>/dev/null
case $1 in
    status) exit "$2" ;;
    die) kill -9 $$ ;;
    run) mkdir "$2" && touch "$2/run.json" && exec sleep 60 ;;
    hang) exec sleep 60 ;;
    work) while :; do :; done ;;
esac
exit "${RESUMED:-0}"
"""
BEFORE = (  # a table of the queue as it was at first
    "item,seed,started,machine,commit,core_hours,state,best,command\n"
    'a,7,2020-11-27T12:14:25.382+00:00,"AMD EPYC, 2 cores, load 5",2ba7db0,0.5,stopped,464,hang --seed {seed}\n'
    'a,8,2020-11-27T13:14:25.382+00:00,"AMD EPYC, 2 cores, load 5",2ba7db0,0.25,running,,hang --seed {seed}\n'
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the folders of results, in which a short script stands for `lns`."""
    monkeypatch.chdir(tmp_path)
    for folder in (queue.RUNS, queue.BEST, queue.QUEUE.parent):
        folder.mkdir(parents=True)
    (tmp_path / "fake").write_text(FAKE)
    (tmp_path / "fake").chmod(0o755)
    monkeypatch.setattr(queue.sys, "executable", str(tmp_path / "fake"))
    monkeypatch.setattr(queue.os, "nice", lambda by: 0)
    monkeypatch.setattr(queue, "LOOK_S", 0.02)
    return tmp_path


def item(name: str, command: str, hours: str = "1") -> str:
    return f"[{name}]\ncommand = '{command}'\nhours = {hours}\n\n"


def work(*items: str, workers: int = 1) -> int:
    queue.QUEUE.write_text("".join(items))
    try:
        return queue.main(str(workers), "data")
    except SystemExit as end:
        assert isinstance(end.code, int)
        return end.code


def lines_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(newline=""))) if path.exists() else []


def rows(*columns: str) -> list[tuple[str, ...]]:
    return [tuple(row[column] for column in columns) for row in lines_of(queue.TABLE)]


def when(ready: Callable[[], bool]) -> None:
    """Send SIGTERM to this process as soon as ``ready`` holds."""
    if not os.fork():
        while not ready() and os.getppid() != 1:
            time.sleep(0.02)
        os.kill(os.getppid(), signal.SIGTERM)
        os._exit(0)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (item("a", "x") + item("a", "x"), "line 5"),
        (item("b", "x") + "[a]\ncommand = 'x'\n", "a: 'hours'"),
        (item("b", "x") + item("a", "x", "0"), "a: "),
        (item("a", "x", "1\nturn = -1"), "a: "),
        (item("a", "x", "1\nhour = 1"), "a: "),
        (item("a", "x", "'one'"), "a: "),
        (item("a", "x {sede}"), "a: 'sede'"),
        ("a = 5\n", "a: "),
    ],
)
def test_a_bad_queue_is_refused_with_file_and_line_or_item(
    place: Path, text: str, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert work(text) == 2
    told = capsys.readouterr().err
    assert told.startswith("lns: tuning/queue.toml: ") and where in told and "expected a command" in told
    assert told.count("\n") == 1


def test_the_items_of_the_project_are_commands_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    items = queue.read_queue()
    first = next(iter(items.values()))["command"]
    assert "eternity2_clue5" in first and "--target 465" in first
    for each in items.values():
        words = shlex.split(each["command"])
        name, arguments = find_command(words)
        parser_of(name).parse_args(
            [word.format(data="data", seed=5, run="runs/queue/x", commit="a") for word in arguments]
        )
        assert all(word.startswith(("docs/papers/data/", "runs/")) for word in words if word.endswith(".csv"))


def test_items_come_in_order_until_they_are_done_or_their_hours_are_over(place: Path) -> None:
    turns = {"command": "x", "hours": 5.0, "turn": 2.0}
    items = {"first": {"command": "x", "hours": 1.0}, "a": turns, "b": turns}
    had = [("first", 0.75, "running"), ("first", 0.25, "stopped"), ("a", 2.0, "stopped"), ("b", 0.5, "stopped"),
           ("b", 1.5, "missed"), ("a", 2.0, "stopped"), ("b", 0.1, "done"), ("a", 1.0, "stopped")]  # fmt: skip
    for start, (name, hours, state) in enumerate(had):
        found = queue.next_item(items, set())
        assert found is not None and found[0] == name and found[2] >= hours
        values = (name, start, f"2020-{start}", "", "", hours, 0.0, state, "", "x")
        queue.save(dict(zip(queue.COLUMNS, values, strict=True)))
    assert queue.next_item(items, set()) is None
    others = {name: each | {"command": "y", "hours": 9.0} for name, each in items.items()}  # not done
    assert queue.next_item(others, {"first", "a"}) == ("b", "y", 2.0)


def test_of_a_session_that_a_merge_left_twice_the_longer_counts(place: Path) -> None:
    head, one, two = BEFORE.splitlines()
    queue.TABLE.write_text("\n".join([head, one, two.replace("0.25", "0.3"), two]) + "\n")
    assert [row["core_hours"] for row in queue.sessions().values()] == ["0.5", "0.3"]


def test_how_a_command_ends_is_what_its_row_says(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = [item("yes", "status 0"), item("no", "status 1"), item("bad", "status 2"), item("dead", "die")]
    assert work(*items, item("long", "hang", hours="0.0001"), workers=2) == 1
    assert dict(rows("item", "state")) == {  # type: ignore[comparison-overlap]
        "yes": "done", "no": "done", "bad": "failed", "dead": "failed", "long": "stopped",
    }  # fmt: skip
    told = capsys.readouterr().err
    assert "lns: bad is set aside: exit status 2; see runs/queue/bad.log\n" in told
    assert "lns: dead is set aside: exit status -9; see runs/queue/dead.log\n" in told
    assert work(*items[:2]) == 0 and len(rows("item")) == 5  # done is done


def test_core_hours_are_of_the_processor_and_hours_by_the_clock(place: Path) -> None:
    assert work(item("idle", "hang", hours="0.001"), item("busy", "work", hours="0.001"), workers=2) == 0
    found = {row["item"]: (float(row["core_hours"]), queue.hours_of(row)) for row in queue.sessions().values()}
    assert found["idle"][0] < found["busy"][0] < found["busy"][1] + 0.0001 and found["idle"][1] >= 0.001


def test_a_run_is_resumed_and_a_missed_target_takes_a_new_seed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = item("long", "run {run} --seed {seed}")
    when(lambda: any(queue.RUNS.glob("*/run.json")))
    assert work(long) == 128 + signal.SIGTERM
    assert rows("state") == [("stopped",)]
    when(lambda: len(list(queue.RUNS.glob("*/run.json"))) == 2)
    monkeypatch.setenv("RESUMED", "1")  # the target is missed: a new seed
    assert work(long) == 128 + signal.SIGTERM
    (first, _), (again, state), (second, _) = rows("seed", "state")
    assert (again, state) == (first, "missed") and second != first
    runs = [f"runs/queue/long-{seed} --seed {seed}" for seed in (first, second)]
    called = Path("calls").read_text().splitlines()
    assert called == [f"run {runs[0]}", f"resume runs/queue/long-{first} --quiet", f"run {runs[1]}"]
    monkeypatch.setenv("RESUMED", "0")
    assert work(long) == 0 and rows("seed", "state")[3:] == [(second, "done")]


def test_one_queue_at_a_time_works_in_a_checkout_at_the_lowest_priority(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    by: list[int] = []
    monkeypatch.setattr(queue.os, "nice", by.append)
    with (queue.RUNS / "lock").open("ab") as lock:
        assert try_lock(lock)
        assert work(item("a", "status 0")) == 2
    assert capsys.readouterr().err == "lns: runs/queue: a queue is at work here; expected one at a time\n"
    assert work(item("a", "status 0")) == 0 and by == [19, 19]
    if Path("/proc/self/autogroup").exists():  # Linux shares time among sessions first
        assert "nice 19" in Path("priority").read_text()


def keep(board: str, seed: int) -> object:
    """Keep the board of a run of like-e2-5x5. Returns the score that its row gets."""
    puzzle, run = load_puzzle("like-e2-5x5"), queue.RUNS / f"a-{seed}"
    solution = load_board(str(shipped_instances()["like-e2-5x5"].with_name("like-e2-5x5.solution.txt")), puzzle)
    fields = best_json(puzzle, solution, instance=puzzle.name, seed=seed, elapsed_s=1.5)
    cells = fields["placements"]
    if board == "worse":
        cells[12], cells[13] = cells[13], cells[12]  # it still says 40
    if board == "illegal":
        cells[3] = cells[4]
    run.mkdir()
    (run / "best.json").write_text(json.dumps(fields))
    row = {"seed": str(seed), "commit": f"abcdef{seed}", "best": ""}
    queue.keep_best(row, run)
    return row["best"]


def test_a_better_board_goes_to_runs_best_and_its_readme(place: Path) -> None:
    readme, target = queue.BEST / "README.md", queue.BEST / "like-e2-5x5.json"
    readme.write_text("| [z](z.json) | **1** of 2 | b | `c` | d |\n")
    assert keep("illegal", 1) == 0 and not target.exists()
    worse = keep("worse", 2)
    assert json.loads(target.read_text())["score"] == worse
    readme.write_text(readme.read_text().replace("| none |", "| 40 (Smith 2000) |") + "| [y](y.json) |\n")
    assert keep("solution", 3) == 40
    assert keep("worse", 4) == worse != 40  # not put back
    kept = json.loads(target.read_text())
    assert (kept["score"], kept["seed"], kept["commit"], kept["url"]) == (40, 3, "abcdef3", "")
    assert kept["command"].startswith("lns solve like-e2-5x5 --workers 1 --seed 3 --target 40")
    row = f"| [like-e2-5x5](like-e2-5x5.json) | **40** of 40 | 40 (Smith 2000) | `{kept['command']}` | abcdef3 |"
    assert readme.read_text().splitlines()[1:] == [row, "| [y](y.json) |"]


SOLVE = "solve like-e2-12x12 --target 264 --time 12 --checkpoint 1 --workers 1 --seed {seed} --run-dir {run}"
PAPER = "exact paper bailleux2025 --sizes 5 --per-size 4 --solvers sat:half-3 sat:full-2 rowscan -o data/paper.csv"
LADDER = "benchmark --rows like-e2-12x20 --time 3 --seeds 1 --workers 1 --first-seed {seed} --boards {run}"
TINY = item("paper", PAPER, "1\nturn = 0.01") + item("ladder", f"{LADDER} --table runs/ladder.csv", "1\nturn = 0.02")
# at the usual priority: at the lowest one, a start beside busy processes takes minutes
QUICK = "import os, sys; from lns.tuning import queue; os.nice, queue.yield_to_all, queue.LOOK_S = int, None, 0.3; "
QUICK += "sys.exit(queue.main('2', 'data'))"


def git(place: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *words], cwd=place, check=True, capture_output=True)


def start(place: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-c", QUICK], cwd=place, env=environment, text=True, stderr=-1, stdout=-1)


def wait_for_a_run(place: Path) -> None:
    """Return once a run can be resumed, which takes long on a busy machine."""
    until = time.monotonic() + 300
    while not any((place / queue.RUNS).glob("solve-*/run.json")):
        assert time.monotonic() < until, "no run begins"
        time.sleep(0.1)


@pytest.mark.slow
def test_killed_at_random_moments_it_loses_nothing_and_does_nothing_twice(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    chance, ends, place = random.Random(1), Counter[int](), tmp_path / "one"
    for folder in ("data", "runs/best", "tuning"):
        (place / folder).mkdir(parents=True)
    (place / queue.BEST / "README.md").write_text("|a|\n|---|\n")
    (place / queue.QUEUE).write_text(item("solve", SOLVE) + TINY)
    shutil.copy(ROOT / ".gitignore", place)
    git(place, "init", "-q")
    committed = dict.fromkeys(("data/paper.csv", "runs/ladder.csv"), "")
    scores, hours = list[int](), list[float]()
    for number in range(21):
        if number == 9:  # another machine goes on from what was committed
            git(tmp_path, "clone", "-q", str(place), str(tmp_path / "two"))
            place = tmp_path / "two"
            (place / "data").mkdir(exist_ok=True)
        child = start(place)
        if number in (0, 9):
            wait_for_a_run(place)
        time.sleep(chance.uniform(0.0, 5.0))
        sent = chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        child.send_signal(sent)
        _, errors = child.communicate(timeout=300)
        ends[child.returncode] += 1
        while_python_starts = sent == signal.SIGINT and "Traceback" in errors
        assert child.returncode in (0, -sent, 128 + sent) or while_python_starts, errors
        assert "Traceback" not in errors or while_python_starts, errors
        git(place, "add", "-A")
        git(place, "commit", "-q", "--allow-empty", "-m", "a")
        # nothing that was committed is lost
        for name, before in committed.items():
            now = (place / name).read_text() if (place / name).exists() else ""
            assert now.startswith(before)
            committed[name] = now
        for file in (place / queue.BEST).glob("like-e2-12x12.json"):
            scores.append(json.loads(file.read_text())["score"])
        table = lines_of(place / queue.TABLE)
        hours.append(sum(map(queue.hours_of, table)))
        assert scores == sorted(scores) and hours == sorted(hours)
        # nothing is done twice
        done = [(line["instance"], line["solver"]) for line in lines_of(place / "data/paper.csv")]
        done += [("ladder", line["note"]) for line in lines_of(place / "runs/ladder.csv")]
        assert len(set(done)) == len(done)
        made = {folder.name.removeprefix("solve-") for folder in (place / queue.RUNS).glob("solve-*[0-9]")}
        assert made <= {line["seed"] for line in table if line["item"] == "solve"}
    spent = sum(queue.hours_of(row) for row in table if row["item"] == "solve")
    (place / queue.QUEUE).write_text(item("solve", SOLVE, str(spent + 0.015)) + TINY)  # so that it ends
    child = start(place)
    _, errors = child.communicate(timeout=900)
    assert child.returncode == 0, errors
    assert len(lines_of(place / "data/paper.csv")) == 12 and lines_of(place / "runs/ladder.csv")
    scores.append(json.loads((place / queue.BEST / "like-e2-12x12.json").read_text())["score"])
    assert scores == sorted(scores) and scores[-1] > 200
    runs = Counter(line["seed"] for line in lines_of(place / queue.TABLE) if line["item"] == "solve")
    assert len(runs) > 1 and max(runs.values()) > 1  # resumed, and another seed on the other machine
    assert {-signal.SIGKILL, 128 + signal.SIGTERM, 128 + signal.SIGINT} <= set(ends), ends
