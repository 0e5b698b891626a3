"""`lns status`, `watch`, `report`, `stop`, `collect`, `compare` and `merge` on runs that are over, damaged or many."""

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
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lns
from lns.engine import FoundBoard, Statistics
from lns.instances.board import Board
from lns.instances.formats import load_board, load_puzzle
from lns.instances.piece_set import translate
from lns.instances.puzzle import Clue
from lns.instances.verify import verify
from lns.islands import Archipelago
from lns.rounds import Search
from lns.runs import board_log
from lns.runs.board_log import BestBoards
from lns.runs.directory import board_source, read_run, run_directories
from lns.runs.files import seal
from lns.runs.history import UNLIMITED_S, RunHistory
from lns.runs.page import frame
from lns.runs.recorder import Recorder
from lns.runs.run_summary import RELIABLE_BOARDS, load_summary
from lns.worker_pool import InProcessExecutor
from tests.cli.conftest import Typed
from tests.cli.run_program import ROOT, ended
from tests.instances.small_puzzles import exchanged, renumbered
from tests.lns.run_parts import best_of, finished_run, log_of, new_directory, run_for, small_puzzle

pytestmark = pytest.mark.usefixtures("here")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of one instance, the second in a folder of its own, and one of another instance."""
    folder = tmp_path_factory.mktemp("runs")
    finished_run(folder / "one", name="like-e2-8x8", engine="tabu", steps=10)
    finished_run(folder / "more" / "two", name="like-e2-8x8", engine="tabu", steps=20)
    finished_run(folder / "other", name="like-e2-6x6", engine="tabu", steps=10)
    (folder / "notes.txt").write_text("no run")
    return folder


@pytest.fixture
def run(folder: Path) -> Path:
    return folder / "one"


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
    Path("notes.txt").write_text("no run")
    out = typed(f"status {run} other").out.splitlines()
    head, one, other = (line for line in out if not line.startswith("    "))
    certificates = [line for line in out if line.startswith("    ")]
    assert all("refills around the damage that are better: " in line for line in certificates)
    assert head.split()[:5] == ["run", "instance", "best", "found", "state"]
    assert one.startswith("one  ") and f"like-e2-8x8  {best_of(run)} of 112" in one and other.startswith("other")
    assert "ended: steps made" in one and (" now " in one or " ago " in one)
    said = typed(f"status none notes.txt {'x' * 300} {run} --json --min-score 10", 2)
    reasons = ("none: no such directory", "notes.txt", "cannot be read: File name too long")
    assert all(reason in line for reason, line in zip(reasons, said.err.splitlines(), strict=True))
    (facts,) = json.loads(said.out)["runs"]
    assert facts["score"] == best_of(run) and facts["state"] == "ended" and facts["workers"] == 0
    assert facts["boards"] == len([score for score, _ in log_of(run) if score >= 10])
    assert facts["left_s"] == pytest.approx(60 - facts["elapsed_s"])
    endless = replace(load_summary(run), history=RunHistory(UNLIMITED_S))
    assert lns.RunTable((endless,)).records()[0]["left_s"] is None


@pytest.mark.parametrize("command", ["status", "watch"])
def test_without_a_directory_the_runs_here_are_meant(command: str, run: Path, copy: Path, typed: Typed) -> None:
    assert f"{best_of(run)} of 112" in typed(command).out
    shutil.rmtree(copy)
    assert "no run directory" in typed(command, 2).err


def test_a_run_without_workers_yet_is_starting(here: Path, typed: Typed) -> None:
    with new_directory(here / "new", small_puzzle(), engine="tabu") as directory:
        search = Archipelago(
            Search(directory.puzzle, directory.settings.parameters, 1, "tabu"), 2, executor=InProcessExecutor()
        )
        Recorder(directory.puzzle, directory.settings, RunHistory(60.0), directory).begin(search)
        said = typed("status new").out
    assert "starting" in said and "none yet" in said and "running" not in said and "nodes/s" not in said


def test_status_imports_no_engine(run: Path) -> None:
    program = f"import sys; from lns.cli.main import main; main(['status', {str(run)!r}]); print(*sys.modules)"
    loaded = ended("-c", program).stdout.split()
    assert "lns.cli.runs" in loaded and not {"lns.loop.search_loop", "scipy", "numba"} & set(loaded)


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
    (copy / "boards.jsonl").unlink()
    (board,) = typed.facts("collect copy")["boards"]
    assert board["elapsed_s"] == json.loads((run / "best.json").read_text())["elapsed_s"] > 0, "of best.json alone"


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


def test_watch_without_a_terminal_is_plain(run: Path, contents: None, typed: Typed) -> None:
    output = typed(f"watch {run}").out
    assert output.count("\n") == 1 and "\x1b" not in output
    assert f"one: {best_of(run)} of 112, ended: steps made; " in output


@pytest.mark.parametrize("width", [20, 40, 80, 200])
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
    ("end", "status"),
    [(b"\x1b[B\x1b[Bq", 0), (signal.SIGINT, 0), (signal.SIGQUIT, 131)],
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


def test_the_report_has_no_external_resources(copy: Path, typed: Typed) -> None:
    typed("report copy -o page.html")
    text = Path("page.html").read_text()
    tags, links = re.findall(r"<(\w+)", text), re.findall(r'\b(?:href|src)="([^"]*)"', text)
    assert links and all(link.startswith("https://e2.bucas.name/#") for link in links)
    assert not {"script", "img", "link", "iframe", "object"} & {*tags} and not re.search(r"<[^>]* on\w+=", text)
    for picture in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ET.fromstring(picture)
    assert tags.count("svg") == 1 + tags.count("figure") and tags.count("figure") > 1
    typed("report copy")
    typed("report copy")


def test_a_folder_means_the_runs_in_it(folder: Path, here: Path, typed: Typed) -> None:
    runs = [folder / "more" / "two", folder / "one", folder / "other"]
    assert run_directories([folder]) == runs
    assert run_directories([folder / "one", folder]) == [runs[1], runs[0], runs[2]]
    assert run_directories([here]) == [here], "for the message that this is none"
    lines = typed(f"status {folder}").out.splitlines()
    assert [line.split()[0] for line in lines] == ["run", "two", "one", "other"]
    assert "no run directory" in typed(f"status {here}", 2).err
    assert typed(f"watch {folder}").out.count("ended: steps made") == 3


@pytest.mark.parametrize("width", [200, 80, 60])
def test_a_narrow_table_leaves_out_columns_and_cuts_no_line(folder: Path, width: int) -> None:
    summaries = [load_summary(path) for path in run_directories([folder])]
    lines = lns.RunTable(tuple(summaries)).lines(width)
    assert len(lines) == 4 and all(len(line) <= width for line in lines)
    assert ("search" in lines[0]) == (width == 200) and "best" in lines[0] and "state" in lines[0]


def test_a_rate_needs_boards_and_a_dead_run_is_not_also_stopped(folder: Path) -> None:
    history = RunHistory(7200.0, elapsed_s=3600.0, counts={20: RELIABLE_BOARDS - 1, 21: 1})
    seen = replace(load_summary(folder / "other"), history=history)
    assert seen.rate_in_words(21) == "1 board of 21+" and seen.rate_in_words(20) == f"{RELIABLE_BOARDS}/h of 20+"
    assert replace(load_summary(folder / "one"), state="died").state_in_words == "died without saving its end"


def test_a_run_directory_stands_for_its_best_board(folder: Path, typed: Typed) -> None:
    run = folder / "one"
    for command in ("verify", "show"):
        assert typed.facts(f"{command} {run}")["score"] == best_of(run)
    assert lns.verify(load_puzzle("like-e2-8x8"), lns.load_board(str(run))).score == best_of(run)
    assert board_source("https://e2.bucas.name/#puzzle=" + "a" * 5000).startswith("https")
    new_directory(Path("empty"), small_puzzle()).close()
    assert typed.refused("show empty") == "lns: empty: this run has found no board yet\n"


def test_collect_keeps_instances_apart_and_writes_a_file_a_board(folder: Path, typed: Typed) -> None:
    boards = typed.facts(f"collect {folder} --top 2 -o boards")["boards"]
    assert [board["instance"] for board in boards] == ["like-e2-8x8"] * 2 + ["like-e2-6x6"] * 2
    for board in boards:
        puzzle, found = load_board(board["file"])
        assert puzzle.sha256 == board["instance_sha256"] and verify(puzzle, found).score == board["score"]
    written = Path("boards")
    assert len(list(written.glob("*-0001.json"))) >= 2 and len(list(written.glob("*.instance.json"))) == 2
    assert "is not empty; expected a new or empty folder" in typed.refused(f"collect {folder} -o boards")
    lines = typed(f"collect {folder} --top 1").out.splitlines()
    assert len(lines) == 4 and lines[0].startswith("like-e2-8x8 (sha256 ") and lines[0].endswith(": 1 board")


def test_runs_whose_folders_have_the_same_name_are_told_apart(run: Path, here: Path, typed: Typed) -> None:
    for name in ("a/x/mine", "b/x/mine", "b/other"):
        shutil.copytree(run, here / name)
    names = ["a/x/mine", "b/x/mine", "other"]
    assert sorted(line.split()[0] for line in typed("status").out.splitlines()[1:]) == names
    assert sorted(line.split()[1] for line in typed("compare a b").out.splitlines()[1:4]) == names


def test_compare_is_a_table_and_curves(folder: Path, typed: Typed) -> None:
    same = f"compare {folder / 'one'} {folder / 'more'}"
    lines = typed(f"{same} -o page.html").out.splitlines()
    assert lines[0].split()[:6] == ["run", "engine", "seed", "workers", "best", "after"]
    assert lines[1].split()[:5] == ["A", "one", "tabu", "3", "1"] and lines[2].startswith("B  two")
    assert str(best_of(folder / "one")) in lines[1]
    (top,) = (line for line in lines[4:] if line.strip().startswith(str(best_of(folder / "more" / "two"))))
    assert "B" in top or "*" in top
    text = Path("page.html").read_text()
    assert text.count('<path class="line"') == 2 and "one" in text and "<script" not in text
    first = typed.facts(same)["runs"][0]
    assert first["score"] == first["improvements"][-1][0] == best_of(folder / "one") and first["scores_after"]
    assert lines[-2] == "parameters  the same in all runs" and first["parameters"] == {}
    error = typed.refused(f"compare {folder}")
    assert "a run of like-e2-6x6 (sha256 " in error and "; expected one of like-e2-8x8 (sha256 " in error
    assert f", as in {folder / 'more'}" in error


def test_compare_names_the_parameters_that_differ(folder: Path, typed: Typed) -> None:
    Path("p.toml").write_text("[tabu]\ntenure = 3\n")
    typed("solve like-e2-8x8 --engine tabu --steps 2 --workers 1 --params p.toml --run-dir tuned --quiet")
    shown = typed(f"compare {folder / 'one'} tuned").out.splitlines()
    told = [run["parameters"]["tabu.tenure"] for run in typed.facts(f"compare {folder / 'one'} tuned")["runs"]]
    assert told[1] == 3 and f"  tabu.tenure  A {told[0]}, B 3" in shown[shown.index("parameters  these differ:") :]


def test_merge_makes_one_run_that_goes_on(folder: Path, typed: Typed) -> None:
    one, two, target = folder / "one", folder / "more" / "two", Path("merged")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    answer = typed.facts(f"merge {one} {two} -o merged")
    logs = {placements for _, placements in log_of(one) + log_of(two)}
    assert {placements for _, placements in log_of(target)} <= logs
    assert answer["boards"] == len(log_of(target)) == len(set(log_of(target)))
    assert answer["boards"] + answer["repeated"] == len(log_of(one)) + len(log_of(two)) and answer["damaged"] == 0
    assert best_of(target) == max(best_of(one), best_of(two)) == answer["score"]
    merged, parts = load_summary(target), [load_summary(one), load_summary(two)]
    assert merged.history.elapsed_s == pytest.approx(sum(part.history.elapsed_s for part in parts), abs=0.01)
    assert len(merged.history.sessions) == 2 and merged.state == "ended"
    both = parts[0].heartbeat.statistics + parts[1].heartbeat.statistics
    assert merged.heartbeat.statistics == both and both.moves > 0
    best = json.loads((target / "best.json").read_text())
    assert best["elapsed_s"] == pytest.approx(merged.history.improvements[-1].elapsed_s, abs=0.001)
    third = finished_run(Path("third"), name="like-e2-8x8", engine="tabu", steps=5)
    typed(["merge", "third", "merged", "-o", "merged again"])
    all_three = both + load_summary(third).heartbeat.statistics
    again = load_summary(Path("merged again")).heartbeat.statistics
    assert again == all_three, "also of runs that are merged already"
    assert {path: path.read_bytes() for path in before} == before, "the runs are only read"
    for _ in range(2):
        typed("resume merged --time 1h --steps 1 --quiet")
        moves = load_summary(target).heartbeat.statistics.moves
        assert moves > sum((part.heartbeat.statistics for part in parts), Statistics()).moves > 0, "it keeps them"
    assert best_of(target) >= answer["score"] and log_of(target)[: answer["boards"]]


def test_what_cannot_be_merged(folder: Path, typed: Typed) -> None:
    other = typed(f"merge {folder} -o merged", 2).err
    assert "a run of like-e2-6x6 (sha256 " in other and "expected one of like-e2-8x8" in other
    assert not Path("merged").exists()
    assert "1 run named; expected two or more" in typed.refused(f"merge {folder / 'one'} -o merged")
    Path("full").mkdir()
    Path("full/x").write_text("")
    assert "is not empty" in typed(f"merge {folder / 'one'} {folder / 'more'} -o full", 2).err
    damaged = shutil.copytree(folder / "one", Path("damaged"))
    with (damaged / "boards.jsonl").open("a") as log:
        log.write("{}\n")
    (damaged / "checkpoint.npz").write_bytes(b"PK")
    said = typed(f"merge damaged {folder / 'more'} -o merged")
    assert "1 damaged line left out" in said.out and "the search begins anew" in said.err
    typed("resume merged --time 1h --steps 1 --quiet")


def test_a_full_board_log_takes_new_bests_only(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(board_log, "MAX_LOG_BYTES", 1)
    puzzle, solution = lns.generate("like-e2", width=6, seed=1)
    boards = [exchanged(solution, 7, 14), solution, exchanged(solution, 8, 15)]
    scores = [verify(puzzle, board).score for board in boards]
    with new_directory(Path("run"), puzzle, min_score=0) as directory:
        recorder = Recorder(directory.puzzle, directory.settings, RunHistory(60.0), directory)
        for board, score in zip(boards, scores, strict=True):
            recorder._record([(0, FoundBoard(board, score, "tabu"))])
    assert [score for score, _ in log_of(Path("run"))] == scores[:2]
    assert caplog.text.count("takes new bests only") == 1


@pytest.fixture(scope="module")
def numberings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of one set of pieces: as it is, in another numbering, and there with a clue."""
    folder = tmp_path_factory.mktemp("numberings")
    puzzle, solution = lns.generate("like-e2", width=6, seed=2)
    other, lying = renumbered(puzzle, solution, 1)
    first = lying.pairs()[0]
    assert first is not None
    for name, each in (("a", puzzle), ("b", other), ("c", other.with_clues([Clue(0, *first)]))):
        run_for(new_directory(folder / name, each, engine="tabu"), 10)
    return folder


def test_runs_of_one_set_in_several_numberings_are_compared(numberings: Path, folder: Path, typed: Typed) -> None:
    runs = typed.facts(f"compare {numberings} -o page.html")["runs"]
    assert [run["clues"] for run in runs] == ["none", "none", "1"]
    assert len({run["set_sha256"] for run in runs}) == 1 and len({run["instance_sha256"] for run in runs}) == 3
    lines = typed(f"compare {numberings}").out.splitlines()
    assert lines[0].split()[-1] == "clues" and [line.split()[-1] for line in lines[1:4]] == ["none", "none", "1"]
    places = (numberings / "a", folder / "other", numberings / "b", numberings / "c")
    lines = typed(["status", *map(str, places)]).out.splitlines()
    assert [line.split()[0] for line in lines] == ["run", "a", "b", "c", "other"], "runs of one set stand together"
    assert lines[0].split()[2] == "clues" and lines[3].split()[2] == "1"


def test_a_board_found_in_two_numberings_is_collected_once(numberings: Path, typed: Typed) -> None:
    a, d = numberings / "a", Path("d")
    puzzle, entries = read_run(a)[1], log_of(a)
    other = read_run(numberings / "b")[1]
    with new_directory(d, other, engine="tabu") as directory:
        recorder = Recorder(directory.puzzle, directory.settings, RunHistory(60.0), directory)
        for score, placements in entries:
            board = translate(Board(np.frombuffer(placements, dtype=np.int32), 6, 6), puzzle, other)
            recorder._record([(0, FoundBoard(board, score, "tabu"))])
    assert log_of(d) and {*log_of(d)}.isdisjoint(entries)
    alone, both = (typed.facts(f"collect {runs}")["boards"] for runs in (a, f"{a} d"))
    assert both == alone and len(alone) == len({placements for _, placements in entries})
    boards = typed.facts(f"collect {numberings} -o boards --top 50")["boards"]
    assert [board["score"] for board in boards] == sorted((board["score"] for board in boards), reverse=True)
    assert {board["clues"] for board in boards} == {"none", "1"}
    for board in boards:
        puzzle, found = load_board(board["file"])
        assert puzzle.sha256 == board["instance_sha256"] and verify(puzzle, found).score == board["score"]


def test_runs_in_two_numberings_are_merged_and_every_board_is_verified(numberings: Path, typed: Typed) -> None:
    one, two, target = numberings / "a", numberings / "b", Path("merged")
    answer = typed.facts(f"merge {one} {two} -o merged")
    assert answer["damaged"] == 0 and answer["score"] == max(best_of(one), best_of(two)) == best_of(target)
    assert answer["boards"] + answer["repeated"] == len(log_of(one)) + len(log_of(two))
    puzzle = read_run(target)[1]
    assert puzzle == read_run(one)[1]
    for score, placements in log_of(target):
        assert verify(puzzle, Board(np.frombuffer(placements, dtype=np.int32), 6, 6)).score == score
    typed("resume merged --time 1h --steps 1 --quiet")
    error = typed(f"merge {two} {numberings / 'c'} -o no", 2).err
    assert "has other clues than" in error and "(clues: 1, not none)" in error and not Path("no").exists()
