"""Kill a study at random moments and see that nothing finished is lost: `python -m tests.tuning_kills [KILLS]`.

Each time the whole process group is killed, workers and all: up to six seconds after its first new run, every fourth
time sooner. The next one has to go on, and at the end the study must come to its number of trials.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lns.params import from_dict
from tuning.plan import RUNS_FILE, StudyRequest
from tuning.study import FINISHED, Study, open_study

REQUEST = StudyRequest(
    family="like-e2:6x6", nodes=4_000_000, pairs=4, held_out=4, params=from_dict({"construct": {"population": 200}})
)


def _finished(study: Study) -> dict[int, str]:
    """Number of each finished trial and all that is known of it."""
    return {
        trial.number: json.dumps([trial.params, trial.values, sorted(trial.intermediate_values.items())])
        for trial in study.trials(*FINISHED)
    }


def _runs(path: Path) -> int:
    return (path / RUNS_FILE).read_text().count("\n") if (path / RUNS_FILE).exists() else 0


def _go_on(path: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lns", "tune", "--study", str(path), "--workers", "2", *more]
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def main(kills: int) -> int:
    chance = random.Random(6)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study"
        open_study(path, REQUEST)
        known: dict[int, str] = {}
        lost = 0
        for kill in range(1, kills + 1):
            process = _go_on(path, "--time", "1h")
            began, before = time.monotonic(), _runs(path)
            while kill % 4 and _runs(path) == before and process.poll() is None:
                time.sleep(0.01)
            time.sleep(chance.uniform(0.0, 6.0))
            seconds = time.monotonic() - began
            if process.poll() is not None:
                print(f"kill {kill}: the program had ended by itself: {process.communicate()[1]}")
                return 1
            os.killpg(process.pid, signal.SIGKILL)
            said = process.communicate()[1]
            study = open_study(path, StudyRequest())
            now = _finished(study)
            gone = [number for number, what in known.items() if now.get(number) != what]
            lost += len(gone)
            torn = ", a torn line dropped" if "torn" in said else ""
            done = f"{len(now)} trials and {_runs(path)} runs finished"
            print(f"kill {kill}: after {seconds:.1f} s, {done}, {len(gone)} trials lost{torn}", flush=True)
            known = now
        trials = len(known) + 3
        process = _go_on(path, "--trials", str(trials))
        process.communicate()
        study = open_study(path, StudyRequest())
        print(f"{kills} kills, {lost} finished trials lost; then ended with status {process.returncode} and "
              f"{len(_finished(study))} trials of {trials}")  # fmt: skip
        return int(lost > 0 or len(_finished(study)) < trials or process.returncode not in (0, 1))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
