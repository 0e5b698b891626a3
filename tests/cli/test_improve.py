"""`lns improve`: what it prints, writes and refuses, and what Ctrl-C leaves behind."""

import contextlib
import dataclasses
import errno
import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import lns
from lns.cli.improve import status_in_words
from lns.exact.region import region_search
from lns.exact.region import resolve as region_resolve
from lns.exact.region.resolve import RegionStatus
from lns.instances.board import Board
from lns.instances.formats import load_board, viewer_url, write
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.verify import verify
from tests.cli.conftest import PUZZLE, SOLUTION, Typed, swapped
from tests.cli.run_program import in_shell, program, wait_for
from tests.instances.small_puzzles import exchanged, planted

BETTER = "improve b.url --puzzle p.json"


pytestmark = pytest.mark.usefixtures("boards")


def judged(name: str, puzzle: Puzzle = PUZZLE) -> lns.Verification:
    return verify(puzzle, load_board(name, puzzle)[1])


def test_a_proof_far_from_all_mismatches_says_nothing_new(typed: Typed) -> None:
    new = "no mismatch touches these cells, so the proof says nothing new"
    far, near = (typed(f"{BETTER} --rows {rows}").err for rows in ("4:6", "r1-2"))
    assert new in far and new not in near


def test_orders_heuristics_and_filters_prove_the_same_in_another_tree(typed: Typed) -> None:
    nodes = set()
    dynamic = [f"dynamic {more}" for more in ("", "--heuristic min-expected-gap", "--preemption", "--instantiation")]
    for order in (*dynamic, "dynamic --no-backjumping", "static"):
        answer = typed.facts(f"{BETTER} --rows 0:4 --nodes 1000000 --order {order}")
        assert answer["status"] == "optimal" and answer["score"] == PUZZLE.max_score
        nodes.add(answer["nodes"])
    assert len(nodes) >= 4
    typed(f"{BETTER} --window 2x3 --everywhere --order dynamic --preemption --heuristic row-major")


def test_rows_are_improved_to_a_proven_optimum_and_written(typed: Typed) -> None:
    answer = typed.facts(f"{BETTER} --rows 1:3 --nodes 1000000 -o better.json")
    assert answer["status"] == "optimal" and answer["improved"] and answer["output"] == "better.json"
    assert answer["score"] == answer["bound"] == PUZZLE.max_score > answer["score_before"]
    assert judged("better.json").valid and judged("better.json").score == PUZZLE.max_score
    assert load_board(answer["url"], PUZZLE)[1] == load_board("better.json", PUZZLE)[1]
    answer = typed.facts("improve better.json --puzzle p.json --rows 1:3")
    assert answer["status"] == "optimal" and not answer["improved"]


@pytest.mark.parametrize("region", ["--rows 4:6", "--window 2x7 --everywhere --nodes 100000"])
def test_without_a_better_board_the_file_has_the_one_that_was_given(region: str, typed: Typed) -> None:
    write("b.json", None, PUZZLE, SOLUTION)
    question = f"improve b.json --puzzle p.json {region} -o o.json"
    assert typed(question).out.endswith("\nwritten     o.json, the board as it was\n")
    assert typed.facts(f"{question} --force")["output"] == "o.json"
    assert typed("verify o.json --puzzle p.json").out == typed("verify b.json --puzzle p.json").out


def test_the_answer_ends_with_its_score_and_file(typed: Typed) -> None:
    labels = [line.split()[0] for line in typed(f"{BETTER} --rows 1-2 -o better.json").out.splitlines()]
    assert labels == ["url", "region", "score", "status", "search", "written"], "a URL may fill a terminal"
    assert typed("improve better.json").out.startswith("region      0 cells: the board has no mismatch\n")
    result = lns.improve(PUZZLE, swapped(), lns.cells.rows(PUZZLE, 1, 3))
    before = verify(PUZZLE, swapped())
    stopped = dataclasses.replace(result, status=RegionStatus.INTERRUPTED, bound=PUZZLE.max_score)
    assert status_in_words(stopped, before).startswith("interrupted: a better way to fill the region; at most ")
    stopped = dataclasses.replace(stopped, score=result.score_before)
    assert status_in_words(stopped, before).startswith("interrupted: nothing better found; at most ")


def test_a_target_that_is_not_reached_is_the_answer_no(typed: Typed) -> None:
    before = verify(PUZZLE, swapped()).score
    beside = f"{BETTER} --rows 4:6"  # not those with the mismatches
    answer = typed.facts(f"{beside} --target {before + 1}", 1)
    assert answer["score"] == before == answer["bound"]
    typed(beside)
    assert typed.facts(f"{BETTER} --rows 1:3 --target {before + 1}")["score"] > before


def test_a_board_of_too_many_colours_for_a_url_is_printed_as_placements(typed: Typed) -> None:
    puzzle, solved = planted(3, 6, 5, 40)
    write("many.json", None, puzzle, None)
    write("b.json", None, puzzle, exchanged(solved, 7, 8))
    question = "improve b.json --puzzle many.json --cells 7-8"
    answer = typed.facts(question)
    assert answer["url"] == "" and answer["placements"] == solved.pairs()
    lines = typed(question).out.splitlines()
    assert lines[0].startswith("url         - (a viewer URL has no letter"), "the answer comes last"
    assert lines[1] == f"placements  {json.dumps(solved.pairs())}"
    assert "more colours than URLs have letters" in typed.refused(f"{question} -o out.url")


def test_without_a_region_the_cells_around_the_mismatches_are_freed(typed: Typed) -> None:
    text = typed(BETTER).out
    assert "a better way to fill the region, and none is better than this" in text
    assert f"of {PUZZLE.max_score}, before" in text
    assert "2 of them donors" in typed(f"{BETTER} --around-mismatches --donors 2").out


def test_a_url_defines_its_own_puzzle(typed: Typed) -> None:
    answer = typed.facts(["improve", viewer_url(PUZZLE, swapped()), "--cells", "8-10,15,16-17"])
    assert (answer["status"], answer["score"], answer["cells"]) == ("optimal", PUZZLE.max_score, 6)


def test_everywhere_ends_with_a_map(typed: Typed) -> None:
    question = f"{BETTER} --window 2x4 --everywhere --nodes 500000"
    text = typed(f"{question} --svg map.svg -o out.url").out
    assert "20 of 20 searched" in text and "windows improved: 1" in text and "windows open, budget spent: 0" in text
    drawn = Path("map.svg").read_text()
    assert drawn.startswith("<svg") and drawn.count("<rect") == 1 + 20 + 3
    assert judged("out.url").score == PUZZLE.max_score
    answer = typed.facts(question)
    assert answer["windows"] == {"proven": 19, "improved": 1, "open": 0, "total": 20}
    assert answer["status"] == "optimal"


def test_a_window_that_fills_a_hole_invalidates_earlier_proofs(typed: Typed) -> None:
    """At the same score: 1 of a - b - c, then d, which goes with b only."""
    a, b, c, d = (0, 1, 0, 0), (0, 5, 0, 1), (0, 6, 0, 1), (0, 0, 0, 5)
    puzzle = Puzzle([a, b, c, d], 4, 1, (Clue(0, 0, 0),))
    write("row.json", None, puzzle, None)
    write("hole.json", None, puzzle, Board(np.array([0, 4, 8, -1], dtype=np.int32), 4, 1))
    answer = typed.facts("improve hole.json --puzzle row.json --window 1x2 --everywhere")
    assert (answer["score_before"], answer["score"], answer["status"], answer["bound"]) == (1, 1, "open", 3)
    whole = typed.facts("improve hole.json --puzzle row.json --rows 0:1")
    assert whole["score"] == 2 and whole["status"] == "optimal"


def test_clues_are_kept_in_files_that_name_their_puzzle(typed: Typed) -> None:
    """A board from a file that knows its puzzle, improved into another file, which knows it too."""
    write("a.json", None, PUZZLE, swapped(), instance="p.json")
    assert typed.facts("improve a.json --rows 1:3 -o b.json")["score"] == PUZZLE.max_score
    assert load_board("b.json")[0] == PUZZLE
    Path("p.json").unlink()  # only the url is left: said, as it knows no clues
    assert "taken from the url" in typed("improve a.json --rows 1:3").err


ROWS = "--rows 3:12 --time 10m"
WINDOWS = "--window 9x16 --everywhere --nodes 1000000000000"  # the first one takes longer than anybody has


@contextlib.contextmanager
def improving(region: str) -> Iterator[tuple[subprocess.Popen[str], Callable[[], int]]]:
    """The program at work on a large region of a jumbled board, which nobody proves within minutes.

    After its first find; and how much better the file on the disk is.
    """
    puzzle, board = planted(5, 16, 16, 11)
    inner = [16 * row + column for row in range(3, 12) for column in range(1, 15)]
    placements = board.placements.copy()
    placements[inner] = np.random.default_rng(1).permutation(placements[inner])
    write("hard.json", None, puzzle, None)
    write("hard.url", "url", puzzle, Board(placements, 16, 16))
    question = ["improve", str(Path("hard.url").resolve()), "--puzzle", str(Path("hard.json").resolve())]
    out = Path("so-far.url").resolve()
    with program(*question, *region.split(), "-o", str(out), "--json") as process:
        wait_for(out.exists, "a better board", 300.0)  # compiles where need be
        yield process, lambda: judged(str(out), puzzle).score - judged("hard.url", puzzle).score


@pytest.mark.parametrize(
    ("number", "region"), [(signal.SIGINT, ROWS), (signal.SIGTERM, WINDOWS), (signal.SIGHUP, ROWS)]
)
def test_signals_end_the_search_with_the_best_board_so_far(number: signal.Signals, region: str) -> None:
    with improving(region) as (process, gain):
        assert gain() > 0, "better boards are on the disk long before the end"
        process.send_signal(number)
        text, _ = process.communicate(timeout=20)
        assert process.returncode == 130
        answer = json.loads(text)
        assert answer["status"] == "interrupted" and answer["score"] - answer["score_before"] == gain() > 0


@pytest.mark.slow
@pytest.mark.parametrize("stdout", ["> /dev/full", "| true"])
def test_the_board_is_written_even_if_stdout_is_closed_or_full(stdout: str) -> None:
    for number, region in enumerate(("--rows 1:3", "--window 2x4 --everywhere --svg map.svg")):
        in_shell(f"lns {BETTER} {region} --nodes 500000 -o {number}.url --json {stdout}", Path())
        assert judged(f"{number}.url").score == PUZZLE.max_score
    assert Path("map.svg").exists()


def test_the_answer_is_printed_even_if_its_file_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "b.url")
    monkeypatch.setattr("lns.instances.formats.write", mock.Mock(side_effect=full))
    assert typed.facts(f"{BETTER} --rows 1:3 -o o.url", 2)["score"] == PUZZLE.max_score


@pytest.mark.slow
def test_kernels_are_compiled_before_the_clock_starts(monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    slow = iter([3.0])
    monkeypatch.setattr(region_search, "_compile", lambda search: time.sleep(next(slow, 0.0)))
    monkeypatch.setattr(region_resolve, "is_compiled", lambda module: False)
    region_resolve.warm_up.cache_clear()
    said = typed(f"{BETTER} --window 2x4 --everywhere --time 2.5")
    assert "20 of 20 searched" in said.out and said.err.count("compiling the kernels") == 1
    region_resolve.warm_up.cache_clear()  # it has not compiled anything


@pytest.mark.parametrize(("width", "height"), [(1, 1), (3, 3)])
def test_a_perfect_board_is_optimal(width: int, height: int, typed: Typed) -> None:
    puzzle, board = planted(1, width, height, 2)
    write("small.json", None, puzzle, None)
    write("b.json", None, puzzle, board, instance="small.json")
    question = "improve b.json --puzzle small.json"
    for region in ("", "--around-mismatches --donors 1", "--cells 0"):
        answer: dict[str, Any] = typed.facts(f"{question} {region}")
        assert answer["status"] == "optimal" and not answer["improved"] and answer["nodes"] == 0
        assert answer["score"] == answer["score_before"] == answer["bound"] == puzzle.max_score
    assert "status      optimal: " in typed(question).out
