"""One session of a run as `lns solve` and `lns resume` hold it: signals, progress, the log, the closing lines."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.errors import InputError
from lns.cli.main import ANSWER_IS_NO, BAD_INPUT, DONE, print_json
from lns.cli.stats import facts, table
from lns.runs.files import LOG, clock, open_regular

if TYPE_CHECKING:
    from types import FrameType

    from lns.engine import Find
    from lns.islands import Archipelago
    from lns.runs.keeper import Keeper

log = logging.getLogger("lns")

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Job:
    """Searches, saves, shows progress; ``signal``: the one that ended it, 0 = none."""

    def __init__(self, search: Archipelago, keeper: Keeper, *, quiet: bool, seconds: float) -> None:
        self.search, self.keeper, self.seconds = search, keeper, seconds
        self.directory, self.puzzle = keeper.directory, keeper.directory.puzzle
        self.progress = Progress(seconds, quiet)
        self.signal = 0
        keeper.on_best = self._improved

    def run(self, target: int, *, steps: int | None = None) -> None:
        """Search until time, target or steps are reached, or a signal or `lns stop` comes; everything is then saved."""
        from exact.jit import is_compiled

        puzzle, keeper, search = self.puzzle, self.keeper, self.search
        log.info("%s: %d x %d, %d colours, best possible %d, sha256 %.12s", puzzle.name, puzzle.width, puzzle.height,
                 puzzle.colours, puzzle.max_score, puzzle.sha256)  # fmt: skip
        if pins := self.directory.settings.pins:
            log.info("%d cells of the start board are pinned", len(pins))
        if not is_compiled("lns.construct.kernel"):
            log.info("compiling the kernels (once after an install or upgrade)")
        with self._signals(), self.progress:
            keeper.begin(search.workers, version("lns"))
            keeper.save(search)
            keeper.beat(search)
            try:
                search.run(self.seconds, target, self._report, steps=steps)
            finally:  # also when the engine fails: what was found is kept
                keeper.end(search, self._why(target, steps))

    def _why(self, target: int, steps: int | None) -> str:
        if self.signal:
            return signal.Signals(self.signal).name
        if sys.exc_info()[0] is not None:
            return "failed"
        if self.search.best_score >= target:
            return "target reached"
        if self.search.exhausted:
            return "nothing left to search"
        if self.search.elapsed >= self.seconds:
            return "time over"
        return "stopped" if steps is None else "steps made"

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """The first signal ends the search, the second one the program; those ignored from outside stay so (nohup)."""
        before = {number: signal.getsignal(number) for number in _SIGNALS}
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, self._interrupt)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.signal:
            self.search.kill()
            os._exit(128 + number)  # the last checkpoint is whole: files are only ever replaced
        self.signal = number
        self.search.stop()

    def _report(self, search: Archipelago) -> None:
        self.keeper.note(search)
        self.progress.show(search)

    def _improved(self, find: Find) -> None:
        seconds = self.keeper.account.elapsed_s
        log.info("%8.1f s  %d of %d  (%s)", seconds, find.score, self.puzzle.max_score, find.origin)

    def finish(self, *, as_json: bool, target: int | None, stats: bool) -> int:
        """Say how it ended, with ``stats`` also what each part did; the exit status."""
        best = self.keeper.best
        if best:
            told = {"stats": facts(self.search, self.keeper.account)} if stats else {}
            with contextlib.suppress(OSError) if self.signal else contextlib.nullcontext():
                print_json(best | told) if as_json else self._print_summary(best, told)
        if self.signal:
            return 128 + self.signal
        if not best:
            raise InputError(
                f"no full board of {self.puzzle.name} was found in {self.search.elapsed:.0f} s; "
                f"expected more time: lns resume {self.directory.path} --time S"
            )
        if self.keeper.troubles:
            print(f"lns: not written: {', '.join(self.keeper.troubles)}; the board is above", file=sys.stderr)
            return BAD_INPUT
        return DONE if target is None or best["score"] >= target else ANSWER_IS_NO

    def _print_summary(self, best: dict[str, Any], told: dict[str, Any]) -> None:
        """Score, what was done, where it is, how to look at it."""
        done, account = self.search.statistics, self.keeper.account
        print(f"best score    {best['score']} of {self.puzzle.max_score}")
        print(f"search        {account.elapsed_s:.1f} s, {done.summary(account.elapsed_s)}")
        print(f"run directory {self.directory.path}")
        print(f"viewer        {best['url'] or 'none: more colours than a viewer URL has letters'}")
        if told:
            print(table(told["stats"]))
        sys.stdout.flush()


class Progress:
    """A live line on a terminal, a plain line now and then elsewhere, ever more seldom; on stderr."""

    def __init__(self, seconds: float, quiet: bool) -> None:
        self.seconds, self.quiet = seconds, quiet
        self._bar: Any = None
        self._redirect: Any = None
        self._next = 15.0
        self._before = 0  # work of earlier sessions

    def __enter__(self) -> Progress:
        if not self.quiet and sys.stderr.isatty():
            from tqdm import tqdm
            from tqdm.contrib.logging import logging_redirect_tqdm

            self._redirect = logging_redirect_tqdm([log])
            self._redirect.__enter__()
            self._bar = tqdm(
                total=round(self.seconds), unit="s", leave=False, file=sys.stderr, dynamic_ncols=True,
                bar_format="{desc} |{bar}|",
            )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            with contextlib.suppress(OSError):
                self._bar.close()
            self._redirect.__exit__(None, None, None)

    def show(self, search: Archipelago) -> None:
        if self.quiet:
            return
        elapsed = search.elapsed
        score = search.best_score if search.best_score >= 0 else "-"
        left = clock(max(0.0, self.seconds - elapsed))
        done = search.statistics
        self._before = done.work if elapsed == 0 else self._before
        rate = (done.work - self._before) / max(elapsed, 0.5) / 1e6
        line = f"best {score} of {search.puzzle.max_score}, {rate:.1f} M {done.unit}/s"
        if self._bar is not None:
            with contextlib.suppress(OSError):  # the terminal is gone; the run is not
                self._bar.set_description_str(line, refresh=False)
                self._bar.bar_format = f"{{desc}} |{{bar}}| {left} left"
                self._bar.n = min(round(elapsed), self._bar.total)
                self._bar.refresh()
        elif elapsed >= self._next:
            self._next = max(elapsed * 1.25, self._next + 15.0)
            log.info("%8.1f s  %s, %s left", elapsed, line, left)


class RunLog(logging.Handler):
    """run.log: appended line by line; a disk that is full loses lines of the log, never the run."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        try:
            self._file = open_regular(directory / LOG, os.O_WRONLY | os.O_APPEND)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", directory / LOG) from None
        self.setFormatter(logging.Formatter("%(asctime)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(OSError):
            self._file.write(f"{self.format(record)}\n".encode(errors="backslashreplace"))

    def close(self) -> None:
        self._file.close()
        super().close()


class Screen(logging.StreamHandler[Any]):
    """The log on stderr; a terminal that is gone is no error."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(sys.stderr)
        self.setLevel(logging.WARNING if quiet else logging.INFO)
        self.setFormatter(logging.Formatter("%(message)s"))

    def handleError(self, record: logging.LogRecord) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


@contextlib.contextmanager
def logged(directory: Path, *, quiet: bool) -> Iterator[None]:
    """The lns log goes to run.log, and to stderr unless quiet."""
    handlers: list[logging.Handler] = [RunLog(directory), Screen(quiet=quiet)]
    level = log.level
    log.setLevel(logging.INFO)
    for handler in handlers:
        log.addHandler(handler)
    try:
        yield
    finally:
        log.setLevel(level)
        for handler in handlers:
            log.removeHandler(handler)
            handler.close()
