"""Options that no other test gives to a command: each is taken, and does what its help says."""

import os
import re
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import lns
from lns.exact.compare import ComparisonRow, PlannedRun
from lns.exact.execution import Request
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle, write
from lns.runs.directory import RunDirectory
from lns.runs.files import REPORT, STATUS
from lns.tuning import benchmark
from tests.cli.conftest import Typed
from tests.instances.small_puzzles import exchanged
from tests.lns.run_parts import best_of, finished_run

PUZZLE, SOLUTION = lns.generate("like-e2", width=4, seed=1)
DESIGN = "exact design hard --width 2 --height 3 --colours 2 --trees 2 --nodes 1000"
IMPROVE = "improve b.url --puzzle p.json --window 2x2 --everywhere --nodes 1000"


@pytest.fixture(autouse=True)
def files(here: Path) -> None:
    write("p.json", None, PUZZLE, None)
    write("b.url", None, PUZZLE, exchanged(SOLUTION, 5, 6))
    Path("answer").write_text("s UNSATISFIABLE\n")
    Path("graph.txt").write_text("x y\ny z\n")


@pytest.mark.parametrize(
    "command",
    ["solve p.json", "estimate p.json", "verify b.url --puzzle p.json", "show b.url --puzzle p.json",
     "convert b.url out.json --puzzle p.json", "improve b.url --puzzle p.json", "tune p.json --study s",
     "exact count p.json", "exact solve p.json", "exact compare p.json", "exact cnf p.json --encoding half-2 --sizes",
     "exact decode answer p.json --encoding half-2", "exact trace p.json"],
)  # fmt: skip
def test_the_format_and_the_clues_of_a_puzzle_can_be_named(command: str, typed: Typed) -> None:
    refused = typed.refused(f"{command} --puzzle-format csv16")
    assert "p.json:1: the size of the board has 8 entries" in refused
    assert "none.txt: no such file" in typed.refused(f"{command} --clues none.txt")


@pytest.mark.parametrize(
    ("command", "prefix"),
    [
        *((f"{command} b.url --puzzle p.json", "--") for command in ("verify", "show", "improve")),
        *((f"{command} p.json --start b.url", "--start-") for command in ("solve", "exact count", "exact trace")),
        ("exact solve p.json --start b.url", "--start-"),
        ("convert b.url out.json --puzzle p.json", "--"),
    ],
)
def test_the_format_and_the_number_of_a_board_can_be_named(command: str, prefix: str, typed: Typed) -> None:
    assert "b.url:1: 1 lines; expected 16" in typed.refused(f"{command} {prefix}format solution")
    refused = typed.refused(f"{command} {prefix}number 7")
    assert "b.url: there is no board 7; expected a number up to 1, as this holds one board or puzzle" in refused


@pytest.mark.parametrize(
    ("command", "target"),
    [
        ("report run -o", "r.html"),
        ("exact graph graph.txt -o", "g.txt"),
        (f"{DESIGN} -o", "d.json"),
        ("exact trace p.json -o", "t.html"),
        ("exact cnf p.json --encoding half-2 -o", "f.cnf"),
        ("exact polyomino --cut 5x4 --svg p.svg -o", "p.txt"),
        ("generate like-e2 --width 4 -o", "o.txt"),
        ("generate like-e2 --width 4 -o n.txt --solution", "s.txt"),
        ("show p.json --tikz", "o.tex"),
        ("convert p.json", "c.txt"),
        (f"{IMPROVE} -o", "o.url"),
        (f"{IMPROVE} --svg", "o.svg"),
    ],
)
def test_a_file_that_exists_is_overwritten_by_force_only(command: str, target: str, typed: Typed) -> None:
    if command.startswith("report"):
        finished_run(Path("run"), name="like-e2-4x4", engine="tabu", steps=1)
    os.mkfifo("pipe")
    link = Path(f"link-{target}")
    link.symlink_to(target)
    assert f"{link}: this exists already" in typed.refused(f"{command} {link}"), "although it leads nowhere"
    Path(target).write_text("mine")
    assert f"{target}: this exists already" in typed.refused(f"{command} {target}")
    assert Path(target).read_text() == "mine"
    assert "pipe: this is a pipe or a device" in typed.refused(f"{command} pipe --force")
    typed(f"{command} {link} --force")
    assert link.is_symlink() and Path(target).read_text() != "mine", "the link stays, the file behind it is written"


def test_the_colours_of_border_and_inner_pieces_are_chosen(typed: Typed) -> None:
    typed("generate like-e2 --width 6 --border-colours 3 --inner-colours 4 -o made.json")
    assert load_puzzle("made.json") == lns.generate("like-e2", width=6, border_colours=3, inner_colours=4).puzzle


def test_each_part_of_colorpairs_changes_the_tree_and_no_count(typed: Typed) -> None:
    def count(options: str = "") -> tuple[int, int]:
        found = typed.facts(f"exact count like-e2-5x5 --quiet {options}")
        return found["solutions"], found["nodes"]

    solutions, nodes = count("--solver colorpairs")
    switches = [f"--no-{part}" for part in ("motifs", "instantiation", "opposite", "preemption", "backjumping")]
    switches += ["--shaving", "--quick-shaving", "--random-cell --seed 5", "--values", "--single-colours"]
    rules = ("min-offer", "min-expected-offer", "max-expected-filtering", "row-major")
    for switch in (*switches, "--shared-edges", *(f"--heuristic {rule}" for rule in rules)):
        other = count(switch)
        assert other[0] == solutions and other[1] != nodes, switch
    for switch in ("--cycles", "--heuristic min-expected-ratio"):  # the same tree on this puzzle
        assert count(switch) == (solutions, nodes)


def test_the_sat_solver_and_its_memory_are_chosen(typed: Typed) -> None:
    pytest.importorskip("pysat")
    command = "exact solve p.json --solver sat:half-2 --quiet --memory 8000 --sat-solver"
    assert typed.facts(f"{command} minisat")["status"] == "solved"
    assert "minisatt" in typed.refused(f"{command} minisatt")


def test_compare_asks_what_its_options_say(monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    run = mock.Mock(return_value=ComparisonRow("p.json", "dlx", "solved", 1))
    monkeypatch.setattr("lns.exact.compare.run_solver", run)
    options = "--solvers dlx --count --time 3 --memory 900 --fix-corner --sat-solver minisat --seed 5"
    typed(f"exact compare p.json {options}")
    expected = Request(True, seconds=3.0, memory=900_000_000, fix_corner=True, sat_solver="minisat", seed=5)
    run.assert_called_once_with("p.json", PUZZLE, "dlx", expected)


def test_grey_may_be_renamed_too(typed: Typed) -> None:
    for name, colours, framed in (("a.json", [0, 1], True), ("b.json", [2, 1], False)):
        write(name, None, lns.Puzzle([[colours[0], colours[1], colours[1], colours[0]]] * 4, 2, 2, framed=framed), None)
    typed("exact isomorphic a.json b.json", 1)
    typed("exact isomorphic a.json b.json --rename-grey")


def test_the_full_scale_of_a_paper_has_more_runs(typed: Typed) -> None:
    Path("b.csv").touch()
    missing = []
    for full in ("", "--full"):
        shown = typed(f"exact paper benoist2008 -o b.csv --show {full}").out
        found = re.search(r"([\d,]+) runs are missing", shown)
        assert found is not None
        missing.append(int(found[1].replace(",", "")))
    assert 0 < missing[0] < missing[1]


def test_the_searches_of_a_paper_try_as_many_boards_as_they_are_told(
    monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    planned: list[PlannedRun] = []
    monkeypatch.setattr("lns.exact.compare.run_experiment", lambda runs, *_: iter(planned.extend(runs) or ()))
    typed("exact paper jolivet2008 --sizes 3 --trees 2 -o j.csv")
    assert any("single solution among 2 boards" in run.question for run in planned)
    refused = typed.refused("exact paper outcome --trees 2")
    assert "outcome searches for no puzzles; expected no --trees" in refused


def test_a_resumed_run_tells_its_bests_and_ends_without_gain(typed: Typed) -> None:
    run, said = finished_run(Path("run"), name="like-e2-8x8", engine="tabu", steps=1), Path("said")
    before = best_of(run)
    on_best = "echo $LNS_SCORE >> said"
    out = typed(["resume", "run", "--stop-after-no-gain", "0.5", "--on-best", on_best, "--quiet"]).out
    assert "no improvement in 0.5 s" in out
    assert int(said.read_text().split()[-1]) == best_of(run) > before


@pytest.mark.parametrize("command", ["watch run", "report run --follow --open"])
def test_what_follows_a_run_looks_again_after_the_time_it_is_told(
    command: str, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    path = finished_run(Path("run"), name="like-e2-4x4", engine="tabu", steps=1)
    opened: list[str] = []
    slept: list[float] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with RunDirectory.open(path) as run:
        (path / STATUS).unlink()

        def sleep(seconds: float) -> None:
            slept.append(seconds)
            run.close()  # so that the run is over

        monkeypatch.setattr("time.sleep", sleep)
        typed(f"{command} --every 7")
    assert slept == [7.0] and opened == [(path / REPORT).resolve().as_uri()] * command.startswith("report")


def test_web_listens_where_it_is_told_and_opens_the_browser(monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    pytest.importorskip("uvicorn")
    served: list[tuple[str, bool, bool]] = []

    def serve(server: Any, opened: Any, *, browse: bool, announce: object) -> None:
        served.append((opened.getsockname()[0], browse, server.access.admits("long enough")))

    monkeypatch.setattr("lns.web.server.serve", serve)
    monkeypatch.delenv("LNS_WEB_PASSWORD", raising=False)
    typed("web --port 0 --open")
    assert "--host 0.0.0.0 needs a password" in typed("web --port 0 --host 0.0.0.0", 2).err
    monkeypatch.setenv("LNS_WEB_PASSWORD", "long enough")
    typed("web --port 0 --host 0.0.0.0")
    assert served == [("127.0.0.1", True, False), ("0.0.0.0", False, True)]
    typed.refused("web --port 70000")


def test_a_study_is_asked_for_what_the_options_say(monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    tuned = mock.Mock(side_effect=InputError("that is all"))
    monkeypatch.setattr("lns.tuning.api.tune", tuned)
    options = "--engine tabu --sampler random --run-seconds 4 --pairs 5 --held-out 30 --seed 9 --time 1h --workers 3"
    typed(f"tune --family like-e2:6x6 --study s {options}", 2)
    asked = tuned.call_args.kwargs
    request = asked["request"]
    assert (asked["time"], asked["workers"], request.family) == (3600, 3, "like-e2:6x6")
    assert (request.engine, request.sampler, request.run_seconds) == ("tabu", "random", 4)
    assert (request.pairs, request.held_out, request.seed) == (5, 30, 9)
    Path("p.txt").write_text("1002 1120\n0030 2034\n")  # without an option, up left right down
    Path("clues.txt").write_text("# 1 clues: piece from 1, row column from 0, clockwise turns\n2 0 1 0\n")
    tune = "tune p.txt --study s --puzzle-format pieces:tetravex,urdl"
    assert "lns: p.txt: clues: 1 clue, read as" in typed(f"{tune} --clues clues.txt", 2).err
    [puzzle] = tuned.call_args.kwargs["request"].instances
    assert puzzle.pieces[0].tolist() == [2, 1, 1, 3] and puzzle.clues == (lns.Clue(1, 1, 0),)
    assert typed(f"{tune} --quiet", 2).err == "lns: that is all\n"


def test_a_benchmark_runs_what_its_options_say(params: str, monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    run = mock.Mock(return_value=benchmark.BenchmarkRun(1, 9, {9: 1.0}, {}, 1.0, 1.0))
    monkeypatch.setattr(benchmark, "run_benchmark", run)
    options = f"--fresh 8 --search-floor 450 --params {params} --workers 1 --time 3 --table t.csv --seeds 1"
    told = typed.facts(f"benchmark --rows fresh-16x16-1 {options}")
    puzzle, given, seed, wanted, *_ = run.call_args.args
    assert puzzle.name.endswith("-s8") and given.construct.tail == 8 and seed == 1 == run.call_count
    assert (wanted.time, wanted.workers, wanted.search_floor) == (3.0, 1, 450)
    assert "fresh" in Path("t.csv").read_text() and told["rows"][0]["instance"] == "fresh-16x16-1"
