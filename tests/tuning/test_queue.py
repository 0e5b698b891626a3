"""`make queue`: order, turns, what is resumed; nothing committed is lost or done twice, however it is killed."""

from __future__ import annotations

import argparse
import csv
import errno
import importlib
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

from instances.board import Board
from instances.formats import best_json, load_puzzle, shipped_instances
from lns.api.files import load_board
from lns.cli.main import commands
from lns_support.child_process import processor_seconds
from lns_support.errors import InputError
from lns_support.file_lock import try_lock
from tuning import best_boards, queue, queue_table
from tuning.queue_table import Item, Row, next_item, read_queue, read_table, save

ROOT = Path(__file__).resolve().parents[2]
FAKE = f"""#!{sys.executable}
# stands for `python -m lns`: "status N", "hang", "die", "run DIR" (a run directory, then waits), "resume DIR"
import os, signal, sys, time
from pathlib import Path
words = sys.argv[3:]
with open("calls", "a") as calls:
    print(*words, file=calls)
if words[0] == "run":
    Path(words[1]).mkdir(parents=True)
    Path(words[1], "run.json").touch()
if words[0] == "die":
    os.kill(os.getpid(), signal.SIGKILL)
if words[0] in ("run", "hang"):
    time.sleep(60)
print("lns: a sentence")
sys.exit(int(words[1]) if words[0] == "status" else int(os.environ.get("RESUMED", "0")))
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the folders of results, in which a short script stands for `lns`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "queue").mkdir(parents=True)
    (tmp_path / "fake").write_text(FAKE)
    (tmp_path / "fake").chmod(0o755)
    monkeypatch.setattr(queue.sys, "executable", str(tmp_path / "fake"))
    monkeypatch.setattr(queue, "LOOK_S", 0.02)
    return tmp_path


def work(*items: Item, workers: int = 1, every: float = 60.0) -> int:
    return queue.work(list(items), workers, Path("data"), every)


def rows() -> list[Row]:
    return list(read_table().values())


def row(item: str, seed: int, state: str, core_hours: float = 0.1, command: str = "x") -> Row:
    return Row(item, seed, f"2026-{seed}", "a machine", "abcdef0", core_hours, state, "", command)


def when(ready: Callable[[], bool]) -> None:
    """Send SIGTERM to this process as soon as ``ready`` holds."""
    if not os.fork():
        while not ready() and os.getppid() != 1:
            time.sleep(0.02)
        os.kill(os.getppid(), signal.SIGTERM)
        os._exit(0)


# -- what is read -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[a]\ncommand = 'x'\nhours = \n", 3),
        ("[a]\ncommand = 'x'\nhours = 1\n[a]\n", 4),
        ("[a]\ncommand = 'x", 2),
        ("[b]\ncommand = 'x'\nhours = 1\n\n[a]\ncommand = 'x'\n", 5),
        ("# a\n[a]\ncommand = 'x'\nhours = 0\n", 2),
        ("[a]\ncommand = 'x'\nhours = 1\nturn = -1\n", 1),
        ("[a]\ncommand = 'x'\nhours = 'one'\n", 1),
        ("[a]\ncommand = 'x'\nhours = nan\n", 1),
        ("[a]\ncommand = ''\nhours = 1\n", 1),
        ('[a]\ncommand = "it\'s"\nhours = 1\n', 1),
        ("[a]\ncommand = 5\nhours = 1\n", 1),
        ("[a]\ncommand = 'x'\nhours = 1\nhour = 1\n", 1),
        ("['../a']\ncommand = 'x'\nhours = 1\n", 1),
        ("a = 5\n", 1),
    ],
)
def test_a_bad_queue_is_refused_with_file_and_line(
    place: Path, text: str, line: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("q.toml").write_text(text)
    monkeypatch.setattr(sys, "argv", ["queue", "q.toml"])
    monkeypatch.setattr(os, "nice", lambda by: 0)
    assert queue.main() == 2
    told = capsys.readouterr().err
    assert told.startswith(f"lns: q.toml:{line}: ") and told.count("\n") == 1


def test_the_items_of_the_project_are_commands_of_the_program() -> None:
    items = read_queue(ROOT / "tuning" / "queue.toml")
    assert "eternity2_clue5" in items[0].command and "--target 465" in items[0].command
    for item in items:
        words = shlex.split(item.command)
        parser = argparse.ArgumentParser(exit_on_error=False)
        command = importlib.import_module(commands()[words[0]][0])
        command.add_arguments(parser)
        known = {"{data}": "data", "{seed}": "5", "{run}": "runs/queue/x", "{commit}": "abcdef0"}
        parser.parse_args([known.get(word, word) for word in words[1:]])
        folders = ("docs/papers/data/", "runs/")
        assert all(word.startswith(folders) for word in words if word.endswith(".csv"))


def test_what_is_to_be_committed_is_not_ignored() -> None:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a checkout")
    results = ["runs/queue.csv", "runs/ladder.csv", "runs/best/new.json", "docs/papers/data/new.csv"]
    assert subprocess.run(["git", "check-ignore", *results], cwd=ROOT, capture_output=True).stdout == b""
    assert subprocess.run(["git", "check-ignore", "-q", "runs/queue/x"], cwd=ROOT).returncode == 0


def test_a_table_that_two_machines_wrote_has_each_session_once(place: Path) -> None:
    for seed, core_hours in ((1, 0.5), (2, 0.25)):
        save(row("a", seed, "running", core_hours))
    text = queue_table.TABLE.read_text()
    queue_table.TABLE.write_text(
        text + text.splitlines()[1].replace("0.5", "0.75") + "\n" + text.splitlines()[1] + "\n"
    )
    assert [(each.seed, each.core_hours) for each in rows()] == [(1, 0.75), (2, 0.25)]
    save(row("a", 1, "stopped", 0.8))  # keeps its place
    assert [(each.seed, each.core_hours) for each in rows()] == [(1, 0.8), (2, 0.25)]
    queue_table.TABLE.write_text(text + "<<<<<<< HEAD\n")
    with pytest.raises(InputError, match=r"runs/queue\.csv:4: "):
        read_table()


# -- what comes next --------------------------------------------------------------------------------------------------


def test_items_come_in_order_until_they_are_done_or_their_hours_are_over(place: Path) -> None:
    first, second = Item("first", "x", 1.0), Item("second", "x", 1.0)
    assert next_item([first, second], set()) == first
    assert next_item([first, second], {"first"}) == second
    save(row("first", 1, "stopped", 0.6))
    assert next_item([first, second], set()) == first
    save(row("first", 2, "running", 0.4))
    assert next_item([first, second], set()) == second
    save(row("second", 3, "done", 0.1))
    assert next_item([first, second], set()) is None
    assert next_item([first, Item("second", "y", 1.0)], set()) == Item("second", "y", 1.0)  # another command


def test_items_with_a_turn_share_the_machine(place: Path) -> None:
    items = [Item("a", "x", 9.0, turn=2.0), Item("late", "x", 9.0), Item("b", "x", 9.0, turn=2.0)]
    assert next_item(items, set()) == items[0]
    save(row("a", 1, "stopped", 2.0))
    assert next_item(items, set()) == items[2]
    save(row("b", 2, "stopped", 2.1))
    assert next_item(items, set()) == items[0]
    assert next_item(items, {"a", "b"}) == items[1]


# -- sessions ---------------------------------------------------------------------------------------------------------


def test_how_a_command_ends_is_what_its_row_says(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = [Item("yes", "status 0", 1.0), Item("no", "status 1", 1.0), Item("bad", "status 2", 1.0)]
    assert work(*items, Item("dead", "die", 1.0), workers=2) == 1
    assert {each.item: each.state for each in rows()} == {
        "yes": "done",
        "no": "done",
        "bad": "failed",
        "dead": "stopped",
    }
    told = capsys.readouterr().err
    assert "lns: bad is set aside: runs/queue/bad.log: a sentence\n" in told
    assert "lns: dead is set aside: runs/queue/dead.log: ended by signal 9\n" in told
    assert work(items[0], items[1]) == 0 and len(rows()) == 4  # done is done


def test_a_run_is_resumed_and_a_missed_target_takes_a_new_seed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    item = Item("long", "run {run} --seed {seed}", 1.0)
    when(lambda: Path("runs/queue").exists() and any(Path("runs/queue").glob("*/run.json")))
    assert work(item) == 128 + signal.SIGTERM
    (first,) = rows()
    assert first.state == "stopped"
    when(lambda: Path("calls").read_text().count("run runs") == 2)
    monkeypatch.setenv("RESUMED", "1")  # the target is missed: a new seed
    assert work(item) == 128 + signal.SIGTERM
    again, second = rows()[1:]
    assert (again.seed, again.state) == (first.seed, "missed") and second.seed != first.seed
    runs = [f"runs/queue/long-{seed} --seed {seed}" for seed in (first.seed, second.seed)]
    called = Path("calls").read_text().splitlines()
    assert called == [f"run {runs[0]}", f"resume runs/queue/long-{first.seed} --quiet", f"run {runs[1]}"]
    monkeypatch.setenv("RESUMED", "0")
    assert work(item) == 0 and rows()[-1].state == "done" and rows()[-1].seed == second.seed


def test_where_the_run_directory_is_not_at_hand_a_new_seed_is_taken(place: Path) -> None:
    item = Item("long", "status 0 {run} {seed}", 1.0)
    for seed in (7, 8):
        save(row("long", seed, "running", 0.1, item.command))
    assert work(item) == 0
    assert len({each.seed for each in rows()}) == 3


def test_a_session_ends_with_the_hours_of_its_item(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "processor_seconds", lambda pid: 3600.0)
    items = [Item("long", "hang", 1.0), Item("turns", "hang", 2.0, turn=1.0)]
    assert work(*items) == 0
    assert [(each.item, each.state, each.core_hours) for each in rows()] == [
        ("long", "stopped", 1.0), ("turns", "stopped", 1.0), ("turns", "stopped", 1.0),
    ]  # fmt: skip


def test_an_instance_that_is_not_there_is_skipped_with_a_sentence(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert work(Item("absent", "status 0 {data}/nope.txt", 1.0), Item("next", "status 0 {data}", 1.0)) == 1
    assert capsys.readouterr().err == (
        "lns: absent is set aside: data/nope.txt: no such file; expected the public instances in --data DIR\n"
    )
    assert [each.item for each in rows()] == ["next"] and "status 0 data\n" in Path("calls").read_text()


def test_one_queue_at_a_time_works_in_a_checkout(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("q.toml").write_text("[a]\ncommand = 'status 0'\nhours = 1\n")
    monkeypatch.setattr(sys, "argv", ["queue", "q.toml"])
    by: list[int] = []
    monkeypatch.setattr(os, "nice", by.append)
    with Path("runs/queue/lock").open("ab") as lock:
        assert try_lock(lock)
        assert queue.main() == 2
    assert "a queue is at work here" in capsys.readouterr().err
    assert queue.main() == 0 and by == [19, 19]


def test_a_full_disk_starts_nothing_and_ends_nothing(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write, tries = queue_table.csv_records.write, list[int]()

    def full(path: Path, records: list[Row]) -> None:
        tries.append(1)
        if len(tries) in refused:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write(path, records)

    monkeypatch.setattr(queue_table.csv_records, "write", full)
    monkeypatch.setattr(sys, "argv", ["queue", "q.toml", "--every", "0.05"])
    monkeypatch.setattr(os, "nice", lambda by: 0)
    Path("q.toml").write_text("[a]\ncommand = 'hang'\nhours = 1\n\n[b]\ncommand = 'hang'\nhours = 1\n")
    refused = [1]
    assert queue.main() == 2 and not Path("calls").exists()
    assert capsys.readouterr().err == f"lns: runs/queue.csv: {os.strerror(errno.ENOSPC)}\n"
    tries.clear()
    refused = [2, 3]  # heartbeats of the first command, which goes on
    seen = Path("runs/queue.csv")
    when(lambda: seen.exists() and "0.0001" in seen.read_text())
    monkeypatch.setattr(queue, "processor_seconds", lambda pid: 0.36 if len(tries) > 4 else 0.001)
    assert queue.main() == 128 + signal.SIGTERM
    assert [(each.item, each.state) for each in rows()] == [("a", "stopped")]


def test_processor_time_of_a_process_and_those_below_it() -> None:
    burn = "import time, subprocess, sys\nwhile time.process_time() < 0.3: pass\n"
    below = f"subprocess.run([sys.executable, '-c', {burn!r}])"
    child = subprocess.Popen([sys.executable, "-c", f"{burn}\n{below}\nprint(flush=True); time.sleep(60)"], stdout=-1)
    assert child.stdout is not None and child.stdout.readline()
    assert 0.55 < processor_seconds(child.pid) < 5
    child.kill()
    child.communicate()
    assert processor_seconds(child.pid) == 0


# -- the best boards --------------------------------------------------------------------------------------------------


def board_of(run: Path, score: int | None, seed: int = 5) -> Path:
    """A best.json of like-e2-5x5: its solution, or a worse board."""
    puzzle = load_puzzle("like-e2-5x5")
    solution = load_board(str(shipped_instances()["like-e2-5x5"].with_name("like-e2-5x5.solution.txt")), puzzle)
    pairs = solution.pairs()
    if score is None:
        pairs[12], pairs[13] = pairs[13], pairs[12]
    board = Board.from_pairs(pairs, 5, 5).of(puzzle)
    run.mkdir(parents=True, exist_ok=True)
    fields = best_json(puzzle, board, instance="like-e2-5x5", seed=seed, elapsed_s=1.5)
    (run / "best.json").write_text(json.dumps(fields))
    return run


def test_a_better_board_goes_to_runs_best_and_its_readme(place: Path) -> None:
    best_boards.BEST.mkdir(parents=True)
    readme = best_boards.BEST / "README.md"
    old = "| [like-e2-5x5](like-e2-5x5.json) | **1** of 40 | 40 (Smith 2000) | `lns solve x` | 0000000 |"
    readme.write_text(f"# Best\n\n| instance |\n|---|\n{old}\n| [z](z.json) | a | b | c | d |\n")
    command = "solve {data}/like-e2-5x5 --target 40 --seed {seed} --run-dir {run}"
    worse = best_boards.keep_best(board_of(Path("runs/queue/a-5"), None), 5, command, "abcdef0")
    assert 0 < int(worse) < 40
    assert best_boards.keep_best(board_of(Path("runs/queue/a-6"), 40, 6), 6, command, "abcdef1") == "40"
    assert best_boards.keep_best(Path("runs/queue/a-5"), 5, command, "abcdef2") == worse  # not put back
    kept = json.loads((best_boards.BEST / "like-e2-5x5.json").read_text())
    assert (kept["score"], kept["seed"], kept["commit"], kept["url"]) == (40, 6, "abcdef1", "")
    assert kept["command"] == "lns solve like-e2-5x5 --target 40 --seed 6"
    lines = readme.read_text().splitlines()
    new = f"| [like-e2-5x5](like-e2-5x5.json) | **40** of 40 | 40 (Smith 2000) | `{kept['command']}` | abcdef1 |"
    assert lines[4:] == [new, "| [z](z.json) | a | b | c | d |"]
    readme.write_text("\n".join(lines[:4]) + "\n")  # as if it had been killed between the two files
    best_boards.keep_best(Path("runs/queue/a-6"), 6, command, "abcdef3")
    assert readme.read_text().splitlines()[4] == new.replace("40 (Smith 2000)", "none")


def test_a_board_that_breaks_a_rule_is_not_kept(place: Path) -> None:
    run = board_of(Path("runs/queue/a-5"), 40)
    said = json.loads((run / "best.json").read_text())
    said["placements"][3] = said["placements"][4]
    (run / "best.json").write_text(json.dumps(said))
    with pytest.raises(InputError):
        best_boards.keep_best(run, 5, "solve x", "abcdef0")
    assert not best_boards.BEST.exists()


# -- killed at random -------------------------------------------------------------------------------------------------

TINY = r'''
[solve]
command = "solve like-e2-12x12 --target 264 --time 12 --checkpoint 1 --workers 1 --seed {seed} --run-dir {run}"
hours = 0.008
turn = 0.001

[paper]
command = "exact paper bailleux2025 --sizes 5 --per-size 4 --solvers sat:half-3 sat:full-2 rowscan -o data/paper.csv"
hours = 1
turn = 0.001

[ladder]
command = """benchmark --rows like-e2-12x20 --time 3 --seeds 1 --workers 1 --first-seed {seed} \
--table runs/ladder.csv --boards {run}"""
hours = 1
turn = 0.002
'''


def git(place: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    return subprocess.run(["git", *identity, *words], cwd=place, check=True, capture_output=True, text=True).stdout


def start(place: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tuning.queue", "q.toml", "--every", "0.3", "--workers", "2"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, cwd=place, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def lines_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(newline=""))) if path.exists() else []


@pytest.mark.slow
def test_killed_at_random_moments_it_loses_nothing_and_does_nothing_twice(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    chance, ends = random.Random(1), Counter[int]()
    place = tmp_path / "one"
    (place / "data").mkdir(parents=True)
    (place / "runs" / "best").mkdir(parents=True)
    (place / "runs" / "best" / "README.md").write_text("|a|\n|---|\n")
    (place / "q.toml").write_text(TINY)
    shutil.copy(ROOT / ".gitignore", place)
    git(place, "init", "-q")
    committed: dict[str, list[str]] = {}
    best, spent = Counter[str](), 0.0
    for number in range(21):
        if number == 14:  # another machine goes on from what was committed
            git(tmp_path, "clone", "-q", str(place), str(tmp_path / "two"))
            place = tmp_path / "two"
            (place / "data").mkdir(exist_ok=True)
        child = start(place)
        time.sleep(chance.uniform(0.0, 6.0) if number else 6.0)
        sent = chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        child.send_signal(sent)
        _, errors = child.communicate(timeout=90)
        ends[child.returncode] += 1
        assert child.returncode in (0, -sent, 128 + sent), errors
        assert "Traceback" not in errors or child.returncode == -signal.SIGINT, errors  # while Python starts
        git(place, "add", "-A")
        git(place, "commit", "-q", "--allow-empty", "-m", "a")
        # nothing that was committed is lost
        for name in ("data/paper.csv", "runs/ladder.csv"):
            now = (place / name).read_text().splitlines() if (place / name).exists() else []
            assert now[: len(committed.get(name, []))] == committed.get(name, [])
            committed[name] = now
        for file in (place / "runs" / "best").glob("*.json"):
            score = json.loads(file.read_text())["score"]
            assert score >= best[file.stem]
            best[file.stem] = score
        table = lines_of(place / "runs" / "queue.csv")
        hours = sum(float(line["core_hours"]) for line in table)
        assert hours >= spent
        spent = hours
        # nothing is done twice
        rows = [(line["instance"], line["solver"]) for line in lines_of(place / "data" / "paper.csv")]
        assert len(set(rows)) == len(rows)
        ladder = [line["note"] for line in lines_of(place / "runs" / "ladder.csv")]
        assert len(set(ladder)) == len(ladder)
        kept = {line["seed"] for line in table if line["item"] == "solve"}
        made = {folder.name.removeprefix("solve-") for folder in (place / "runs" / "queue").glob("solve-*")}
        assert made <= kept
    child = start(place)
    _, errors = child.communicate(timeout=300)
    assert child.returncode == 0, errors
    assert len(lines_of(place / "data" / "paper.csv")) == 12
    table = lines_of(place / "runs" / "queue.csv")
    assert {line["item"] for line in table} == {"solve", "paper", "ladder"}
    runs = Counter(line["seed"] for line in table if line["item"] == "solve")
    assert len(runs) > 1 and max(runs.values()) > 1  # resumed, and another seed on the other machine
    assert {-signal.SIGKILL, 128 + signal.SIGTERM, 128 + signal.SIGINT} <= set(ends), ends
    assert json.loads((place / "runs" / "best" / "like-e2-12x12.json").read_text())["score"] > 200
