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

from instances.formats import load_board, load_puzzle
from instances.puzzle import Puzzle
from instances.verify import verify
from lns.cli import runs
from lns.cli.main import main
from lns.islands import Archipelago
from lns.runs.best_boards import BestBoards
from lns.runs.board_log import BoardLog
from lns.runs.directory import RunDirectory
from lns.runs.files import STATUS, seal, unseal
from lns.runs.history import UNLIMITED_S, RunHistory
from lns.runs.recorder import Recorder
from lns.runs.run_summary import load_summary
from lns.runs.watch_view import frame
from lns.worker_pool import InProcessExecutor
from lns_support.files import open_to_read
from tests.cli.run_program import ROOT
from tests.lns.run_parts import best_of, finished_run, log_of, new_directory, run_for, small_puzzle
from tests.long_run import write_long_run

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished_run(tmp_path_factory.mktemp("runs") / "one", name="like-e2-8x8", engine="tabu", steps=10)


@pytest.fixture
def contents(run: Path) -> Iterator[None]:
    """Looking changes nothing."""
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    yield
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_status_is_a_line_a_run(run: Path, contents: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = finished_run(tmp_path / "other")
    assert main(["status", str(run), str(other)]) == 0
    out = capsys.readouterr().out.splitlines()
    lines = [line for line in out if not line.startswith("    ")]
    certificates = [line for line in out if line.startswith("    ")]
    assert all("refills around the damage that are better: " in line for line in certificates)
    assert len(lines) == 3 and lines[0].split()[:5] == ["run", "instance", "best", "found", "state"]
    assert lines[1].startswith("one  ") and f"like-e2-8x8  {best_of(run)} of 112" in lines[1]
    assert (
        "ended: steps made" in lines[1]
        and (" now " in lines[1] or " ago " in lines[1])
        and lines[2].startswith("other")
    )
    assert main(["status", str(tmp_path / "none"), str(run), "--json", "--min-score", "10"]) == 2
    captured = capsys.readouterr()
    assert "no such directory" in captured.err
    (facts,) = json.loads(captured.out)["runs"]
    assert facts["score"] == best_of(run) and facts["state"] == "ended" and facts["workers"] == 0
    assert facts["boards"] == len([score for score, _ in log_of(run) if score >= 10])
    assert facts["left_s"] == pytest.approx(60 - facts["elapsed_s"])
    summary = load_summary(run)
    assert runs.facts(replace(summary, history=RunHistory(UNLIMITED_S)), None)["left_s"] is None


@pytest.mark.parametrize("command", ["status", "collect"])
def test_other_directories_do_not_hide_the_runs(
    command: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ladder.csv").write_text("instance,score\n")
    (tmp_path / "study").mkdir()
    others = [str(tmp_path / name) for name in ("ladder.csv", "study", "x" * 300)]
    assert main([command, str(run)]) == 0
    alone = capsys.readouterr()
    assert main([command, *others, str(run)]) == 2
    among = capsys.readouterr()
    assert among.out == alone.out != ""
    for other, line in zip(others, among.err.splitlines(), strict=True):
        assert line.startswith(f"lns: {other[:200]}")
    assert "cannot be read: File name too long" in among.err
    assert main([command, *others]) == 2


def test_a_run_without_workers_yet_is_starting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with new_directory(tmp_path / "new", small_puzzle(), engine="tabu") as directory:
        search = Archipelago(directory.puzzle, directory.params, 1, 2, engine="tabu", executor=InProcessExecutor())
        Recorder(directory, RunHistory(60.0), BoardLog(directory.path), []).begin(search, "test")
        assert main(["status", str(directory.path)]) == 0
    said = capsys.readouterr().out
    assert "starting" in said and "none yet" in said and "running" not in said and "nodes/s" not in said


def test_every_is_for_follow(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(run), "--every", "5"]) == 2
    assert "expected --follow with it" in capsys.readouterr().err


def test_status_imports_no_engine(run: Path) -> None:
    program = f"import sys; from lns.cli.main import main; main(['status', {str(run)!r}]); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True)
    assert not {"lns.loop.search_loop", "scipy", "numba"} & set(loaded.stdout.split())


def test_status_without_status_json(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = shutil.copytree(run, tmp_path / "copy")
    (copy / STATUS).write_bytes((run / STATUS).read_bytes()[:-20])
    assert main(["status", str(copy)]) == 0
    output = capsys.readouterr().out
    assert f"{best_of(run)} of 112" in output and "status.json: damaged" in output


def test_collect_finds_each_board_once(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = shutil.copytree(run, tmp_path / "copy")
    assert main(["collect", str(run), str(copy), "--json"]) == 0
    boards = json.loads(capsys.readouterr().out)["boards"]
    scores = [board["score"] for board in boards]
    assert scores == sorted((score for score, _ in log_of(run)), reverse=True)
    puzzle = load_puzzle("like-e2-8x8")
    for board in boards:
        again = load_board(board["url"], puzzle)[1]
        assert verify(puzzle, again).score == board["score"]
    assert main(["collect", str(run), "--min-score", str(scores[0]), "--top", "3"]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith(f"{scores[0]} of 112  after ")
    assert main(["collect", str(run), "--top", "3", "--url"]) == 0
    assert capsys.readouterr().out.count("  https://e2.bucas.name/#puzzle=like-e2-8x8") == 3
    assert main(["collect", str(run), "--min-score", "113"]) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err == f"lns: no board of at least 113 in {run}\n"


def test_collect_continues_after_a_log_that_cannot_be_read(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copytree(run, tmp_path / "copy")

    def refused(path: Path) -> Any:
        if path == copy / "boards.jsonl":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return open_to_read(path)

    monkeypatch.setattr("lns.runs.board_log.open_to_read", refused)
    assert main(["collect", str(copy), str(run)]) == 2
    captured = capsys.readouterr()
    assert captured.err == f"lns: {copy / 'boards.jsonl'}: cannot be read: Permission denied\n"
    assert captured.out.count("\n") == len(log_of(run))


def test_collect_verifies_every_line(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = shutil.copytree(run, tmp_path / "copy")
    log = copy / "boards.jsonl"
    lines = log.read_text().splitlines()
    claims = json.loads(lines[-1])
    del claims["sum"]
    twice = claims | {"oriented": [0] * 64}
    lines += [seal(claims | {"score": 112}), seal(twice), lines[0].replace("1", "2"), "null", "{}", "[" * 9000]
    log.write_text("\n".join(lines) + "\n")
    assert main(["collect", str(copy), "--json"]) == 0
    captured = capsys.readouterr()
    assert max(board["score"] for board in json.loads(captured.out)["boards"]) == best_of(run)
    assert "6 damaged lines skipped" in captured.err


def test_collect_says_when_a_board_of_best_json_alone_was_found(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copytree(run, tmp_path / "copy")
    (copy / "boards.jsonl").unlink()
    assert main(["collect", str(copy), "--json"]) == 0
    (board,) = json.loads(capsys.readouterr().out)["boards"]
    assert board["elapsed_s"] == json.loads((run / "best.json").read_text())["elapsed_s"] > 0


def test_watch_without_a_stdin_is_plain_too(run: Path) -> None:
    command = f"{sys.executable} -m lns watch {run} <&-"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "" and done.stdout.count("\n") == 1


def test_a_run_that_ended_without_a_board_says_so(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    states = iter([replace(load_summary(run), state="running", best=None), replace(load_summary(run), best=None)])
    monkeypatch.setattr("lns.runs.run_summary.load_summary", lambda path: next(states))
    assert main(["stop", str(run)]) == 0
    assert capsys.readouterr().out.startswith("stopped with no board; lns resume")
    (run / "stop").unlink()


def test_watch_without_a_terminal_is_plain(run: Path, contents: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", str(run)]) == 0
    output = capsys.readouterr().out
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
        while True:
            try:
                chunk = os.read(parent, 65536)
            except OSError:  # the other end is closed
                break
            if not chunk:
                break
            output += chunk
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


def test_the_report_has_no_external_resources(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "page.html"
    assert main(["report", str(run), "-o", str(target)]) == 0
    assert main(["report", str(run), "-o", str(target)]) == 2
    assert "exists already" in capsys.readouterr().err
    text = target.read_text()
    page = Page(text)
    assert page.links and all(link.startswith("https://e2.bucas.name/#") for link in page.links)
    assert not {"script", "img", "link", "iframe", "object"} & set(page.tags)
    for picture in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ET.fromstring(picture)
    assert page.tags.count("svg") == 2 + page.tags.count("figure") and page.tags.count("figure") > 1
    assert main(["report", str(run)]) == main(["report", str(run)]) == 0
    (run / "report.html").unlink()


EVIL = "<script>alert(1)</script>&\"'"


def evil_run(path: Path) -> Path:
    """A run whose every text is made to break out of HTML and of the terminal."""
    puzzle = small_puzzle()
    named = Puzzle(puzzle.pieces, puzzle.width, puzzle.height, puzzle.clues, EVIL)
    run_for(new_directory(path, named), 4)
    text = json.loads((path / STATUS).read_text())
    del text["sum"]
    history = text["history"]
    evil = EVIL + "\x1b]0;owned\x07\n"
    history["improvements"] = [[score, at, evil, evil] for score, at, _, _ in history["improvements"]]
    history["operators"] = [[evil, 1, 1, 1]]
    history["sessions"][0].update(host=evil, machine=evil, version=evil, ended=evil)
    text |= {
        "unit": evil[:20],
        "node_equivalents_by_part": {evil: 7},
        "statistics": {evil: 7},
        "write_errors": [evil[:40]],
    }
    (path / STATUS).write_text(seal(text))
    settings = unseal((path / "run.json").read_text())
    values = {name: settings.get(name) for name in json.loads((path / "run.json").read_text()) if name != "sum"}
    (path / "run.json").write_text(seal(values | {"instance": f"../../{evil}", "created_at": "\ud800\x1b"}))
    return path


def test_texts_of_a_run_directory_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = evil_run(tmp_path / EVIL.replace("/", "_"))
    assert main(["report", str(path)]) == 0
    page = (path / "report.html").read_text()
    assert "<script" not in page and "&lt;script&gt;alert(1)" in page
    assert "\x1b" not in page and "\\ud800\\x1b" in page
    Page(page)
    capsys.readouterr()
    for command in ("status", "watch", "collect"):
        assert main([command, str(path)]) == 0
        output = capsys.readouterr().out
        assert "\x1b" not in output and "\x07" not in output
    one = load_summary(path)
    for line in frame(one, [], 120, 40, "none", signs=False):
        assert line.isprintable()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("elapsed_s", 1e300), ("elapsed_s", -1), ("budget_s", "x"), ("improvements", [[1, 0, "", ""]] * 9999),
        ("improvements", [[99999, 0, "", ""]]), ("counts", [[3, -1]]), ("counts", {"3": 1}),
        ("counts", [[3, 0]]), ("gains_by_part", [[[], 1, 1, 1]]),
        ("sessions", [1]), ("sessions", [{"started_at": "x" * 10**6}]),
    ],
)  # fmt: skip
def test_numbers_in_a_status_file_are_bounded(
    field: str, value: object, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copytree(run, tmp_path / "copy")
    status = json.loads((copy / STATUS).read_text())
    del status["sum"]
    status["history"][field] = value
    (copy / STATUS).write_text(seal(status))
    assert main(["status", str(copy)]) == 0  # by the checkpoint's account
    output = capsys.readouterr().out
    assert f"{best_of(run)} of 112" in output and f"    {copy / STATUS}: " in output


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
    growing = BestBoards(tmp_path, puzzle, 3)
    log = tmp_path / "boards.jsonl"
    log.write_bytes(b"")
    for number, line in enumerate(lines):
        log.write_bytes(log.read_bytes() + line[:50])
        growing.update()
        log.write_bytes(b"".join(lines[: number + 1]))
        growing.update()
    assert growing.top == whole and len(whole) == 3
    assert [entry.score for entry in whole] == sorted((score for score, _ in log_of(run)), reverse=True)[:3]
    assert whole[0].board.distance(whole[0].board) == 0 < whole[0].board.distance(whole[1].board)
