"""The ladder: honest counting, rows by name, a table that grows; one part off at a time. Prices of work, measured."""

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from lns import node_equivalents
from lns.cli.main import main
from lns.engines import make_engine
from lns.exact.compare import append_row
from lns.exact.region.searches import DynamicSearch
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.params import Params, from_dict, to_dict, to_toml
from lns.rates import DistinctBoards
from lns.tuning import bench, benchmark
from lns.tuning.benchmark import BenchmarkOptions, BenchmarkRow, BenchmarkRun
from tests.lns.run_parts import QUICK, small_puzzle

SMALL = replace(
    QUICK,
    construct=replace(QUICK.construct, population=200, restart_nodes=40_000, restart_nodes_without_prefix=40_000),
    beam=replace(QUICK.beam, width=64),
    neighbourhoods=replace(QUICK.neighbourhoods, nodes=20_000, floor=0.1),
)
PUZZLE = load_puzzle("like-e2-5x5")


def row_of(*runs, variant=benchmark.BASELINE, **options):
    options = BenchmarkOptions(**{"workers": 1, "seeds": len(runs), **options})
    return BenchmarkRow("like-e2-5x5", variant, PUZZLE, options, runs)


def run_of(seed=1, score=9, reached=None, boards=(), seconds=3600.0):
    return BenchmarkRun(seed, score, reached or {score: 1.0}, dict(boards), 1e6, seconds)


@pytest.fixture
def made_up_run(monkeypatch):
    """A function that puts a made-up run, a function of puzzle name and seed, in place of each."""

    def put(run=lambda name, seed: run_of(seed)):
        monkeypatch.setattr(
            benchmark, "run_benchmark", lambda puzzle, params, seed, options, *_: run(puzzle.name, seed)
        )

    return put


def test_distinct_boards_match_a_plain_comparison():
    """Of boards that are changed a little, again and again, and of others among them; more than are compared first."""
    chance = np.random.default_rng(1)
    distinct_boards, plain = DistinctBoards(), []
    board = np.arange(100)
    for number in range(1500):
        if number % 5 == 4:
            board = chance.permutation(100) if number % 2 else plain[chance.integers(len(plain))].copy()
        board = board.copy()
        board[chance.integers(100, size=9)] = chance.integers(400, size=9)
        alike = [at for at, other in enumerate(plain) if (other != board).sum() < 20]
        found = distinct_boards.find(board)
        assert found in alike if alike else found is None
        if found is None:
            distinct_boards.add(board)
            plain.append(board)
    assert distinct_boards.count == len(plain) > 200


def test_a_run_reaches_what_it_says(tmp_path):
    options = BenchmarkOptions(time=20.0, seeds=1, workers=1)
    one = benchmark.run_benchmark(PUZZLE, from_dict({"construct": {"population": 200}}), 1, options)
    assert one.score == PUZZLE.max_score == max(one.reached)
    row, table = row_of(one, one, note="test").values, tmp_path / "t.csv"
    assert row["best"] == row["worst"] == row["median"] == 40
    assert row["peak_mb"] == "" or 50 < row["peak_mb"] < 5000
    append_row(table, row)
    append_row(table, row)
    with table.open(newline="") as file:
        assert [line["best"] for line in csv.DictReader(file)] == ["40", "40"]


# -- rows and tables --------------------------------------------------------------------------------------------------


def test_benchmark_returns_rows_and_calls_back(monkeypatch, tmp_path, capsys):
    made = []

    def run(puzzle, params, seed, options, on_best):
        made.append((puzzle.name, params, seed))
        return run_of(seed, boards={8: 2, 9: 1} if options.search_floor else {})

    monkeypatch.setattr(benchmark, "run_benchmark", run)
    params, runs, rows = from_dict({"construct": {"tail": 11}}), [], []
    result = benchmark.benchmark(
        ["like-e2-12x20"], seeds=2, first_seed=4, workers=1, search_floor=8, params=params, table=tmp_path / "t.csv",
        on_run=lambda *run: runs.append(run), on_row=rows.append,
    )  # fmt: skip
    assert made == [("like-e2-12x20", params, 4), ("like-e2-12x20", params, 5)] and len(runs) == 2
    assert list(result.rows) == rows and result.records() == result.table and result.table[0]["scores"] == [9, 9]
    assert result.table[0]["boards_per_core_hour"] == {8: 3.0, 9: 1.0}
    assert "boards of at least 8 per core-hour: 3.0 (in 2 core-hours)" in result.summary()
    assert (tmp_path / "t.csv").read_text().count("\n") == 2 and capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [*(({name: number}, "expected 1 or more") for name, number in
       (("seeds", 0), ("time", 0.0), ("time", float("nan")), ("workers", 0))),
     ({"sedes": 1}, "unknown setting 'sedes'; expected one of time"),
     ({"data": "nowhere"}, "no row 'zzz'; expected one of")],
)  # fmt: skip
def test_a_benchmark_refuses_impossible_settings(settings, sentence):
    with pytest.raises(InputError, match=sentence):
        benchmark.benchmark(["zzz"], **settings)


def test_rows_by_name(capsys):
    assert main(["ladder", "--rows", "meta16", "--data", "nowhere"]) == 2
    assert "nowhere: the row meta16 needs meta16.txt" in capsys.readouterr().err


def test_the_help_names_every_row(capsys):
    with pytest.raises(SystemExit):
        main(["ladder", "--help"])
    told = capsys.readouterr().out.split("rows, in this order:")[1].split()
    rows = benchmark.ROWS
    assert tuple(word for word in told if word in rows) == rows


def test_fresh_rows_depend_on_the_seed():
    def fresh(seed):
        return [each for _, each in benchmark.selected_rows(benchmark.FRESH, BenchmarkOptions(fresh=seed, workers=1))]

    first, second = fresh(1)
    assert (first.width, first.height, first.colours) == (16, 16, 22) and first != second
    assert fresh(2)[0] == second and fresh(1) == [first, second]


def test_complete_rows_are_printed_if_a_later_one_fails(made_up_run, capsys):
    def run(name, seed):
        if name.startswith("like-e2-12x20"):
            raise KeyboardInterrupt
        return run_of(seed)

    made_up_run(run)
    assert main(["ladder", "--rows", "like-e2-20x20", "like-e2-12x20", "--seeds", "2", "--json"]) == 130
    told = json.loads(capsys.readouterr().out)
    assert [(row["instance"], row["scores"]) for row in told["rows"]] == [("like-e2-20x20", [9, 9])]


def test_the_best_board_of_each_run_is_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(benchmark, "ROWS", ("like-e2-5x5",))
    folder = tmp_path / "new" / "boards"
    arguments = ["--rows", "like-e2-5x5", "--seeds", "2", "--first-seed", "3", "--workers", "1", "--time", "0.5"]
    assert main(["ladder", *arguments, "--boards", str(folder), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert sorted(path.name for path in folder.iterdir()) == ["like-e2-5x5-3.json", "like-e2-5x5-4.json"]
    for seed, score in zip((3, 4), row["scores"], strict=True):
        path = folder / f"like-e2-5x5-{seed}.json"
        fields = json.loads(path.read_text())
        assert (fields["instance"], fields["seed"], fields["score"]) == ("like-e2-5x5", seed, score)
        assert main(["verify", str(path), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["score"] == score


@pytest.mark.parametrize("engine,unit", [("tabu", "M moves/s"), ("lns", "M nodes/s")])
def test_a_row_gives_the_unit_of_its_rate(made_up_run, capsys, engine, unit):
    made_up_run()
    assert main(["ladder", "--rows", "like-e2-12x20", "--seeds", "1", "--engine", engine]) == 0
    assert f"; 1.0 {unit}" in capsys.readouterr().out


def test_a_row_of_later_seeds_says_so(made_up_run, capsys):
    made_up_run(lambda name, seed: run_of(seed, seed))
    rows = ["ladder", "--rows", "like-e2-12x20", "--seeds", "2", "--note", "mine", "--json"]
    for first, scores, note in (("1", [1, 2], "mine"), ("3", [3, 4], "seeds from 3 on; mine")):
        assert main([*rows, "--first-seed", first]) == 0
        (row,) = json.loads(capsys.readouterr().out)["rows"]
        assert (row["scores"], row["seeds"], row["note"]) == (scores, 2, note)


# -- ablations --------------------------------------------------------------------------------------------------------


def test_each_variant_changes_its_own_parameters_only():
    found = benchmark.variants(Params())
    assert list(found) == [benchmark.BASELINE, *benchmark.ABLATIONS] and found[benchmark.BASELINE] == Params()
    for name, sections in benchmark.ABLATIONS.items():
        changed = {
            section: {key: value for key, value in values.items() if value != to_dict(Params())[section][key]}
            for section, values in to_dict(found[name]).items()
        }
        assert {section: values for section, values in changed.items() if values} == sections
    off_already = benchmark.variants(from_dict({"neighbourhoods": {"blocks": 0}}))
    assert "no blocks" not in off_already


def stepped(params):
    puzzle = small_puzzle("like-e2-10x10")
    made = make_engine("auto", puzzle, params, 1, 0)
    for _ in range(160):
        made.step()
    return made


@pytest.fixture(scope="module")
def whole():
    return stepped(SMALL)


@pytest.mark.parametrize("name", benchmark.ABLATIONS)
def test_the_engine_works_without_the_part(name, whole):
    part = stepped(benchmark.variants(SMALL)[name])
    assert part.best_score > small_puzzle("like-e2-10x10").max_score // 2
    assert part.statistics != whole.statistics
    off = {"no beams": "beam", "no blocks": "block", "no bands": "band", "no certificate": "certificate"}.get(name)
    parts = (each.statistics.node_equivalents_by_part() for each in (whole, part))
    assert off is None or [off in each for each in parts] == [True, False]


def test_the_table_compares_with_the_whole_engine_and_rates_count_boards_at_or_above_a_score():
    options = {"workers": 2, "search_floor": 7}
    whole = row_of(
        run_of(1, 9, {8: 0.5, 9: 2.0}, {7: 1, 9: 1}, 1800.0), run_of(2, 9, {9: 4.0}, seconds=1800.0), **options
    )
    less = row_of(
        run_of(1, 9, {9: 5.0}, {8: 1}, 1800.0), run_of(2, 7, seconds=1800.0), variant="no tail", **options
    )  # fmt: skip
    assert whole.boards_per_core_hour == {7: 1.0, 9: 0.5}
    head, first, second = benchmark.ablation_table([whole, less])
    assert head.split()[:6] == ["variant", "median", "best", "worst", "s", "to"] and ">= 7" in head
    assert first.split() == ["whole", "9", "9", "9", "3.0", "2", "1.0"]
    assert second.split() == ["no", "tail", "7", "9", "7", "5.0", "1", "0.5"]


@pytest.mark.slow
def test_the_command_writes_a_row_a_variant(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("lns.tuning.benchmark.ROWS", ("like-e2-4x4",))
    monkeypatch.setattr(benchmark, "ABLATIONS", {name: benchmark.ABLATIONS[name] for name in ("no quota",)})
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


# -- figures of speed --------------------------------------------------------------------------------------------------


def test_each_cost_is_measured() -> None:
    puzzle = load_puzzle("like-e2-10x10")
    told = {what: (price, here) for what, price, here in bench.measure_costs(puzzle, nodes=1_000_000, repeats=50)}
    assert [price for price, _ in told.values()] == [
        node_equivalents.TAIL_SETUP, node_equivalents.TAIL_NODE, node_equivalents.ENDGAME_SETUP,
        node_equivalents.BEAM_CHILD, node_equivalents.REGION_SETUP, node_equivalents.REGION_NODE,
        node_equivalents.COLORPAIRS_SETUP, node_equivalents.COLORPAIRS_NODE,
        node_equivalents.TABU_MOVE, node_equivalents.quota_profile(100),
        node_equivalents.population(1000, 100),
    ]  # fmt: skip
    assert all(math.isfinite(here) for _, here in told.values())
    differences = {
        "set-up of an exact tail",
        "placement in an exact tail",
        "placement in a region, fixed orders",
        "placement in a region, ColorPairs",
    }  # of times: below zero where a machine stutters
    assert all(here > 0 for what, (_, here) in told.items() if what not in differences)


def test_the_two_places_that_compare_the_orders_of_a_region_agree() -> None:
    """`lns` counts in nodes of the construction, `exact`, which must not know them, in nodes in a fixed order."""
    assert abs(node_equivalents.COLORPAIRS_NODE / node_equivalents.REGION_NODE - DynamicSearch.NODE_COST) < 1


def test_the_time_to_the_first_board_is_measured() -> None:
    what, figure = next(iter(bench.construction(load_puzzle("like-e2-6x6"), 0.2)))
    assert what == "first board and measurement" and 0 < float(figure.split()[0]) < 60
