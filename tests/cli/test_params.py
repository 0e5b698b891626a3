"""`lns params`, and `--stats`: what each part of a run took and brought."""

from __future__ import annotations

from pathlib import Path

import pytest

from lns.engine import Statistics
from lns.node_equivalents import REGION_NODE
from lns.params import Params, load, to_dict, to_toml
from lns.runs.history import PartGains, RunHistory, parts
from tests.cli.conftest import Typed
from tests.lns.run_parts import QUICK

pytestmark = pytest.mark.usefixtures("here")


def test_the_printed_parameters_can_be_read_again(typed: Typed) -> None:
    Path("p.toml").write_text(typed("params").out)
    assert load("p.toml") == Params()
    assert typed.facts("params --params p.toml") == to_dict(Params())


def test_a_wrong_file_is_refused(typed: Typed) -> None:
    Path("p.toml").write_text("[construct]\nhorzon = 3.0\n")
    assert "did you mean 'horizon'" in typed.refused("params --params p.toml")
    typed.refused("params --params absent")


def test_parts_join_work_and_gain() -> None:
    history = RunHistory(1.0, gains_by_part={"construct": PartGains(3, 2, 5), "start": PartGains(1, 1, 0)})
    construct, windows, start = parts(history, Statistics(nodes=750, operators={"windows": round(250 / REGION_NODE)}))
    assert (construct.name, construct.share, construct.boards, construct.bests) == ("construct", 0.75, 3, 2)
    assert construct.edges_per_1e9 == pytest.approx(5 / 750 * 1e9) and construct.boards_per_1e9 == pytest.approx(4e6)
    assert (windows.name, windows.share, windows.boards, windows.edges_per_1e9) == ("windows", 0.25, 0, 0.0)
    assert (start.name, start.share, start.edges_per_1e9) == ("start", 0.0, None)


@pytest.mark.slow
def test_the_sums_are_those_of_the_run_and_resume_adds_to_them(typed: Typed) -> None:
    Path("quick.toml").write_text(to_toml(QUICK))
    common = "--steps 4 --quiet --stats"
    solve = f"solve like-e2-8x8 --seed 1 --target 112 --params quick.toml --workers 2 --run-dir run {common}"
    first, second = typed.facts(solve, 1), typed.facts(f"resume run {common}", 1)
    for told in (first, second):
        stats = told["stats"]
        assert sum(part["work"] for part in stats["parts"]) == stats["work"] > 0
        assert sum(part["share"] for part in stats["parts"]) == pytest.approx(1.0, abs=1e-3)
        assert sum(island["work"] for island in stats["islands"]) == pytest.approx(stats["work"], rel=1e-3)
        assert max(island["score"] for island in stats["islands"]) == told["score"]
        assert sum(part["bests"] for part in stats["parts"]) >= 1
    assert [island["steps"] for island in second["stats"]["islands"]] == [8, 8]
    assert second["stats"]["work"] > first["stats"]["work"]


def test_without_json_there_is_a_table(typed: Typed) -> None:
    Path("quick.toml").write_text(to_toml(QUICK))
    options = "--params quick.toml --engine tabu --steps 2 --quiet --stats --workers 1 --seed 1 --run-dir run"
    lines = typed(f"solve like-e2-6x6 {options}").out.splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("part"))
    assert "~M nodes" in lines[head] and lines[head + 1].startswith("tabu") and "100.0%" in lines[head + 1]
    (islands,) = (line for line in lines if line.startswith("islands"))
    assert islands.endswith("at best") and lines[-1].startswith("go on")
    assert "islands" not in typed("resume run --steps 1 --quiet").out
