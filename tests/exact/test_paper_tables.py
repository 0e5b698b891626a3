"""The tables of the papers, printed from the rows that are committed in docs/papers/data: a line of each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lns.cli.main import main
from lns.exact.compare import ComparisonRow
from lns.exact.paper import cuvillier2010

DATA = Path(__file__).resolve().parents[2] / "docs" / "papers" / "data"
PARTS = ["ColorPairs", "row scan", "without backjumping", "without preemption", "MinOffer"]
PARTS += ["MinOffer without backjumping", "MinOffer without preemption", "MinExpectedOffer", "MinExpectedRatio"]


def printed(capsys: pytest.CaptureFixture[str], paper: str, *options: str) -> list[str]:
    """The lines of the tables, words one space apart."""
    capsys.readouterr()
    assert main(["exact", "paper", paper, *options, "--show", "-o", str(DATA / f"{paper}.csv")]) == 0
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_benoist2008(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "benoist2008", "--per-size", "8", "--budget", "60", "--solvers", *PARTS)
    assert any(line.startswith("32 instances, 21 finished by some method; 60 s") for line in lines)
    for line in (
        "| 8x8-c7-s2 | 1 | 267.93 / 15239.729 | 11.22 / 51.652 | 11.47 / 58.877 | 9.00 / 66.771 | 10.45 / 59.452 | |",
        "| MinOffer: nodes, geometric mean | 13.7 (11) (paper 2.9) | 30.5 (9) (paper 377) | 17.3 (1) (paper 407) "
        "| - (paper 321) |",
        "| MinExpectedGap: time, arithmetic mean | 3.07 (11) | 7 (9) | 1.67 (1) | - |",
        "| MinOffer without backjumping | +30% (+51%) | -7% (+32%) | +28% (+62%) | -8% (+41%) | 21 |",
    ):
        assert line in lines
    assert any(line.startswith("| MinExpectedGap, nodes saved | ") and "(paper 52%)" in line for line in lines)


def test_jolivet2008(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "jolivet2008", "--sizes", "3", "4", "5", "--per-size", "200", "--budget", "20")
    for line in (
        "4x4, 3 colours 349±43.1 (422) 1,082±130 (1,578) 271±36.2 (209) 182±21.9",  # table 1
        "4x4, 3 colours 0.0020 0.0006 0.0007 0.0019",  # section 2.4
        "4x4 5.99±0.22 (6) 28.6±2.74 (36) 38.6±2.58 (30) 30.1±1.61 (29) 29.7±1.43 (26) 27.2±1.28 (24) 25.0±0.99 (23) "
        "22.7±0.75 (21)",  # table 2
        "spiral 0 1 1 1 1 1 1 1 1 1 1 2 2 3 3 4 24 926 285 - -",  # figure 3
        "4 16 64 70 58 60",  # table 5
        "10 4 5 5",  # lower bounds
        "4x4 4,280 30.0 4.07 2.45 1.57 1.48 1.23 1.14 3 (1 of 100) 4",  # section 5.2
        "4x4 blocks 300,000 8.85 5.05e+15 +- 3.7e+13",  # section 2.5
    ):
        assert line in lines
    lines = printed(capsys, "jolivet2008", "--full")
    assert "8x8, 10 colours 3,536,595 - (67613577) 116,254±37,501 (192861)" in lines  # table 3
    searched = ["--sizes", "3", "4", "5", "6", "--trees", "800", "--budget", "5", "--solvers", "single"]
    lines = printed(capsys, "jolivet2008", *searched)
    at = next(number for number, line in enumerate(lines) if line.startswith("table 4: colours of puzzles with a"))
    assert lines[at + 2 : at + 5] == ["3 2..3 (3) 2..3 (3) 2..3 (3) 3..3 (3)", "4 3..3 (3) 3..3 (4) 3..4 (4)",
                                      "5 3..4 (4) 3..4 (5)"]  # fmt: skip


def test_perrin_iq(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "perrin_iq", "--sizes", "11", "--solvers", "race", "descender", "none-no-dead-ends")
    assert "game, 4 placed 10 27 27 31 -" in lines  # placements tested
    assert "level, expert 6 0.12 0.21 0.25 -" in lines  # milliseconds


def test_bailleux2025(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "bailleux2025", "--sizes", "6", "7", "--per-size", "10", "--budget", "60")
    for line in (
        "sat:half-2 7x7 10 100 0.16 2.76 18.7 30.4k 106.4k 1.74 126 100 0.54 30k 107k 1.7",  # tables 4 to 7
        "sat:half-2 7x7 117 0",  # spread
        "7x7 sat:half-2 10 of 10 2.756 - - -",  # the best
    ):
        assert line in lines


def test_cuvillier2010(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--full", "--sizes", "4", "5", "6", "--per-size", "5", "--solvers", "minisat"]
    lines = printed(capsys, "cuvillier2010", *small)
    assert "4 0.02 s 100% (0.01 s 100%) 0.16 s 100% (0.13 s 100%) 64.3 s 100% (10.7 s 100%)" in lines  # table 4.1
    plan = replace(cuvillier2010.PLAN, sizes=(4,), colours=(4,), per_size=1)
    rows = [ComparisonRow(run.instance, run.solver, "solved", 1, 7, 0.5) for run in cuvillier2010.runs(plan)]
    blocks = cuvillier2010.tables(rows, plan).split("\n\n")
    paper = {"4.2": "0.04 s 100%", "4.3": "0.04 s 100%", "4.4": "0.05 s 100%", "4.5": "0%", "4.6": "0%"}
    for table, figure in paper.items():
        of_table = [block.splitlines() for block in blocks if block.startswith(f"table {table}: ")]
        assert len(of_table) == 2, "on the simplified formula and as it is"
        assert all(lines[-1].split() == f"4 0.50 s 100% ({figure})".split() for lines in of_table)
    assert blocks[-1].splitlines()[-1].split()[4:] == ["7.00"] * 15  # decisions and steps


def test_outcome(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "outcome")
    for line in (
        "8 rowscan <0.001 blocks <0.001 rowscan 0.001 colorpairs 0.569 - -",
        "colorpairs C Benoist 63 of 72 4 18 0.05 169,557 ColorPairs, MinExpectedGap",
        "6x6 4 <0.001 <0.001 0.030 0.320 - 0.003 10.7 (100%)",
    ):
        assert line in lines
