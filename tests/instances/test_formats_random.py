"""Random puzzles and boards in random dialects; ``python -m tests.fuzz_formats`` tries thousands of each."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lns.instances.errors import InputError
from lns.instances.formats import read
from tests.fuzz_formats import guess, mutated, round_trip, vanished
from tests.instances.hostile_files import BARE, HOLDS_BOARD, TEXTS
from tests.instances.small_puzzles import planted

SEEDS = st.integers(0, 2**32)
QUICK = settings(
    max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@QUICK
@given(SEEDS)
def test_round_trips(seed: int) -> None:
    assert round_trip(seed) > 5


@QUICK
@given(SEEDS)
def test_no_dialect_is_misread_in_silence(seed: int) -> None:
    assert not guess(seed).startswith("wrong")


@QUICK
@given(SEEDS)
def test_no_line_vanishes(seed: int) -> None:
    assert not vanished(seed)


@pytest.mark.parametrize("name", TEXTS)
def test_damaged_files_raise_nothing_but_input_errors(name: str, tmp_path: Path) -> None:
    """Valid files with faults; an error names the file."""
    chance, path, good = random.Random(f"damage {name}"), tmp_path / "damaged.txt", TEXTS[name].encode()
    refusals = 0
    for _ in range(80):
        path.write_bytes(mutated(good, [good], chance) or b"\n")
        try:
            read(str(path), puzzle=BARE if name in HOLDS_BOARD else None, format=chance.choice((None, name)))
        except InputError as error:
            refusals += 1
            assert error.source == str(path) and error.message and str(error).isprintable()
    assert refusals > 20


def test_letters_that_match_no_colours_are_refused_quickly() -> None:
    """The search for a map of letters ends for boards that are almost, or not at all, boards of the puzzle."""
    puzzle, board = planted(4, 16, 16, 22)
    quads = board.colours(puzzle).tolist()
    rng = random.Random(7)
    one_cell = [*quads[:200], [1, 2, 3, 23], *quads[201:]]
    all_cells = [[rng.randrange(1, 26) for _ in range(4)] for _ in quads]
    few_letters = [[side and 1 + side % 5 for side in quad] for quad in quads]
    for cells in (one_cell, all_cells, few_letters):
        order = [0, *rng.sample(range(1, 26), 25)]
        edges = "".join(chr(97 + order[side]) for quad in cells for side in quad)
        with pytest.raises(InputError, match=r"no piece of|in reasonable time"):
            read(f"#board_w=16&board_h=16&board_edges={edges}", puzzle=puzzle)
