"""Damaged studies: `python -m tests.fuzz_study [COUNT] [SEED]` reports on COUNT mutated copies of a recorded study.

Each copy has one to three faults in its files: bits, bytes, lines lost, doubled or exchanged, JSON values of other
types and sizes, links. The report of each must end in a page (exit
status 0 or 1) or in one sentence (2), and nothing but that page may be written, in the study or outside.
"""

import random
import time
from collections import Counter
from pathlib import Path
from unittest import mock

from lns.tuning import session as workers
from tests.mutations import MAX_SECONDS, OF_FILES, OF_TEXT, call, damage, fuzz_copies, run_fuzz, state
from tests.tuning.made_up import REQUEST, MadeUp, searched, validated


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


def mutate(path: Path, outside: Path, chance: random.Random) -> str:
    """Damage the journal of the study in ``path``; what was done."""
    return damage(path, outside, chance, ["journal.log"], lambda file: (*OF_FILES, *OF_TEXT))


def check(path: Path, outside: Path, what: str, chance: random.Random) -> str:
    """`lns tune --report` of a damaged study; 'shown' or 'refused'."""
    before, began = (state(path), state(outside)), time.process_time()
    status, _, messages = call(["tune", "--study", str(path), "--report"])
    assert status in (0, 1, 2), f"{what}: {status}: {messages}"
    assert time.process_time() - began < MAX_SECONDS, what
    assert (state(path), state(outside)) == before, f"{what}: something was written"
    assert "Traceback" not in messages and "\x1b" not in messages, f"{what}: {messages}"
    lines = [line for line in messages.splitlines() if "incomplete last line" not in line]
    assert len(lines) == (status == 2), f"{what}: {messages}"
    return "refused" if status == 2 else "shown"


def fuzz(folder: Path, count: int, seed: int) -> Counter[str]:
    """Report ``count`` damaged studies; how many were shown, how many refused."""
    return fuzz_copies(recorded_study(folder / "recorded"), count, seed, mutate, check)


if __name__ == "__main__":
    run_fuzz(fuzz)
