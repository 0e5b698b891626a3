"""`lns status`, `watch`, `report`, `collect` and `stop` on runs that are over, damaged, foreign, or a week long."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from lns.cli import runs
from lns.instances.files import open_to_read
from lns.instances.formats import load_board, load_puzzle
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.islands import Archipelago
from lns.rounds import Search
from lns.runs.board_log import BestBoards
from lns.runs.directory import RunDirectory
from lns.runs.files import STATUS, seal, unseal
from lns.runs.history import UNLIMITED_S, RunHistory
from lns.runs.page import frame
from lns.runs.recorder import Recorder
from lns.runs.run_summary import load_summary
from lns.worker_pool import InProcessExecutor
from tests.cli.conftest import Typed
from tests.cli.run_program import ROOT
from tests.lns.run_parts import best_of, finished_run, log_of, new_directory, run_for, small_puzzle
from tests.long_run import write_long_run

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished_run(tmp_path_factory.mktemp("runs") / "one", name="like-e2-8x8", engine="tabu", steps=10)


@pytest.fixture
def copy(run: Path, here: Path) -> Path:
    return shutil.copytree(run, here / "copy")


@pytest.fixture
def contents(run: Path) -> Iterator[None]:
    """Looking changes nothing."""
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    yield
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_status_is_a_line_a_run(run: Path, contents: None, here: Path, typed: Typed) -> None:
    finished_run(here / "other")
    out = typed(f"status {run} other").out.splitlines()
    head, one, other = (line for line in out if not line.startswith("    "))
    certificates = [line for line in out if line.startswith("    ")]
    assert all("refills around the damage that are better: " in line for line in certificates)
    assert head.split()[:5] == ["run", "instance", "best", "found", "state"]
    assert one.startswith("one  ") and f"like-e2-8x8  {best_of(run)} of 112" in one and other.startswith("other")
    assert "ended: steps made" in one and (" now " in one or " ago " in one)
    said = typed(f"status none {run} --json --min-score 10", 2)
    assert "no such directory" in said.err
    (facts,) = json.loads(said.out)["runs"]
    assert facts["score"] == best_of(run) and facts["state"] == "ended" and facts["workers"] == 0
    assert facts["boards"] == len([score for score, _ in log_of(run) if score >= 10])
    assert facts["left_s"] == pytest.approx(60 - facts["elapsed_s"])
    endless = replace(load_summary(run), history=RunHistory(UNLIMITED_S))
    assert runs.facts(endless, None)["left_s"] is None


@pytest.mark.parametrize("command", ["status", "collect"])
def test_other_directories_do_not_hide_the_runs(command: str, run: Path, here: Path, typed: Typed) -> None:
    Path("ladder.csv").write_text("instance,score\n")
    Path("study").mkdir()
    others = ["ladder.csv", "study", "x" * 300]
    alone, among = typed([command, str(run)]), typed([command, *others, str(run)], 2)
    assert among.out == alone.out != ""
    for other, line in zip(others, among.err.splitlines(), strict=True):
        assert line.startswith(f"lns: {other[:200]}")
    assert "cannot be read: File name too long" in among.err
    typed([command, *others], 2)


def test_a_run_without_workers_yet_is_starting(here: Path, typed: Typed) -> None:
    with new_directory(here / "new", small_puzzle(), engine="tabu") as directory:
        search = Archipelago(Search(directory.puzzle, directory.params, 1, "tabu"), 2, executor=InProcessExecutor())
        Recorder(directory.puzzle, directory.settings, RunHistory(60.0), directory).begin(search)
        said = typed("status new").out
    assert "starting" in said and "none yet" in said and "running" not in said and "nodes/s" not in said


def test_every_is_for_follow(run: Path, typed: Typed) -> None:
    assert "expected --follow with it" in typed.refused(f"report {run} --every 5")


def test_status_imports_no_engine(run: Path) -> None:
    program = f"import sys; from lns.cli.main import main; main(['status', {str(run)!r}]); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True)
    assert not {"lns.loop.search_loop", "scipy", "numba"} & set(loaded.stdout.split())


def test_status_without_status_json(run: Path, copy: Path, typed: Typed) -> None:
    (copy / STATUS).write_bytes((run / STATUS).read_bytes()[:-20])
    output = typed("status copy").out
    assert f"{best_of(run)} of 112" in output and "status.json: damaged" in output


def test_collect_finds_each_board_once(run: Path, copy: Path, typed: Typed) -> None:
    boards = typed.facts(f"collect {run} copy")["boards"]
    scores = [board["score"] for board in boards]
    assert scores == sorted((score for score, _ in log_of(run)), reverse=True)
    puzzle = load_puzzle("like-e2-8x8")
    assert [verify(puzzle, load_board(board["url"], puzzle)[1]).score for board in boards] == scores
    best = typed(f"collect {run} --min-score {scores[0]} --top 3").out
    assert best.startswith(f"{scores[0]} of 112  after ")
    assert typed(f"collect {run} --top 3 --url").out.count("  https://e2.bucas.name/#puzzle=like-e2-8x8") == 3
    said = typed(f"collect {run} --min-score 113", 1)
    assert said.out == "" and said.err == f"lns: no board of at least 113 in {run}\n"


def test_collect_continues_after_a_log_that_cannot_be_read(
    run: Path, copy: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    def refused(path: Path) -> Any:
        if path == copy / "boards.jsonl":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return open_to_read(path)

    monkeypatch.setattr("lns.runs.board_log.open_to_read", refused)
    said = typed(f"collect {copy} {run}", 2)
    assert said.err == f"lns: {copy / 'boards.jsonl'}: cannot be read: Permission denied\n"
    assert said.out.count("\n") == len(log_of(run))


def test_collect_verifies_every_line(run: Path, copy: Path, typed: Typed) -> None:
    log = copy / "boards.jsonl"
    lines = log.read_text().splitlines()
    claims = json.loads(lines[-1])
    del claims["sum"]
    twice = claims | {"oriented": [0] * 64}
    lines += [seal(claims | {"score": 112}), seal(twice), lines[0].replace("1", "2"), "null", "{}", "[" * 9000]
    log.write_text("\n".join(lines) + "\n")
    said = typed("collect copy --json")
    assert max(board["score"] for board in json.loads(said.out)["boards"]) == best_of(run)
    assert "6 damaged lines skipped" in said.err


def test_collect_says_when_a_board_of_best_json_alone_was_found(run: Path, copy: Path, typed: Typed) -> None:
    (copy / "boards.jsonl").unlink()
    (board,) = typed.facts("collect copy")["boards"]
    assert board["elapsed_s"] == json.loads((run / "best.json").read_text())["elapsed_s"] > 0


def test_watch_without_a_stdin_is_plain_too(run: Path) -> None:
    command = f"{sys.executable} -m lns watch {run} <&-"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "" and done.stdout.count("\n") == 1


def test_a_run_that_ended_without_a_board_says_so(run: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    states = iter([replace(load_summary(run), state="running", best=None), replace(load_summary(run), best=None)])
    monkeypatch.setattr("lns.runs.run_summary.load_summary", lambda path: next(states))
    assert typed(f"stop {run}").out.startswith("stopped with no board; lns resume")
    (run / "stop").unlink()


def test_watch_without_a_terminal_is_plain(run: Path, contents: None, typed: Typed) -> None:
    output = typed(f"watch {run}").out
    assert output.count("\n") == 1 and "\x1b" not in output
    assert f"one: {best_of(run)} of 112, ended: steps made; " in output


@pytest.mark.parametrize("width", [20, 40, 80, 132, 200, 300])
@pytest.mark.parametrize("height", [10, 24, 50])
@pytest.mark.parametrize("colour", ["none", "256", "truecolor"])
def test_frames_fit_the_terminal(run: Path, width: int, height: int, colour: Any) -> None:
    one = load_summary(run)
    lines = frame(one, BestBoards(run, one.puzzle, 8).update(), width, height, colour, signs=colour != "none")
    assert 3 <= len(lines) <= height
    assert all(len(ESCAPE.sub("", line)) <= width for line in lines)
    text = ESCAPE.sub("", "\n".join(lines))
    assert "score over time" in text[:2000] or height == 10 or width == 20
    if width >= 80 and height >= 24:
        assert "boards in the log" in text and "best boards" in text
        assert text.isascii() == (colour == "none")


@pytest.mark.parametrize(
    ("end", "status"), [(b"q", 0), (b"\x1b[B\x1b[Bq", 0), (signal.SIGINT, 0), (signal.SIGTERM, 143)]
)
def test_watch_leaves_the_terminal_as_it_was(
    end: bytes | signal.Signals, status: int, run: Path, contents: None
) -> None:
    import pty

    parent, child = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    process = subprocess.Popen(
        [sys.executable, "-m", "lns", "watch", str(run)], stdin=child, stdout=child, stderr=child, cwd=ROOT,
        env=environment, close_fds=True,
    )  # fmt: skip
    os.close(child)
    output = b""
    try:
        while b"q ends this view" not in output:
            output += os.read(parent, 65536)
        if isinstance(end, bytes):
            os.write(parent, end)
        else:
            process.send_signal(end)
        try:
            while chunk := os.read(parent, 65536):
                output += chunk
        except OSError:  # the other end is closed
            pass
        assert process.wait(20) == status
    finally:
        process.kill()
        os.close(parent)
    assert b"\x1b[?1049h" in output and output.rstrip().endswith(b"\x1b[?1049l")
    assert "▀".encode() in output


class Page(HTMLParser):
    """Tags and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        assert not [name for name, _ in attrs if name.startswith("on")]


def test_the_report_has_no_external_resources(copy: Path, typed: Typed) -> None:
    typed("report copy -o page.html")
    assert "exists already" in typed.refused("report copy -o page.html")
    text = Path("page.html").read_text()
    page = Page(text)
    assert page.links and all(link.startswith("https://e2.bucas.name/#") for link in page.links)
    assert not {"script", "img", "link", "iframe", "object"} & set(page.tags)
    for picture in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ET.fromstring(picture)
    assert page.tags.count("svg") == 2 + page.tags.count("figure") and page.tags.count("figure") > 1
    typed("report copy")
    typed("report copy")


EVIL = "<script>alert(1)</script>&\"'"


def evil_run(path: Path) -> Path:
    """A run whose every text is made to break out of HTML and of the terminal."""
    puzzle = small_puzzle()
    named = Puzzle(puzzle.pieces, puzzle.width, puzzle.height, puzzle.clues, EVIL)
    run_for(new_directory(path, named), 4)
    text = json.loads((path / STATUS).read_text())
    del text["sum"]
    history, evil = text["history"], EVIL + "\x1b]0;owned\x07\n"
    history["improvements"] = [[score, at, evil, evil] for score, at, _, _ in history["improvements"]]
    history["operators"] = [[evil, 1, 1, 1]]
    history["sessions"][0].update(host=evil, machine=evil, version=evil, ended=evil)
    text |= {"statistics": {evil: 7, "operators": {evil: 7}}}
    (path / STATUS).write_text(seal(text | {"write_errors": [evil[:40]]}))
    settings = unseal((path / "run.json").read_text())
    values = {name: settings.get(name) for name in json.loads((path / "run.json").read_text()) if name != "sum"}
    (path / "run.json").write_text(seal(values | {"instance": f"../../{evil}", "created_at": "\ud800\x1b"}))
    return path


def test_texts_of_a_run_directory_are_escaped(here: Path, typed: Typed) -> None:
    path = evil_run(here / EVIL.replace("/", "_"))
    typed(["report", str(path)])
    page = (path / "report.html").read_text()
    assert "<script" not in page and "&lt;script&gt;alert(1)" in page
    assert "\x1b" not in page and "\\ud800\\x1b" in page
    Page(page)
    for command in ("status", "watch", "collect"):
        output = typed([command, str(path)]).out
        assert "\x1b" not in output and "\x07" not in output
    assert all(line.isprintable() for line in frame(load_summary(path), [], 120, 40, "none", signs=False))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("elapsed_s", 1e300), ("elapsed_s", -1), ("budget_s", "x"), ("improvements", [[1, 0, "", ""]] * 9999),
        ("improvements", [[99999, 0, "", ""]]), ("counts", [[3, -1]]), ("counts", {"3": 1}),
        ("counts", [[3, 0]]), ("gains_by_part", [[[], 1, 1, 1]]),
        ("sessions", [1]), ("sessions", [{"started_at": "x" * 10**6}]),
    ],
)  # fmt: skip
def test_numbers_in_a_status_file_are_bounded(field: str, value: object, run: Path, copy: Path, typed: Typed) -> None:
    status = json.loads((copy / STATUS).read_text())
    del status["sum"]
    status["history"][field] = value
    (copy / STATUS).write_text(seal(status))
    output = typed("status copy").out  # by the checkpoint's account
    assert f"{best_of(run)} of 112" in output and f"    copy/{STATUS}: " in output


def test_status_does_not_read_a_long_board_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_long_run(tmp_path / "week", boards=2000)
    opened: list[str] = []
    real = Path.open

    def watched(self: Path, *args: Any, **kwargs: Any) -> Any:
        opened.append(self.name)
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", watched)
    one = load_summary(path)
    assert one.history.at_least(0) == 2000 and "boards.jsonl" not in opened
    with RunDirectory.open(path) as directory:
        assert directory.settings.instance == "like-e2-16x16"


def test_best_boards_follow_a_growing_log(run: Path, tmp_path: Path) -> None:
    puzzle = load_puzzle("like-e2-8x8")
    whole = BestBoards(run, puzzle, 3).update()
    lines = (run / "boards.jsonl").read_bytes().splitlines(keepends=True)
    growing, log = BestBoards(tmp_path, puzzle, 3), tmp_path / "boards.jsonl"
    log.write_bytes(b"")
    for number, line in enumerate(lines):
        log.write_bytes(log.read_bytes() + line[:50])
        growing.update()
        log.write_bytes(b"".join(lines[: number + 1]))
        growing.update()
    assert growing.top == whole and len(whole) == 3
    assert [entry.score for entry in whole] == sorted((score for score, _ in log_of(run)), reverse=True)[:3]
    assert whole[0].board.distance(whole[0].board) == 0 < whole[0].board.distance(whole[1].board)
