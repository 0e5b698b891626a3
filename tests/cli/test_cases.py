"""The public files by the commands that a user would type, the clues that a search has, and puzzles by other rules."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import lns
from lns.instances.formats import best_json, load_board, load_puzzle
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.cli.conftest import Typed
from tests.shared_data import shared

pytestmark = pytest.mark.usefixtures("here")

E2 = "eternity2.txt"
P10, P11 = "10_pieces_top_bottom_left_right_256.txt", "11_pieces_nesw_header16.txt"
# Some of the files that tests/instances/test_index.py reads all of: file, puzzle, score, placed, problems, a note.
VERIFIED: list[tuple[str, str | None, int, int, int, str]] = [
    ("01_bucas_470_jblackwood_alphabet.txt", None, 470, 256, 0, "the pieces of Eternity II"),
    ("05_bucas_clues_only_partial_jef.txt", "31_puzzle_16bit_binary_csv.csv", 0, 5, 3, "5 of 5 official clues"),
    ("10_board_465_pieceid_rot.txt", P10, 465, 256, 0, "5 of 5 official clues"),
    ("15_solution_ascii_art_10x10.txt", "15_puzzle_bounded_unsigned_10x10.txt", 180, 100, 0, "a picture"),
]
REFUSED: list[tuple[str, str | None, str]] = [  # file, puzzle, what the sentence says
    ("05_bucas_clues_only_partial_jef.txt", None, "a partial board does not define its puzzle"),
    ("11_clues_pieceid_x_y_ccw.txt", None, "--clues FILE"),
    ("39_log_board_176_bracketed.txt", "38_letters_numbered_list_256.md", "matches 56 of 327 seams"),
]


def case(name: str) -> str:
    return str(shared("instances", name) if name == E2 else shared("cases", name))


def verifying(name: str, puzzle: str | None) -> str:
    return f"verify {case(name)}" + ("" if puzzle is None else f" --puzzle {case(puzzle)}")


@pytest.mark.parametrize(("name", "puzzle", "score", "placed", "problems", "says"), VERIFIED)
def test_boards_are_verified(
    name: str, puzzle: str | None, score: int, placed: int, problems: int, says: str, typed: Typed
) -> None:
    found = typed.facts(verifying(name, puzzle), status=int(problems > 0))
    assert (found["score"], found["placed"], len(found["problems"])) == (score, placed, problems)
    assert says in "; ".join(found["notes"]) and found["full"] == (placed == found["cells"])


@pytest.mark.parametrize(("name", "puzzle", "says"), REFUSED)
def test_what_is_missing_is_said(name: str, puzzle: str | None, says: str, typed: Typed) -> None:
    assert says in typed.refused(verifying(name, puzzle))


@pytest.mark.parametrize(
    ("number", "score", "rim_faults", "mismatches"), [(1, 467, 0, 13), (2, 465, 0, 15), (3, 466, 2, 14)]
)
def test_a_board_of_a_table(number: int, score: int, rim_faults: int, mismatches: int, typed: Typed) -> None:
    board, status = f"verify {case('40_boards_with_conflict_counts.tsv')} --number {number}", int(rim_faults > 0)
    found = typed.facts(board, status)
    assert (found["score"], found["rim_faults"], found["mismatches"]) == (score, rim_faults, mismatches)
    assert ("16 conflicts (464)" in typed(board, status).out) == (number == 3)


def test_an_illegal_board_is_not_called_better(typed: Typed) -> None:
    question = f"improve {case('40_boards_with_conflict_counts.tsv')} --number 3 --nodes 500000 --quiet"
    found = typed.facts(question)
    assert (found["score_before"], found["legal_before"], found["rim_faults_before"]) == (466, False, 2)
    assert found["legal"] and len(found["problems_before"]) == 4
    assert found["score"] >= 460 and found["improved"] == (found["score"] > 466)
    assert found["improved"] or found["status"] in ("legal", "optimal")
    assert "broke 4 rules (466 by seams)" in typed(question).out


def test_a_turned_board_is_turned_back(here: Path, typed: Typed) -> None:
    known = f"--puzzle {case(P10)}"
    known += f" --clues {case('10_hints_pieceid_row_col_cw.txt')}"
    turned = case("10_board_465_rot90_pieceid_rot.txt")
    assert len(typed.facts(f"verify {turned} {known}", 1)["problems"]) == 5
    typed(f"convert {turned} back.url {known} --turn 270 --letters jef")
    assert "motifs_order=jef" in Path("back.url").read_text()
    assert typed.facts(f"verify back.url {known}")["valid"]


def test_a_mirrored_board_is_recognised_and_mirrored(here: Path, typed: Typed) -> None:
    known = f"--puzzle {case(E2)}"
    typed(f"convert {case('08_bucas_465_five_clues_default_alphabet.txt')} mirrored.url --mirror")
    assert "mirror image of Eternity II" in "; ".join(typed.facts("verify mirrored.url")["notes"])
    assert "mirror images of the pieces of eternity2" in typed.refused(f"verify mirrored.url {known}")
    typed(f"convert mirrored.url back.url {known} --mirror")
    assert "5 of 5 official clues" in "; ".join(typed.facts(f"verify back.url {known}")["notes"])


ONE_STEP = ["--engine", "tabu", "--steps", "1", "--workers", "1", "--seed", "1", "--quiet"]


@pytest.fixture
def url() -> str:
    """A board of 465 with all five clues."""
    text = shared("cases", "08_bucas_465_five_clues_default_alphabet.txt").read_text()
    return next(word for word in text.split() if word.startswith("http"))


def test_the_clues_that_a_board_holds_are_kept_and_what_is_not_used_is_said(url: str, typed: Typed) -> None:
    score = typed.facts(["solve", url, "--run-dir", "run", *ONE_STEP])["score"]
    puzzle, board = load_board("run/best.json")
    assert [clue.cell for clue in puzzle.clues] == [34, 45, 135, 210, 221] and score < 465
    assert verify(puzzle, board).complete, "the clues lie on the board that was found"
    first = "\n".join(Path("run/run.log").read_text().splitlines()[:5])
    assert "clues: the 5 official ones that the board holds (--clues official, starter, none or a file" in first
    assert "only the pieces and clues are taken from this board (465 of 480); `lns solve --start` begins" in first
    other = ["solve", url, "--start", url, "--clues", "starter", "--run-dir", "other", *ONE_STEP]
    assert typed.facts(other)["score"] >= 465 and "clues: the starter clue\n" in Path("other/run.log").read_text()


@pytest.mark.parametrize(
    ("word", "said"),
    [("held", "the 5"), ("official", "the 5 official ones"), ("starter", "the starter clue"), ("none", "none")],
)
def test_a_best_json_finds_its_instance_with_the_clues_of_its_run(
    url: str, word: str, said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "lns")
    board, puzzle = lns.load_board(url), lns.load_puzzle(url, clues=word)
    assert f"clues: {said}" in caplog.text
    fields = best_json(puzzle, board, instance=url, seed=1, elapsed_s=1.0)
    (tmp_path / "best.json").write_text(json.dumps(fields))
    found, again = load_board(str(tmp_path / "best.json"))
    assert found == puzzle and again == board and len(found.clues) == {"starter": 1, "none": 0}.get(word, 5)


KINDS = {"tetravex": "--width 4", "unframed": "--width 3 --colours 6", "triangle": "--side 4", "diamond": "--side 3"}


@pytest.fixture
def made(here: Path, typed: Typed) -> Callable[[str], Puzzle]:
    """Makes p.json and p.solution.txt of a kind."""

    def make(kind: str) -> Puzzle:
        typed(f"generate {kind} {KINDS[kind]} --seed 2 -o p.json --solution p.solution.txt")
        return load_puzzle("p.json")

    return make


def empty(placements: list[object]) -> list[int]:
    return [cell for cell, pair in enumerate(placements) if pair is None]


@pytest.mark.parametrize("kind", KINDS)
def test_solve_resume_verify_and_improve(kind: str, made: Callable[[str], Puzzle], typed: Typed) -> None:
    puzzle = made(kind)
    options = f"--time 20 --workers 1 --seed 1 --run-dir run --target {puzzle.max_score - 2} --quiet"
    best = typed.facts(f"solve p.json {options}")
    assert best["score"] >= puzzle.max_score - 2 and best["max_score"] == puzzle.max_score
    assert empty(best["placements"]) == list(puzzle.holes)
    found = typed.facts("verify run/best.json")
    assert found["valid"] and found["full"] and found["score"] == best["score"]
    assert found["cells"] == puzzle.piece_count
    assert typed.facts("resume run --time 1 --quiet")["score"] >= best["score"]
    improved = typed.facts(f"improve run/best.json --rows 0:{puzzle.height} --time 5")
    assert improved["score"] >= best["score"] and len(improved["placements"]) == puzzle.cells
    assert set(puzzle.holes) <= set(empty(improved["placements"]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("solve p.json --engine beam --time 1", "engine beam fills rectangles with a frame"),
        ("solve p.json --engine construct --time 1", "engine construct fills rectangles with a frame"),
        ("estimate p.json --time 1", "an estimate is one of the construction, which takes no puzzle with"),
        ("convert p.json p.txt", "cannot say that a puzzle has"),
    ],
)
def test_what_is_refused(
    kind: str, command: str, words: str, made: Callable[[str], Puzzle], here: Path, typed: Typed
) -> None:
    made(kind)
    error = typed(command, 2).err
    assert words in error and "Traceback" not in error
    assert sorted(path.name for path in here.iterdir()) == ["p.json", "p.solution.txt"]


def test_show_says_the_rules(made: Callable[[str], Puzzle], typed: Typed) -> None:
    made("diamond")
    facts = typed.facts("show p.json")
    assert (facts["framed"], facts["turns"], len(facts["holes"])) == (True, True, 12)
    assert sum(facts["pieces"].values()) == 13
    assert "board       5 x 5, 12 holes, 16 inner edges" in typed("show p.json").out
    assert "5 x 5, 12 holes, sha256" in typed("verify p.solution.txt --puzzle p.json").out


def test_generate_convert_and_show_mates_and_a_rim(here: Path, typed: Typed) -> None:
    typed("generate macmahon --mates 1 --seed 3 -o p.json --solution p.solution.txt")
    facts = typed.facts("show p.json")
    assert (facts["framed"], facts["rim"], facts["pieces"]["inner"]) == (False, 1, 24) and len(facts["mates"]) == 1
    assert "board       6 x 4, no frame, 1 pair of mates, rim of colour 1, 38 inner edges" in typed("show p.json").out
    assert "cannot say that a puzzle has no frame and mates and rim" in typed.refused("convert p.json q.txt")
    typed("convert p.solution.txt turned.solution.txt --puzzle p.json --turn 180")
    assert typed.facts("verify turned.solution.txt --puzzle p.json")["score"] == 38
    first, *others = (here / "p.solution.txt").read_text().splitlines()
    piece, rotation = map(int, first.split())
    (here / "wrong.solution.txt").write_text("\n".join([f"{piece} {(rotation + 1) % 4 + 1}", *others]))
    assert "of another colour, which the score" in typed("verify wrong.solution.txt --puzzle p.json", 1).out
