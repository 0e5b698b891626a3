"""`lns exact polyomino`: fillings, counts, cuts, statuses, error messages; the experiment of perrin_iq."""

from __future__ import annotations

import errno
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from lns.exact.paper import perrin_iq
from lns.exact.paper.runs import run_experiment
from lns.exact.polyominoes.grid import IQ_PUZZLER_PRO, filling_errors, load, parse
from lns.exact.polyominoes.levels import find_level
from tests.cli.conftest import Typed

FILL = "exact polyomino"


@pytest.fixture(autouse=True)
def files(here: Path) -> None:
    Path("small.txt").write_text("....\n....\n\nAAA\n\nBB\nB.\n\nCC\n")  # 8 cells
    Path("none.txt").write_text("...\n...\n\nAAA\n.A.\n\nBB\n")


def test_iq_puzzler_pro_is_filled(typed: Typed) -> None:
    answer = typed.facts(f"{FILL} --quiet")
    game = parse(IQ_PUZZLER_PRO)
    assert filling_errors(game, answer["filling"]) == []
    assert (answer["status"], answer["solutions"], answer["options"]) == ("solved", 1, 2140)
    out = typed(f"{FILL} -o full.txt --weight perimeter --no-zones").out
    assert "fillings    1 found; the search ended there\n" in out and "pieces      have 2,140 placements" in out
    full = load("full.txt")
    assert filling_errors(game, full.rows) == [] and "\n".join(full.rows) in out
    assert typed.facts(f"{FILL} full.txt --count")["solutions"] == 1


def test_counts_and_statuses(typed: Typed) -> None:
    counted = typed.facts(f"{FILL} small.txt --count")
    assert counted["status"] == "solved"
    for weight in ("ascender", "holes-inverse"):
        assert typed.facts(f"{FILL} small.txt --count --weight {weight}")["solutions"] == counted["solutions"]
    out = typed(f"{FILL} none.txt -o out.txt", 1).out
    assert "status      infeasible\nfillings    0\n" in out and "written     nothing" in out
    assert not Path("out.txt").exists()
    assert typed.facts(f"{FILL} none.txt --count", 1)["filling"] is None
    answer = typed.facts(f"{FILL} --count --nodes 5000")
    assert (answer["status"], answer["nodes"]) == ("budget spent", 5000)


def test_the_result_is_printed_when_the_disk_is_full(monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    def full(descriptor: int) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    counted = typed.facts(f"{FILL} small.txt --count")["solutions"]
    monkeypatch.setattr(os, "fsync", full)
    told = typed(f"{FILL} small.txt --count -o out.txt", 2)
    assert f"fillings    {counted}\n" in told.out and "written     nothing\n" in told.out
    assert os.strerror(errno.ENOSPC) in told.err and not Path("out.txt").exists()


def test_a_long_start_of_the_library_is_told(monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    pytest.importorskip("xcover")
    monkeypatch.setattr("lns.exact.child_process._SILENT_SECONDS", 0.0)
    for quiet in ("", "--quiet"):
        told = typed(f"{FILL} small.txt --solver xcover --json {quiet}")
        assert json.loads(told.out)["status"] == "solved"
        assert ("compiled; no time counts" in told.err) is not bool(quiet)


def test_the_library_agrees(typed: Typed) -> None:
    pytest.importorskip("xcover")
    own = typed.facts(f"{FILL} small.txt --count")
    library = typed.facts(f"{FILL} small.txt --count --solver xcover")
    assert library["nodes"] is None and library["solutions"] == own["solutions"]
    assert "nodes       - (xcover does not report them)" in typed(f"{FILL} small.txt --solver xcover").out


def test_cuts(typed: Typed) -> None:
    cut = f"{FILL} --cut 9x5 --seed 3"
    shown = typed(cut).out
    said = typed(f"{cut} -o cut.txt").out
    assert Path("cut.txt").read_text() == shown
    grid = load("cut.txt")
    assert f"cut.txt: 9 x 5, {len(grid.pieces)} pieces" in said
    answer = typed.facts(cut)
    assert answer["grid"] == shown and filling_errors(grid, list(map(str, answer["filling"]))) == []
    typed(f"{FILL} cut.txt")
    typed.refused(f"{FILL} --cut 9x5 -o cut.txt")
    typed(f"{FILL} --cut 9x5 -o cut.txt --force --pieces 2")
    assert len(load("cut.txt").pieces) == 2


def test_the_experiment_of_perrin_iq(typed: Typed) -> None:
    experiment = (
        "exact paper perrin_iq --per-size 2 --sizes 11 --budget 2 --solvers race descender-no-zones -o runs.csv"
    )
    said = typed(experiment)
    grids = 1 + 2 * 2 + 4 * 2  # the empty game, random levels, shipped levels of each tier
    assert said.err.count("solved") == 2 * grids
    assert len(re.findall(r"^game, 0 placed +1 ", said.out, re.MULTILINE)) == 2
    assert len(re.findall(r"^level, expert +2 ", said.out, re.MULTILINE)) == 2
    rows = Path("runs.csv").read_text()
    assert len(rows.splitlines()) == 1 + 2 * grids
    assert typed(experiment).out == said.out and Path("runs.csv").read_text() == rows, "nothing is made again"
    missing = "8 runs are missing (2 of 12x6 by race, 2 of 12x6 by descender-no-zones, 2 of"
    assert missing in typed(f"{experiment} --show --sizes 11 12").out
    refused = typed.refused("exact paper perrin_iq --colours 3")
    assert "perrin_iq has no colours; expected no --colours" in refused


def test_levels_and_classes_of_perrin_iq() -> None:
    plan = replace(perrin_iq.PLAN, per_size=3, sizes=(11, 60))
    random = ["game, 0 placed", "game, 4 placed", "game, 8 placed"]
    shipped = ["level, easy", "level, medium", "level, hard", "level, expert"]
    assert list(perrin_iq.classes(plan)) == [*random, *shipped, "60x5", "60x6"]
    levels = perrin_iq.grids(plan, "game, 4 placed")
    assert list(levels) == [1, 2, 3] and len({level.rows for level in levels.values()}) == 3
    assert all(len(level.pieces) - len(level.loose) == 4 for level in levels.values())
    assert levels == perrin_iq.grids(plan, "game, 4 placed")
    assert perrin_iq.grids(plan, "game, 0 placed") == {1: parse(IQ_PUZZLER_PRO)}
    hard = perrin_iq.grids(replace(perrin_iq.PLAN, seed=5), "level, hard")
    assert hard == {number: find_level(f"hard-{number}") for number in range(1, 7)}
    wide = perrin_iq.grids(plan, "60x5")
    assert all(len(grid.rows) == 5 and len(grid.rows[0]) == 60 for grid in wide.values())
    tiny = replace(perrin_iq.PLAN, per_size=1, sizes=(60,), solvers=("descender",), seconds=0.01)
    text = perrin_iq.tables(list(run_experiment(perrin_iq.runs(tiny), None)), tiny)
    assert text.count("840,000") == 2 and text.count("60x5") == 2
    library = perrin_iq.tables([], replace(perrin_iq.PLAN, solvers=("xcover",)))
    assert "60x5" in library, "it has no placements to be counted"


def test_levels_are_listed_made_and_filled(typed: Typed) -> None:
    listed = typed(f"{FILL} --levels").out.splitlines()
    assert listed[0] == "easy-1       4 pieces to place" and len(listed) == 24
    assert typed.facts(f"{FILL} --level hard-1 --count")["solutions"] == 1
    made = typed(f"{FILL} --make-level 4 --seed 2 -o level.txt").out
    assert made == "level.txt: 11 x 5, 12 pieces of 12 kinds\n"
    assert typed.facts(f"{FILL} level.txt --count --weight none --no-dead-ends")["solutions"] == 1


def test_a_cut_within_limits_and_its_race(typed: Typed) -> None:
    typed(f"{FILL} --cut 10x6 --cells 3-5 --longest 4 -o cut.txt")
    assert all(3 <= len(shape) <= 5 for shape in load("cut.txt").pieces.values())
    answer = typed.facts(f"{FILL} cut.txt --workers 2 --quiet")
    assert filling_errors(load("cut.txt"), answer["filling"]) == []


def test_steps_are_written(typed: Typed) -> None:
    counted = typed.facts(f"{FILL} small.txt --count")
    told = typed.facts(f"{FILL} small.txt --count --steps steps.json")
    assert told["nodes"] == counted["nodes"] and told["branches"] == counted["branches"] and told["complete"]
    written = json.loads(Path("steps.json").read_text())
    assert len(written["steps"]) == told["nodes"]
    assert {step["outcome"] for step in written["steps"]} <= {"stays", "no_place", "zone", "filling"}
    said = typed(f"{FILL} --steps game.json --weight none --nodes 20").out
    assert said.startswith("game.json: 20 steps; 20 nodes, ")


def test_a_search_is_traced_in_words_as_json_and_as_a_page(typed: Typed) -> None:
    trace = "exact trace small.txt --solver polyomino"
    lines = typed(trace).out.splitlines()
    assert lines[-1] == "status  solved" and lines[-2].endswith("a filling")
    assert typed.facts("exact trace none.txt --solver polyomino", 1)["status"] == "infeasible"
    assert "1 step, budget spent" in typed(f"{trace} --steps 1 -o page.html").out
    page = Path("page.html").read_text()
    assert "import " not in page.split("<script", 2)[2] and "watchGrid(given.grid, given.trace)" in page
    assert "expected the placed pieces in the picture" in typed.refused(f"{trace} --start small.txt")
