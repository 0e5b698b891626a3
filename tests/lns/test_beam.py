"""The beam: every board legal, the best of a small board found, same seed same search, state is all of it."""

import numpy as np
import pytest

from lns.engines import make_engine
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.loop.search_loop import SearchLoop
from lns.params import Params, from_dict
from tests.instances.small_puzzles import planted
from tests.lns.loop_parts import interrupted


def engine_for(puzzle: Puzzle, width: int, seed: int = 1, **construct: int) -> SearchLoop:
    return make_engine("beam", puzzle, from_dict({"beam": {"width": width}, "construct": construct}), seed, 0)


def steps_to(engine: SearchLoop, score: int, most: int) -> int:
    """Steps until a board of ``score`` is there; every board judged on the way."""
    for step in range(1, most + 1):
        engine.step()
        for find in engine.pop_boards():
            judged = verify(engine.puzzle, find.board)
            assert judged.valid and judged.full and judged.score == find.score
        if engine.best_score >= score:
            return step
    raise AssertionError(f"best {engine.best_score} after {most} steps, expected {score}")


@pytest.mark.parametrize(
    "width,height,colours,clues",
    [(1, 1, 1, 0), (2, 1, 1, 0), (1, 6, 2, 0), (7, 1, 2, 1), (2, 2, 2, 1), (3, 3, 3, 0), (4, 3, 3, 2), (4, 4, 3, 1)],
)
def test_small_boards_of_any_shape_are_solved(width, height, colours, clues):
    puzzle, _ = planted(3, width, height, colours, clues)
    steps_to(engine_for(puzzle, 2000), puzzle.max_score, 40)


@pytest.mark.parametrize(
    "name,score", [("like-e2-16x16", 450), ("like-e2-16x16-clue5", 440), ("like-e2-12x20", 420), ("like-e2-10x10", 166)]
)
def test_a_narrow_beam_makes_good_boards(name, score):
    steps_to(engine_for(load_puzzle(name), 512), score, 300)


def test_the_engine_resumes_bit_for_bit():
    """At every step of two beams: between two, while one grows, while tails are searched."""
    puzzle, seen = load_puzzle("like-e2-8x8"), set()
    params = from_dict({"beam": {"width": 200}, "engine": {"step_nodes": 4000}})

    def step(engine: SearchLoop) -> None:
        engine.step()
        state = engine.state()
        seen.add((len(state["beam.paths"]) > 0, len(state["beam.values"]) > 0))

    interrupted(lambda seed: make_engine("beam", puzzle, params, seed, 0), 60, step)
    assert seen == {(False, False), (True, False), (False, True)}


def test_a_beam_that_dies_out_still_gives_a_board():
    """A corner that no rim piece fits: nothing gets past it, with or without favoured colours."""
    pieces = [[0, 1, 1, 0]] * 4 + [[0, 2, 3, 2]] * 8 + [[3, 3, 3, 3]] * 4
    puzzle = Puzzle(np.array(pieces, dtype=np.int32), 4, 4)
    engine = engine_for(puzzle, 20)
    for _ in range(4):
        engine.step()
    assert engine.state()["beam.failed_beams"] >= 3, "beams that failed"
    assert engine.origin == "fill"
    assert engine.best is not None and verify(puzzle, engine.best).full


def test_a_width_that_no_checkpoint_holds_is_refused():
    with pytest.raises(InputError, match=r"beam\.width is 1048576; expected at most 131072"):
        engine_for(load_puzzle("like-e2-16x16"), 2**20)
    assert Params().beam.width == 4096
