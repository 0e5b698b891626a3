"""Arguments of the wrong type or size: one sentence that names them, before any work is begun."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lns
from lns.instances.arguments import checked

PUZZLE, SOLUTION = lns.generate("like-e2", width=4, seed=1)
TEXT, HALF, NEITHER = "'5' (str)", "1.5 (float)", "5 (int)"
NUMBER, WHOLE, NONE = "; expected a number", "; expected a whole number", " or None"


def solve(**arguments: Any) -> object:
    return lns.solve(PUZZLE, progress=None, **({"steps": 1, "workers": 1} | arguments))


def improve(*cells: Any, **arguments: Any) -> object:
    return lns.improve(PUZZLE, SOLUTION, *cells, **arguments)


def tune(*instances: Any, **arguments: Any) -> object:
    return lns.tune(*instances, **({"study": "no study"} | arguments))


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: solve(time="10m"), f"time is '10m' (str){NUMBER}{NONE}"),
    (lambda: solve(stop=5), f"stop is {NEITHER}; expected a StopRule{NONE}"),
    (lambda: solve(workers="5"), f"workers is {TEXT}{WHOLE}{NONE}"),
    (lambda: solve(workers=1.5), f"workers is {HALF}{WHOLE}{NONE}"),
    (lambda: solve(seed=1.5), f"seed is {HALF}{WHOLE}{NONE}"),
    (lambda: solve(start=[1]), f"start is [1] (list); expected a Board, a string, a path{NONE}"),
    (lambda: solve(start=SOLUTION, pins=5), f"pins is {NEITHER}; expected a string, a sequence of whole numbers{NONE}"),
    (lambda: solve(params=5), f"params is {NEITHER}; expected a Params, a dict, a string, a path{NONE}"),
    (lambda: solve(engine=5), f"engine is {NEITHER}; expected a string"),
    (lambda: solve(target="5"), f"target is {TEXT}{WHOLE}{NONE}"),
    (lambda: solve(steps="5"), f"steps is {TEXT}{WHOLE}{NONE}"),
    (lambda: solve(run_dir=5), f"run_dir is {NEITHER}; expected a string, a path{NONE}"),
    (lambda: solve(min_score=1.5), f"min_score is {HALF}{WHOLE}{NONE}"),
    (lambda: solve(min_score=999), "a least score of 999; expected 0 to 24"),
    (lambda: solve(checkpoint_s="5"), f"checkpoint_s is {TEXT}{NUMBER}"),
    (lambda: solve(checkpoint_s=math.nan), "a checkpoint every nan s"),
    (lambda: solve(on_improve=5), f"on_improve is {NEITHER}; expected a function{NONE}"),
    (lambda: lns.solve(PUZZLE, progress=5), f"progress is {NEITHER}; expected a string, True or False, a ProgressView"),
    (lambda: solve(executor=5), f"executor is {NEITHER}; expected an Executor, a Client{NONE}"),
    (lambda: solve(instance=5), f"instance is {NEITHER}; expected a string{NONE}"),
    (lambda: solve(notes="note"), "notes is 'note' (str); expected a sequence of strings"),
    (lambda: lns.solve(PUZZLE.pieces, steps=1), "puzzle is array(["),
    (lambda: lns.resume(5), f"run_dir is {NEITHER}; expected a string or a path"),
    (lambda: lns.resume("run", time="1m"), f"time is '1m' (str){NUMBER}{NONE}"),
    (lambda: lns.count(PUZZLE, time="1m"), f"time is '1m' (str){NUMBER}{NONE}"),
    (lambda: lns.count(PUZZLE, nodes=1.5), f"nodes is {HALF}{WHOLE}{NONE}"),
    (lambda: lns.count(PUZZLE, 5), f"solver is {NEITHER}; expected a string"),
    (lambda: lns.count(PUZZLE, options={"motifs": 1}), f"(dict); expected an Options{NONE}"),
    (lambda: lns.count(PUZZLE, fix_corner="no"), "fix_corner is 'no' (str); expected True or False"),
    (lambda: improve(time="1m"), f"time is '1m' (str){NUMBER}{NONE}"),
    (lambda: improve([0], time=math.nan), "time is nan; expected 0 or more"),
    (lambda: improve([0], nodes=-1), "nodes is -1; expected 0 or more"),
    (lambda: improve([0], donors=-1), "donors is -1; expected 0 or more"),
    (lambda: improve([0], target=-1), "target is -1; expected 0 or more"),
    (lambda: improve([0], target="5"), f"target is {TEXT}{WHOLE}{NONE}"),
    (lambda: improve(5), f"cells is {NEITHER}; expected a sequence of whole numbers{NONE}"),
    (lambda: improve("r3"), "cells is 'r3' (str)"),
    (lambda: improve([0.5]), "cells is [0.5] (list)"),
    (lambda: improve([0], on_improve=5), f"on_improve is {NEITHER}; expected a function{NONE}"),
    (lambda: lns.verify(PUZZLE, [1, 2, 3]), "board is [1, 2, 3] (list); expected a Board"),
    (lambda: lns.verify("like-e2-4x4", SOLUTION), "puzzle is 'like-e2-4x4' (str); expected a Puzzle"),
    (lambda: lns.load_puzzle(5), f"source is {NEITHER}; expected a Puzzle, a string or a path"),
    (lambda: lns.load_puzzle("like-e2-4x4", format=5), f"format is {NEITHER}; expected a string{NONE}"),
    (lambda: lns.load_board(b"text"), "source is b'text' (bytes); expected a Board, a string or a path"),
    (lambda: lns.load_board(lns.viewer_url(PUZZLE, SOLUTION), number="5"), f"number is {TEXT}{WHOLE}{NONE}"),
    (lambda: lns.load_board(lns.viewer_url(PUZZLE, SOLUTION), number=0), "number 0 of the boards"),
    (lambda: lns.save(5, "board.json"), f"board is {NEITHER}; expected a Board or a Puzzle"),
    (lambda: lns.save(SOLUTION, 5), f"path is {NEITHER}; expected a string or a path"),
    (lambda: lns.viewer_url(PUZZLE, [1]), "board is [1] (list); expected a Board"),
    (lambda: lns.generate(width="5"), f"width is {TEXT}{WHOLE}{NONE}"),
    (lambda: lns.generate(width=1.5), f"width is {HALF}{WHOLE}{NONE}"),
    (lambda: lns.generate(width=4, seed="5"), f"seed is {TEXT}{WHOLE}"),
    (lambda: lns.cells.rows(PUZZLE, 1.5, 2), f"first is {HALF}{WHOLE}"),
    (lambda: lns.cells.columns(PUZZLE, 1, None), "end is None (NoneType); expected a whole number"),
    (lambda: lns.cells.around_mismatches(PUZZLE, [1]), "board is [1] (list); expected a Board"),
    (lambda: lns.cells.parse(5, PUZZLE), f"text is {NEITHER}; expected a string"),
    (lambda: lns.MaxTime("5"), f"seconds is {TEXT}{NUMBER}"),
    (lambda: lns.MaxTime(math.nan), "seconds is nan; expected 0 or more"),
    (lambda: lns.MaxSteps(1.5), f"steps is {HALF}{WHOLE}"),
    (lambda: lns.MaxSteps(-1), "steps is -1; expected 0 or more"),
    (lambda: lns.TargetScore("5"), f"score is {TEXT}{WHOLE}"),
    (lambda: lns.NoImprovement("5"), f"seconds is {TEXT}{NUMBER}"),
    (lambda: lns.MaxTime(5) | 5, f"other is {NEITHER}; expected a StopRule"),
    (lambda: lns.Clue("5", 1, 2), f"cell is {TEXT}{WHOLE}"),
    (lambda: lns.Board("text", 2, 2), "placements is 'text' (str)"),
    (lambda: lns.Board(["a"] * 4, 2, 2), "placements are no whole numbers"),
    (lambda: lns.Puzzle(PUZZLE.pieces, "4", 4), f"width is '4' (str){WHOLE}"),
    (lambda: lns.Puzzle(PUZZLE.pieces, 4, 4, clues=[(0, 1, 2)]), "clues is [(0, 1, 2)] (list); expected a sequence of"),
    (lambda: lns.Options(heuristic="min-offer"), "heuristic is 'min-offer' (str); expected a Heuristic"),
    (lambda: lns.Params(engine=5), f"engine is {NEITHER}; expected an EngineParams"),
    (lambda: lns.register_operator(5, len), f"name is {NEITHER}; expected a string"),
    (lambda: lns.register_solver("own", 5), f"function is {NEITHER}; expected a function"),
    (lambda: tune(PUZZLE, study=5), f"study is {NEITHER}; expected a string or a path"),
    (lambda: tune(PUZZLE, time="1m"), f"time is '1m' (str){NUMBER}{NONE}"),
    (lambda: tune(5), f"instances is {NEITHER}; expected a sequence, a string or a Puzzle"),
    (lambda: tune(PUZZLE, pairs="5"), f"pairs is {TEXT}{WHOLE}{NONE}"),
    (lambda: lns.benchmark("like-e2-4x4"), "rows is 'like-e2-4x4' (str); expected a sequence of strings"),
    (lambda: lns.benchmark((), time="5"), f"time is {TEXT}{NUMBER}"),
]


@pytest.mark.parametrize(("call", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_a_wrong_argument_is_named_with_its_type_and_value(
    call: Callable[[], object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lns.InputError) as raised:
        call()
    assert message in str(raised.value) and "\n" not in str(raised.value)
    assert not list(tmp_path.iterdir()), "nothing is begun"


def test_numbers_of_numpy_sets_and_generators_are_taken() -> None:
    result = lns.improve(PUZZLE, SOLUTION, (cell for cell in (0, 1)), nodes=np.int64(1000), time=np.float32(5))
    assert result.proven
    assert lns.improve(PUZZLE, SOLUTION, np.array([0, 1])).proven
    clue = lns.Clue(np.int32(0), int(SOLUTION.placements[0]) // 4, int(SOLUTION.placements[0]) % 4)
    assert lns.Puzzle(PUZZLE.pieces.tolist(), 4, 4, clues=[clue]).clues == (clue,)
    assert lns.Board(SOLUTION.placements.tolist(), 4, 4) == SOLUTION
    assert lns.MaxTime(5).seconds == 5


def test_a_function_that_is_checked_looks_like_itself() -> None:
    def twice(number: int, *, often: bool = True) -> int:
        """Docstring."""
        return 2 * number

    assert checked(twice)(4) == 8 and checked(twice).__doc__ == "Docstring."


def test_an_unknown_keyword_is_one_of_the_function_that_was_called() -> None:
    with pytest.raises(TypeError, match=r"solve\(\) got an unexpected keyword argument 'workerz'"):
        lns.solve(PUZZLE, workerz=2)  # type: ignore[call-arg]
