"""`lns improve --everywhere`: re-solve all windows of a shape, and draw a map of what was proven."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from lns.api.improving import legal_refill
from lns.cli.improve_region import Question, region_options
from lns.exact.region.resolve import RegionResult, RegionStatus
from lns.exact.region.warmup import warm_up
from lns.exact.region.windows import WindowResult, check_shape, sweep_windows
from lns.instances.board import Board
from lns.instances.draw.page import Legend, svg_map, terminal_map
from lns.instances.files import write_output
from lns.instances.formats import url_if_any
from lns.instances.text import count_of, format_seconds
from lns.instances.verify import verify
from lns.terminal.inputs import print_notes
from lns.terminal.output import DONE, INTERRUPTED, board_lines, print_error, print_json, print_text
from lns.terminal.progress import live_line

_NODES = 5_000_000
_LEGEND: Legend = {
    "proven": ("#", (0, 135, 0), "windows proven: no other way to fill them was better"),
    "improved": ("+", (255, 215, 0), "windows improved"),
    "open": ("?", (135, 0, 0), "windows open, budget spent"),
}


@dataclass
class _Sweep:
    """State of a sweep over the windows, which is valid at any moment."""

    given: Board
    board: Board  # the best so far
    before: int  # score of the given board
    grid: list[list[str]]  # outcome of each window by its upper left cell; '' for windows that were not searched
    done: list[WindowResult] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def total(self) -> int:
        """Number of windows."""
        return sum(map(len, self.grid))


def improve_everywhere(asked: Question) -> int:
    """Search all windows, write the files, print the result; the exit status."""
    args, puzzle = asked.args, asked.puzzle
    height, width = args.window
    check_shape(puzzle, height, width)
    asked.announce_compilation()
    with live_line(None, quiet=args.quiet or args.json):
        warm_up(args.order)
    given = _legal(asked)
    grid = [[""] * (puzzle.width - width + 1) for _ in range(puzzle.height - height + 1)]
    sweep = _Sweep(given, given, verify(puzzle, given).score, grid)
    _search(asked, sweep)
    shape = f"windows of {count_of(height, 'row')} and {count_of(width, 'column')}"
    try:
        asked.write(sweep.board)
        if args.svg:
            write_output(args.svg, svg_map(sweep.grid, _LEGEND, f"{puzzle.name}: {shape}"))
    finally:  # as for one region
        _print_result(asked, sweep, shape)
    if args.output and not args.json:
        print_text(f"written     {args.output}")
    return INTERRUPTED if sweep.interrupted else DONE


def _legal(asked: Question) -> Board:
    """The board, or a legal refill of the cells that break a rule, if there is one."""
    puzzle, before = asked.puzzle, verify(asked.puzzle, asked.board)
    legal, _ = legal_refill(puzzle, asked.board, before, range(puzzle.cells))
    if legal != asked.board and not asked.args.quiet:
        print_error(
            f"lns: the given board broke {count_of(len(before.violations), 'rule')} ({before.seams} by seams); the "
            f"windows begin with a legal refill of score {verify(puzzle, legal).score}"
        )
    return legal


def _search(asked: Question, sweep: _Sweep) -> None:
    """Search the windows and record each in ``sweep``; Ctrl-C ends the search."""
    args, began = asked.args, time.perf_counter()

    def on_improve(board: Board) -> None:
        sweep.board = board
        asked.write_meanwhile(board)

    with live_line(args.time, quiet=args.quiet or args.json) as line:
        windows = sweep_windows(
            asked.puzzle,
            sweep.board,
            *args.window,
            nodes=_NODES if args.nodes is None else args.nodes,
            options=region_options(args),
            seconds=lambda: None if args.time is None else args.time - (time.perf_counter() - began),
            on_improve=on_improve,
        )
        try:
            for window in windows:
                sweep.done.append(window)
                sweep.board = window.result.board
                sweep.grid[window.row][window.column] = _outcome(window.result)
                sweep.interrupted |= window.result.status == RegionStatus.INTERRUPTED
                score = max(sweep.before, window.result.score)
                line.show(f"window {len(sweep.done)} of {sweep.total}, score {score}", time.perf_counter() - began)
        except KeyboardInterrupt:  # between two windows
            sweep.interrupted = True
    sweep.seconds = time.perf_counter() - began


def _outcome(result: RegionResult) -> str:
    return "improved" if result.improved else "proven" if result.proven else "open"


def _print_result(asked: Question, sweep: _Sweep, shape: str) -> None:
    puzzle, before, score = asked.puzzle, sweep.before, verify(asked.puzzle, sweep.board).score
    if not asked.args.quiet:
        print_notes(asked.notes)
    if asked.args.json:
        outcomes = [outcome for row in sweep.grid for outcome in row]
        # a proof holds for the board at that time, so for the final board only if it was never changed, not even at
        # equal score, as where a hole is filled
        unchanged = len(sweep.done) == sweep.total and sweep.board == sweep.given
        optimal = score == puzzle.max_score or (unchanged and all(window.result.proven for window in sweep.done))
        ended = "optimal" if optimal else "improved" if score > before else "open"
        print_json(
            {
                "status": "interrupted" if sweep.interrupted else ended,
                "score": score,
                "score_before": before,
                "bound": max(window.result.bound for window in sweep.done) if unchanged else puzzle.max_score,
                "nodes": sum(window.result.nodes for window in sweep.done),
                "seconds": round(sweep.seconds, 3),
                "windows": {outcome: outcomes.count(outcome) for outcome in _LEGEND} | {"total": sweep.total},
                "notes": asked.notes,
                "placements": sweep.board.without_blanks(puzzle).pairs(),
                "url": url_if_any(puzzle, sweep.board),
            }
        )
        return
    if score > before:
        print_text(*board_lines(puzzle, sweep.board), sep="\n")  # first: a URL may fill a terminal
    print(terminal_map(sweep.grid, _LEGEND))
    searched = f"{len(sweep.done)} of {sweep.total} searched in {format_seconds(sweep.seconds)}"
    print_text(f"{shape}: {searched}, by upper left cell")
    print_text(f"score       {score} of {puzzle.max_score}, before {before}")
