"""`lns exact`: counts, first solutions, statuses, exit codes, the experiments; fillings, cuts and levels of grids."""

import errno
import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

from lns.exact.polyominoes.grid import IQ_PUZZLER_PRO, filling_errors, load, orientations, parse
from lns.instances.board import Board
from lns.instances.files import atomic_write
from lns.instances.formats import load_board, load_puzzle, write
from lns.instances.generate import corner_cells, uniform
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.cli.conftest import Typed
from tests.cli.run_program import program, wait_for

PUZZLE = uniform(4, 4, 4, 7).puzzle
HARD = uniform(10, 10, 8, 1).with_clues(corner_cells(10, 10)).puzzle


@pytest.fixture(autouse=True)
def files(here: Path) -> None:
    write("p.json", None, PUZZLE, None)
    write("hard.json", None, HARD, None)
    # two pieces of a 2x2 with colours that meet nowhere else
    write("none.json", None, Puzzle([[0, 1, 1, 0], [0, 1, 1, 0], [0, 2, 1, 0], [0, 1, 3, 0]], 2, 2), None)
    Path("small.txt").write_text("....\n....\n\nAAA\n\nBB\nB.\n\nCC\n")  # a grid of 8 cells
    Path("none.txt").write_text("...\n...\n\nAAA\n.A.\n\nBB\n")


def test_both_solvers_count_the_same(typed: Typed) -> None:
    one, other = (typed.facts(f"exact count p.json --solver {name} --quiet") for name in ("colorpairs", "rowscan"))
    assert one["status"] == "solved" and one["convention"] == "all rotations counted"
    assert one["solutions"] == other["solutions"]
    fixed = typed.facts("exact count p.json --fix-corner --quiet")
    assert fixed["solutions"] == one["solutions"] // 4 and "top left corner" in fixed["convention"]


def test_the_first_solution_is_written(typed: Typed) -> None:
    answer = typed.facts("exact solve p.json -o board.json --quiet")
    puzzle, board = load_board("board.json", PUZZLE)
    assert verify(puzzle, board).score == PUZZLE.max_score and board.pairs() == answer["placements"]
    assert load_board(answer["url"], PUZZLE)[1] is not None


def test_pieces_of_the_start_board_stay(typed: Typed) -> None:
    """Every solution is found from its own first pieces; one that lies wrongly leaves none."""
    boards = typed.facts("exact solve p.json --all --quiet")["boards"]
    assert len(boards) > 1
    corner, inner = tuple(boards[0][0]), tuple(boards[0][5])
    for laid in ({0: corner}, {0: corner, 5: inner}, {5: (inner[0], inner[1] ^ 2)}):
        expected = sum(all(tuple(board[cell]) == pair for cell, pair in laid.items()) for board in boards)
        write("begun.json", None, PUZZLE, Board.from_pairs([laid.get(cell) for cell in range(16)], 4, 4))
        for solver in ("colorpairs", "rowscan"):
            count = f"exact count p.json --start begun.json --solver {solver} --quiet"
            assert typed.facts(count, 0 if expected else 1)["solutions"] == expected
    typed("exact solve p.json --start begun.json --all -o completed --quiet", 1)
    assert not Path("completed").exists()
    write("begun.json", None, PUZZLE, Board.from_pairs([corner, *[None] * 15], 4, 4))
    answer = typed.facts("exact solve p.json --start begun.json -o completed.json --quiet")
    again, board = load_board("completed.json")
    assert answer["instance_sha256"] == PUZZLE.sha256 and again == PUZZLE
    assert verify(PUZZLE, board).score == PUZZLE.max_score and board.pairs()[0] == list(corner)
    write("illegal.json", None, PUZZLE, Board.from_pairs([[corner[0], corner[1] ^ 2], *[None] * 15], 4, 4))
    refused = typed.refused("exact count p.json --start illegal.json --quiet")
    assert "illegal.json: the start board is not legal" in refused


def test_all_solutions_are_listed_or_written(typed: Typed) -> None:
    count = typed.facts("exact count p.json --quiet")["solutions"]
    answer = typed.facts("exact solve p.json --all --quiet")
    boards = answer["boards"]
    assert answer["solutions"] == count == len(boards)
    assert all(verify(PUZZLE, Board.from_pairs(board, 4, 4)).score == PUZZLE.max_score for board in boards)
    lines = typed("exact solve p.json --all --quiet").out.splitlines()
    assert len({line for line in lines if line.startswith("url")}) == count
    assert f"{count} boards in boards" in typed("exact solve p.json --all --quiet -o boards").out
    written = sorted(Path("boards").iterdir())
    assert [path.name for path in written] == [f"{number + 1:06d}.json" for number in range(len(boards))]
    assert [load_board(str(path), PUZZLE)[1].pairs() for path in written] == boards
    assert "with --all expected a new directory" in typed.refused("exact solve p.json --all -o boards")


@pytest.mark.parametrize("solver", ["colorpairs", "rowscan", "xcc"])
def test_a_directory_that_fills_up_ends_the_search_with_what_was_found(
    solver: str, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    if solver == "xcc":
        pytest.importorskip("xcover")
    room = iter(range(3))

    def full_after_three(path: Path, data: str | bytes) -> None:
        if next(room, None) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        atomic_write(path, data)

    monkeypatch.setattr("lns.cli.exact.atomic_write", full_after_three)
    question = f"exact solve p.json --all --solver {solver} --quiet"
    told = typed(f"{question} -o boards", 2)
    assert "status      interrupted" in told.out and "solutions   at least " in told.out
    assert "written     3 boards in boards" in told.out
    assert told.err == f"lns: boards/000004.json: {os.strerror(errno.ENOSPC)}\n"
    assert sorted(path.name for path in Path("boards").iterdir()) == ["000001.json", "000002.json", "000003.json"]
    answer = typed.facts(f"{question} -o more", 2)
    assert answer["status"] == "interrupted" and answer["solutions"] and answer["output"] == "more"


@pytest.mark.parametrize("solver", ["colorpairs", "rowscan"])
@pytest.mark.parametrize("job", ["count", "solve"])
def test_no_solution_is_exit_1(solver: str, job: str, typed: Typed) -> None:
    answer = typed.facts(f"exact {job} none.json --solver {solver}", 1)
    assert (answer["status"], answer["solutions"]) == ("infeasible", 0)


def test_budgets_are_kept(typed: Typed) -> None:
    answer = typed.facts("exact count hard.json --nodes 5000 --quiet")
    assert (answer["status"], answer["nodes"]) == ("budget spent", 5000)
    for solver in ("colorpairs", "rowscan"):
        began = time.process_time()  # at most the time that has passed, however busy the machine is
        told = typed(f"exact count hard.json --time 0.5 --solver {solver} --quiet").out
        assert time.process_time() - began < 2.0
        assert re.search(r"solutions   (none found yet; undecided|at least [1-9])", told)
        assert re.search(r"time        0\.\d{3} s, ", told)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_the_search_with_the_solutions_so_far(number: signal.Signals, tmp_path: Path) -> None:
    write("many.json", None, uniform(6, 6, 2, 1).puzzle, None)
    boards = tmp_path / "boards"
    question = [str(tmp_path / "many.json"), "--all", "-o", str(boards), "--solver", "rowscan", "--json"]
    with program("exact", "solve", *question) as process:
        wait_for(lambda: boards.is_dir() and any(boards.iterdir()), "a solution", 300.0)  # compiles where need be
        process.send_signal(number)
        out, _ = process.communicate(timeout=20)
        assert process.returncode == 130
    answer = json.loads(out)
    assert answer["status"] == "interrupted" and answer["solutions"] > 0 and answer["nodes"] > 0


def test_trace_prints_each_step_and_writes_a_page(typed: Typed) -> None:
    answer = typed.facts("exact trace like-e2-4x4")
    assert answer["status"] == "solved" and answer["steps"][-1][3] == "solution"
    typed("exact trace like-e2-4x4 --solver rowscan -o steps.html")
    text = Path("steps.html").read_text()
    assert "import {" not in text and "\nexport " not in text and "</script>" in text


def test_a_design_is_written_and_goes_on_from_its_joints(typed: Typed) -> None:
    design = "exact design hard --width 4 --colours 4 --seed 2"
    *_, best, written = typed(f"{design} --trees 30 -o design.json").out.splitlines()
    assert written.split() == ["written", "design.json"]
    assert typed(f"{design} --trees 1 --joints {best.split()[-1]}").out == f"{best}\n"
    puzzle = load_puzzle("design.json")
    assert (puzzle.width, puzzle.height, len(puzzle.clues)) == (4, 4, 1) and puzzle.colours <= 4


def test_a_single_solution_and_the_proof_that_there_is_none(typed: Typed) -> None:
    none = typed("exact design single --width 3 --colours 2 --every", 1).out
    assert none == "0 of 4,096 colourings of 3 x 3 have a single solution up to rotation\n"
    found = typed("exact design single --width 3 --colours 3 --trees 5000").out
    assert "nodes, 1 solution, difficulty" in found.splitlines()[-1]
    typed("exact design single --width 3 --colours 1 --trees 3", 1)


def test_a_partition_there_and_back(typed: Typed) -> None:
    typed("generate --from-3-partition 3 3 4 3 4 3 -o three.json")
    typed("exact solve three.json --solver rowscan -o b.json --quiet")
    answer = typed.facts("exact triples three.json b.json")
    assert answer["sum"] == 10 and sorted(map(sorted, answer["triples"])) == [[3, 3, 4], [3, 3, 4]]
    assert typed("exact triples three.json b.json").out.count(" = 10\n") == 2


def test_graphs_are_compared_and_read_back(typed: Typed) -> None:
    Path("a.txt").write_text("# a path and a lone node\nx y\ny z\nlone\n")
    Path("b.txt").write_text("1 3\n2\n3 4\n")
    Path("c.txt").write_text("1 3\n3 4\n4 2\n")
    answer = typed.facts("exact graph a.txt b.txt")
    assert answer["isomorphic"] and answer["nodes"]["y"] == "3" and answer["nodes"]["lone"] == "2"
    typed("exact graph a.txt c.txt", 1)
    typed("exact graph a.txt -o pieces.txt")
    assert typed("exact graph pieces.txt --pieces").out == "2 3\n3 4\n5\n"


def test_only_cuvillier2010_has_puzzles_with_all_colours(typed: Typed) -> None:
    tiny = "--sizes 2 --colours 4 --solvers sls:rsaps --all-colours -o rows.csv"
    typed(f"exact paper cuvillier2010 --per-size 5 {tiny}")
    rows = Path("rows.csv").read_text()
    planted = [uniform(2, 2, 4, seed, all_colours=True).puzzle for seed in range(1, 6)]
    assert all(puzzle.sha256[:12] in rows for puzzle in planted)


def test_missing_runs_of_a_paper_are_named_and_made(typed: Typed) -> None:
    small = "exact paper jolivet2008 --sizes 3 --colours 3 4 -o rows.csv"
    zig_zag = f"{small} --solvers zig-zag --per-size"
    sentence = "--show prints the tables of finished runs; expected -o with a file of them"
    assert sentence in typed.refused(f"{small} --show")
    typed(f"{zig_zag} 2")
    before = Path("rows.csv").read_text()
    missing = "2 runs are missing (1 of 3x3-c3 by zig-zag, 1 of 3x3-c4 by zig-zag); without --show they are made"
    assert missing in typed(f"{zig_zag} 3 --show").out and Path("rows.csv").read_text() == before
    typed(f"{zig_zag} 3")
    assert Path("rows.csv").read_text().startswith(before)
    shown = typed(f"{zig_zag} 3 --show").out
    assert "no run is missing" in shown and "not shown" not in shown
    others = "4 rows of rows.csv not shown: expected the options of their runs"
    assert others in typed(f"{zig_zag} 1 --show").out


FILL = "exact polyomino"


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
    assert typed.facts(f"{FILL} --count --time 0.2")["status"] == "budget spent"


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
    grid = load("cut.txt")
    assert Path("cut.txt").read_text() == shown and f"cut.txt: 9 x 5, {len(grid.pieces)} pieces" in said
    answer = typed.facts(cut)
    assert answer["grid"] == shown and filling_errors(grid, list(map(str, answer["filling"]))) == []
    typed(f"{FILL} cut.txt")
    typed(f"{FILL} --cut 9x5 -o cut.txt --force --pieces 2")
    assert len(load("cut.txt").pieces) == 2


def test_levels_are_listed_made_and_filled(typed: Typed) -> None:
    listed = typed(f"{FILL} --levels").out.splitlines()
    assert listed[0] == "easy-1       4 pieces to place" and len(listed) == 24
    assert typed.facts(f"{FILL} --level hard-1 --count")["solutions"] == 1
    made = typed(f"{FILL} --make-level 4 --seed 2 -o level.txt").out
    assert made == "level.txt: 11 x 5, 12 pieces of 12 kinds\n"
    assert typed.facts(f"{FILL} level.txt --count --weight none --no-dead-ends")["solutions"] == 1


def test_a_cut_within_limits_and_its_race(typed: Typed) -> None:
    typed(f"{FILL} --cut 8x8 --cells 4-6 --thinnest 2 -o thick.txt")
    assert all(min(map(max, zip(*shape, strict=True))) >= 1 for shape in load("thick.txt").pieces.values())
    typed(f"{FILL} --cut 10x6 --cells 3-5 --longest 4 --distinct -o cut.txt")
    shapes = load("cut.txt").pieces.values()
    assert all(3 <= len(shape) <= 5 for shape in shapes)
    assert len({orientations(shape)[0] for shape in shapes}) == len(shapes)
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
