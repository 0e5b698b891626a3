"""Randomly damaged files and URLs are read or refused with an InputError, quickly and without any other exception."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from lns.instances.errors import InputError
from lns.instances.formats import read
from tests.instances.hostile_files import BARE, HOLDS_BOARD, TEXTS
from tests.instances.small_puzzles import planted

# `str.isdigit` calls a superscript a digit, `int` does not
WORDS = [word.encode() for word in ("\ufeff", "99999999999999999999", "-", "\n", "null", "²", "٣", "①", "1²")]


@pytest.mark.parametrize("name", TEXTS)
def test_damaged_bytes_raise_nothing_but_input_errors(name: str, tmp_path: Path) -> None:
    """Valid files with random bytes changed, removed, repeated or inserted; an error names the file."""
    rng = random.Random(f"damage {name}")
    path = tmp_path / "damaged.txt"
    good = TEXTS[name].encode()
    refusals = 0
    for _ in range(400):
        data = bytearray(good)
        for _ in range(rng.choice((1, 1, 2, 5, 30))):
            at = rng.randrange(len(data))
            match rng.randrange(5):
                case 0:
                    data[at] = rng.randrange(256)
                case 1:
                    data[at] = rng.choice(b'0123456789 -,.\n\r\t[]{}"ae&=%#')
                case 2:
                    del data[at : at + rng.choice((1, 1, 4, 60))]
                case 3:
                    data[at:at] = data[at : at + rng.choice((1, 4, 60))]
                case _:
                    data[at:at] = rng.choice(WORDS)
            if not data:
                data = bytearray(b"\n")
        path.write_bytes(bytes(data))
        try:
            read(str(path), puzzle=BARE if name in HOLDS_BOARD else None, format=rng.choice((None, name)))
        except InputError as error:
            refusals += 1
            assert error.source == str(path) and error.message and str(error).isprintable()
    assert refusals > 100


def test_letters_that_match_no_colours_are_refused_quickly() -> None:
    """The search for a map of letters ends for boards that are almost, or not at all, boards of the puzzle."""
    puzzle, board = planted(4, 16, 16, 22)
    quads = board.colours(puzzle).reshape(-1, 4).tolist()
    rng = random.Random(7)
    for change in ("one cell", "all cells", "few letters"):
        if change == "one cell":
            cells = [quad if cell != 200 else [1, 2, 3, 23] for cell, quad in enumerate(quads)]
        elif change == "all cells":
            cells = [[rng.randrange(1, 26) for _ in range(4)] for _ in quads]
        else:
            cells = [[side and 1 + side % 5 for side in quad] for quad in quads]
        order = [0, *rng.sample(range(1, 26), 25)]
        edges = "".join(chr(97 + order[side]) for quad in cells for side in quad)
        with pytest.raises(InputError, match=r"no piece of|in reasonable time"):
            read(f"#board_w=16&board_h=16&board_edges={edges}", puzzle=puzzle)
