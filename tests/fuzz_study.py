"""Damaged studies: `python -m tests.fuzz_study [COUNT] [SEED]` reports on COUNT mutated copies of a recorded study.

Each copy has one to three faults in its files: bits, bytes, lines lost, doubled or exchanged, JSON values of other
types and sizes, links. The report of each must end in a page (exit
status 0 or 1) or in one sentence (2), and nothing but that page may be written, in the study or outside.
"""

import contextlib
import io
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from lns.cli.main import main
from lns.tuning import session as workers
from lns.tuning.storage import MAX_BYTES
from tests.mutations import (
    change_kind,
    change_value,
    cut,
    flip_bits,
    insert_noise,
    kept_on_failure,
    move_lines,
    run_fuzz,
    state,
)
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


def mutate(path: Path, outside: Path, chance: random.Random) -> str:
    """Damage the study in ``path``; what was done. Links lead to ``outside``."""
    done, file = [], path / JOURNAL
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        mutation = chance.choice(_MUTATIONS)
        if file.is_symlink() or not file.is_file() or file.stat().st_size > MAX_BYTES:
            break  # damaged enough
        mutation(file, outside, chance)
        done.append(mutation.__name__)
    return ", ".join(done)


def _link(file: Path, outside: Path, chance: random.Random) -> None:
    """A link in place of the file, or of another name in the study."""
    name = chance.choice((file.name, file.name, "best_params.toml", "study.lock", "journal.lock"))
    target = chance.choice((outside / file.name, outside / "absent", Path("/dev/zero"), Path("/proc/kmsg"), file))
    link = file.with_name(name)
    link.unlink(missing_ok=True)
    link.symlink_to(target)


_MUTATIONS: tuple[Callable[[Path, Path, random.Random], None], ...] = (
    flip_bits, cut, insert_noise, move_lines, move_lines, change_value, change_value, change_value, change_value,
    _link, change_kind,
)  # fmt: skip


def report(path: Path) -> tuple[int, str]:
    """`lns tune --report`: exit status, and what it wrote to stderr."""
    messages = io.StringIO()
    with contextlib.redirect_stderr(messages), contextlib.redirect_stdout(io.StringIO()):
        status = main(["tune", "--study", str(path), "--report"])
    return status, messages.getvalue()


def check(path: Path, outside: Path, what: str) -> str:
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
    chance, outcome = random.Random(seed), Counter[str]()
    recorded, outside = recorded_study(folder / "recorded"), folder / "outside"
    shutil.copytree(recorded, outside)
    for number in range(count):
        path = folder / "damaged"
        shutil.copytree(recorded, path)
        what = f"seed {seed}, study {number}: {mutate(path, outside, chance)}"
        with kept_on_failure(path):
            outcome[check(path, outside, what)] += 1
        shutil.rmtree(path)
    return outcome


if __name__ == "__main__":
    run_fuzz(fuzz)
