"""Links to the page Board of `lns web`: read wherever a board is, and refused if they are damaged or hostile."""

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lns
from lns.cli.main import main
from lns.instances.board import EMPTY, Board
from lns.instances.errors import InputError
from lns.instances.formats import load_board, load_puzzle, parse, read, render
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.instances.small_puzzles import planted


def link_of(text: str | bytes) -> str:
    """As the page packs it: raw deflate, and base64 for URLs without padding."""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(text if isinstance(text, bytes) else text.encode()) + packer.flush()
    return f"http://127.0.0.1:8040/board#lns={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def fields(puzzle: Puzzle, board: Board) -> dict[str, Any]:
    """The fields of a link with two pins."""
    packed = json.loads(render("json", puzzle, None)[0])
    return {"puzzle": packed, "board": board.without_blanks(puzzle).placements.tolist(), "pinned": [7, 2]}


PUZZLE, BOARD = planted(11, 6, 5, 9)
FIELDS = fields(PUZZLE, BOARD)
LINK = link_of(json.dumps(FIELDS))


@pytest.mark.parametrize("kind", ["like-e2", "tetravex", "unframed", "macmahon", "diamond"])
def test_a_link_holds_the_puzzle_and_its_board(kind: str) -> None:
    puzzle, board = lns.generate(kind, seed=2, **({"side": 3} if kind == "diamond" else {"width": 4}))
    partial = board.with_pieces(board.placements.argmax(), EMPTY).with_blanks(puzzle)
    document = read(link_of(json.dumps(fields(puzzle, partial))))
    assert (document.puzzle, document.board, document.pinned) == (puzzle, partial, (2, 7))


def test_a_link_is_read_wherever_a_board_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mail.txt"
    path.write_text(f"See this board:\n\n  <{LINK}>\n")
    for source in (LINK, f"'{LINK}'", LINK[LINK.index("#") :], str(path)):
        assert load_board(source) == (PUZZLE, BOARD) and load_puzzle(source) == PUZZLE
    assert parse(path.read_text()).board == BOARD
    other = Puzzle(np.roll(PUZZLE.pieces, 1, axis=0), PUZZLE.width, PUZZLE.height)  # another numbering
    assert verify(other, load_board(LINK, other)[1]).score == PUZZLE.max_score
    with pytest.raises(InputError, match="other pieces"):
        load_board(LINK, planted(12, 6, 5, 9)[0])
    assert main(["verify", LINK]) == main(["show", LINK]) == 0
    assert main(["convert", LINK, str(tmp_path / "board.json")]) == 0
    assert load_board(str(tmp_path / "board.json"), PUZZLE)[1] == BOARD
    capsys.readouterr()


def test_a_link_keeps_its_pins_on_the_page() -> None:
    wire = pytest.importorskip("lns.web.wire")
    shown = wire.document_to_json(wire.parse_text(f" {LINK}\n"))
    assert (shown["board"], shown["pinned"]) == (FIELDS["board"], (2, 7))


@pytest.mark.parametrize(
    "link",
    [
        *(f"http://localhost/board#lns={letters}" for letters in ("", "%00", "QUJD", "é", "A" * 300_000)),
        *(LINK[:-1], LINK[: len(LINK) // 2], LINK + "AAAA"),
        *map(link_of, ("", "[1]", "{", "[" * 100_000, b"\xff", '{"pinned": 1' + "0" * 9999 + "}")),
        link_of(json.dumps(FIELDS) + " " * 2_000_000),
        link_of(b" " * 100_000_000),
    ],
    ids=lambda link: f"{link[:50]}-{len(link)}",
)
def test_a_damaged_link_is_refused_in_one_sentence(link: str) -> None:
    with pytest.raises(InputError, match=r"^link: damaged or not whole; expected all of a link that the button Link"):
        read(link)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"puzzle": [1]}, "'puzzle': found '.1.'; expected a puzzle as an object"),
        ({"puzzle": FIELDS["puzzle"] | {"width": 10**6}}, "'width'"),
        ({"puzzle": FIELDS["puzzle"] | {"pieces": [[1, 2]] * 30}}, "piece 0 of 'pieces'"),
        ({"board": [0]}, "1 placements for a board of 6 x 5; expected 30"),
        ({"board": [120, *FIELDS["board"][1:]]}, "entry 0 of 'board': found '120'"),
        ({"board": ["\x1b[31m", *FIELDS["board"][1:]]}, r"entry 0 of 'board': found '\"\\+u001b"),
        ({"board": [0.5, *FIELDS["board"][1:]]}, "entry 0 of 'board'"),
        ({"pinned": [30]}, "entry 0 of 'pinned': found '30'"),
        ({"pinned": [0] * 100_000}, "'pinned' has 100000 entries"),
        ({"pinned": None}, "'pinned'"),
    ],
)
def test_a_hostile_link_is_refused(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=f"^link: {says}"):
        read(link_of(json.dumps(FIELDS | changed)))
