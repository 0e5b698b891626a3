"""Several tuners on one database: `python -m tests.storage_figures kills|rate postgresql|mysql [NUMBER]`.

The database is a server that this program starts. Each tuner is `lns tune --storage` with one worker and a directory
of its own, as on machines of their own.

kills   Four tuners; NUMBER times (10) a random one is killed with signal 9, up to ten seconds after the next finished
        trial, every fourth time sooner, and started again.
        Each finished trial must stay in the storage as it was, and no tuner may have told more of them than there are.
        At the end one tuner brings the study to three more trials.
rate    Trials a minute, and for each minute of processor time, in NUMBER seconds (60) of one tuner, then of four.
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
from pathlib import Path

from lns.params import from_dict
from tests.tuning.database_servers import SERVERS, missing
from tuning.plan import StudyRequest
from tuning.study import FINISHED, Study, open_study

TUNERS = 4
PAUSE_S = 10.0  # longest time between a finished trial and the next kill
LONGEST_S = 3600.0  # to wait for trials; kernels may be compiled first
REQUEST = StudyRequest(
    family="like-e2:6x6", nodes=4_000_000, pairs=4, held_out=4, params=from_dict({"construct": {"population": 200}})
)


class Tuner:
    """`lns tune` on the database at ``url``, in a process group of its own, with its messages in a file."""

    def __init__(self, path: Path, url: str, *more: str) -> None:
        self.path, self._url, self._more = path, url, more
        path.parent.mkdir(exist_ok=True)
        self._messages = path.parent / "messages.txt"
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "lns", "tune", "--study", str(self.path), "--storage", self._url]
        with self._messages.open("ab") as messages:
            self.process = subprocess.Popen(
                [*command, "--workers", "1", *(self._more or ("--time", "1d"))],
                start_new_session=True, stdout=messages, stderr=messages,
            )  # fmt: skip

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def told(self) -> int:
        """The largest number of finished trials that it has told."""
        text = self._messages.read_text(errors="replace")
        return max((int(number) for number in re.findall(r"; (\d+) trials?, ", text)), default=0)

    def messages(self) -> str:
        return self._messages.read_text(errors="replace")

    def processor_s(self) -> float:
        """Seconds of processor time of its processes so far."""
        ticks = 0
        for file in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = file.read_text().rpartition(")")[2].split()
            except OSError:  # ended in between
                continue
            if int(fields[3]) == self.process.pid:  # its session
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


def _finished(study: Study) -> dict[int, str]:
    """Number of each finished trial and all that is known of it."""
    return {
        trial.number: json.dumps([trial.params, trial.values, sorted(trial.intermediate_values.items())])
        for trial in study.trials(*FINISHED)
    }


def kills(url: str, folder: Path, number: int) -> int:
    """Kill tuners; whether something was lost, as an exit status."""
    chance = random.Random(6)
    study = open_study(folder / "watcher" / "kills", _request(url))
    tuners = [Tuner(folder / f"machine{i}" / "kills", url) for i in range(TUNERS)]
    known: dict[int, str] = {}
    lost = 0
    try:
        _await_trials(study, 1, tuners)
        for kill in range(1, number + 1):
            if kill % 4:
                _await_trials(study, len(known) + 1, tuners)
            time.sleep(chance.uniform(0.0, PAUSE_S))
            victim = chance.choice(tuners)
            victim.kill()
            now = _finished(study)
            gone = [trial for trial, what in known.items() if now.get(trial) != what]
            told = max(tuner.told() for tuner in tuners)
            lost += len(gone) + max(0, told - len(now))
            known = now
            print(f"kill {kill}: {len(now)} finished trials in the storage, {told} told, {len(gone)} lost", flush=True)
            _check(tuners, victim)
            victim.start()
        trials = len(known) + TUNERS * 2
        _await_trials(study, trials, tuners)
    finally:
        for tuner in tuners:
            tuner.kill()
    last = Tuner(folder / "machine0" / "kills", url, "--trials", str(trials + 3))
    status = last.process.wait()
    now = _finished(study)
    lost += sum(now.get(trial) != what for trial, what in known.items())
    print(f"{number} kills, {lost} finished trials lost; at the end {len(now)} trials of {trials + 3}, status {status}")
    return int(lost > 0 or len(now) < trials + 3 or status not in (0, 1))


def rate(url: str, folder: Path, seconds: int) -> int:
    """Print trials a minute of one tuner and of four, each in a study of its own."""
    for count in (1, TUNERS):
        name = f"rate{count}"
        study = open_study(folder / "watcher" / name, _request(url))
        tuners = [Tuner(folder / f"machine{i}" / name, url) for i in range(count)]
        try:
            _await_trials(study, 2 * count, tuners)
            before, began, used = len(_finished(study)), time.monotonic(), [tuner.processor_s() for tuner in tuners]
            time.sleep(seconds)
            done, took = len(_finished(study)) - before, time.monotonic() - began
            work = sum(tuner.processor_s() for tuner in tuners) - sum(used)
            _check(tuners)
        finally:
            for tuner in tuners:
                tuner.kill()
        load = os.getloadavg()[0]
        print(
            f"tuners {count}: {done} trials in {took:.0f} s, {60 * done / took:.1f} a minute; {work / took:.2f} cores, "
            f"{60 * done / work:.1f} for each minute of processor time; load {load:.0f}", flush=True,
        )  # fmt: skip
    return 0


def _request(url: str) -> StudyRequest:
    return StudyRequest(**{**REQUEST.__dict__, "storage": url})


def _await_trials(study: Study, count: int, tuners: list[Tuner]) -> None:
    end = time.monotonic() + LONGEST_S
    while len(study.trials(*FINISHED)) < count:
        assert time.monotonic() < end, f"there are no {count} trials after {LONGEST_S:.0f} s"
        _check(tuners)
        time.sleep(0.5)


def _check(tuners: list[Tuner], *but: Tuner) -> None:
    """Fail if a tuner has ended by itself."""
    for tuner in tuners:
        assert tuner in but or tuner.process.poll() is None, tuner.messages()


def main(what: str, kind: str, number: int | None = None) -> int:
    if sentence := missing(kind):
        print(sentence, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder, SERVERS[kind]() as url:
        return kills(url, Path(folder), number or 10) if what == "kills" else rate(url, Path(folder), number or 60)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3], *map(int, sys.argv[3:])))
