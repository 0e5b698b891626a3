"""A run directory of a week, made up: `python -m tests.long_run DIR [--boards 1000000]` writes one for measurements."""

import argparse
from pathlib import Path

import numpy as np

from lns.engine import FoundBoard
from lns.engines import make_engine
from lns.instances.formats import load_puzzle
from lns.instances.verify import verify
from lns.params import Params
from lns.rounds import Island
from lns.runs import checkpoint as checkpoints
from lns.runs.board_log import LoggedBoard
from lns.runs.checkpoint import Checkpoint
from lns.runs.directory import RunDirectory, RunSettings, best_fields
from lns.runs.files import utc_now
from lns.runs.history import Heartbeat, Improvement, RunHistory, SessionRecord, write_status
from lns.tabu.search import random_board

WEEK_S = 7 * 86400.0
DIFFERENT = 200  # boards; the lines differ in time


def write_long_run(path: Path, boards: int) -> Path:
    """A run of ``boards`` logged boards of a 16x16, ended in order."""
    puzzle, params = load_puzzle("like-e2-16x16"), Params()
    settings = RunSettings(instance="like-e2-16x16", seed=1, engine="auto", min_score=0)
    with RunDirectory.create(path, puzzle, params, settings) as directory:
        chance = np.random.default_rng(1)
        finds = [(board := random_board(puzzle, chance), verify(puzzle, board).score) for _ in range(DIFFERENT)]
        history = RunHistory(WEEK_S, WEEK_S)
        history.begin(SessionRecord(utc_now(), "host", "machine", "test", 2, WEEK_S, "time over"))
        with (path / "boards.jsonl").open("w") as log:
            for number in range(boards):
                board, score = finds[number % DIFFERENT]
                find = FoundBoard(board, score, "construct")
                history.elapsed_s = WEEK_S * (number + 1) / boards
                if score > history.best_score:
                    history.improve(Improvement(score, history.elapsed_s, utc_now(), "construct"))
                    directory.write_best(best_fields(puzzle, settings, find, history.elapsed_s))
                history.log(find)
                log.write(LoggedBoard(score, history.elapsed_s, utc_now(), 0, "construct", board).line() + "\n")
            size = log.tell()
        engine = make_engine("auto", puzzle, params, 1, 0)
        islands = {0: Island(0, engine.state(), -1, engine.statistics, 0)}
        checkpoints.save(path, directory.settings.run, puzzle, Checkpoint(history, islands, size))
        write_status(path, directory.settings.run, history, Heartbeat(at=utc_now(), statistics=engine.statistics))
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="a run directory of a week, made up", prog="python -m tests.long_run")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--boards", type=int, default=1_000_000)
    args = parser.parse_args()
    write_long_run(args.directory, args.boards)
