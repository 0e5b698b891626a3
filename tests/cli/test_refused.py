"""What commands refuse: each in one sentence on stderr, exit status 2, and nothing is left behind."""

from pathlib import Path

import numpy as np
import pytest

from lns.instances.board import Board
from lns.instances.formats import write
from tests.cli.conftest import PUZZLE, SOLUTION, Typed
from tests.instances.small_puzzles import planted

# the beginning of a command -> (what is typed behind it, what the sentence says)
REFUSED: dict[str, list[tuple[str, str]]] = {
    "": [
        *((words, "unknown command 'solv': did you mean 'solve'?") for words in ("solv", "solv --help", "--help solv")),
        ("view b.json", "unknown command 'view': did you mean 'show'?"),
        ("count p.json", "unknown command 'count': did you mean 'exact count'?"),
        ("exact tray", "unknown job 'tray': did you mean 'polyomino'?"),
        ("exact", "expected a job of exact: count, solve, "),
        ("solve p.json --timeout 9", "unrecognized arguments: --timeout 9: did you mean '--time'? (see 'lns solve"),
        ("solve p.json --tagret 9", "did you mean '--target'?"),
        ("--help --nosuch", "unknown option '--nosuch'; expected a command first (see 'lns --help')"),
        ("--time 60 solve p", "'--time' before 'solve'; options of a command belong behind it (see 'lns solve --help"),
        ("exact --json count", "'--json' before 'count'; options of a job belong behind it (see 'lns exact count --he"),
    ],
    "solve": [
        (f"{name}", f"lns: {name}: no such file, and the pieces of Eternity II are not shipped; ")
        for name in ("eternity2", "Eternity-II", "eternity2_clue5", "e2.txt")
    ],
    "solve like-e2-16x16 --run-dir run": [
        ("--time 0", "'0' is no duration"),
        ("--workers 0", "0 is too few"),
        ("--workers 100000", "100000 workers are too many for"),
        ("--target 481", "a target of 481 cannot be reached: like-e2-16x16 has 480 inner edges"),
        ("--seed x", "'x' is no whole number"),
        ("--engine magic", "invalid choice"),
        ("--checkpoint 0.05", "a checkpoint every 0.05 s is too often; expected 0.1 seconds or more"),
        ("--params /does/not/exist.toml", "/does/not/exist.toml: no such file; expected parameters"),
        ("--params ''", "argument --params: the name is empty"),
        ("--run-dir ''", "argument --run-dir: the name is empty"),
        ("--start like-e2-4x4", "expected"),
        ("--pin 3", "pins keep cells of a start board; expected a start board beside them"),
        ("--stop-after-no-gain 6x", "'6x' is no duration; expected seconds above 0, or like 10m, 5m30s, 2h"),
    ],
    "solve p.json --start part.json --params quick.toml --workers 1 --seed 1 --run-dir run --pin": [
        ("r6", "the list names row 6, off the board; expected 0 to 5"),
        ("3,42", "the list names cell 42, off the board; expected 0 to 41"),
        ("x", "'x' is no list of cells"),
        ("40-41", "row 5, column 6 (cell 41, from 0), which is empty on the start board"),
        ("22-33", "which do not match; expected at most one of them"),
        ("r0-5", "leave no cell free"),
    ],
    "polish --run-dir run": [
        ("nothing.json", "nothing.json"),
        ("best.json --free r9", "names row 9, off the board"),
        ("best.json --time -1", "--time"),
        ("empty.json --puzzle p.json", "the board is empty; expected one to polish"),
        ("twice.url --puzzle p.json", "lns: twice.url: the start board is not legal for planted-8: piece 27"),
    ],
    "report": [("run --every 5", "--every is the time between two pages of --follow; expected --follow with it")],
    "estimate one.json --time 0.1": [("", "has no inner edge, so no score to estimate")],
    "improve b.url --puzzle p.json": [
        ("--cells 3,999", "cell 999, off the board"),
        ("--cells 3,3", "twice"),
        ("--rows 4-", "'4-' is no range; expected one like 3-5"),
        ("--rows 99", "rows 99-99"),
        ("--everywhere", "expected both or neither"),
        ("--rows 0:1 --cells 3", "exclude each other"),
        ("--rows 0:1 --svg x.svg", "map of --everywhere"),
        ("--rows 0:1 --donors 99", "99 donors"),
        ("--rows 0:1 --target 999", "target 999 is more than a board"),
        ("--rows 0:1 -o nowhere/x.json", "nowhere: there is no such directory"),
        ("--rows 0:1 -o x.xyz", "x.xyz: the name does not say the format"),
        ("--rows 0:1 -o x.csv", "x.csv: format csv16 carries no board"),
        ("--window 2x2 --everywhere -o same.url --svg ./same.url", "two outputs have the same file name"),
        ("--rows 1:3 --no-backjumping", "--no-backjumping is for --order dynamic"),
        ("--rows 1:3 --order static --heuristic min-offer", "are for --order dynamic or auto"),
        ("--rows 1:3 --heuristic min-ofer", "did you mean 'min-offer'?"),
    ],
    "improve": [
        ("other.url --puzzle p.json --rows 0:1", "other.url"),
        ("twice.url --puzzle p.json --rows 0:1", "twice.url: the board breaks a rule outside"),
        ("hole.json --puzzle p.json", "hole.json: the board has no mismatch"),
    ],
    "show": [
        ("nothing-here", "no such file"),
        ("like-e2-4x4 --url", "a viewer URL needs a board"),
        ("like-e2-4x4 --svg /nowhere/b.svg", "/nowhere: there is no such directory"),
        ("like-e2-4x4 --colour pink", "invalid choice: 'pink'"),
        ("best.json --numbers", "--numbers is for the SVG picture"),
        ("best.json --svg x --tikz x", "two outputs have the same file name"),
    ],
    "generate": [
        ("foo", "unknown kind of puzzle 'foo'; expected uniform, balanced-torus, like-e2, unframed"),
        ("like-e2 --colours 9", "expected two numbers of colours, not one"),
        ("like-e2 --width x", "invalid int value: 'x'"),
        ("like-e2 --format url", "format url carries a board"),
        ("like-e2 --time 1", "--time is for the proofs of --unique"),
        ("triangle --width 3", "a triangle has one size; expected its side, not width or height"),
        ("tetravex --side 3", "only triangle and diamond have one"),
        ("--unique max --side 4", "--side is for the kinds triangle and diamond; expected none here"),
        ("diamond --side 3 --fix-corners", "a diamond has no four corners to fix"),
        ("tetravex -o p.txt", "p.txt: format benoist cannot say that a puzzle has no frame and no turns; expected"),
        ("like-e2 -o p.odd", "p.odd: the name does not say the format"),
        ("like-e2 -o p.txt --solution ./p.txt", "the same file name"),
    ],
    "exact": [
        ("count p.json --solver colorpair", "did you mean 'colorpairs'"),
        ("count p.json --heuristic min-ofer", "did you mean 'min-offer'"),
        ("count p.json --solver rowscan --shaving", "has none of these options"),
        ("solve p.json -o nowhere/board.json", "no such directory"),
        ("paper", "PAPER"),
        ("paper benoist", "unknown paper 'benoist': did you mean 'benoist2008'?"),
        ("paper knuth", "unknown paper 'knuth': expected one of benoist2008, perrin_iq, bailleux2025"),
        ("paper perrin_iq --colours 3", "perrin_iq has no colours; expected no --colours"),
        ("paper benoist2008 --sizes 6", "'6' is none of the sizes of benoist2008; expected some of 7, 8, 9, 10"),
        ("paper benoist2008 --solvers dlx", "'dlx' is none of the solvers of benoist2008"),
        ("paper jolivet2008 --solvers cp", "expected some of dlx:binary, zig-zag"),
        ("paper perrin_iq --sizes 13", "perrin_iq has no run with these options; expected some of the sizes 11, 12, 1"),
        ("paper outcome --sizes 1", "expected some of the sizes 5, 6, 7, 8, 9, 10"),
        ("paper cuvillier2010 --sizes 2 --colours 16", "the sizes 2, 3, 4, 5, 6, 7, 8 and the colours 2, 3, 4"),
        ("paper outcome --all-colours", "outcome has no such puzzles; expected no --all-colours"),
        ("solve p.json --all -o p.json", "with --all expected a new directory"),
        ("solve p.json --all -o boards --solver colorpair", "did you mean 'colorpairs'"),
        ("solve p.json --all -o boards --solver sls:rsaps", "cannot"),
        ("solve p.json --all -o boards --force", "--force is for a single board"),
        ("count p.json --solver rowscan --sat-solver x", "--sat-solver has no effect on solver 'row"),
        ("count p.json --memory 9", "--memory has no effect on solver 'auto'; it is for sat:..., cp"),
        ("solve p.json --solver sat:half-2 --seed 0", "--seed has no effect on solver 'sat:half-2'"),
        ("cnf p.json --encoding half-2 -o . --force", ".: this is a directory; expected"),
        ("solve p.json -o x.txt", "x.txt: format quads carries no board"),
        ("count p.json --start-number 2", "--start-number is about the board of --start; expected --start"),
        ("trace p.json --start-format url", "--start-format is about the board of --start"),
        ("trace small --solver polyomino --clues c.txt", "--clues is for puzzles; expected none with"),
        ("compare p.json -o /proc/self/rows.csv", "/proc/self/rows.csv: "),
        ("compare p.json -o p.json", "p.json:1: other columns than expected"),
        ("graph g3.txt", "g3.txt:1: 'a b c'; expected two different nodes, or one alone"),
        ("graph loop.txt", "loop.txt:2: 'a a'; expected two different nodes"),
        ("graph odd.txt --pieces", "odd.txt:2: the piece (0, 2, 3, 4) encodes no node of a graph"),
        ("graph half.txt --pieces", "half.txt: node 2 has the neighbour 3, which does not name it"),
        ("graph half.txt --pieces -o new.txt", "expected no -o with it"),
        ("graph half.txt half.txt --pieces", "expected no second file with it"),
        ("design easy --width 3 --colours 2", "unknown goal 'easy'; expected hard or single"),
        ("design hard --width 3 --colours 2 --every", "expected the goal single"),
        ("design single --width 5 --colours 3 --every", "expected at most 16,777,216"),
        ("design hard --width 3 --colours 2 --joints 12", "2 joints; a board of 3 x 3 has 12"),
        ("design hard --width 3 --colours 40 --trees 3", "40 colours; expected 1 to 35, one digit or"),
        ("design single --width 2 --colours 2 --every --seed 0", "expected no --joints, --trees, --nodes or --seed"),
    ],
    "exact polyomino": [
        ("bytes.txt", "bytes.txt:"),
        ("''", "the name is empty"),
        ("--solver xcover --nodes 5", "xcover has no nodes, weights or zones"),
        ("--seed 3", "--seed is for --make-level and --cut"),
        ("--distinct", "--distinct is for --cut"),
        ("--levels --seed 3", "--seed does nothing with --levels"),
        ("--steps s.json -o f.txt", "--steps writes the steps, not the filling; expected no -o or --svg"),
        ("--level easy-0", "there is no level 'easy-0'; expected easy"),
        ("--level easy-1 small.txt", "a FILE and --level are given"),
        ("--cut 9x9 --cells few", "'few' is no range; expected one like 3-5"),
        ("--workers 2 --count", "--workers is for a race to the first filling"),
        ("--steps s.json --weight race", "--steps records one search"),
        ("small.txt --cut 9x5", "FILE does nothing with --cut"),
        ("--cut 9x5 --solver xcover", "--solver xcover does nothing with --cut"),
        ("--cut 9by5", "'9by5' is no size; expected two numbers, like 16x10"),
    ],
    "ladder --rows like-e2-16x16": [
        ("--table p.json", "p.json:1: no table of the benchmark"),
        ("--table no/t.csv", "no: there is no such directory"),
        ("--boards p.json/boards", "nothing can be written there"),
        ("--engine beam --ablate", "expected no engine 'beam' with them"),
    ],
    "verify": [
        ("", "required: BOARD"),
        ("b.url --format nonsense", "unknown format 'nonsense'; expected one of best, json"),
        ("b.url --format solution", "expected the puzzle"),
        ("b.url --format url:nobody", "motifs_order 'nobody'; expected one of jef"),
        ("b.url --format best:x", "format best has no option"),
        ("p.json", "this is a puzzle (format json); expected a board"),
    ],
    "convert p.json": [
        ("", "OUT is missing; expected both IN and OUT, or --list"),
        ("-", "expected --to"),
        ("- --to json --json", "expected one of them"),
        ("- --to solution", "found only a puzzle"),
        ("- --to nonsense", "unknown format 'nonsense'"),
        ("out", "the name does not say the format"),
        ("p.json", "this exists already"),
        ("absent/out.json", "absent: there is no such directory"),
        (". --to json --force", "this is a directory"),
    ],
    "convert like-e2-4x4 - --to e2pieces:uuuu": [("", "expected the letters u r d l")],
    "tune --study s": [
        ("--family like-e3:6x6", "unknown kind of puzzle 'like-e3'"),
        ("--family nonsense", "names no family"),
        ("", "expected INSTANCE or --family"),
        ("like-e2-6x6 --family like-e2:6x6", "expected one of them"),
        ("like-e2-6x6 --nodes 5 --run-seconds 5", "expected one of them"),
        ("like-e2-6x6 --params wrong.toml", "did you mean 'tail'"),
    ],
}


@pytest.fixture(autouse=True)
def files(boards: None, params: str) -> None:
    write("empty.json", None, PUZZLE, Board.empty(PUZZLE))
    write("other.url", "url", *planted(9, 7, 6, 6))
    write("twice.url", "url", PUZZLE, Board(np.r_[SOLUTION.placements[:41], SOLUTION.placements[40]], 7, 6))
    write("hole.json", None, PUZZLE, Board(np.r_[SOLUTION.placements[:41], -1], 7, 6))
    write("one.json", "json", planted(1, 1, 1, 1)[0], None)
    Path("wrong.toml").write_text("[construct]\ntial = 13\n")
    Path("small.txt").write_text("....\n....\n\nAAA\n\nBB\nB.\n\nCC\n")
    graphs = {"g3": "a b c\n", "loop": "\na a\n", "odd": "# one piece\n0 2 3 4\n", "half": "0 2 3 1\n"}
    for name, text in graphs.items():
        Path(f"{name}.txt").write_text(text)
    Path("bytes.txt").write_bytes(b"\xff\xfe\x00..")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [(f"{command} {words}", sentence) for command, rows in REFUSED.items() for words, sentence in rows],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(command: str, sentence: str, here: Path, typed: Typed) -> None:
    before = sorted(here.iterdir())
    assert sentence in typed.refused(command)
    assert sorted(here.iterdir()) == before
