"""Generators: their rules, checked on the pieces, and the puzzle of a seed, checked by its hash."""

import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lns.cli.main import main
from lns.instances.errors import InputError
from lns.instances.formats import load_board, load_puzzle, viewer_url
from lns.instances.generate import (
    Planted,
    clue_cells,
    corner_cells,
    default_colours,
    default_like_e2,
    family,
    like_e2,
    other_rules,
    uniform,
    wang,
)
from lns.instances.generate.planted import PortableRandom
from lns.instances.pairing import describe, half_edges
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify


def is_perfect(planted: Planted) -> bool:
    result = verify(planted.puzzle, planted.solution)
    return result.valid and result.full and result.score == result.max_score and not result.mismatches


def assert_like_e2(puzzle: Puzzle, rim_colours: int, inner_colours: int) -> None:
    along_rim, inside = half_edges(puzzle)
    assert set(along_rim) == set(range(1, rim_colours + 1))
    assert set(inside) == set(range(rim_colours + 1, rim_colours + inner_colours + 1))
    for counts in (along_rim.values(), inside.values()):
        assert max(counts, default=0) - min(counts, default=0) <= 2  # half-edges: one joint
    assert f"inner; {puzzle.cells} different, 0 rotationally symmetric\n" in describe(puzzle)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["uniform", "balanced-torus", "like-e2"])
def test_a_thousand_planted_boards_verify_to_the_full_score(kind: str) -> None:
    sizes = PortableRandom(1000)
    for seed in range(1000):
        width, height = 3 + sizes.below(8), 3 + sizes.below(8)
        size = f"{width}" if kind == "balanced-torus" else f"{width}x{height}"
        assert is_perfect(family(f"{kind}:{size}")(seed)), (kind, size, seed)


@settings(max_examples=150, deadline=None)
@given(
    width=st.integers(2, 14),
    height=st.integers(2, 14),
    rim=st.integers(1, 9),
    inner=st.integers(0, 30),
    clues=st.integers(0, 8),
    seed=st.integers(0, 2**70),
)
def test_like_e2_keeps_its_rules_or_refuses(
    width: int, height: int, rim: int, inner: int, clues: int, seed: int
) -> None:
    try:
        planted = like_e2(width, height, rim, inner, seed, clues=clues)
    except InputError as error:
        assert "expected" in str(error)
        return
    assert is_perfect(planted)
    assert_like_e2(planted.puzzle, rim, inner)
    assert len(planted.puzzle.clues) == clues


@pytest.mark.parametrize(
    ("width", "height", "rim", "inner"),
    [(16, 16, 5, 17), (20, 20, 5, 20), (12, 20, 5, 17), (3, 3, 2, 2), (4, 4, 2, 3), (5, 5, 2, 3), (6, 6, 2, 4),
     (8, 8, 3, 4), (16, 16, 3, 7), (2, 2, 2, 0), (2, 9, 3, 3), (7, 1, 4, 0), (64, 64, 15, 75)],
)  # fmt: skip
def test_like_e2_on_tight_and_large_boards(width: int, height: int, rim: int, inner: int) -> None:
    planted = like_e2(width, height, rim, inner, 1)
    assert is_perfect(planted)
    assert_like_e2(planted.puzzle, rim, inner)


def test_uniform_with_all_colours_lacks_none() -> None:
    """A 3x2 board has seven inner edges: of seven colours each has one, and any may be the first."""
    made = [uniform(3, 2, 7, seed, all_colours=True) for seed in range(100)]
    assert {planted.puzzle.colours for planted in made} == {7}
    assert min(uniform(3, 2, 7, seed).puzzle.colours for seed in range(100)) < 7
    first = {int(planted.puzzle.oriented[planted.solution.placements[0]][1]) for planted in made}
    assert first == set(range(1, 8))
    with pytest.raises(InputError, match="8 colours on 7 inner edges; expected at most one for each edge"):
        uniform(3, 2, 8, all_colours=True)


@pytest.mark.parametrize(
    ("spec", "seed", "sha256"),
    [
        ("uniform:7x7:5", 0, "befa28c1a853a8bc6ebf9ed247dfcbae3ac9d449ec35dfc7213cba395dca638e"),
        ("balanced-torus:8:9", 7, "c366ae468e6675abb6be8e954e1ebdf0a3e5b5bab98e78b1d9f821f87edd8307"),
        ("like-e2:16x16", 1, "4567c351aca178c99d74502583c8f3c4dec38595e4254cae89322ade16778536"),
        ("like-e2:6x6:2+4", 1, "5dad88d26ce915529c79db697d8d42041899431c22e5c28b6bd406ad1efbe673"),
    ],
)
def test_a_seed_gives_the_same_puzzle_in_every_version(spec: str, seed: int, sha256: str) -> None:
    assert family(spec)(seed).puzzle.sha256 == sha256


def test_seeds_differ_and_negative_ones_are_refused() -> None:
    assert len({family("like-e2:4x4")(seed).puzzle.sha256 for seed in range(50)}) == 50
    with pytest.raises(InputError, match="seed -7; expected 0 or more"):
        uniform(3, 3, 3, -7)


def test_clues_lie_on_the_cells_of_eternity_ii() -> None:
    assert clue_cells(16, 16, 1) == [135]
    assert sorted(clue_cells(16, 16, 5)) == [34, 45, 135, 210, 221]
    for width, height in ((1, 1), (1, 7), (4, 3), (9, 9)):
        assert sorted(clue_cells(width, height, width * height)) == list(range(width * height))


def test_clues_come_from_the_solution_and_change_nothing_else() -> None:
    bare, pinned = like_e2(10, 10, seed=4), like_e2(10, 10, seed=4, clues=5)
    assert (bare.puzzle.pieces == pinned.puzzle.pieces).all()
    assert bare.solution == pinned.solution
    assert all(pinned.solution.placements[clue.cell] == clue.oriented for clue in pinned.puzzle.clues)
    more = pinned.with_clues(corner_cells(10, 10))
    assert {clue.cell for clue in more.puzzle.clues} == {clue.cell for clue in pinned.puzzle.clues} | {0, 9, 90, 99}
    assert is_perfect(more)


def test_default_colours_are_those_of_eternity_ii_and_meta_2010() -> None:
    assert default_like_e2(16, 16) == (5, 17)
    assert [default_like_e2(n, n) for n in (10, 14)] == [(4, 10), (5, 15)]  # as META 2010 has them
    assert default_like_e2(12, 12, inner_colours=12) == (4, 12)
    assert [default_colours(n, n) for n in (6, 10, 16)] == [4, 8, 15]
    assert [default_colours(1, n) for n in (5, 12)] == [3, 8]  # 2! (n-2)! 2^(n-2) boards for n-1 inner edges


@pytest.mark.parametrize("size", [(3, 3), (2, 2), (2, 7), (1, 5), (1, 12), (9, 4), (20, 20), (12, 20), (5, 40)])
def test_every_shape_has_default_colours_that_work(size: tuple[int, int]) -> None:
    for seed in range(3):
        assert is_perfect(like_e2(*size, seed=seed))
        assert is_perfect(uniform(*size, seed=seed))


def test_a_wang_tile_fills_no_board_alone_unless_it_must() -> None:
    sets = [wang(4, 4, seed=seed) for seed in range(40)]
    assert all(is_perfect(made) and len(made.puzzle.pieces) > 1 for made in sets)
    assert len(wang(4, 4, 1).puzzle.pieces) == 1


def test_the_24_squares_of_macmahon() -> None:
    made = other_rules("macmahon", 6, 4, seed=5)
    assert is_perfect(made) and made.puzzle.colours == 3 and "24 different" in describe(made.puzzle)
    for colours, size in ((4, (6, 4)), (None, (5, 7))):
        other = other_rules("macmahon", *size, colours, seed=5)
        assert is_perfect(other) and other.puzzle.rim == 1 and (other.puzzle.pieces == 1).sum() > 2 * sum(size)


@pytest.mark.parametrize(
    "spec", ["uniform:5x4:4", "like-e2:6:3+5", "unframed:4:4", "tetravex:4:4", "macmahon:5x4:4", "diamond:3:4"]
)
def test_some_colours_get_mates(spec: str) -> None:
    made = family(spec)(4)
    mated = made.with_mates(3, 1)
    assert is_perfect(mated) and len(mated.puzzle.mates) == 3 and mated.puzzle.name.endswith("-m3")
    first = {other: one for one, other in mated.puzzle.mates}
    back = [[first.get(colour, colour) for colour in quad] for quad in mated.puzzle.pieces.tolist()]
    assert back == made.puzzle.pieces.tolist() and set(first) <= set(mated.puzzle.pieces.ravel().tolist())
    assert made.with_mates(0) == made and made.with_mates(3, 2) != mated
    with pytest.raises(InputError, match=f"mates for 99 colours of {made.puzzle.name}; expected 0 to"):
        made.with_mates(99)


FAMILIES = {
    "like-e2:12x12": "like-e2-12x12-r4-i13-s3",
    "like-e2:12x20:5+17": "like-e2-12x20-r5-i17-s3",
    "like-e2:9": "like-e2-9x9-r4-i9-s3",
    "uniform:8x6:7": "uniform-8x6-c7-s3",
    "uniform:8": "uniform-8x8-c6-s3",
    "balanced-torus:8:9": "balanced-torus-8x8-c9-s3",
}
REFUSED = {
    "": "names no family",
    "like-e2": "names no family",
    "like-e2:12x": "names no family",
    "like-e2:12:5+": "names no family",
    "like-e2:1٣": "names no family",
    "eternity:12": "unknown kind of puzzle 'eternity'; expected uniform, balanced-torus, like-e2",
    "like-e2:12:5": "expected two numbers of colours, not one",
    "uniform:12:5+17": "expected one number",
    "balanced-torus:8x9:7": "expected a square",
    "uniform:3:0": "0 colours; expected 1 to 4096",
    "balanced-torus:3:5000": "5000 colours; expected 1 to 4096",
    "like-e2:16:1+17": "needs 4 corner pieces, all different and none rotationally symmetric; 1 exist",
    "like-e2:16:2+3": "needs 56 edge pieces",
    "like-e2:4:3+2": "needs 4 inner pieces, all different and none rotationally symmetric; 3 exist",
    "like-e2:4:13+2": "13 rim colours on a 4 x 4 board, which has 12 joints of that class; expected 1 to 12",
    "like-e2:4:3+0": "0 inner colours",
    "like-e2:2:2+1": "1 inner colours on a 2 x 2 board, which has 0 joints of that class; expected 0 to 0",
    "like-e2:1": "0 exist",
    "like-e2:1x2": "1 exist",
    "like-e2:0x4": "a board of 0 x 4",
    "triangle:100000": "expected 1 to 4096 cells",
}


def test_a_family_generates_the_puzzle_of_a_seed() -> None:
    assert {spec: family(spec)(3).puzzle.name for spec in FAMILIES} == FAMILIES


@pytest.mark.parametrize("spec", REFUSED)
def test_impossible_families_are_refused(spec: str) -> None:
    with pytest.raises(InputError) as refused:
        family(spec)(1)
    assert REFUSED[spec] in str(refused.value)


DATA = Path(__file__).resolve().parents[2] / "instances" / "data"
NAMES = sorted(path.name.removesuffix(".txt") for path in DATA.glob("*.txt") if ".solution" not in path.name)


def test_the_commands_in_the_readme_write_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in re.findall(r"^lns (generate .*)$", (DATA / "README.md").read_text(), re.MULTILINE):
        assert main(shlex.split(command)) == 0, command
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    shipped = {path.name: path.read_bytes() for path in DATA.iterdir() if path.name != "README.md"}
    assert made.keys() == shipped.keys()
    assert [name for name in made if made[name] != shipped[name]] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_instance_and_its_solution(name: str) -> None:
    puzzle = load_puzzle(name)
    assert puzzle.name == name
    _, board = load_board(str(DATA / f"{name}.solution.txt"), puzzle)
    result = verify(puzzle, board)
    assert result.valid and result.full and result.score == result.max_score
    assert load_board(viewer_url(puzzle, board), puzzle)[1] == board


def test_the_picture_of_the_readme_is_up_to_date(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """lns show instances/data/like-e2-16x16.solution.txt --puzzle like-e2-16x16 --svg docs/solved-board.svg --force"""
    picture = tmp_path / "board.svg"
    solution = str(DATA / "like-e2-16x16.solution.txt")
    assert main(["show", solution, "--puzzle", "like-e2-16x16", "--svg", str(picture)]) == 0
    assert picture.read_bytes() == (DATA.parents[1] / "docs" / "solved-board.svg").read_bytes()
