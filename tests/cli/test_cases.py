"""The public files by the commands that a user would type: right, or refused with what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from lns.instances.formats import load_board, load_puzzle, viewer_url
from tests.cli.conftest import Typed
from tests.shared_data import shared

E2 = "eternity2.txt"
VERIFIED: list[tuple[str, str | None, int, int, int, str]] = [  # file, puzzle, score, placed, problems, a note
    ("01_bucas_470_jblackwood_alphabet.txt", None, 470, 256, 0, "the pieces of Eternity II"),
    ("01_bucas_470_jblackwood_alphabet.txt", E2, 470, 256, 0, "motifs_order jblackwood"),
    ("02_bucas_469_default_alphabet_types.txt", None, 469, 256, 0, "1 of 5 official clues, with the starter clue"),
    ("03_bucas_467_default_with_pieces.txt", None, 467, 256, 0, "in the usual numbering"),
    ("03_bucas_467_default_with_pieces.txt", E2, 467, 256, 0, "default letters"),
    ("04_bucas_438_jef_alphabet_pieces.txt", E2, 438, 256, 0, "motifs_order jef"),
    ("05_bucas_clues_only_partial_jef.txt", "11_pieces_nesw_header16.txt", 0, 5, 0, "5 of 5 official clues"),
    ("05_bucas_clues_only_partial_jef.txt", "27_editor_ini_border_is_2.fps", 0, 5, 0, "5 of 5 official clues"),
    ("05_bucas_clues_only_partial_jef.txt", "31_puzzle_16bit_binary_csv.csv", 0, 5, 3, "5 of 5 official clues"),
    ("06_bucas_230_rowscan_partial_jblackwood.txt", E2, 429, 230, 0, "motifs_order jblackwood"),
    ("07_bucas_sample_4x4_zero_based_pieces.txt", None, 24, 16, 0, "counts from 0"),
    ("08_bucas_465_five_clues_default_alphabet.txt", None, 465, 256, 0, "5 of 5 official clues, with the starter"),
    ("09_board_465_rot90_meta_two_alphabets.txt", None, 465, 256, 0, "5 of 5 after a turn of 270 degrees"),
    ("10_board_465_pieceid_rot.txt", "10_pieces_top_bottom_left_right_256.txt", 465, 256, 0, "5 of 5 official clues"),
    ("10_board_465_rot90_pieceid_rot.txt", "10_pieces_top_bottom_left_right_256.txt", 465, 256, 0, "turn of 270"),
    ("10_hints_pieceid_row_col_cw.txt", "10_pieces_top_bottom_left_right_256.txt", 0, 5, 0, "5 of 5 official clues"),
    ("11_clues_pieceid_x_y_ccw.txt", "11_pieces_nesw_header16.txt", 0, 5, 0, "5 of 5 official clues"),
    ("15_solution_ascii_art_10x10.txt", "15_puzzle_bounded_unsigned_10x10.txt", 180, 100, 0, "a picture"),
    ("17_eii_4x4_duplicate_placed.json", None, 24, 16, 0, "tiles in place"),
    ("19_meta2010_10x10_solution.txt", "19_meta2010_10x10.txt", 100, 100, 0, "base0"),
    ("28_tetravex_left_top_right_bottom_3x3_solution_utf16.txt", None, 12, 9, 0, "brackets"),
    ("30_tetravex_picture_3x3.txt", None, 12, 9, 0, "a picture"),
    ("32_solution_4x3.txt", "32_pieces_4x3_width_height.txt", 17, 12, 0, "bottom"),
    ("37_letters_underscore_solution_6x6.txt", None, 60, 36, 0, "letters in place"),
    ("39_log_board_176_bracketed.txt", "11_pieces_nesw_header16.txt", 327, 177, 0, "cw,turn0"),
    ("41_bucas_21_conflicts_found_rotated_180.txt", None, 459, 256, 0, "1 of 5 official clues"),
    ("42_bucas_447_from_research_notes.txt", None, 447, 256, 0, "5 of 5 official clues"),
]
REFUSED: list[tuple[str, str | None, str]] = [  # file, puzzle, what the sentence says
    ("05_bucas_clues_only_partial_jef.txt", None, "a partial board does not define its puzzle"),
    ("06_bucas_230_rowscan_partial_jblackwood.txt", None, "expected the puzzle with it"),
    ("10_board_465_pieceid_rot.txt", None, "the pieces are named by number; expected the puzzle with it"),
    ("10_hints_pieceid_row_col_cw.txt", None, "look like clues"),
    ("11_clues_pieceid_x_y_ccw.txt", None, "--clues FILE"),
    ("19_meta2010_10x10_solution.txt", None, "expected the puzzle with it"),
    ("25_missing_piece_15_of_16.txt", None, "15 of 16 pieces; missing: id 4"),
    ("28_tetravex_left_top_right_bottom_3x3.txt", None, "pieces:tetravex"),
    ("34_board_types_6x6.txt", None, "a list of cell types"),
    ("34_board_types_6x6.txt", "34_pieces_id_type_trbl_6x6.txt", "without a clue"),
    ("39_log_board_176_bracketed.txt", None, "expected the puzzle with it"),
    ("39_log_board_176_bracketed.txt", "38_letters_numbered_list_256.md", "matches 56 of 327 seams"),
    ("44_compass_board_strings_4x4.txt", None, "expected the puzzle with it"),
]


def case(name: str) -> str:
    return str(shared("instances", name) if name == E2 else shared("cases", name))


def verify(name: str, puzzle: str | None) -> str:
    return f"verify {case(name)}" + ("" if puzzle is None else f" --puzzle {case(puzzle)}")


@pytest.mark.parametrize(("name", "puzzle", "score", "placed", "problems", "says"), VERIFIED)
def test_boards_are_verified(
    name: str, puzzle: str | None, score: int, placed: int, problems: int, says: str, typed: Typed
) -> None:
    found = typed.facts(verify(name, puzzle), status=int(problems > 0))
    assert (found["score"], found["placed"], len(found["problems"])) == (score, placed, problems)
    assert found["seams"] == score and found["rim_faults"] == 0
    assert says in "; ".join(found["notes"])


@pytest.mark.parametrize(("name", "puzzle", "says"), REFUSED)
def test_what_is_missing_is_said(name: str, puzzle: str | None, says: str, typed: Typed) -> None:
    assert says in typed.refused(verify(name, puzzle))


def test_a_tetravex_has_one_solution(typed: Typed) -> None:
    puzzle = case("28_tetravex_left_top_right_bottom_3x3.txt")
    convention = "--puzzle-format pieces:tetravex,ltrb"
    assert typed.facts(f"exact count {puzzle} {convention}")["solutions"] == 1
    board = case("28_tetravex_left_top_right_bottom_3x3_solution_utf16.txt")
    assert typed.facts(f"verify {board} --puzzle {puzzle} {convention}")["score"] == 12


def test_eight_placements_and_thirty_two(typed: Typed) -> None:
    assert typed.facts(f"exact count {case('23_csv_french_headers_3x3.txt')}")["solutions"] == 8
    assert typed.facts(f"exact count {case('32_pieces_4x3_width_height.txt')}")["solutions"] == 32


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


@pytest.mark.parametrize(
    ("pieces", "clues"),
    [
        ("10_pieces_top_bottom_left_right_256.txt", "10_hints_pieceid_row_col_cw.txt"),
        ("11_pieces_nesw_header16.txt", "11_clues_pieceid_x_y_ccw.txt"),
        ("11_pieces_nesw_header16.txt", "05_bucas_clues_only_partial_jef.txt"),
        ("27_editor_ini_border_is_2.fps", "27_editor_ini_border_is_2.fps"),
    ],
)
def test_clues_in_a_file_of_their_own(pieces: str, clues: str, typed: Typed) -> None:
    found = typed.facts(f"show {case(pieces)} --clues {case(clues)}")
    assert [clue[:2] for clue in found["clues"]] == [[34, 207], [45, 254], [135, 138], [210, 180], [221, 248]]


def test_a_turned_board_is_turned_back(here: Path, typed: Typed) -> None:
    known = f"--puzzle {case('10_pieces_top_bottom_left_right_256.txt')}"
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


def test_an_alien_piece_is_named_by_its_cell(typed: Typed) -> None:
    puzzle, board = load_board(case("01_bucas_470_jblackwood_alphabet.txt"), load_puzzle(case(E2)))
    url = viewer_url(puzzle, board, motifs_order="jblackwood").partition("&board_pieces")[0]
    at = url.index("board_edges=") + len("board_edges=") + 4 * 100
    said = typed.refused(["verify", url[:at] + "bbbb" + url[at + 4 :], "--puzzle", case(E2)])
    assert "row 6, column 4 (cell 100, from 0) shows 'bbbb'" in said and "the only such cell" in said


def test_notes_reach_the_search_and_its_log(here: Path, typed: Typed) -> None:
    start = f"--start {case('05_bucas_clues_only_partial_jef.txt')}"
    options = "--engine tabu --steps 1 --workers 1 --seed 1 --run-dir run --quiet"
    typed(f"solve {case('11_pieces_nesw_header16.txt')} {start} {options}")
    log = Path("run/run.log").read_text()
    assert "start board: letters matched to the colours by board_pieces" in log
    assert "side order up right down left, detected" in log and "5 of 5 official clues" in log
