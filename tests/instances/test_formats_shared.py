"""The real files: every shared instance, solution list and published board, through every format that carries it."""

import random
from pathlib import Path

import numpy as np
import pytest

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.eternity2 import held_clues
from lns.instances.formats import load_board, load_puzzle, read, viewer_url, write
from lns.instances.puzzle import Puzzle, canonical
from lns.instances.verify import verify
from tests.shared_data import published_boards, shared

INSTANCES = (
    ["clue1", "clue2", "clue3", "clue4", "eternity2", "eternity2_clue1", "eternity2_clue5"]
    + [f"meta{size}" for size in (10, 12, 14, 16)]
    + [f"owen{size}" for size in range(3, 11)]
)


def instance(name: str) -> Puzzle:
    return load_puzzle(str(shared("instances", f"{name}.txt")))


def url_of(edges: str) -> str:
    return f"https://e2.bucas.name/#puzzle=a_board&board_w=16&board_h=16&board_edges={edges}"


@pytest.mark.parametrize("name", INSTANCES)
def test_every_instance_is_read_and_goes_through_every_format(name: str, tmp_path: Path) -> None:
    puzzle = instance(name)
    bare = puzzle.with_clues([])
    assert puzzle.name == name
    for format in ("json", "benoist", "quads", "e2pieces", "csv16"):
        path = tmp_path / f"{name}.{format}"
        if puzzle.width != puzzle.height and format not in ("json", "quads"):
            with pytest.raises(InputError, match="only squares"):
                write(path, format, puzzle, None)
            continue
        write(path, format, puzzle, None)
        again = read(str(path))
        assert again.format == format
        if format == "csv16" and puzzle.clues:  # the pieces of its clues are turned as they lie
            assert again.puzzle is not None and len(again.puzzle.clues) == len(puzzle.clues)
            assert list(map(canonical, again.puzzle.pieces.tolist())) == list(map(canonical, puzzle.pieces.tolist()))
        else:
            assert again.puzzle == (bare if format in ("e2pieces", "csv16") else puzzle)


@pytest.mark.parametrize("size", range(3, 11))
def test_solution_lists_are_solutions(size: int, tmp_path: Path) -> None:
    puzzle = instance(f"owen{size}")
    source = shared("instances", f"owen{size}.solution.txt")
    assert read(str(source), puzzle=puzzle).format == "solution"
    _, board = load_board(str(source), puzzle)
    result = verify(puzzle, board)
    assert result.valid and result.full and result.score == puzzle.max_score
    write(tmp_path / "again.solution.txt", None, puzzle, board)
    assert (tmp_path / "again.solution.txt").read_text().split() == source.read_text().split()


def test_the_47_boards_have_their_stated_scores_and_clues() -> None:
    plain, starter, five = instance("eternity2"), instance("eternity2_clue1"), instance("eternity2_clue5")
    assert len(published_boards()) == 47
    path = str(shared("boards", "eternity2_boards.csv"))
    assert read(path).notes[0] == "the text has 47 boards; only the first is read"
    assert read(path, number=47).board is not None
    with pytest.raises(InputError, match="there is no board 48; expected a number up to 47, as this holds 47 boards"):
        read(path, number=48)
    for score, clues, edges in published_boards():
        document = read(url_of(edges), puzzle=plain)
        assert document.board is not None and document.notes[0] == "default letters"
        assert f"{clues} of 5 official clues, with{'' if clues else 'out'} the starter clue" in document.notes[1]
        result = verify(plain, document.board)
        assert result.valid and result.full and result.score == score
        assert len(held_clues(plain, document.board)) == clues
        assert verify(starter, load_board(url_of(edges), starter)[1]).valid == (clues > 0)
        assert len(verify(five, load_board(url_of(edges), five)[1]).problems) == 5 - clues


def test_the_47_boards_survive_every_conversion_that_can_carry_them(tmp_path: Path) -> None:
    puzzle = instance("eternity2")
    for score, _, edges in published_boards():
        _, board = load_board(url_of(edges), puzzle)
        assert f"board_edges={edges}&" in viewer_url(puzzle, board)
        for format in ("url", "url:jef", "url:jblackwood", "solution", "best"):
            path = tmp_path / "board.txt"
            write(path, format, puzzle, board)
            assert load_board(str(path), puzzle) == (puzzle, board)
        own, again = load_board(url_of(edges))  # defines its own puzzle, which other formats carry
        write(tmp_path / "own.txt", None, own, None)
        assert load_puzzle(str(tmp_path / "own.txt")) == own
        assert verify(own, again).score == score
        assert sorted(map(canonical, own.pieces.tolist())) == sorted(map(canonical, puzzle.pieces.tolist()))


def test_boards_in_unknown_letters_whole_and_in_part() -> None:
    puzzle = instance("eternity2")
    rng = random.Random(2026)
    letters = "bcdefghijklmnopqrstuvwxyz"
    for _, _, edges in published_boards()[::4]:
        board = load_board(url_of(edges), puzzle)[1]
        mixed = edges.translate(str.maketrans(letters, "".join(rng.sample(letters, len(letters)))))
        assert load_board(url_of(mixed), puzzle)[1] == board
        kept = np.array([rng.random() < 0.4 for _ in range(256)])
        part = "".join(mixed[4 * cell : 4 * cell + 4] if kept[cell] else "aaaa" for cell in range(256))
        assert load_board(url_of(part), puzzle)[1] == Board(np.where(kept, board.placements, -1), 16, 16)
