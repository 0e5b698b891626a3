"""Sets of pieces in any numbering: their key, their own numbering, and boards carried from one numbering to another."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lns
from lns.instances import piece_set
from lns.instances.board import EMPTY, Board
from lns.instances.errors import InputError
from lns.instances.eternity2 import name_of_clues, name_of_set, official_clues
from lns.instances.formats import load_board, read, write
from lns.instances.piece_set import (
    normalise_clue_pieces,
    numbering,
    pieces_of_graph,
    set_sha256,
    translate,
    translated_clues,
    translation,
)
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.symmetry import View, board_in_view, puzzle_in_view
from lns.instances.verify import verify
from tests.fuzz_region import renamed
from tests.instances.small_puzzles import boards, of_any_rules, planted, renumbered, with_copies
from tests.shared_data import published_boards, shared

KINDS = [("like-e2", 6), ("uniform", 5), ("unframed", 4), ("tetravex", 4)]


@pytest.mark.parametrize(("kind", "width"), KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_board_in_another_numbering_is_the_same_board(kind: str, width: int, seed: int) -> None:
    puzzle, solution = lns.generate(kind, width=width, seed=seed, clues=2)
    other, other_board = renumbered(puzzle, solution, seed)
    assert other.sha256 != puzzle.sha256 and set_sha256(other) == set_sha256(puzzle)
    assert set_sha256(puzzle.with_clues([])) == set_sha256(puzzle), "clues are not part of the set"
    back = translate(other_board, other, puzzle)
    assert verify(puzzle, back).score == puzzle.max_score and verify(puzzle, back).complete
    assert np.array_equal(back.colours(puzzle), solution.colours(puzzle))
    assert {*translated_clues(other, puzzle, other.clues)} == {*puzzle.clues}
    own = [numbering(puzzle), numbering(other)]
    if own[0] is None or own[1] is None:  # some colours can be exchanged
        return
    lying = [  # without the rotations, of which a symmetric piece has several
        [numbers[pair[0]][0] for pair in board.pairs() if pair]
        for numbers, board in zip((own[0], own[1]), (back, translate(back, puzzle, other)), strict=True)
    ]
    assert lying[0] == lying[1], "the set's own numbering does not depend on the file"


def test_mates_rims_and_copies_are_carried_over() -> None:
    seen = Counter[str]()
    for seed in range(120):
        puzzle, solution = of_any_rules(seed, most=20, unusual=0.7)
        puzzle = with_copies(puzzle, seed) if seed % 3 == 0 and not puzzle.clues else puzzle
        solution = Board.empty(puzzle) if puzzle.copies else solution
        other, board = renumbered(puzzle, solution, seed)
        assert set_sha256(other) == set_sha256(puzzle)
        if translation(other, puzzle) is None:  # so many colours can be exchanged that the search gives up
            assert numbering(puzzle) is None
            continue
        back = translate(board, other, puzzle)
        assert verify(puzzle, back).score == verify(puzzle, solution).score
        if puzzle.mates:
            flat = replace(puzzle, mates=(), clues=())
            assert set_sha256(flat) != set_sha256(puzzle) and translation(flat, puzzle) is None
        seen.update(puzzle.rules)
    assert min(seen[rule] for rule in ("mates", "rim", "copies", "no turns", "holes")) > 10, seen


@given(boards(), st.integers(0, 2**32))
def test_scores_and_mismatches_of_any_board_stay(given: tuple[Puzzle, Board], seed: int) -> None:
    puzzle, board = given
    other, other_board = renumbered(puzzle, board, seed)
    if translation(other, puzzle) is None:  # so many colours can be exchanged that the search gives up
        assert numbering(puzzle) is None
        return
    back = translate(other_board, other, puzzle)
    one, two = verify(puzzle.with_clues([]), board), verify(puzzle.with_clues([]), back)
    assert (one.score, one.mismatches, one.placed) == (two.score, two.mismatches, two.placed)


def test_other_sets_have_other_keys_and_no_translation() -> None:
    puzzle, solution = lns.generate("like-e2", width=6, seed=1)
    pieces = puzzle.pieces.copy()
    inner = [piece for piece in range(36) if 0 not in pieces[piece]]
    first, second = next((a, b) for a in inner for b in inner if {*pieces[a].tolist()}.isdisjoint(pieces[b].tolist()))
    pieces[[first, second], 0] = pieces[[second, first], 0]  # each colour as often as before
    mirrored = puzzle_in_view(puzzle, View(0, True))
    for other in (replace(puzzle, pieces=pieces), mirrored, lns.generate("like-e2", width=6, seed=2).puzzle):
        assert set_sha256(other) != set_sha256(puzzle) and translation(other, puzzle) is None
    with pytest.raises(InputError, match="has other pieces than like-e2"):
        translate(board_in_view(solution, View(0, True)), mirrored, puzzle)


def test_equal_keys_alone_are_no_translation() -> None:
    """A cycle of six nodes and two triangles as pieces: refinement of colours does not tell them apart."""
    cycles = [{str(node): [str(after[node]), str(after.index(node))] for node in range(6)}
              for after in ([1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3])]  # fmt: skip
    one, two = (
        Puzzle(np.array(pieces_of_graph(cycle)) + 1, 4, 3, framed=False, name=f"graph of {len(cycle)}")
        for cycle in cycles
    )
    assert set_sha256(one) == set_sha256(two) and numbering(one) is None
    assert translation(one, two) is None and translation(one, renumbered(one, Board.empty(one), 3)[0]) is not None


def test_a_search_that_would_take_too_long_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Puzzle(np.array([[colour] * 4 for colour in range(1, 17)]), 4, 4, framed=False)
    other = replace(one, pieces=one.pieces[::-1])
    assert translation(one, other) is not None
    translation.cache_clear()
    monkeypatch.setattr(piece_set, "MOST_TRIES", 5)
    assert translation(one, other) is None


def test_a_best_json_is_read_in_every_numbering(tmp_path: Path) -> None:
    puzzle, solution = lns.generate("like-e2", width=6, seed=1)
    other, other_board = renumbered(puzzle, solution, 1)
    write(tmp_path / "best.json", "best", other, other_board)
    fields = json.loads((tmp_path / "best.json").read_text())
    assert fields["set_sha256"] == set_sha256(puzzle) and len(fields["numbering"]) == 36
    assert fields["placements"] == other_board.pairs() and fields["instance_sha256"] == other.sha256
    document = read(str(tmp_path / "best.json"), puzzle=puzzle)
    assert document.board == solution and "in the numbering of like-e2" in " ".join(document.notes)
    part = [Board([*full.placements[:20], *[EMPTY] * 16], 6, 6) for full in (solution, other_board)]
    write(tmp_path / "part.json", "best", other, part[1])
    assert load_board(str(tmp_path / "part.json"), puzzle)[1] == part[0], "the url shows the pieces of a part too"
    for name in ("set_sha256", "numbering"):
        del fields[name]
    (tmp_path / "old.json").write_text(json.dumps(fields))
    assert load_board(str(tmp_path / "old.json"), puzzle)[1] == solution, "as files of earlier versions are"
    with pytest.raises(InputError, match="expected a board of"):
        load_board(str(tmp_path / "best.json"), lns.generate("like-e2", width=6, seed=2).puzzle)


def test_eternity_ii_is_one_set_in_all_numberings_and_alphabets() -> None:
    usual = lns.load_puzzle(shared("instances", "eternity2.txt"))
    five = lns.load_puzzle(shared("instances", "eternity2_clue5.txt"))
    assert official_clues(usual) == five.clues and name_of_clues(five) == "official" and name_of_clues(usual) == "none"
    assert set_sha256(five) == set_sha256(usual) and name_of_set(usual) == "Eternity II"
    for score, clues, edges in published_boards()[:12]:
        url = f"https://e2.bucas.name/#puzzle=x&board_w=16&board_h=16&board_edges={edges}"
        document = read(url)
        assert document.puzzle is not None and document.board is not None
        other, board = renumbered(document.puzzle, document.board, score)
        assert set_sha256(other) == set_sha256(document.puzzle) == set_sha256(usual)
        assert translate(board, other, usual) == read(url, puzzle=usual).board
        assert verify(usual, translate(board, other, usual)).score == score
        held = name_of_clues(lns.load_puzzle(url))
        assert (held in ("official", "starter")) == (clues > 0) and (held == "none") == (clues == 0)
        assert name_of_set(other) == "Eternity II" and len(official_clues(other)) == 5
    mirrored = puzzle_in_view(usual, View(0, True))
    assert set_sha256(mirrored) != set_sha256(usual) and official_clues(mirrored) == ()


# -- identical pieces --------------------------------------------------------------------------------------------------


# five inner pieces in the middle of a 7x3 board: three identical ones, stored in different rotations, and two others
INNER = [(1, 2, 3, 4), (4, 1, 2, 3), (3, 4, 1, 2), (1, 1, 1, 2), (2, 2, 3, 3)]
MIDDLE = range(8, 13)


def puzzle_with(*clues: Clue) -> Puzzle:
    """The 7x3 board with these pieces as numbers 8 to 12."""
    framed, board = planted(3, 7, 3, 4)
    pieces = np.empty_like(framed.pieces)
    pieces[:8], pieces[13:] = framed.pieces[board.placements[:8] >> 2], framed.pieces[board.placements[13:] >> 2]
    pieces[8:13] = INNER
    return Puzzle(pieces, 7, 3, clues)


def middle(*oriented: int) -> Board:
    """A board with these oriented pieces in the middle row and nothing else."""
    placements = np.full(21, EMPTY)
    placements[list(MIDDLE)] = oriented
    return Board(placements, 7, 3)


ONE, BOTH = (Clue(9, 8, 1),), (Clue(9, 8, 1), Clue(11, 9, 0))
RING = (Clue(8, 8, 0), Clue(10, 9, 0), Clue(12, 10, 0))
FULL = (32, 44, 36, 40, 48)  # every identical piece is placed


@pytest.mark.parametrize(
    ("clues", "lies", "freed", "expected"),
    [
        (ONE, (32, 36, -1, 48, -1), (), (39, 33, -1, 48, -1)),  # 9 unturned looks like 8 turned once
        (ONE, (39, 33, -1, 48, -1), (), (39, 33, -1, 48, -1)),
        (ONE, (-1, 36, -1, -1, -1), (), (-1, 33, -1, -1, -1)),
        *((ONE, (-1, other, -1, -1, -1), (), (-1, other, -1, -1, -1)) for other in (37, 44, -1)),  # other colours stay
        (RING, (39, 44, 43, 48, 34), (), (32, 44, 36, 48, 40)),  # each cell shows its clue with the next clue's piece
        (ONE, (32, -1, -1, 48, -1), (), (39, -1, -1, 48, -1)),  # the piece of an empty clue becomes free
        (ONE, FULL, (), FULL),
        (ONE, FULL, (9, 11), (42, 44, 36, 34, 48)),
        (BOTH, (32, -1, -1, -1, 36), (), (42, -1, -1, -1, 36)),  # one identical piece for two clues
    ],
)
def test_an_identical_piece_on_the_cell_of_a_clue_is_exchanged(
    clues: tuple[Clue, ...], lies: tuple[int, ...], freed: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    puzzle, given_, named = puzzle_with(*clues), middle(*lies), middle(*expected)
    assert normalise_clue_pieces(puzzle, given_, freed) == named
    assert verify(puzzle, given_).score == verify(puzzle, named).score


@settings(deadline=None)
@given(boards(), st.integers(0, 99), st.sets(st.integers(0, 24)))
def test_colours_and_repeated_pieces_stay(case: tuple[Puzzle, Board], seed: int, freed: set[int]) -> None:
    """Identical pieces are exchanged one for one, also on boards that break rules."""
    puzzle, board = case
    board = renamed(np.random.default_rng(seed), puzzle, board)
    named = normalise_clue_pieces(puzzle, board, freed)
    assert (named.colours(puzzle) == board.colours(puzzle)).all()
    before, after = (one.placements[one.placements >= 0] >> 2 for one in (board, named))
    assert len(set(zip(before.tolist(), after.tolist(), strict=True))) == len(set(before)) == len(set(after))
    if not verify(puzzle, board).violations:
        for clue in puzzle.clues:
            assert named.placements[clue.cell] >> 2 in (EMPTY, clue.piece)
    assert normalise_clue_pieces(puzzle, named, freed) == named
