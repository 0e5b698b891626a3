"""The commands on puzzles without frame, without turns and with holes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lns.exact.solvers import count
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Puzzle
from tests.cli.conftest import Typed
from tests.shared_data import shared

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
def test_count_and_solve_agree(kind: str, made: Callable[[str], Puzzle], typed: Typed) -> None:
    puzzle = made(kind)
    first, second = typed.facts("exact count p.json"), typed.facts("exact count p.json --solver rowscan")
    assert first["solutions"] == second["solutions"] > 0
    assert empty(typed.facts("exact solve p.json")["placements"]) == list(puzzle.holes)
    assert typed.facts("exact count p.json --start p.solution.txt")["solutions"] == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("solve p.json --engine beam --time 1", "engine beam fills rectangles with a frame"),
        ("solve p.json --engine construct --time 1", "engine construct fills rectangles with a frame"),
        ("estimate p.json --time 1", "an estimate is one of the construction, which takes no puzzle with"),
        ("exact solve p.json --solver blocks", "solver blocks takes no puzzle with"),
        ("exact solve p.json --solver cp:table", "solver cp:table takes no puzzle with"),
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


def test_a_public_puzzle_without_frame() -> None:
    lines = shared("cases", "16_puzzle_unbounded_2x2.txt").read_text().splitlines()[1:]
    puzzle = Puzzle([[int(number) for number in line.split()] for line in lines], 2, 2, framed=False)
    assert puzzle.max_score == 4
    assert {count(puzzle, solver).solutions for solver in ("colorpairs", "rowscan", "dlx")} == {24}
