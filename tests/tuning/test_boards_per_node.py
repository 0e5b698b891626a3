"""Boards a node: counted the same every time, and none that is not there."""

import pytest

from lns.instances.formats import load_puzzle, write
from lns.instances.generate import tetravex
from lns.tuning import benchmark
from lns.tuning.boards_per_node import Count, combined_counts, count_boards, main
from lns.worker_pool import InProcessExecutor
from tests.lns.run_parts import QUICK


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    monkeypatch.setattr("lns.tuning.boards_per_node.WorkerPool", lambda workers: InProcessExecutor())


@pytest.mark.slow
def test_counts_are_the_same_every_time_and_fall_with_the_score():
    puzzle, count = load_puzzle("like-e2-8x8"), Count(104, 6_000_000)
    found, again = (count_boards(puzzle, QUICK, 1, count) for _ in range(2))
    counts = found.counts
    assert counts == again.counts and found.nodes == again.nodes >= 6_000_000
    assert len(counts) == 6 and counts == sorted(counts, reverse=True) and found.parts == {"construct": found.nodes}
    assert combined_counts(puzzle, count, [found]) == combined_counts(puzzle, count, [found, again]) == counts


def test_a_table_with_a_line_for_each_seed_and_one_for_all(capsys):
    assert main(["like-e2-8x8", "--best", "110", "--nodes", "1e6", "--seeds", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["boards", "of", "107+", "108+", "109+", "110+", "111+", "112+"]
    assert [line.split()[:2] for line in lines[1:4]] == [["seed", "1"], ["seed", "2"], ["seed", "3"]]
    assert [int(one) for one in lines[4].split()[1:7]] == [
        sum(int(line.split()[2 + i]) for line in lines[1:4]) for i in range(6)
    ]
    last = ["like-e2-8x8", "--best", "110", "--nodes", "1e6", "--seeds", "1", "--first-seed", "3"]
    assert main(last) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:8] == lines[3].split()[:8]
    assert main([*last, "--floor", "110"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["boards", "of", "110+", "111+", "112+"]


def test_a_puzzle_without_turns_is_searched_until_its_perfect_board(capsys, tmp_path):
    write(tmp_path / "tv.json", None, tetravex(4, 4, 6, 1).puzzle, None)
    arguments = [str(tmp_path / "tv.json"), "--best", "20", "--nodes", "1e9", "--seeds", "1", "--workers", "1"]
    assert main([*arguments, "--engine", "auto"]) == 0
    line = capsys.readouterr().out.splitlines()[1]
    counts = [int(count) for count in line.split()[2:8]]
    assert counts[-1] == 1 and counts == sorted(counts, reverse=True) and "%" in line  # of at least each score
    assert main(arguments) == 2 and "expected engine auto" in capsys.readouterr().err


def counted(line):
    """What is counted of boards and nodes; the seconds behind it are never the same."""
    return line.rpartition(", ")[0]


@pytest.mark.slow
def test_an_ablation_counts_each_variant_with_the_same_budget(capsys):
    arguments = ["like-e2-8x8", "--best", "110", "--nodes", "1e6", "--seeds", "1", "--workers", "1", "--engine", "auto"]
    assert main([*arguments, "--ablate"]) == 0
    _, *lines = capsys.readouterr().out.splitlines()
    assert [line.rstrip(":") for line in lines[::3]] == [benchmark.BASELINE, *benchmark.ABLATIONS]
    assert main(arguments) == 0
    whole = capsys.readouterr().out.splitlines()[-1]
    assert counted(lines[2]) == counted(whole) and any(counted(line) != counted(whole) for line in lines[5::3])


@pytest.mark.slow
def test_a_board_that_two_islands_find_counts_once(capsys):
    assert main(["like-e2-8x8", "--best", "110", "--nodes", "1e6", "--seeds", "2", "--islands", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[1:5]] == ["1", "1.1", "2", "2.1"]
    sums = [sum(int(line.split()[2 + i]) for line in lines[1:5]) for i in range(6)]
    total = [int(one) for one in lines[5].split()[1:7]]
    assert all(0.9 * most <= one <= most for one, most in zip(total, sums, strict=True)) and total[0] > 0


@pytest.mark.parametrize(
    "arguments,sentence",
    [
        (["like-e2-8x8", "--best", "112"], "--best 112; expected a score of 4 to 111"),
        (["like-e2-8x8", "--best", "110", "--floor", "111"], "--floor 111; expected a score of 1 to 110"),
        (["like-e2-8x8", "--best", "100", "--first-seed", "0"], "--first-seed 0; expected 1 or more"),
        (["like-e2-8x8", "--best", "100", "--nodes", "nan"], "--nodes"),
        (["nowhere.txt", "--best", "100"], "nowhere.txt"),
    ],
)
def test_bad_arguments_are_refused(capsys, arguments, sentence):
    assert main(arguments) == 2
    assert sentence in capsys.readouterr().err
