"""`lns ladder --ablate`: one part off at a time, nothing else changed, and a table that counts what it says."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

from lns.cli.main import main
from lns.engines import make_engine
from lns.params import Params, from_dict, to_dict, to_toml
from tests.lns.run_parts import QUICK, small_puzzle
from tuning import ablate
from tuning.benchmark import BenchmarkRun

SMALL = replace(
    QUICK,
    construct=replace(QUICK.construct, population=200, restart_nodes=40_000, restart_nodes_without_prefix=40_000),
    beam=replace(QUICK.beam, width=64),
    neighbourhoods=replace(QUICK.neighbourhoods, nodes=20_000, floor=0.1),
)


def test_each_variant_changes_its_own_parameters_only():
    found = ablate.variants(Params())
    assert list(found) == [ablate.BASELINE, *ablate.ABLATIONS] and found[ablate.BASELINE] == Params()
    for name, sections in ablate.ABLATIONS.items():
        changed = {
            section: {key: value for key, value in values.items() if value != to_dict(Params())[section][key]}
            for section, values in to_dict(found[name]).items()
        }
        assert {section: values for section, values in changed.items() if values} == sections


def test_a_part_that_is_off_already_is_no_variant():
    assert "no blocks" not in ablate.variants(from_dict({"neighbourhoods": {"blocks": 0}}))


def stepped(engine, params):
    puzzle = small_puzzle("like-e2-10x10")
    made = make_engine(engine, puzzle, params, 1, 0)
    for _ in range(160):
        made.step(puzzle.max_score)
    return made


@pytest.fixture(scope="module")
def whole():
    return stepped("auto", SMALL)


@pytest.mark.parametrize("name", ablate.ABLATIONS)
def test_the_engine_works_without_the_part(name, whole):
    part = stepped("auto", ablate.variants(SMALL)[name])
    assert part.best_score > small_puzzle("like-e2-10x10").max_score // 2
    assert part.statistics != whole.statistics
    off = {"no beams": "beam", "no blocks": "block", "no bands": "band", "no certificate": "certificate"}.get(name)
    assert off is None or (
        off in whole.statistics.node_equivalents_by_part() and off not in part.statistics.node_equivalents_by_part()
    )


def test_the_table_compares_with_the_whole_engine():
    whole = [
        BenchmarkRun(1, 9, {8: 0.5, 9: 2.0}, {7: 1, 9: 1}, 1e6, 1800.0),
        BenchmarkRun(2, 9, {9: 4.0}, {}, 1e6, 1800.0),
    ]
    less = [BenchmarkRun(1, 9, {9: 5.0}, {8: 1}, 1e6, 1800.0), BenchmarkRun(2, 7, {7: 1.0}, {}, 1e6, 1800.0)]
    head, first, second = ablate.table({ablate.BASELINE: whole, "no tail": less}, 2, 7)
    assert head.split()[:6] == ["variant", "median", "best", "worst", "s", "to"] and ">= 7" in head
    assert first.split() == ["whole", "9", "9", "9", "3.0", "2", "1.0"]
    assert second.split() == ["no", "tail", "7", "9", "7", "5.0", "1", "0.5"]


@pytest.mark.slow
def test_the_command_writes_a_row_a_variant(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tuning.benchmark.SHIPPED", ("like-e2-4x4",))
    monkeypatch.setattr(ablate, "ABLATIONS", {name: ablate.ABLATIONS[name] for name in ("no quota",)})
    params, table = tmp_path / "quick.toml", tmp_path / "t.csv"
    params.write_text(to_toml(SMALL))
    arguments = ["ladder", "--rows", "like-e2-4x4", "--time", "0.3", "--seeds", "1", "--workers", "1",
                 "--params", str(params), "--note", "test"]  # fmt: skip
    assert main([*arguments, "--ablate", "--table", str(table), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 2
    with table.open(newline="") as file:
        assert [row["note"] for row in csv.DictReader(file)] == ["test", "no quota; test"]
    assert main([*arguments, "--engine", "tabu"]) == 0
    assert "(engine tabu; test)" in capsys.readouterr().out
    assert main([*arguments, "--engine", "tabu", "--ablate"]) == 2
    assert "expected no engine 'tabu' with them" in capsys.readouterr().err
