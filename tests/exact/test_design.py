"""Searched puzzles, paths and estimates of Jolivet 2008, each against another method."""

import itertools
from collections import Counter
from collections.abc import Sequence

import pytest

from lns.exact.blocks import Blocks, count_inner_blocks
from lns.exact.compare import read_rows
from lns.exact.execution import Request, run_search
from lns.exact.paper import jolivet2008
from lns.exact.paper.design import (
    PATHS,
    constraints,
    evaluate,
    every_single,
    has_distinct_pieces,
    improve,
    joint_count,
    joints_of,
    path,
    planted,
    random_puzzle,
    tree,
)
from lns.exact.piece_classes import allowed_placements
from lns.exact.solvers import count
from lns.instances.errors import InputError
from lns.instances.generate import like_e2, uniform
from lns.instances.generate.planted import PortableRandom
from lns.instances.puzzle import Puzzle, canonical
from lns.instances.verify import verify
from tests.docs.pages import ROOT
from tests.exact.brute import count_solutions

NO_LIMIT = 1 << 40


def random_joints(width: int, height: int, colours: int, seed: int) -> list[int]:
    random = PortableRandom(seed)
    return [1 + random.below(colours) for _ in range(joint_count(width, height))]


@pytest.mark.parametrize(("width", "height"), [(4, 4), (5, 3), (3, 5), (2, 2)])
def test_a_path_visits_every_cell_once_and_constrains_as_often_as_there_are_joints(width: int, height: int) -> None:
    puzzle = uniform(width, height, 3, 1).puzzle
    for name in PATHS:
        order = path(name, width, height)
        cells = [divmod(cell, width) for cell in order if name in ("snake", "spiral")]
        assert all(abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 for a, b in itertools.pairwise(cells)), "to a neighbour"
        assert sorted(order) == list(range(width * height))
        assert sum(constraints(order, puzzle)) == joint_count(width, height)


def tree_along(puzzle: Puzzle, order: Sequence[int]) -> tuple[int, int]:
    """Nodes and solutions of the tree of a path, in plain Python; the empty board is a node."""
    placed: dict[int, int] = {}

    def extend(level: int) -> tuple[int, int]:
        if level == len(order):
            return 1, 1
        nodes, solutions, cell = 1, 0, order[level]
        for oriented in allowed_placements(puzzle, cell, all_four=True):
            quad, known = puzzle.oriented[oriented], [pair for pair in puzzle.neighbours(cell) if pair[1] in placed]
            is_free = oriented >> 2 not in {other >> 2 for other in placed.values()}
            if is_free and all(quad[side] == puzzle.oriented[placed[other], side ^ 2] for side, other in known):
                placed[cell] = oriented
                below = extend(level + 1)
                del placed[cell]
                nodes, solutions = nodes + below[0], solutions + below[1]
        return nodes, solutions

    return extend(0)


@pytest.mark.parametrize("seed", range(4))
def test_all_paths_find_the_same_solutions_and_rows_have_the_zig_zag_tree(seed: int) -> None:
    puzzle = random_puzzle(4, 3, 3, seed)
    zig_zag, _ = tree(puzzle, "zig-zag", NO_LIMIT)
    found = {name: tree(puzzle, f"path:{name}", NO_LIMIT)[0] for name in PATHS}
    for name, search in found.items():
        assert search.exhausted and search.nodes == search.state.per_level.sum(), name
        assert (search.nodes, search.solutions) == tree_along(puzzle, path(name, 4, 3)), name
    assert found["rows"].state.per_level.tolist() == zig_zag.state.per_level.tolist()
    assert {search.solutions for search in found.values()} == {zig_zag.solutions}
    cut, _ = tree(puzzle, "path:rows", 4)
    assert not cut.exhausted and cut.nodes == 5, "with the empty board"


@pytest.mark.parametrize("seed", range(3))
def test_a_clue_is_no_side_of_a_cell_whatever_the_order(seed: int) -> None:
    puzzle = uniform(5, 2, 3, seed).with_clues([1]).puzzle
    counts = []
    for order in (list(range(10)), [1, 4, 3, 2, 0, 5, 6, 7, 8, 9]):
        search = Blocks(puzzle, 1, order, all_four=True)
        run_search(search, Request(True))
        counts.append(search.solutions)
    assert counts[0] == counts[1] > 0


def test_joints_as_text_and_their_puzzle() -> None:
    joints = random_joints(5, 4, 30, 1)
    made = planted(5, 4, joints)
    result = verify(made.puzzle, made.solution)
    assert result.valid and result.score == made.puzzle.max_score
    found = evaluate(5, 4, joints, NO_LIMIT)
    assert found is not None and joints_of(found.text) == tuple(joints)
    for text, character in (("12A", "A"), ("120", "0")):
        with pytest.raises(InputError, match=f"character '{character}'; expected the digits 1 to 9 and lower-case"):
            joints_of(text)


def test_a_hard_puzzle_has_the_tree_that_another_search_counts() -> None:
    found = list(improve(4, 4, 4, "hard", trees=60, seed=3))
    assert [b.difficulty > a.difficulty for a, b in itertools.pairwise(found)] == [True] * (len(found) - 1)
    assert found[-1].difficulty > 2 * found[0].difficulty
    puzzle = planted(4, 4, found[-1].joints).puzzle
    assert tree_along(puzzle, range(16)) == (found[-1].nodes, found[-1].solutions)
    again = list(improve(4, 4, 4, "hard", trees=60, seed=3))
    assert again == found  # deterministic


@pytest.mark.parametrize(("width", "height", "colours"), [(4, 4, 3), (5, 3, 3), (4, 3, 3)])
def test_a_single_solution_is_single_for_other_solvers(width: int, height: int, colours: int) -> None:
    *_, found = improve(width, height, colours, "single", trees=3000, seed=1)
    assert found.solutions == 1 and max(found.joints) <= colours
    assert has_distinct_pieces(width, height, found.joints)
    puzzle = planted(width, height, found.joints).puzzle.with_clues([])
    rotations = 4 if width == height else 2
    assert count(puzzle).solutions == count(puzzle, solver="rowscan").solutions == rotations


def test_puzzles_with_fewer_colours_than_in_the_paper_have_a_single_solution_for_two_solvers() -> None:
    """The puzzles of the committed rows that beat the bounds of table 4: no clue, one board and its rotations."""
    checked = []
    for row in read_rows(ROOT / "docs/papers/data/jolivet2008.csv").values():
        shape, _, colours = row.instance.partition("-c")
        if row.solver == "single" and row.status == "solved":
            width, height = map(int, shape.split("x"))
            if int(colours) < jolivet2008.TABLE_4[width, height]:
                puzzle = planted(width, height, joints_of(row.note)).puzzle.with_clues([])
                assert puzzle.colours == int(colours)
                for solver in ("colorpairs", "rowscan"):
                    assert count(puzzle, solver=solver).solutions == (4 if width == height else 2), row.instance
                checked.append(row.instance)
    assert {"5x4-c3", "6x5-c4", "7x4-c4", "9x5-c6"} < {*checked}


@pytest.mark.parametrize(("width", "height"), [(3, 3), pytest.param(4, 3, marks=pytest.mark.slow)])
def test_no_small_puzzle_with_two_colours_has_a_single_solution(width: int, height: int) -> None:
    assert every_single(width, height, 2) == (0, None)
    distinct = 0
    for joints in itertools.product((1, 2), repeat=joint_count(width, height)):
        if has_distinct_pieces(width, height, joints):
            puzzle = planted(width, height, joints).puzzle.with_clues([])
            assert count(puzzle, solver="rowscan", fix_corner=True).solutions > 1, joints
            distinct += 1
    assert distinct > 100


def test_every_single_agrees_with_brute_force() -> None:
    wanted = 0
    for number in range(3**4):
        joints = [1 + number // 3**at % 3 for at in range(4)]
        puzzle = planted(2, 2, joints).puzzle.with_clues([])
        quads = Counter(canonical(quad) for quad in puzzle.pieces.tolist())
        wanted += max(quads.values()) == 1 and count_solutions(puzzle) == 4
    assert every_single(2, 2, 3)[0] == wanted > 0


def test_the_estimate_of_inner_blocks_agrees_with_the_list() -> None:
    puzzle = like_e2(6, 6, 3, 3, seed=1).puzzle
    inside = Blocks(puzzle, 2).by_class[((None,) * 4,) * 4, ()]
    mean, error = count_inner_blocks(puzzle, 2, 20_000, 1)
    assert abs(mean - inside / 4) < 4 * error < 0.05 * mean
