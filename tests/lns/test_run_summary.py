"""The summary of a run reads what its recorder writes."""

from __future__ import annotations

from pathlib import Path

from lns.engine import MAX_OPERATOR_NAME, MAX_OPERATORS, Statistics
from lns.islands import Archipelago
from lns.runs.board_log import BoardLog
from lns.runs.history import RunHistory
from lns.runs.recorder import Recorder
from lns.runs.run_summary import load_summary
from lns.worker_pool import InProcessExecutor
from tests.lns.run_parts import QUICK, new_directory, small_puzzle


def test_a_status_with_all_parts_and_as_many_operators_as_may_be_is_read(tmp_path: Path) -> None:
    puzzle = small_puzzle()
    operators = {str(number).zfill(MAX_OPERATOR_NAME): number for number in range(1, MAX_OPERATORS + 1)}
    done = Statistics(nodes=1, beam_nodes=1, moves=100, operators=operators)
    archipelago = Archipelago(puzzle, QUICK, 3, 1, engine="lns", executor=InProcessExecutor(), other_statistics=done)
    with new_directory(tmp_path / "run", puzzle, engine="lns") as directory:
        Recorder(directory, RunHistory(60.0), BoardLog(directory.path), []).begin(archipelago, "test")
        run = load_summary(directory.path)
    assert run.notes == () and run.heartbeat.statistics == done
