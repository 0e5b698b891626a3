"""Proofs of infeasibility by the encodings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lns.exact.compare import read_rows
from lns.exact.measurements.infeasible import main, with_swapped_sides
from lns.instances.errors import InputError
from lns.instances.generate import balanced_torus

pytest.importorskip("pysat")


def test_swapped_puzzles_keep_their_colours_and_have_no_solution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    puzzle = balanced_torus(4, 4, 1).puzzle
    swapped = with_swapped_sides(puzzle)
    assert np.array_equal(np.sort(swapped.pieces.ravel()), np.sort(puzzle.pieces.ravel()))
    assert (swapped.pieces != puzzle.pieces).sum() == 2
    csv = tmp_path / "rows.csv"
    assert main(["4", "--per-size", "1", "-o", str(csv)]) == 0
    assert [row.status for row in read_rows(csv).values()] == ["infeasible"] * 4
    assert capsys.readouterr().out.count(", 1 of 1") == 4


@pytest.mark.parametrize("arguments", [["1"], ["5", "3"], ["4", "--per-size", "0"], ["4", "--seconds", "nan"]])
def test_what_cannot_be_measured_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2 and "expected sides of 4 or more" in capsys.readouterr().err


def test_a_puzzle_without_two_colours_to_swap_is_refused() -> None:
    puzzle = balanced_torus(3, 3, 1).puzzle  # one inner piece
    with pytest.raises(InputError, match="expected two to swap"):
        with_swapped_sides(puzzle)
