"""Damaged studies: `python -m tests.fuzz_study [COUNT] [SEED]` reports on COUNT mutated copies of a recorded study.

Each copy has one to three faults in its files: bits, bytes, lines lost, doubled or exchanged, JSON values of other
types and sizes, links. The report of each must end in a page (exit status 0 or 1) or in one sentence (2), and nothing
but that page may be written, in the study or outside.
"""

import contextlib
import io
import random
import time
from collections import Counter
from pathlib import Path
from unittest import mock

from lns.cli.main import main
from lns.tuning import session as workers
from tests import mutations as faults
from tests.mutations import state
from tests.tuning.made_up import REQUEST, MadeUp, searched, validated

JOURNAL = "journal.log"
MAX_SECONDS = 20.0  # of processor time, of one report


def recorded_study(path: Path) -> Path:
    """A small study with trials in every state, candidates and a validation; its runs are made up."""
    with mock.patch.object(workers, "TrialRun", MadeUp):
        study = searched(path, 9, REQUEST)
        validated(study)
        stopped, _ = study.next_trial(None), study.next_trial(None)
        assert stopped is not None
        study.requeue(stopped)
        (path / "report.html").touch()
    return path


FAULTS = (
    faults.flip_bits, faults.cut, faults.insert_noise, faults.change_kind, *(faults.move_lines,) * 2,
    *(faults.change_value,) * 4, faults.link(JOURNAL, "best_params.toml", "study.lock", "journal.lock"),
)  # fmt: skip


def report(path: Path) -> tuple[int, str]:
    """`lns tune --report`: exit status, and what it wrote to stderr."""
    messages = io.StringIO()
    with contextlib.redirect_stderr(messages), contextlib.redirect_stdout(io.StringIO()):
        status = main(["tune", "--study", str(path), "--report"])
    return status, messages.getvalue()


def check(path: Path, outside: Path, what: str, chance: random.Random) -> str:
    """Report a damaged study; 'shown' or 'refused'."""
    before, began = (state(path), state(outside)), time.process_time()
    try:
        status, messages = report(path)
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
    assert status in (0, 1, 2), f"{what}: {status}: {messages}"
    assert time.process_time() - began < MAX_SECONDS, what
    assert (state(path), state(outside)) == before, f"{what}: something was written"
    assert "Traceback" not in messages and "\x1b" not in messages, f"{what}: {messages}"
    lines = [line for line in messages.splitlines() if "incomplete last line" not in line]
    assert len(lines) == (status == 2), f"{what}: {messages}"
    return "refused" if status == 2 else "shown"


def fuzz(folder: Path, count: int, seed: int) -> Counter[str]:
    """Report ``count`` damaged studies; how many were shown, how many refused."""
    recorded = recorded_study(folder / "recorded")
    return faults.fuzz_copies(recorded, count, seed, lambda chance: (JOURNAL, FAULTS), check)


if __name__ == "__main__":
    faults.run_fuzz(fuzz)
