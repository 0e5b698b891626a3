"""`lns improve --everywhere`: all windows of a shape, and a map of what was proven where."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field

from exact.region.resolve import RegionOptions, RegionResult, RegionStatus
from exact.region.warmup import warm_up
from exact.region.windows import WindowResult, check_shape, sweep_windows
from instances.board import Board
from instances.draw.heatmap import Legend, svg_map, terminal_map
from instances.formats import atomic_write, url_if_any
from instances.puzzle import Puzzle
from instances.verify import verify
from lns.cli.regions import recorder, tell_compiling, write_board
from lns.terminal.options import board_lines
from lns.terminal.output import DONE, INTERRUPTED, print_json
from lns.terminal.progress import live_line

_NODES = 5_000_000
_LEGEND: Legend = {
    "proven": ("#", (0, 135, 0), "windows proven: no refill was better then"),
    "improved": ("+", (255, 215, 0), "windows improved"),
    "open": ("?", (135, 0, 0), "windows open: budget spent"),
}


@dataclass
class _Sweep:
    """The windows ``done``, of ``total``, and the board as they have improved ``given``; ``before``: its score."""

    given: Board
    board: Board
    before: int
    total: int
    done: list[WindowResult] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False


def run(args: argparse.Namespace, puzzle: Puzzle, board: Board) -> int:
    """Search, write, tell; the exit status."""
    height, width = args.window
    check_shape(puzzle, height, width)
    tell_compiling(args)
    warm_up(args.order)
    total = (puzzle.height - height + 1) * (puzzle.width - width + 1)
    sweep = _Sweep(board, board, verify(puzzle, board).score, total)
    _search(args, puzzle, sweep)
    try:
        write_board(args, puzzle, sweep.board)
        if args.svg:
            title = f"{puzzle.name}: windows of {height}x{width}"
            atomic_write(args.svg, svg_map(_grid(args, puzzle, sweep), _LEGEND, title))
    finally:  # as for one region
        _tell(args, puzzle, sweep)
    return INTERRUPTED if sweep.interrupted else DONE


def _search(args: argparse.Namespace, puzzle: Puzzle, sweep: _Sweep) -> None:
    """Fill ``sweep``, which is true at any moment: Ctrl-C ends it."""
    save = recorder(args, puzzle)
    began = time.perf_counter()

    def keep(board: Board) -> None:
        sweep.board = board
        save(board)

    with live_line(args.time, quiet=args.quiet or args.json) as line:
        windows = sweep_windows(
            puzzle,
            sweep.board,
            *args.window,
            nodes=_NODES if args.nodes is None else args.nodes,
            options=RegionOptions(order=args.order, backjumping=not args.no_backjumping),
            seconds=lambda: None if args.time is None else args.time - (time.perf_counter() - began),
            on_improve=keep,
        )
        try:
            for one in windows:
                sweep.done.append(one)
                sweep.board = one.result.board
                sweep.interrupted |= one.result.status == RegionStatus.INTERRUPTED
                told = f"window {len(sweep.done)} of {sweep.total}, score {max(sweep.before, one.result.score)}"
                line.show(told, time.perf_counter() - began)
        except KeyboardInterrupt:  # between two windows
            sweep.interrupted = True
    sweep.seconds = time.perf_counter() - began


def _tell(args: argparse.Namespace, puzzle: Puzzle, sweep: _Sweep) -> None:
    done, before, score = sweep.done, sweep.before, verify(puzzle, sweep.board).score
    height, width = args.window
    if args.json:
        kinds = [_verdict(one.result) for one in done]
        # what was proven of a window holds for the board as it was then: of the board as it is now, if nothing changed,
        # not even at equal score, as where a hole is filled
        settled = len(done) == sweep.total and sweep.board == sweep.given
        optimal = score == puzzle.max_score or (settled and all(one.result.proven for one in done))
        ended = "optimal" if optimal else "improved" if score > before else "open"
        print_json(
            {
                "status": "interrupted" if sweep.interrupted else ended,
                "score": score,
                "score_before": before,
                "bound": max(one.result.bound for one in done) if settled else puzzle.max_score,
                "nodes": sum(one.result.nodes for one in done),
                "seconds": round(sweep.seconds, 3),
                "windows": {kind: kinds.count(kind) for kind in _LEGEND} | {"total": sweep.total},
                "placements": sweep.board.pairs(),
                "url": url_if_any(puzzle, sweep.board),
            }
        )
    else:
        searched = f"{len(done)} of {sweep.total} searched in {sweep.seconds:.1f} s"
        print(terminal_map(_grid(args, puzzle, sweep), _LEGEND))
        print(f"windows of {height}x{width}: {searched}, by upper left cell")
        print(f"score       {score} of {puzzle.max_score}, before {before}")
        if score > before:
            print(*board_lines(puzzle, sweep.board), sep="\n")


def _grid(args: argparse.Namespace, puzzle: Puzzle, sweep: _Sweep) -> list[list[str]]:
    """The verdicts by the upper left cell of their windows; '' where nobody looked."""
    height, width = args.window
    grid = [[""] * (puzzle.width - width + 1) for _ in range(puzzle.height - height + 1)]
    for one in sweep.done:
        grid[one.row][one.column] = _verdict(one.result)
    return grid


def _verdict(result: RegionResult) -> str:
    return "improved" if result.improved else "proven" if result.proven else "open"
