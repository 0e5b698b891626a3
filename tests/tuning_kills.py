"""Kill tuners at random moments and see that nothing finished is lost: `python -m tests.tuning_kills [PLACE] [KILLS]`.

PLACE is 'journal' (one tuner with two workers in one directory), 'postgresql' or 'mysql' (four tuners with one worker
each, in directories of their own as on machines of their own, on a database that this program starts). A random tuner
is killed with its workers up to six seconds after its next finished run or trial, every fourth time sooner, and started
again. Each finished trial must stay as it was, and no tuner may have told more of them than there are. At the end one
tuner brings the study to three more trials.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from lns.params import from_dict
from lns.tuning.plan import StudyRequest
from lns.tuning.study import FINISHED, Study, open_study
from tests.tuning.database_servers import SERVERS, missing

LONGEST_S = 3600.0  # to wait for a run; kernels may be compiled first
REQUEST = StudyRequest(
    family="like-e2:6x6", nodes=4_000_000, pairs=4, held_out=4, params=from_dict({"construct": {"population": 200}})
)


class Tuner:
    """`lns tune` in a process group of its own, with its messages in a file."""

    def __init__(self, path: Path, *words: str) -> None:
        self.messages, self._command = path.parent / "messages.txt", ["tune", "--study", str(path), *words]
        path.parent.mkdir(exist_ok=True)
        self.start()

    def start(self, *more: str) -> None:
        with self.messages.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "lns", *self._command, *(more or ("--time", "1d"))],
                start_new_session=True, stdout=out, stderr=out,
            )  # fmt: skip

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def told(self) -> int:
        """The largest number of finished trials that it has told."""
        text = self.messages.read_text(errors="replace")
        return max((int(number) for number in re.findall(r"; (\d+) trials?, ", text)), default=0)


def finished(study: Study) -> dict[int, str]:
    """Number of each finished trial and all that is known of it."""
    return {
        trial.number: json.dumps([trial.params, trial.values, sorted(trial.intermediate_values.items())])
        for trial in study.trials(*FINISHED)
    }


def progress(study: Study) -> int:
    """Number of the finished runs."""
    study.runs.refresh()
    return len(study.runs) + sum(len(trial.intermediate_values) for trial in study.trials())


def kills(folder: Path, url: str | None, number: int) -> int:
    """Kill tuners; whether something was lost, as an exit status."""
    chance, known, lost = random.Random(6), dict[int, str](), 0
    words = ("--workers", "2") if url is None else ("--workers", "1", "--storage", url)
    study = open_study(folder / "machine0" / "kills", replace(REQUEST, storage=url))
    tuners = [Tuner(folder / f"machine{i}" / "kills", *words) for i in range(1 if url is None else 4)]
    try:
        for kill in range(1, number + 1):
            before, end = progress(study), time.monotonic() + LONGEST_S
            while kill % 4 and progress(study) == before:
                assert time.monotonic() < end and all(tuner.process.poll() is None for tuner in tuners)
                time.sleep(0.2)
            time.sleep(chance.uniform(0.0, 6.0))
            victim = chance.choice(tuners)
            victim.kill()
            now, told = finished(study), max(tuner.told() for tuner in tuners)
            gone = sum(now.get(trial) != what for trial, what in known.items())
            lost, known = lost + gone + max(0, told - len(now)), now
            print(f"kill {kill}: {len(now)} trials finished, {told} told, {gone} lost", flush=True)
            victim.start()
    finally:
        for tuner in tuners:
            tuner.kill()
    trials = len(finished(study)) + 3
    tuners[0].start("--trials", str(trials))
    status, now = tuners[0].process.wait(), finished(study)
    lost += sum(now.get(trial) != what for trial, what in known.items())
    print(f"{number} kills, {lost} finished trials lost; at the end {len(now)} trials of {trials}, status {status}")
    return int(lost > 0 or len(now) < trials or status not in (0, 1))


def main(place: str = "journal", number: str = "20") -> int:
    if place != "journal" and (sentence := missing(place)):
        print(sentence, file=sys.stderr)
        return 2
    server = contextlib.nullcontext() if place == "journal" else SERVERS[place]()
    with tempfile.TemporaryDirectory() as folder, server as url:
        return kills(Path(folder), url, int(number))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
