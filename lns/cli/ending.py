"""How a search of the command line ends: by a signal or a rule, in order, and with the closing lines."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.api.stopping import NoImprovement, SearchProgress, StopRule
from lns.instances.errors import InputError
from lns.instances.text import count_of
from lns.terminal.options import JSON, QUIET, duration, flag, value
from lns.terminal.output import (
    ANSWER_IS_NO,
    BAD_INPUT,
    DONE,
    command_name,
    picked,
    print_error,
    print_json,
    print_text,
    print_wrapped,
)
from lns.terminal.progress import screen_log
from lns.terminal.signals import signal_handler

if TYPE_CHECKING:
    from distributed import Client

    from lns.api.result import Result
    from lns.instances.puzzle import Puzzle

ENDING_OPTIONS = (
    value("--stop-after-no-gain", "S", duration, "stop when the best score has not risen for S seconds of search, or "
          "like 30m, 6h"),
    value("--on-best --notify", "COMMAND", None, "run this shell command at each new best board; the search does not "
          "wait for it. It finds LNS_SCORE, LNS_MAX_SCORE, LNS_BEST (path of best.json) and LNS_RUN_DIR in its "
          "environment"),
    JSON.but("print the fields of best.json as one JSON object to stdout"),
    flag("--stats", "print at the end how many nodes each part of the engine used, and what it found"),
    flag("--url", "print the viewer URL of the best board at the end"),
    QUIET,
    value("--cluster", "ADDRESS", None, "search on the workers of a Dask cluster: tcp://HOST:PORT or tls://HOST:PORT "
          "of its scheduler, or local for one on this machine"),
)  # fmt: skip
"""The options that every search with a run directory has."""


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
        self.number = number
        if not self._searching:  # some imports swallow this; the search then ends as soon as it begins
            raise SystemExit(128 + number)
        how = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
        # below the live line, in which a terminal shows ^C
        print_error(f"{chr(10) * sys.stderr.isatty()}lns: {how}: saving; once more ends at once")


class SearchEnd:
    """What ends a search of the command line, and what follows each new best.

    Attributes
    ----------
    signals : SignalStop
        Ends it after a signal.
    """

    def __init__(self, args: argparse.Namespace, closing: contextlib.ExitStack) -> None:
        self.signals = SignalStop()
        self._args, self._closing = args, closing
        self._executor: Client | None = None
        closing.enter_context(signal_handler(self.signals.handle))
        closing.enter_context(screen_log(quiet=args.quiet))
        if args.cluster is not None:
            from lns.cluster import connected

            self._executor = closing.enter_context(connected(args.cluster, args.workers))

    def run_dir(self, puzzle: Puzzle) -> Path:
        """The directory of --run-dir, or a new one, which is removed if no run begins."""
        from lns.runs.directory import new_run_directory

        given: Path | None = self._args.run_dir
        return self._closing.enter_context(new_run_directory(puzzle)) if given is None else given

    def settings(self, run_dir: Path) -> dict[str, Any]:
        """What every search takes by the options of `ENDING_OPTIONS`, and the number of workers."""
        args, on_improve = self._args, None
        rule: StopRule = self.signals
        if args.on_best is not None:
            from lns.terminal.notify import Notifier

            notifier = Notifier(args.on_best, run_dir, lambda: self.signals.number != 0)
            on_improve = self._closing.enter_context(notifier)
        if args.stop_after_no_gain is not None:
            rule = rule | NoImprovement(args.stop_after_no_gain)
        progress = "none" if args.quiet else "terminal"
        run = {"run_dir": run_dir, "workers": args.workers, "executor": self._executor}
        return run | {"stop": rule, "on_improve": on_improve, "progress": progress}


@contextlib.contextmanager
def search_end(args: argparse.Namespace) -> Iterator[SearchEnd]:
    """Signals and rules end the search in order; the log goes to stderr."""
    with contextlib.ExitStack() as closing:
        yield SearchEnd(args, closing)


def ended(result: Result, end: SearchEnd, args: argparse.Namespace, *, target: int | None) -> int:
    """Print the result, with ``--stats`` also what each part of the engine did; the exit status."""
    number = end.signals.number
    stats = _statistics(result) if args.stats else None
    with contextlib.suppress(OSError) if number else contextlib.nullcontext():
        if result.record and args.json:
            print_json(result.record | ({} if stats is None else {"stats": stats}))
        elif result.record or (number and not args.json):
            _print_summary(result, stats, with_url=args.url)
    if not result.record and not number:
        raise InputError(
            f"no full board of {result.puzzle.name} was found in {result.elapsed_s:.0f} s; "
            f"expected more time: {command_name()} resume {shlex.quote(str(result.run_dir))} --time S"
        )
    if result.record and result.write_errors:
        print_error(f"lns: not written: {', '.join(result.write_errors)}; the board is above")
    if number:
        return 128 + number
    if result.write_errors:
        return BAD_INPUT
    return DONE if target is None or result.score >= target else ANSWER_IS_NO


def _print_summary(result: Result, stats: dict[str, Any] | None, *, with_url: bool) -> None:
    """The score and what it means, where the run is saved, and the commands that come next."""
    from lns.instances.pairing import pairing
    from lns.runs.files import INSTANCE, format_duration, reason_in_words

    if stats is not None:
        print_wrapped(f"work        {result.elapsed_s:.1f} s, {result.statistics.summary(result.elapsed_s)}")
        print_text(_table(stats))
    reached = result.target is not None and result.score >= result.target
    missed = "" if reached or result.target is None else f"; the target {result.target} was not reached"
    print_wrapped(f"best score  {result.score_in_words}{missed}", indent=12)
    reason = reason_in_words(result.why, has_target=result.target is not None)
    print_wrapped(
        f"search      ended after {format_duration(result.elapsed_s)}: {reason}; "
        f"{count_of(result.history.sessions[-1].workers, 'worker')}, seed {result.seed}",
        indent=12,
    )
    is_gone = result.run_dir is None or not Path(result.run_dir).is_dir()  # somebody may have removed it
    if not is_gone:
        print_text(f"saved in    {result.run_dir}")
    if with_url or result.write_errors:
        print_text(f"viewer      {result.url or 'none: it has no letter for some of the colours'}")
    if result.write_errors and result.board is not None and not result.url:
        print_text(f"placements  {json.dumps(result.record['placements'])}")
    if is_gone:
        return
    directory = shlex.quote(str(result.run_dir))
    if result.record:
        print_text(f"see it      {command_name()} show {directory}")
    if not result.solved and result.score < pairing(result.puzzle).best_possible:
        time = "" if result.history.remaining_s >= 1 else " --time 1h"
        # a run keeps its target, so that its resumption would end at once
        again = f"solve {shlex.quote(f'{result.run_dir}/{INSTANCE}')} --start {directory}"
        print_text(f"go on       {command_name()} {again if reached else f'resume {directory}{time}'}")
    sys.stdout.flush()


def _statistics(result: Result) -> dict[str, Any]:
    """Figures by part and by island, over all sessions of the run, for the JSON output."""
    from lns.runs.history import parts

    statistics = result.statistics
    named = "share boards bests edges edges_per_1e9 boards_per_1e9 new_boards found_later failures"
    rows = []
    for part in parts(result.history, statistics):
        row = {"name": part.name, "work": part.node_equivalents} | picked(part, named)
        rows.append(row | {"share": round(part.share, 6)})
    islands = [
        {"island": one.number, "score": one.best_score, "steps": one.steps, "work": one.statistics.node_equivalents}
        for _, one in sorted(result.islands.items())
    ]
    return {
        "work": statistics.node_equivalents,
        "unit": "node equivalents",
        "parts": rows,
        "tails": {"prefixes": statistics.prefixes, "nodes": statistics.tail_nodes},
        "islands": islands,
    }


def _table(stats: dict[str, Any]) -> str:
    """The figures of `_statistics` as a table.

    The columns are node equivalents (in millions: "~M nodes"), their share, boards in the log, new best boards,
    edges by which these were better, edges per 1e9 node equivalents, new boards of the wanted score, and how many of
    these the construction found later.
    """
    layout = "{:<22} {:>10} {:>7} {:>8} {:>6} {:>6} {:>10} {:>6} {:>6}"
    lines = [layout.format("part", "~M nodes", "share", "boards", "bests", "edges", "a 1e9", "new", "later")]
    for part in stats["parts"]:
        work, share, gain = "-", "-", "-"
        if part["work"]:
            work, share, gain = f"{part['work'] / 1e6:,.1f}", f"{part['share']:.1%}", f"{part['edges_per_1e9']:,.3g}"
        counts = part["boards"], part["bests"], part["edges"], gain, part["new_boards"], part["found_later"]
        off = "  switched off: it failed" if part["failures"] else ""
        lines.append(layout.format(part["name"], work, share, *counts) + off)
    tails = stats["tails"]
    if tails["nodes"]:
        lines.append(f"exact tails   {tails['prefixes']:,} prefixes, {tails['nodes'] / 1e6:,.1f} M nodes of their own")
    lines.append(f"islands       {', '.join(str(island['score']) for island in stats['islands'])} at best")
    return "\n".join(lines)
