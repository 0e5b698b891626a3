"""Arguments of the wrong type or size: one sentence that names them, before any work is begun."""

from __future__ import annotations  # as `checked` expects them

import inspect
import math
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lns

PUZZLE, SOLUTION = lns.generate("like-e2", width=4, seed=1)
BARE = lns.Board(SOLUTION.placements, 4, 4)
HOLED = lns.Board(np.where(np.arange(16) == 5, -1, SOLUTION.placements), 4, 4)
NEEDED: dict[str, dict[str, Any]] = {"solve": {"puzzle": PUZZLE}, "resume": {"run_dir": "run"}}
CHECKED = (
    "Board", "Clue", "ColorPairsOptions", "MaxSteps", "MaxTime", "NoImprovement", "Params", "Puzzle",
    "TargetScore", "benchmark", "cells.around_mismatches", "cells.columns", "cells.parse", "cells.rectangle",
    "cells.rows", "cnf", "collect", "compare", "convert", "count", "decode", "estimate", "generate", "improve",
    "load_board", "load_puzzle", "merge", "polish", "register_operator", "register_solver", "resume", "save",
    "solve", "status", "tune", "verify", "viewer_url",
)  # fmt: skip
ARGUMENTS = [
    (name, argument)
    for name in CHECKED
    for argument, one in inspect.signature(attrgetter(name)(lns)).parameters.items()
    if one.kind is not one.VAR_KEYWORD
]


@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_every_argument_of_a_public_function_is_compared_with_its_type(
    name: str, argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lns.InputError, match=rf"^{argument} is <object object at \w+> \(object\); expected .+"):
        attrgetter(name)(lns)(**(NEEDED.get(name, {}) | {argument: object()}))
    assert not list(tmp_path.iterdir()), "nothing is begun"


def solve(**arguments: Any) -> object:
    return lns.solve(PUZZLE, **({"steps": 1, "workers": 1, "progress": None} | arguments))


def improve(*cells: Any, **arguments: Any) -> object:
    return lns.improve(PUZZLE, SOLUTION, *cells, **arguments)


HALF, NEITHER, NUMBER, WHOLE = "1.5 (float)", "5 (int)", "; expected a number", "; expected a whole number"
WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: solve(time="10m"), f"time is '10m' (str){NUMBER} or None"),
    (lambda: solve(stop=5), f"stop is {NEITHER}; expected a StopRule or None"),
    (lambda: solve(start=[1]), "start is [1] (list); expected a Board, a string, a path or None"),
    (lambda: solve(params=5), f"params is {NEITHER}; expected a Params, a dict, a string, a path or None"),
    (lambda: solve(min_score=999), "a least score of 999; expected 0 to 24"),
    (lambda: solve(engine="autto"), "unknown engine 'autto': did you mean 'auto'?"),
    (lambda: solve(params={"construct": {"tale": 3}}), "did you mean 'tail'"),
    (lambda: solve(time=0.0), "a time of 0.0 s"),
    (lambda: solve(seed=-1), "a seed of -1"),
    (lambda: solve(progress="loud"), "unknown progress 'loud'"),
    (lambda: solve(start=lns.Board(np.arange(9) * 4, 3, 3)), "3 x 3"),
    (lambda: solve(start=lns.Board(np.zeros(16), 4, 4)), "not legal"),
    (lambda: solve(start=HOLED, pins=[16]), "off the board"),
    (lambda: solve(checkpoint_s=math.nan), "a checkpoint every nan s"),
    (lambda: lns.solve(PUZZLE, progress=5), f"progress is {NEITHER}; expected a string, True or False, a ProgressView"),
    (lambda: solve(notes="note"), "notes is 'note' (str); expected a sequence of strings"),
    (lambda: lns.solve(PUZZLE.pieces, steps=1), "puzzle is array(["),
    (lambda: improve([0], time=math.nan), "time is nan; expected 0 or more"),
    (lambda: improve("r3"), "cells is 'r3' (str)"),
    (lambda: improve([0.5]), "cells is [0.5] (list)"),
    (lambda: lns.verify("like-e2-4x4", SOLUTION), "puzzle is 'like-e2-4x4' (str); expected a Puzzle"),
    (lambda: lns.load_board(SOLUTION, number=0), "number 0 of the boards"),
    (lambda: lns.save(BARE, "x.json"), "does not know its puzzle"),
    (lambda: lns.improve(None, BARE), "does not know its puzzle"),
    (lambda: lns.convert(BARE, to="url"), "does not know its puzzle"),
    (lambda: lns.convert(SOLUTION, to="url", puzzle="like-e2-6x6"), "4 x 4"),
    (lambda: lns.convert(PUZZLE), "neither output nor to says a format"),
    (lambda: lns.convert(PUZZLE, to="json", turn=45), "a turn of 45 degrees"),
    (lambda: lns.convert(PUZZLE, to="best"), "found only a puzzle"),
    (lambda: improve([]), "has no cell"),
    (lambda: improve([1], order="magic"), "magic"),
    (lambda: lns.generate(width=1.5), f"width is {HALF}{WHOLE} or None"),
    (lambda: lns.MaxTime(math.nan), "seconds is nan; expected 0 or more"),
    (lambda: lns.MaxTime(5) | 5, f"other is {NEITHER}; expected a StopRule"),
    (lambda: lns.Board(["a"] * 4, 2, 2), "placements are no whole numbers"),
    (lambda: lns.Puzzle(PUZZLE.pieces, 4, 4, clues=[(0, 1, 2)]), "clues is [(0, 1, 2)] (list); expected a sequence of"),
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


def test_an_unknown_keyword_is_one_of_the_function_that_was_called() -> None:
    with pytest.raises(TypeError, match=r"solve\(\) got an unexpected keyword argument 'workerz'"):
        lns.solve(PUZZLE, workerz=2)  # type: ignore[call-arg]
