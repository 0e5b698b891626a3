"""Small parts that the tests of runs share."""

import shutil
from pathlib import Path
from typing import Any

from lns.api.arguments import SessionSpec
from lns.api.solving import SearchSession
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Puzzle
from lns.islands import Archipelago
from lns.params import ConstructParams, EngineParams, Params, TabuParams, to_dict
from lns.runs.board_log import BoardLogReader
from lns.runs.directory import RunDirectory, RunSettings, read_best, read_run
from lns.runs.history import RunHistory
from lns.runs.recorder import Recorder, Recovered, recover
from lns.worker_pool import InProcessExecutor

QUICK = Params(
    construct=ConstructParams(tail=8, tail_nodes=2000, restart_nodes=200_000, restart_nodes_without_prefix=100_000),
    tabu=TabuParams(steps=50, patience=400),
    engine=EngineParams(step_nodes=20_000),
)


def small_puzzle(name: str = "like-e2-6x6") -> Puzzle:
    return load_puzzle(name)


def new_directory(path: Path, puzzle: Puzzle, *, engine: str = "auto", **options: Any) -> RunDirectory:
    settings = RunSettings(instance=puzzle.name, seed=3, engine=engine, params=to_dict(QUICK), **options)
    return RunDirectory.create(path, puzzle, settings)


def run_for(directory: RunDirectory, steps: int, *, workers: int = 1, seconds: float = 60.0) -> Archipelago:
    """A first session of ``steps`` steps an island; the directory is closed then."""
    with directory:
        return _searched(directory, Recovered(RunHistory(seconds), {}, [], None), steps, workers)


def _searched(directory: RunDirectory, found: Recovered, steps: int, workers: int) -> Archipelago:
    """One session, as `lns solve` and `lns resume` make it."""
    recorder = Recorder(directory.puzzle, directory.settings, found.history, directory, found.recent)
    spec = SessionSpec(steps=steps, workers=workers, progress=None)
    session = SearchSession(spec, recorder, workers, InProcessExecutor(), found)
    session.run()
    return session.archipelago


def finished_run(
    path: Path, *, steps: int = 6, engine: str = "auto", name: str = "like-e2-6x6", seconds: float = 60.0
) -> Path:
    """A run directory with a few boards in it."""
    run_for(new_directory(path, small_puzzle(name), engine=engine), steps, seconds=seconds)
    return path


def copied(source: Path, target: Path) -> Path:
    shutil.copytree(source, target)
    return target


def resumed(path: Path, steps: int, *, workers: int = 1) -> tuple[Archipelago, Recovered]:
    """A later session, as `lns resume` holds it."""
    with RunDirectory.open(path) as directory:
        found = recover(directory)
        return _searched(directory, found, steps, workers), found


def log_of(path: Path) -> list[tuple[int, bytes]]:
    _, puzzle = read_run(path)
    reader = BoardLogReader(path, puzzle)
    boards = [(entry.score, entry.board.placements.tobytes()) for entry in reader.read()]
    assert not reader.damaged
    return boards


def best_of(path: Path) -> int:
    best = read_best(path, read_run(path)[1])
    assert best is not None
    return best.score
