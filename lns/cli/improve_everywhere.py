"""`lns improve --everywhere`: re-solve all windows of a shape, and draw a map of what was proven."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field

from exact.region.resolve import RegionResult, RegionStatus
from exact.region.warmup import warm_up
from exact.region.windows import WindowResult, check_shape, sweep_windows
from instances.board import Board
from instances.draw.heatmap import Legend, svg_map, terminal_map
from instances.formats import url_if_any
from instances.puzzle import Puzzle
from instances.verify import verify
from lns.api.improving import legal_refill
from lns.cli.regions import announce_compilation, board_writer, region_options, write_board
from lns.terminal.inputs import print_notes
from lns.terminal.options import board_lines
from lns.terminal.output import DONE, INTERRUPTED, print_error, print_json, print_text
from lns.terminal.progress import live_line
from lns_support.files import write_output
from lns_support.text import count_of, format_seconds

_NODES = 5_000_000
_LEGEND: Legend = {
    "proven": ("#", (0, 135, 0), "windows proven: no other way to fill them was better"),
    "improved": ("+", (255, 215, 0), "windows improved"),
    "open": ("?", (135, 0, 0), "windows open, budget spent"),
}


@dataclass
class _Sweep:
    """State of a sweep over the windows."""

    given: Board
    board: Board  # the best so far
    before: int  # score of the given board
    total: int  # number of windows
    done: list[WindowResult] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False


def run(args: argparse.Namespace, puzzle: Puzzle, board: Board) -> int:
    """Search all windows, write the files, print the result; the exit status."""
    height, width = args.window
    check_shape(puzzle, height, width)
    announce_compilation(args)
    with live_line(None, quiet=args.quiet or args.json):
        warm_up(args.order)
    total = (puzzle.height - height + 1) * (puzzle.width - width + 1)
    sweep = _Sweep(_legal(puzzle, board, args.quiet), board, 0, total)
    sweep.board, sweep.before = sweep.given, verify(puzzle, sweep.given).score
    _search(args, puzzle, sweep)
    try:
        write_board(args, puzzle, sweep.board)
        if args.svg:
            title = f"{puzzle.name}: {_shape_in_words(args)}"
            write_output(args.svg, svg_map(_grid(args, puzzle, sweep), _LEGEND, title))
    finally:  # as for one region
        _print_result(args, puzzle, sweep)
    if args.output and not args.json:
        print_text(f"written     {args.output}")
    return INTERRUPTED if sweep.interrupted else DONE


def _legal(puzzle: Puzzle, board: Board, quiet: bool) -> Board:
    """The board, or a legal refill of the cells that break a rule, if there is one."""
    before = verify(puzzle, board)
    legal, _ = legal_refill(puzzle, board, before, range(puzzle.cells))
    if legal != board and not quiet:
        print_error(
            f"lns: the given board broke {count_of(len(before.violations), 'rule')} ({before.seams} by seams); the "
            f"windows begin with a legal refill of score {verify(puzzle, legal).score}"
        )
    return legal


def _search(args: argparse.Namespace, puzzle: Puzzle, sweep: _Sweep) -> None:
    """Search the windows and record each in ``sweep``, which is valid at any moment; Ctrl-C ends the search."""
    save = board_writer(args, puzzle)
    began = time.perf_counter()

    def on_improve(board: Board) -> None:
        sweep.board = board
        save(board)

    with live_line(args.time, quiet=args.quiet or args.json) as line:
        windows = sweep_windows(
            puzzle,
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
                sweep.interrupted |= window.result.status == RegionStatus.INTERRUPTED
                score = max(sweep.before, window.result.score)
                line.show(f"window {len(sweep.done)} of {sweep.total}, score {score}", time.perf_counter() - began)
        except KeyboardInterrupt:  # between two windows
            sweep.interrupted = True
    sweep.seconds = time.perf_counter() - began


def _print_result(args: argparse.Namespace, puzzle: Puzzle, sweep: _Sweep) -> None:
    done, before, score = sweep.done, sweep.before, verify(puzzle, sweep.board).score
    if not args.quiet:
        print_notes(args.notes)
    if args.json:
        outcomes = [_outcome(window.result) for window in done]
        # a proof holds for the board at that time, so for the final board only if it was never changed, not even at
        # equal score, as where a hole is filled
        unchanged = len(done) == sweep.total and sweep.board == sweep.given
        optimal = score == puzzle.max_score or (unchanged and all(window.result.proven for window in done))
        ended = "optimal" if optimal else "improved" if score > before else "open"
        print_json(
            {
                "status": "interrupted" if sweep.interrupted else ended,
                "score": score,
                "score_before": before,
                "bound": max(window.result.bound for window in done) if unchanged else puzzle.max_score,
                "nodes": sum(window.result.nodes for window in done),
                "seconds": round(sweep.seconds, 3),
                "windows": {outcome: outcomes.count(outcome) for outcome in _LEGEND} | {"total": sweep.total},
                "notes": args.notes,
                "placements": sweep.board.without_blanks(puzzle).pairs(),
                "url": url_if_any(puzzle, sweep.board),
            }
        )
    else:
        searched = f"{len(done)} of {sweep.total} searched in {format_seconds(sweep.seconds)}"
        if score > before:
            print_text(*board_lines(puzzle, sweep.board), sep="\n")  # first: a URL may fill a terminal
        print(terminal_map(_grid(args, puzzle, sweep), _LEGEND))
        print_text(f"{_shape_in_words(args)}: {searched}, by upper left cell")
        print_text(f"score       {score} of {puzzle.max_score}, before {before}")


def _shape_in_words(args: argparse.Namespace) -> str:
    height, width = args.window
    return f"windows of {count_of(height, 'row')} and {count_of(width, 'column')}"


def _grid(args: argparse.Namespace, puzzle: Puzzle, sweep: _Sweep) -> list[list[str]]:
    """Outcome of each window by its upper left cell; '' for windows that were not searched."""
    height, width = args.window
    grid = [[""] * (puzzle.width - width + 1) for _ in range(puzzle.height - height + 1)]
    for window in sweep.done:
        grid[window.row][window.column] = _outcome(window.result)
    return grid


def _outcome(result: RegionResult) -> str:
    return "improved" if result.improved else "proven" if result.proven else "open"
