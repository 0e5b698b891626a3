"""The experiment of Benoist & Bourreau 2008: its instances, its log, its tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lns.exact.compare import ComparisonRow
from lns.exact.outcome import SolveStatus
from lns.exact.paper.benoist2008 import (
    PLAN,
    REFERENCE,
    ROW_SCAN,
    WITHOUT_CP,
    arithmetic,
    best_time,
    instance,
    of_sums,
    ratio,
    runs,
    tables,
)
from lns.exact.paper.runs import is_finished, run_experiment
from lns.instances.errors import InputError

TINY = replace(PLAN, sizes=(7,), per_size=1, seconds=5.0)


def a_run(
    method: str, nodes: int, seconds: float, status: SolveStatus = SolveStatus.SOLVED, seed: int = 1
) -> ComparisonRow:
    return ComparisonRow(f"8x8-c8-s{seed}", method, str(status), 1, nodes, seconds)


def test_instances_have_fixed_corners_and_the_given_colours() -> None:
    puzzle = instance(8, 7, 3)
    assert [clue.cell for clue in puzzle.clues] == [0, 7, 56, 63]
    assert puzzle.colours <= 7


@pytest.mark.slow
def test_finished_runs_of_a_log_are_not_repeated(tmp_path: Path) -> None:
    log = tmp_path / "runs.csv"
    first = list(run_experiment(runs(TINY), log))
    assert [run.solver for run in first] == list(WITHOUT_CP)
    assert all(map(is_finished, first)) and len({run.solutions for run in first}) == 1
    assert list(run_experiment(runs(TINY), log)) == first  # the same seconds: read, not measured again
    lines = log.read_text().splitlines()
    log.write_text("\n".join(lines[:4]) + "\n")
    again = list(run_experiment(runs(TINY), log))
    assert again[:3] == first[:3] and [run.nodes for run in again] == [run.nodes for run in first]
    assert len(log.read_text().splitlines()) == len(lines)


def test_a_log_with_other_columns_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "runs.csv"
    log.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"runs\.csv:1: other columns than expected"):
        next(run_experiment(runs(TINY), log))


def test_ratios_and_classes() -> None:
    pairs = [(a_run(ROW_SCAN, 100, 1.0), a_run(REFERENCE, 1, 1.0)), (a_run(ROW_SCAN, 1, 1.0), a_run(REFERENCE, 1, 4.0))]
    assert ratio(pairs, "nodes") == pytest.approx(10.0)
    assert ratio(pairs, "seconds") == pytest.approx(0.5)
    assert ratio([], "nodes") is None
    assert arithmetic(pairs, "nodes") == pytest.approx(50.5)
    assert of_sums(pairs, "nodes") == pytest.approx(50.5) and of_sums(pairs, "seconds") == pytest.approx(0.4)
    shaving = a_run("with shaving", 1, 0.1)
    assert best_time({"with shaving": shaving, ROW_SCAN: a_run(ROW_SCAN, 1, 2.0)}) == 2.0, "it has no row in table 1"
    text = tables(
        [
            a_run(REFERENCE, 1_000, 2.0),
            a_run(ROW_SCAN, 50_000, 30.0, SolveStatus.BUDGET_SPENT),
            a_run("without backjumping", 1_500, 3.0),
            a_run("MinOffer", 2_000, 4.0),
            a_run("MinOffer without backjumping", 2_500, 6.0),
            a_run("CP, table", 40_000, 80.0),
            a_run(REFERENCE, 9, 10.0, SolveStatus.BUDGET_SPENT, seed=2),
            a_run(ROW_SCAN, 9, 30.0, SolveStatus.BUDGET_SPENT, seed=2),
        ],
        PLAN,
    )
    assert "2 instances, 1 finished by some method" in text
    assert "| MinOffer: nodes divided by, geometric mean over all | - | ≥ 25 (1) | - | - |" in text
    assert "| MinExpectedGap: nodes divided by, geometric mean over all | - | ≥ 50 (1) | - | - |" in text
    assert "| MinOffer: nodes, arithmetic mean | - (paper 4.3) | - (paper 1760) | - (paper 2720) |" in text
    assert "| without backjumping | +50% | +50% | +50% | +50% | 1 |" in text
    assert "| MinOffer without backjumping | +25% (+51%) | +50% (+32%) | +25% (+62%) | +50% (+41%) | 1 |" in text
    assert "| MinExpectedGap, nodes saved | - (paper 28%) | 50% (paper 33%) |" in text
    assert ">30.00 / 0.050" in text
    assert "| MinOffer with shaving | CP, table |" in text and "80.00 / 0.040" in text
