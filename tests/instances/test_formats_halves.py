"""Pieces whose sides are halves, and rims of an ordinary colour: read from every layout, written and read back."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import parse, read_puzzle, render
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.terminal.output import board_lines
from tests.exact.brute import count_solutions
from tests.instances.small_puzzles import planted, with_mates
from tests.shared_data import shared

SLASH, CASE = "45_scramble_halves_slash.csv", "48_scramble_halves_upper_lower.txt"
MACMAHON = "49_macmahon_letters_no_turns_4x4.txt"
PICTURES = ["blue", "green", "red", "white"]
STYLES: dict[str, Callable[[int, int], str]] = {
    "letters": lambda picture, half: "BGRW"[picture] if not half else "bgrw"[picture],
    "signs": lambda picture, half: f"{'+-'[half]}{picture + 1}",
    "signs of one half": lambda picture, half: f"{'-' * half}{picture + 1}",
    "signs behind": lambda picture, half: f"{PICTURES[picture]}{'+-'[half]}",
    "a slash": lambda picture, half: f"{PICTURES[picture][0]}/{'BT'[half]}",
    "the half first": lambda picture, half: f"{('bottom', 'top')[half]}-{PICTURES[picture]}",
    "two words": lambda picture, half: f"{PICTURES[picture]} {('head', 'tail')[half]}",
    "snake case": lambda picture, half: f"{PICTURES[picture]}_{('head', 'tail')[half]}",
}
Rows = Sequence[Sequence[str]]
LAYOUTS: dict[str, Callable[[Rows], str]] = {
    "columns with names": lambda rows: text(
        "id,top,right,bottom,left", *(f"{i},{','.join(r)}" for i, r in numbered(rows))
    ),
    "commas": lambda rows: text(*map(",".join, rows)),
    "quotes": lambda rows: text(*(",".join(f'"{side}"' for side in row) for row in rows)),
    "semicolons": lambda rows: text(*(f"{i};{'; '.join(row)}" for i, row in numbered(rows))),
    "tabs": lambda rows: text(*map("\t".join, rows)),
    "a size and ids": lambda rows: text("3 3", *(f"{i} {' '.join(row)}" for i, row in numbered(rows))),
    "words": lambda rows: text("# a set of nine", *map("".join, rows)),
    "numbered words": lambda rows: text(*(f"- {i} {''.join(row)}" for i, row in numbered(rows))),
    "a table": lambda rows: text(
        "| # | top | right | bottom | left |", *(f"| {i} | {' | '.join(r)} |" for i, r in numbered(rows))
    ),
    "MiniZinc": lambda rows: "Tiles = [|" + "\n |".join(map(",".join, rows)) + "|];\n",
    "a list of a program": lambda rows: text("tiles = [", *(f"  ({', '.join(row)})," for row in rows), "]"),
    "JSON": lambda rows: json.dumps({"tiles": rows, "width": 3, "height": 3}),
    "JSON in many lines": lambda rows: json.dumps({"tiles": rows}, indent=2),
    "a list of lists": lambda rows: json.dumps(rows),
    "a list of words": lambda rows: json.dumps(["".join(row) for row in rows]),
}


def text(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def numbered(rows: Rows) -> list[tuple[int, Sequence[str]]]:
    return list(enumerate(rows))


def of_case(name: str, option: str | None = None) -> Puzzle:
    puzzle = read_puzzle(str(shared("cases", name)), option).puzzle
    assert puzzle is not None
    return puzzle


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("style", STYLES)
def test_halves_in_every_layout(style: str, layout: str) -> None:
    if style != "letters" and "words" in layout:
        pytest.skip("words of four letters")
    if style == "two words" and layout == "a size and ids":
        pytest.skip("separated by spaces")
    puzzle = of_case(CASE)
    rows = [[STYLES[style](*divmod(colour - 1, 2)) for colour in quad] for quad in puzzle.pieces.tolist()]
    document = parse(LAYOUTS[layout](rows))
    assert document.puzzle == puzzle and document.puzzle.mates == ((1, 2), (3, 4), (5, 6), (7, 8))
    assert any(note.startswith("sides are halves: ") for note in document.notes)


@pytest.mark.parametrize(
    ("name", "option", "solutions"),
    [
        (SLASH, None, 4),
        (CASE, None, 4),
        (SLASH, "pieces:equal", 0),
        (CASE, "pieces:equal,unframed,3x3", 0),
        (MACMAHON, "pieces:tetravex,rim=B", 1),
        (MACMAHON, "pieces:tetravex,rim=R", 0),
        (MACMAHON, "pieces:rim=G,tetravex", 0),
    ],
)
def test_the_public_files_have_their_solutions(name: str, option: str | None, solutions: int) -> None:
    assert count_solutions(of_case(name, option)) == solutions


def test_a_missing_half_is_named_and_the_user_decides() -> None:
    rows = ["aBcD", "AbCd", "ABcd", "aabb", "Efgh"]
    said = "; ".join(parse(text(*rows, "EFFE", "aaBB", "bbCC", "ccDD")).notes)
    assert "A meets a; none meets E, g, h" in said
    lone = text("aBcd", "efgh", "ABcd", "aabb", "cdcd", "EFGH".lower(), "ghgh", "fefe", "dada")
    document = parse(lone, format="pieces:unframed")
    assert document.puzzle is not None and not document.puzzle.mates
    assert "equal sides meet, as c, d, e, f, g, … lack their halves (--puzzle-format pieces:mates" in document.notes[0]
    forced = parse(lone, format="pieces:mates").puzzle
    assert forced is not None and len(forced.mates) == 8 and forced.colours == 16
    with pytest.raises(InputError, match="a number with a sign, -4, and few with both; expected whole"):
        parse("1 2 3 -4\n" * 9)
    with pytest.raises(InputError, match="no side is a half; expected such as"):
        parse("1 2 3 4\n" * 9, format="pieces:mates")


def test_halves_inside_a_frame() -> None:
    puzzle, board = planted(3, 4, 3, 3)
    puzzle = with_mates(puzzle, board, 3, 1.0)
    written = {0: "0"} | {one: f"+{one}" for one, _ in puzzle.mates} | {other: f"-{one}" for one, other in puzzle.mates}
    document = parse(
        "4 3\n" + "".join(" ".join(map(written.__getitem__, quad)) + "\n" for quad in puzzle.pieces.tolist())
    )
    assert document.puzzle is not None and document.puzzle.framed
    assert verify(document.puzzle, board).score == puzzle.max_score
    assert board_lines(puzzle, board)[1:] == ["note        the viewer shows mates as mismatches"]
    assert parse(render("pieces", puzzle, None)[0], name=puzzle.name).puzzle == puzzle


def test_a_rim_is_named_as_the_file_writes_it() -> None:
    pieces = [[2, 1, 1, 2], [2, 2, 3, 1], [1, 3, 2, 2], [3, 2, 2, 3]]
    puzzle = Puzzle(pieces, 2, 2, framed=False, rim=2, name="p")
    rows = [" ".join(str(colour - 1) for colour in quad) for quad in pieces]
    assert parse(text("2 2", *rows), format="pieces:rim=1", name="p").puzzle == puzzle
    halves = text(*(",".join(f"{'xyz'[c - 1]}/a" for c in quad) for quad in pieces))
    assert parse(halves, format="pieces:equal,rim=y/a").puzzle == puzzle
    with pytest.raises(InputError, match="no piece has the colour 'Q' of the rim"):
        of_case(MACMAHON, "pieces:rim=Q")
    with pytest.raises(InputError, match="option 'rim=' of pieces; expected"):
        of_case(MACMAHON, "pieces:rim=")
    assert verify(puzzle, Board([0, 4, 8, 12], 2, 2)).rim_faults == 0
