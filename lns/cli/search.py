"""`lns solve`, `resume` and `polish`: searches that leave a run directory, and what ends them; also `lns estimate`."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from lns.api.arguments import DEFAULT_SECONDS
from lns.api.stopping import NoImprovement, SearchProgress, StopRule
from lns.engines import ENGINES
from lns.exact.text_table import aligned, table_width
from lns.instances.errors import InputError
from lns.instances.pairing import pairing
from lns.instances.text import count_of, printable
from lns.runs.directory import new_run_directory
from lns.runs.files import BEST, INSTANCE, format_duration, reason_in_words
from lns.runs.history import part_table, parts
from lns.terminal import options as opt
from lns.terminal import output as out
from lns.terminal.inputs import check_start_options, print_notes, read_board, read_puzzle
from lns.terminal.progress import screen_log
from lns.terminal.signals import interrupt_on_signal, signal_handler

if TYPE_CHECKING:
    from lns.api.estimating import Estimate
    from lns.api.result import Result
    from lns.engine import FoundBoard
    from lns.instances.puzzle import Puzzle

log = logging.getLogger("lns")

LONGEST_S = 600.0  # seconds after which a command of --on-best is killed
LAST_S = 10.0  # most seconds to wait, at the end of the search, for the command on the last best board
SOON_S = 0.4  # most seconds to wait for a command of --on-best after a signal; then it gets SIGTERM and as many again

RUN_DIR = opt.value("--run-dir", "DIR", opt.nonempty_path, "new directory for the results (default runs/NAME-DATE)")
STEPS = opt.value(
    "--steps", "N", opt.positive_number, "stop each island after N steps, a measure that does not depend on time"
)
_ENDING = (  # options that every search with a run directory has
    opt.value("--stop-after-no-gain", "S", opt.duration, "stop when the best score has not risen for S seconds of "
              "search, or like 30m, 6h"),
    opt.value("--on-best --notify", "COMMAND", None, "run this shell command at each new best board; the search does "
              "not wait for it. It finds LNS_SCORE, LNS_MAX_SCORE, LNS_BEST (path of best.json) and LNS_RUN_DIR in its "
              "environment"),
    opt.JSON.but("print the fields of best.json as one JSON object to stdout"),
    opt.flag("--stats", "print at the end how many nodes each part of the engine used, and what it found"),
    opt.flag("--url", "print the viewer URL of the best board at the end"),
    opt.QUIET,
    opt.value("--cluster", "ADDRESS", None, "search on the workers of a Dask cluster: tcp://HOST:PORT or "
              "tls://HOST:PORT of its scheduler, or local for one on this machine"),
)  # fmt: skip


@opt.command(
    opt.INSTANCE,
    *opt.PUZZLE_OPTIONS,
    opt.TIME.but(f"{opt.TIME.settings['help']} (default 60; none with --steps or --stop-after-no-gain)"),
    opt.WORKERS.but(
        "number of islands, each of which keeps one core busy (default: as many as this machine has cores, or the "
        "cluster has threads, also those that join later)"
    ),
    opt.SEED.but("random seed; with one worker the same seed repeats the search (default: drawn at random, and "
                 "printed)"),
    RUN_DIR,
    opt.START_OPTIONS[0].but("begin with this board, a file, run directory or viewer URL, and search for better ones"),
    *opt.START_OPTIONS[1:],
    opt.value("--pin", "CELLS", None, "keep these cells of the start board, which must match each other: "
              "3,4,10-20, or rows r3, r0-11, from 0"),
    opt.PARAMS,
    opt.value("--target", "SCORE", opt.whole_number, "stop at this score; exit status 1 if it is not reached"),
    STEPS,
    opt.choice("--engine", ENGINES, "auto (default); gpu (auto with a graphics card); or one part alone: construct "
               "(construction and exact tails), beam (beam search), tabu (tabu search), lns (large-neighbourhood "
               "search on one board)"),
    opt.value("--device", "N", opt.whole_number, "search on graphics card N too, from 0: engine gpu (needs the extra "
              "'gpu')"),
    opt.value("--min-score", "SCORE", opt.whole_number, "write boards of at least this score to boards.jsonl, besides "
              "new bests (default: search_floor of the parameters if it is set, else one below the best score so far)"),
    opt.value("--checkpoint", "S", opt.duration, "save a checkpoint every S seconds and at each new best (default 60)",
              default=60.0),
    *_ENDING,
    epilog="Ctrl-C, SIGTERM, SIGHUP and `lns stop` end the search and save it; `lns resume` continues it. "
    "Exit status: 0 done, 1 --target not reached, 2 bad input, 129 SIGHUP, 130 Ctrl-C, 143 SIGTERM.",
)  # fmt: skip
def solve(args: argparse.Namespace) -> int:
    check_start_options(args)
    with SearchEnd(args) as end:
        from lns.api.solving import solve

        if args.device is not None:
            if args.engine not in ("auto", "gpu"):
                raise InputError(f"--device is for engine gpu, not {args.engine}")
            os.environ["CUDA_VISIBLE_DEVICES"] = str(args.device)
            args.engine = "gpu"
        puzzle, notes = read_puzzle(args, args.instance)
        unlimited = args.steps is not None or args.stop_after_no_gain is not None
        result = solve(
            puzzle,
            instance=args.instance,
            notes=notes,
            time=DEFAULT_SECONDS if args.time is None and not unlimited else args.time,
            pins=args.pin,
            checkpoint_s=args.checkpoint,
            **out.picked(args, "seed start start_format start_number params engine target steps min_score"),
            **end.settings(end.run_dir(puzzle)),
        )
    return print_result(result, end.number, args)


@opt.command(
    opt.RUN.but("the run directory; it may have been moved"),
    opt.TIME.but("search for S more seconds, or like 10m, 2h, 1w; this replaces the run's plan (default: what is left "
                 "of the time that the run was given)"),
    opt.WORKERS.but("number of islands (default: as in the last session, or as many as the cluster has threads)"),
    STEPS.but("stop each island after N more steps"),
    *_ENDING,
    epilog="Instance, seed, engine, target, pins and parameters are those of the run, as saved in DIR; "
    "--stop-after-no-gain and --on-best are not saved. "
    "With fewer workers than islands, the islands without a worker stay as they are until a later call.",
)  # fmt: skip
def resume(args: argparse.Namespace) -> int:
    with SearchEnd(args) as end:
        from lns.api.solving import resume

        result = resume(time=args.time, steps=args.steps, **end.settings(args.directory))
    return print_result(result, end.number, args)


@opt.command(
    opt.BOARD, opt.PUZZLE, *opt.BOARD_OPTIONS, *opt.PUZZLE_OPTIONS,
    opt.TIME.but(f"{opt.TIME.settings['help']} (default 60)"),
    opt.value("--free", "CELLS", None, "only these cells may change: 3,4,10-20, or rows r3, r0-11, from 0 "
              "(default: any, but half of them stay)"),
    opt.WORKERS.but("islands (default: one for each core)"), opt.SEED, RUN_DIR,
    opt.PARAMS.but("read parameters from this TOML file"), *_ENDING,
    epilog="Regions around the mismatches are freed and re-solved exactly; where none is better, refills as good, "
    "exchanges and short tabu walks move the damage. It ends by time, or when all listed regions are proven. "
    "Exit status: 0 done, 2 bad input, 130 Ctrl-C (the best board is kept).",
)  # fmt: skip
def polish(args: argparse.Namespace) -> int:
    with SearchEnd(args) as end:
        from lns.api.files import legal_start
        from lns.api.solving import polish
        from lns.instances.formats import source_name

        puzzle, board, _, notes = read_board(args, searched=True)
        legal_start(puzzle, board, source_name(args.board))
        result = polish(
            puzzle,
            board,
            time=DEFAULT_SECONDS if args.time is None else args.time,
            notes=notes,
            instance=args.puzzle or puzzle.name,
            **out.picked(args, "free seed params"),
            **end.settings(end.run_dir(puzzle)),
        )
    return print_result(result, end.number, args)


@opt.command(
    opt.INSTANCE,
    opt.TIME.but("how long to measure on one core: seconds, or like 10m, 2h (default 60; minutes give useful bounds)",
                 default=60.0),
    opt.SEED, opt.PARAMS.but("read parameters from this TOML file, or 'default' for the defaults (default: as `lns "
                             "solve` takes them)"),
    opt.flag("--verbose", "print the table of rates: measured, forecast, and how they were combined"),
    *opt.PUZZLE_OPTIONS, opt.JSON, opt.QUIET,
    epilog="The main engine constructs boards on one core for --time; its boards are counted by score. Printed is, for "
    "each score, how long one core takes for a board; above the scores that were measured this is extrapolated. No "
    "run directory is made. Ctrl-C prints what was measured until then. "
    "Exit status: 0 done, 2 bad input, 129 SIGHUP, 130 Ctrl-C, 143 SIGTERM.",
)  # fmt: skip
def estimate(args: argparse.Namespace) -> int:
    from lns.api.estimating import estimate

    puzzle, notes = read_puzzle(args, args.instance)
    if not args.quiet:
        print_notes(notes)
    signals: list[int] = []
    try:
        with signal_handler(interrupt_on_signal) as signals, screen_log(quiet=args.quiet):
            shown = "none" if args.quiet else "terminal"
            result = estimate(puzzle, progress=shown, **out.picked(args, "time seed params"))
    except KeyboardInterrupt:
        return 128 + (signals or [signal.SIGINT])[-1]
    facts = {"instance": result.puzzle.name, "max_score": result.puzzle.max_score}
    facts |= out.picked(result, "seed seconds nodes measured_score interrupted")
    advice = "\nA longer --time narrows it down; --verbose prints the rates behind it."
    lines = _rates(result) if args.verbose else [out.wrapped(f"{result.summary()}\n{advice}", sys.stdout)]
    out.print_answer(args, facts | {"rows": result.records()}, lines)
    return 128 + (signals or [signal.SIGINT])[-1] if result.interrupted else out.DONE


def _rates(result: Estimate) -> Iterator[str]:
    """Yield the lines of --verbose: the rates of an estimate, and how they were extrapolated."""
    from lns.rates import min_distance

    yield result.headline
    yield f"Boards of at least a score per core-hour, different in {min_distance(result.puzzle.cells)} cells or more."
    yield (
        f"Measured up to {result.measured_score}. Above it `expected` is extrapolated: half-way (in logarithms) between"
    )
    yield "two extremes: each further edge costs as much as the last two measured ones did, or as much more as the"
    yield "model says in `forecast`, which rises too fast. `between` has both, widened by two standard deviations."
    layout = "{:>5} {:>5} {:>9} {:>9} {:>9} {:>19}  {:>17}"
    titles = ("score", "seen", "measured", "forecast", "expected", "between", "core-days for one")
    yield f"\n{layout.format(*titles)}"
    for row in result.rows:
        measured = "-" if row.measured is None else _number(row.measured)
        spread = f"{_number(row.low):>8} - {_number(row.high):>8}"
        rates = (measured, _number(row.forecast), _number(row.expected), spread, _number(row.core_days))
        yield layout.format(row.score, row.count or "-", *rates)


def _number(value: float) -> str:
    """Return ``value`` as text, with two significant digits."""
    return f"{value:.2g}" if value < 100 or value >= 1e6 else f"{float(f'{value:.2g}'):,.0f}"


# -- what ends a search, and what happens at each new best board ------------------------------------------------------


class SearchEnd(contextlib.ExitStack, StopRule):
    """Stop rule that ends a search after a signal; `settings` returns the arguments common to all searches.

    While this context is open, a signal stops and saves the search, and the log goes to stderr. A signal before the
    search begins ends the program at once, and so does a second signal.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__()
        self.number = 0  # signal number of the first signal; 0 before a signal
        self._args, self._searching = args, False
        self._notifier: Notifier | None = None

    def __enter__(self) -> SearchEnd:
        self.enter_context(signal_handler(self.handle))
        self.enter_context(screen_log(quiet=self._args.quiet))
        return self

    def __call__(self, progress: SearchProgress) -> str | None:
        self._searching = True
        if self._notifier is not None:
            self._notifier.poll()
        return signal.Signals(self.number).name if self.number else None

    def handle(self, number: int, frame: object) -> None:
        """Handle a signal: note the first one; end the program at once at the second, or if no search has begun."""
        if self.number:
            os._exit(128 + number)  # the last checkpoint is intact: files are replaced as a whole; the workers end too
        self.number = number
        if not self._searching:  # if an import swallows this exception, the search will end as soon as it begins
            raise SystemExit(128 + number)
        how = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
        # the message begins on a new line, as a terminal shows ^C in the live line
        out.print_error(f"{chr(10) * sys.stderr.isatty()}lns: {how}: saving; once more ends at once")

    def run_dir(self, puzzle: Puzzle) -> Path:
        """Return the directory of --run-dir, or else a new directory, which is removed if no run begins."""
        given: Path | None = self._args.run_dir
        return self.enter_context(new_run_directory(puzzle)) if given is None else given

    def settings(self, run_dir: Path) -> dict[str, Any]:
        """Return the keyword arguments of `lns.solve` that all searches have: run directory, workers, stop rule, ..."""
        args, executor = self._args, None
        rule: StopRule = self
        if args.cluster is not None:
            from lns.cluster import connected

            executor = self.enter_context(connected(args.cluster, args.workers))
        if args.on_best is not None:
            self._notifier = self.enter_context(Notifier(args.on_best, run_dir, lambda: self.number != 0))
        if args.stop_after_no_gain is not None:
            rule = rule | NoImprovement(args.stop_after_no_gain)
        progress = "none" if args.quiet else "terminal"
        run = {"run_dir": run_dir, "workers": args.workers, "executor": executor}
        return run | {"stop": rule, "on_improve": self._notifier, "progress": progress}


class Notifier:
    """Context manager that runs a shell command for new best boards, one command at a time.

    Once a command has ended, `poll` begins the next, for the newest best board only. The search neither waits for a
    command nor fails with it. After the search the context waits at most `LAST_S` for the last command; if
    ``interrupted()``, it waits at most `SOON_S` and then ends the command.
    """

    def __init__(self, command: str, run_dir: Path, interrupted: Callable[[], bool] = lambda: False) -> None:
        self._command, self._directory, self._interrupted = command, run_dir.resolve(), interrupted
        self._next: FoundBoard | None = None
        self._running: tuple[subprocess.Popen[bytes], IO[bytes], float] | None = None  # process, output, time of start

    def __call__(self, found: FoundBoard) -> None:
        """Keep a new best board, in place of an earlier one, for the command that a later `poll` begins."""
        self._next = found

    def __enter__(self) -> Notifier:
        return self

    def __exit__(self, *_: object) -> None:
        began = time.monotonic()
        while self.poll() and time.monotonic() - began < (SOON_S if self._interrupted() else LAST_S):
            time.sleep(0.05)
        if self._running is not None and self._interrupted():
            self._next, process = None, self._running[0]
            self._kill(process, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(SOON_S)
        if self.poll():
            log.warning("the command of --on-best still runs after %.3g s; it is left alone", time.monotonic() - began)

    def poll(self) -> bool:
        """Kill a command that takes too long, log a failed one, begin the next one; return whether a command runs."""
        if self._running is not None:
            process, output, began = self._running
            if (status := process.poll()) is None:
                if time.monotonic() - began < LONGEST_S:
                    return True
                self._kill(process, signal.SIGKILL)
                process.wait()
                log.warning("the command of --on-best took more than %g s and was killed", LONGEST_S)
            elif status == -signal.SIGTERM and self._interrupted():
                log.warning("the command of --on-best still ran and was ended")
            elif status:
                output.seek(max(0, output.seek(0, os.SEEK_END) - 2000))
                lines = output.read().decode(errors="replace").strip().splitlines()
                said = f": {printable(lines[-1], 200)}" if lines else ""
                log.warning("the command of --on-best ended with status %d%s", status, said)
            self._running = None
        found, self._next = self._next, None
        if found is not None:
            try:
                self._running = self._begun(found)
            except OSError as error:
                log.warning("the command of --on-best cannot be run: %s", error.strerror)
        return self._running is not None

    def _begun(self, found: FoundBoard) -> tuple[subprocess.Popen[bytes], IO[bytes], float]:
        puzzle, output = found.board.puzzle, tempfile.TemporaryFile()  # noqa: SIM115
        told = {"LNS_SCORE": str(found.score), "LNS_MAX_SCORE": "" if puzzle is None else str(puzzle.max_score)}
        told |= {"LNS_BEST": str(self._directory / BEST), "LNS_RUN_DIR": str(self._directory)}
        process = subprocess.Popen(
            self._command, shell=True, env=os.environ | told, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        return process, output, time.monotonic()

    @staticmethod
    def _kill(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)


# -- what is printed at the end of a search ---------------------------------------------------------------------------


def print_result(result: Result, number: int, args: argparse.Namespace) -> int:
    """Print the result, with ``--stats`` also what each part of the engine did; return the exit status.

    ``number`` is the signal that ended the search, 0 without a signal.
    """
    stats = _statistics(result) if args.stats else None
    with contextlib.suppress(OSError) if number else contextlib.nullcontext():
        if result.record and args.json:
            out.print_json(result.record | ({} if stats is None else {"stats": stats}))
        elif result.record or (number and not args.json):
            _print_summary(result, stats, with_url=args.url)
    if not result.record and not number:
        raise InputError(
            f"no full board of {result.puzzle.name} was found in {result.elapsed_s:.0f} s; "
            f"expected more time: {out.command_name()} resume {shlex.quote(str(result.run_dir))} --time S"
        )
    if result.record and result.write_errors:
        out.print_error(f"lns: not written: {', '.join(result.write_errors)}; the board is above")
    if number:
        return 128 + number
    if result.write_errors:
        return out.BAD_INPUT
    return out.DONE if result.target is None or result.score >= result.target else out.ANSWER_IS_NO


def _print_summary(result: Result, stats: dict[str, Any] | None, *, with_url: bool) -> None:
    """Print the score and what it means, where the run is saved, and commands with which the user may go on."""
    if stats is not None:
        out.print_wrapped(f"work        {result.elapsed_s:.1f} s, {result.statistics.summary(result.elapsed_s)}")
        out.print_text(_table(result, stats))
    reached = result.target is not None and result.score >= result.target
    missed = "" if reached or result.target is None else f"; the target {result.target} was not reached"
    out.print_wrapped(f"best score  {result.score_in_words}{missed}", indent=12)
    if [one.origin for one in result.improvements] == ["start"] and not result.solved:
        out.print_text("no gain     nothing better than the given board was found; best.json holds that board")
    reason = reason_in_words(result.why, has_target=result.target is not None)
    workers = count_of(result.history.sessions[-1].workers, "worker")
    spent = f"ended after {format_duration(result.elapsed_s)}: {reason}; {workers}, seed {result.seed}"
    out.print_wrapped(f"search      {spent}", indent=12)
    is_gone = result.run_dir is None or not Path(result.run_dir).is_dir()  # a user may have removed the directory
    if not is_gone:
        out.print_text(f"saved in    {result.run_dir}")
    if with_url or result.write_errors:
        out.print_text(f"viewer      {result.url or 'none: it has no letter for some of the colours'}")
    if result.write_errors and result.board is not None and not result.url:
        out.print_text(f"placements  {json.dumps(result.record['placements'])}")
    if is_gone:
        return
    directory = shlex.quote(str(result.run_dir))
    if result.record:
        out.print_text(f"see it      {out.command_name()} show {directory}")
    if not result.solved and result.score < pairing(result.puzzle).best_possible:
        time = "" if result.history.remaining_s >= 1 else " --time 1h"
        # a run keeps its target: if it was reached, a resumed run would end at once
        again = f"solve {shlex.quote(f'{result.run_dir}/{INSTANCE}')} --start {directory}"
        out.print_text(f"go on       {out.command_name()} {again if reached else f'resume {directory}{time}'}")
    sys.stdout.flush()


def _statistics(result: Result) -> dict[str, Any]:
    """Return statistics by engine part and by island, over all sessions of the run, for the JSON output."""
    statistics = result.statistics
    named = "share boards bests edges edges_per_1e9 boards_per_1e9 new_boards found_later failures"
    rows = []
    for part in parts(result.history, statistics):
        row = {"name": part.name, "work": part.node_equivalents} | out.picked(part, named)
        rows.append(row | {"share": round(part.share, 6)})
    islands = [
        {"island": one.number, "score": one.best_score, "steps": one.steps, "work": one.statistics.node_equivalents}
        for _, one in sorted(result.islands.items())
    ]
    tails = {"prefixes": statistics.prefixes, "nodes": statistics.tail_nodes}
    work = {"work": statistics.node_equivalents, "unit": "node equivalents"}
    return work | {"parts": rows, "tails": tails, "islands": islands}


def _table(result: Result, stats: dict[str, Any]) -> str:
    """Return the statistics of a search as text: a table of the engine's parts, the exact tails and the islands."""
    with table_width(out.terminal_width()):
        lines = [aligned(part_table(result.history, result.statistics))]
    tails = stats["tails"]
    if tails["nodes"]:
        lines.append(f"exact tails   {tails['prefixes']:,} prefixes, {tails['nodes'] / 1e6:,.1f} M nodes of their own")
    lines.append(f"islands       {', '.join(str(island['score']) for island in stats['islands'])} at best")
    return "\n".join(lines)
