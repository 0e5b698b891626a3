"""One session of a run as `lns solve` and `lns resume` hold it, from the first step to the closing lines."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from lns.cli.stats import facts, table
from lns.terminal.output import ANSWER_IS_NO, BAD_INPUT, DONE, print_error, print_json
from lns.terminal.progress import LiveLine
from lns.terminal.signals import signal_handler
from lns_support.errors import InputError

if TYPE_CHECKING:
    from lns.engine import FoundBoard
    from lns.islands import Archipelago
    from lns.runs.recorder import Recorder

log = logging.getLogger("lns")


class Job:
    """Searches, saves, shows progress; ``signal``: the one that ended it, 0 = none."""

    def __init__(self, archipelago: Archipelago, recorder: Recorder, *, quiet: bool, seconds: float) -> None:
        self.archipelago, self.recorder, self.seconds = archipelago, recorder, seconds
        self.directory, self.puzzle = recorder.directory, recorder.directory.puzzle
        self.line = LiveLine(seconds, quiet=quiet)
        self._work_before = 0  # in earlier sessions
        self.signal = 0
        recorder.on_best = self._improved

    def run(self, *, steps: int | None = None) -> None:
        """Search until time, target or steps are reached, or a signal or `lns stop` comes; everything is then saved."""
        from lns_support.jit import is_compiled

        puzzle, recorder, archipelago = self.puzzle, self.recorder, self.archipelago
        log.info("%s: %d x %d, %d colours, best possible %d, sha256 %.12s", puzzle.name, puzzle.width, puzzle.height,
                 puzzle.renumbered().colours, puzzle.max_score, puzzle.sha256)  # fmt: skip
        if pins := self.directory.settings.pins:
            log.info("%d cells of the start board are pinned", len(pins))
        if not is_compiled("lns.construct.kernel"):
            log.info("compiling the kernels (once after an install or upgrade)")
        self._work_before = archipelago.statistics.placements
        asked = self.directory.settings.target
        target = asked if asked >= 0 else puzzle.max_score
        with signal_handler(self._interrupt), self.line:
            recorder.begin(archipelago, version("lns"))
            why = "failed"
            try:
                why = archipelago.run(self.seconds, target, self._report, steps=steps)
            finally:  # also when the engine fails: what was found is kept
                recorder.end(archipelago, signal.Signals(self.signal).name if self.signal else why)

    def _interrupt(self, number: int, frame: object) -> None:
        """The first signal ends the search, the second one the program."""
        if self.signal:
            self.archipelago.kill()
            os._exit(128 + number)  # the last checkpoint is whole: files are only ever replaced
        self.signal = number
        self.archipelago.stop()

    def _report(self, archipelago: Archipelago) -> None:
        self.recorder.on_round(archipelago)
        if self.directory.stop_wanted:
            archipelago.stop()
        done, score = archipelago.statistics, archipelago.best_score if archipelago.best_score >= 0 else "-"
        rate = (done.placements - self._work_before) / max(archipelago.elapsed, 0.5) / 1e6
        self.line.show(f"best {score} of {self.puzzle.max_score}, {rate:.1f} M {done.unit}/s", archipelago.elapsed)

    def _improved(self, find: FoundBoard) -> None:
        seconds = self.recorder.history.elapsed_s
        log.info("%8.1f s  %d of %d  (%s)", seconds, find.score, self.puzzle.max_score, find.origin)

    def finish(self, *, as_json: bool, stats: bool) -> int:
        """Say how it ended, with ``stats`` also what each part did; the exit status."""
        best = self.recorder.best
        if best:
            told = {"stats": facts(self.archipelago, self.recorder.history)} if stats else {}
            with contextlib.suppress(OSError) if self.signal else contextlib.nullcontext():
                print_json(best | told) if as_json else self._print_summary(best, told)
        if self.signal:
            return 128 + self.signal
        if not best:
            raise InputError(
                f"no full board of {self.puzzle.name} was found in {self.archipelago.elapsed:.0f} s; "
                f"expected more time: lns resume {self.directory.path} --time S"
            )
        if self.recorder.write_errors:
            print_error(f"lns: not written: {', '.join(self.recorder.write_errors)}; the board is above")
            return BAD_INPUT
        return DONE if best["score"] >= self.directory.settings.target else ANSWER_IS_NO

    def _print_summary(self, best: dict[str, Any], told: dict[str, Any]) -> None:
        """Score, what was done, where it is, how to look at it."""
        done, history = self.archipelago.statistics, self.recorder.history
        print(f"best score    {best['score']} of {self.puzzle.max_score}")
        print(f"search        {history.elapsed_s:.1f} s, {done.summary(history.elapsed_s)}")
        print(f"run directory {self.directory.path}")
        print(f"viewer        {best['url'] or 'none: it has no letter for some of the colours'}")
        if told:
            print(table(told["stats"]))
        sys.stdout.flush()
