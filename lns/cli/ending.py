"""How `lns solve` and `lns resume` end: by a signal in order, and with the closing lines."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lns.api.stopping import SearchProgress, StopRule
from lns.cli.stats import facts, table
from lns.terminal.output import ANSWER_IS_NO, BAD_INPUT, DONE, print_error, print_json, print_text
from lns.terminal.progress import screen_log
from lns.terminal.signals import signal_handler
from lns_support.errors import InputError

if TYPE_CHECKING:
    from lns.api.result import Result


class SignalStop(StopRule):
    """Ends the search after a signal. ``number``: that signal, 0 before it came.

    A signal that comes before the search began leaves at once; a second one ends the program.
    """

    def __init__(self) -> None:
        self.number = 0
        self._searching = False

    def __call__(self, progress: SearchProgress) -> str | None:
        self._searching = True
        return signal.Signals(self.number).name if self.number else None

    def handle(self, number: int, frame: object) -> None:
        """The handler of the signal."""
        if self.number:
            os._exit(128 + number)  # files are only ever replaced, so the last checkpoint is whole; workers end too
        if not self._searching:
            raise SystemExit(128 + number)
        self.number = number


@contextlib.contextmanager
def until_signal(*, quiet: bool) -> Iterator[SignalStop]:
    """Signals end the search in order; the log goes to stderr."""
    rule = SignalStop()
    with signal_handler(rule.handle), screen_log(quiet=quiet):
        yield rule


def ended(result: Result, signals: SignalStop, *, target: int | None, as_json: bool, stats: bool) -> int:
    """Print the result, with ``stats`` also what each part of the engine did; the exit status."""
    if result.record:
        added = {"stats": facts(result)} if stats else {}
        with contextlib.suppress(OSError) if signals.number else contextlib.nullcontext():
            if as_json:
                print_json(result.record | added)
            else:
                _print_summary(result, table(added["stats"]) if stats else "")
    if signals.number:
        return 128 + signals.number
    if not result.record:
        raise InputError(
            f"no full board of {result.puzzle.name} was found in {result.elapsed_s:.0f} s; "
            f"expected more time: lns resume {result.run_dir} --time S"
        )
    if result.write_errors:
        print_error(f"lns: not written: {', '.join(result.write_errors)}; the board is above")
        return BAD_INPUT
    return DONE if target is None or result.score >= target else ANSWER_IS_NO


def _print_summary(result: Result, stats: str) -> None:
    print_text(f"best score    {result.score} of {result.max_score}")
    print_text(f"search        {result.elapsed_s:.1f} s, {result.statistics.summary(result.elapsed_s)}")
    print_text(f"run directory {result.run_dir}")
    print_text(f"viewer        {result.url or 'none: it has no letter for some of the colours'}")
    if stats:
        print_text(stats)
    sys.stdout.flush()
