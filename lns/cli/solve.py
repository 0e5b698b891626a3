"""`lns solve`: the main job, from the command line."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.errors import InputError
from lns.cli.main import ANSWER_IS_NO, DONE, INTERRUPTED, print_json
from lns.cli.options import duration, positive, whole

if TYPE_CHECKING:
    from instances.board import Board
    from instances.puzzle import Puzzle
    from lns.islands import Archipelago
    from lns.rundir import RunDirectory

log = logging.getLogger("lns")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "instance", metavar="INSTANCE", help="a puzzle file, a viewer URL, or a shipped instance's name"
    )
    parser.add_argument("--time", type=duration, default=60.0, metavar="S", help="seconds, or 10m, 2h, 7d (default 60)")
    parser.add_argument("--workers", type=positive, default=1, metavar="N", help="islands, a process each (default 1)")
    parser.add_argument(
        "--seed", type=whole, default=1, metavar="N", help="same seed, one worker: same search (default 1)"
    )
    parser.add_argument(
        "--run-dir", type=Path, metavar="DIR", help="new directory for the results (default runs/NAME-DATE)"
    )
    parser.add_argument("--start", metavar="BOARD", help="a board to polish: a file or a viewer URL; never made worse")
    parser.add_argument("--params", type=Path, metavar="FILE", help="parameters as TOML")
    parser.add_argument(
        "--target", type=whole, metavar="SCORE", help="stop at this score; exit status 1 when not reached"
    )
    parser.add_argument(
        "--engine", choices=("auto", "tabu"), default="auto", help="auto (default), or tabu search alone"
    )
    parser.add_argument(
        "--json", action="store_true", help="print the fields of best.json, and nothing else, to stdout"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")


def run(args: argparse.Namespace) -> int:
    from instances.formats import load_board, load_puzzle
    from lns import params as parameters
    from lns.rundir import RunDirectory

    puzzle = load_puzzle(args.instance)
    params = parameters.load(args.params) if args.params else parameters.Params()
    target = puzzle.max_score if args.target is None else args.target
    if target > puzzle.max_score:
        raise InputError(f"--target {target} cannot be reached: {puzzle.name} has {puzzle.max_score} inner edges")
    start = None
    if args.start is not None:
        _, start = load_board(args.start, puzzle)
    start, start_score = _checked_start(puzzle, start, args.start)
    directory = RunDirectory.create(args.run_dir, puzzle, args.instance, args.seed, parameters.to_toml(params))

    from lns.islands import Archipelago

    with _Logging(directory.path, quiet=args.quiet):
        search = Archipelago(
            puzzle, params, args.seed, args.workers, engine=args.engine, start=start, start_score=start_score
        )
        outcome = Job(puzzle, directory, search, quiet=args.quiet).run(args.time, target)
    if args.json:
        print_json(outcome.best)
    else:
        outcome.print_summary()
    if outcome.interrupted:
        return INTERRUPTED
    return DONE if args.target is None or outcome.best["score"] >= args.target else ANSWER_IS_NO


def _checked_start(puzzle: Puzzle, board: Board | None, source: str | None) -> tuple[Board | None, int]:
    """The start board, filled where it has holes, and its score; InputError when it breaks a rule."""
    if board is None:
        return None, -1
    from instances.verify import verify
    from lns.neighbourhoods.assign import fill

    judged = verify(puzzle, board)
    wrong = [problem for problem in judged.problems if "is missing" not in problem]
    if wrong:
        raise InputError(f"the start board is not legal for {puzzle.name}: {wrong[0]}", source)
    full = fill(puzzle, board)
    return full, verify(puzzle, full).score


class Job:
    """One call of solve or resume: runs the search, saves each improvement, shows progress."""

    def __init__(self, puzzle: Puzzle, directory: RunDirectory, search: Archipelago, *, quiet: bool) -> None:
        self.puzzle, self.directory, self.search, self.quiet = puzzle, directory, search, quiet
        self.best: dict[str, Any] = {}
        self.interrupted = False
        self.started = time.monotonic()

    def run(self, seconds: float, target: int) -> Job:
        from exact.jit import is_compiled

        log.info("%s: %d x %d, %d colours, best possible %d, sha256 %.12s", self.puzzle.name, self.puzzle.width,
                 self.puzzle.height, self.puzzle.colours, self.puzzle.max_score, self.puzzle.sha256)  # fmt: skip
        if not is_compiled("lns.construct.kernel"):
            log.info("compiling the kernels (once after an install or upgrade)")
        handlers = {number: signal.signal(number, self._interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
        self.seconds = seconds
        with _Progress(seconds, self.quiet) as self.progress:
            if self.search.best is not None:
                self._improved()
            try:
                self.search.run(seconds, target, self._report)
            finally:
                for number, handler in handlers.items():
                    signal.signal(number, handler)
        if self.search.best is None:
            raise InputError(f"no full board of {self.puzzle.name} was found in {seconds:g} s; expected more time")
        self._report(self.search)
        self.directory.retry()
        self.directory.draw(self.search.best)
        return self

    def _interrupt(self, number: int, frame: object) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True
        self.search.stop()

    def _report(self, search: Archipelago) -> None:
        if search.best is not None and search.best_score > self.best.get("score", -1):
            self._improved()
        self.progress.show(time.monotonic() - self.started, search)

    def _improved(self) -> None:
        assert self.search.best is not None
        elapsed = time.monotonic() - self.started
        self.best = self.directory.save(self.search.best, elapsed)
        self.directory.draw(self.search.best)
        log.info("%8.1f s  %d of %d  (%s)", elapsed, self.search.best_score, self.puzzle.max_score, self.search.origin)

    def print_summary(self) -> None:
        """The closing lines: score, what was done, where it is, how to look at it."""
        statistics = self.search.statistics
        elapsed = time.monotonic() - self.started
        print(f"best score    {self.best['score']} of {self.puzzle.max_score}")
        print(f"search        {elapsed:.1f} s, {statistics.summary(elapsed)}")
        print(f"run directory {self.directory.path}")
        print(f"viewer        {self.best['url']}")


class _Progress:
    """A live line on a terminal, a plain line now and then elsewhere; on stderr."""

    PLAIN_EVERY_S = 15.0

    def __init__(self, seconds: float, quiet: bool) -> None:
        self.seconds, self.quiet = seconds, quiet
        self._bar: Any = None
        self._said = 0.0

    def __enter__(self) -> _Progress:
        if not self.quiet and sys.stderr.isatty():
            from tqdm import tqdm
            from tqdm.contrib.logging import logging_redirect_tqdm

            self._redirect = logging_redirect_tqdm([log])
            self._redirect.__enter__()
            self._bar = tqdm(
                total=round(self.seconds), unit="s", leave=False, file=sys.stderr,
                bar_format="{desc} |{bar}| {n_fmt}/{total_fmt} s, {remaining} left",
            )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
            self._redirect.__exit__(None, None, None)

    def show(self, elapsed: float, search: Archipelago) -> None:
        score = search.best_score if search.best_score >= 0 else "-"
        line = f"best {score}, {search.statistics.rate(elapsed)}"
        if self._bar is not None:
            self._bar.set_description_str(line, refresh=False)
            self._bar.n = min(round(elapsed), self._bar.total)
            self._bar.refresh()
        elif not self.quiet and elapsed - self._said >= self.PLAIN_EVERY_S:
            self._said = elapsed
            log.info("%8.1f s  %s, %.0f s left", elapsed, line, max(0.0, self.seconds - elapsed))


class _Logging:
    """The lns log goes to run.log, and to stderr unless quiet."""

    def __init__(self, path: Path, *, quiet: bool) -> None:
        from lns.rundir import LOG

        try:
            to_file: logging.Handler = logging.FileHandler(path / LOG, encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", path / LOG) from None
        to_file.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        to_screen = logging.StreamHandler()
        to_screen.setLevel(logging.WARNING if quiet else logging.INFO)
        to_screen.setFormatter(logging.Formatter("%(message)s"))
        self.handlers = [to_file, to_screen]

    def __enter__(self) -> None:
        logging.raiseExceptions = False  # a full disk must not fill the screen with tracebacks of the log
        log.setLevel(logging.INFO)
        for handler in self.handlers:
            log.addHandler(handler)

    def __exit__(self, *_: object) -> None:
        for handler in self.handlers:
            log.removeHandler(handler)
            handler.close()
