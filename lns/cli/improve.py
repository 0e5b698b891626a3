"""`lns improve`: free a region of a board, or all windows of a shape, and re-solve them exactly, with a proof."""

from __future__ import annotations

import argparse
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from lns import cells
from lns.exact.region.options import RegionOptions
from lns.instances import formats
from lns.instances.board import Board
from lns.instances.draw.page import Legend, svg_map, terminal_map
from lns.instances.errors import BoardError, InputError
from lns.instances.files import write_output
from lns.instances.formats.base import source_name
from lns.instances.puzzle import Puzzle
from lns.instances.text import count_of, format_seconds
from lns.instances.verify import Verification, verify
from lns.runs.directory import board_source
from lns.terminal import options as opt
from lns.terminal import output as out
from lns.terminal.inputs import check_board_file, print_notes, read_board
from lns.terminal.progress import live_line

if TYPE_CHECKING:
    from lns.exact.region.resolve import RegionResult

_WINDOW_NODES = 5_000_000
_SENTENCES = {
    "OPTIMAL": "no other way to fill this region is better",
    "IMPROVED_OPTIMAL": "a better way to fill the region, and none is better than this",
    "TARGET_REFUTED": "no way to fill the region reaches the target",
    "TARGET_REACHED": "at most {bound} is possible",
    "IMPROVED": "a better way to fill the region; at most {bound} is possible",
    "BUDGET_SPENT": "nothing better found; at most {bound} is possible",
}
_CHECKS = {
    "proved": "no refill scores more than {bound}",
    "open": "not decided",
    "contradicted": "this board was found",
}
_LEGEND: Legend = {
    "proven": ("#", (0, 135, 0), "windows proven: no other way to fill them was better"),
    "improved": ("+", (255, 215, 0), "windows improved"),
    "open": ("?", (135, 0, 0), "windows open, budget spent"),
}
_EXAMPLES = """\
examples:
  lns improve best.json --rows 13-15                free the last three rows of a 16x16 board
  lns improve "https://e2.bucas.name/#puzzle=..."   free the cells around the mismatches, for a minute
  lns improve best.json --cells 200-215,231 -o better.json
  lns improve best.json --window 2x16 --everywhere --svg map.svg
  lns improve best.json --cells 17-20,33-36 --order dynamic --no-backjumping
  lns improve best.json --rows 13-15 --check        ask a second solver whether the answer is true

Rows and cells count from 0, as `lns show` numbers them. A range A-B includes both ends, and r13-15 are rows where cells
are listed too; A:B, for --rows, leaves out B. A proof means that no other way to fill the region gives a better score.
With -o each better board is written as soon as it is found; without one, the board as it was. Ctrl-C, SIGTERM and
SIGHUP end the search with the best board so far.
Exit status: 0 done, 1 --target not reached, 2 bad input, 70 --check contradicts the answer, 130 interrupted.
"""


@opt.command(
    opt.BOARD, opt.PUZZLE, *opt.BOARD_OPTIONS, *opt.PUZZLE_OPTIONS,
    *opt.grouped(
        "region",
        opt.value("--rows", "A-B", opt.span, "free the rows A to B, from 0, both included; 8 is row 8 alone"),
        opt.value("--cells", "LIST", None, "free these cells, such as 3,4,10-20; r3 is the whole row 3"),
        opt.value("--window", "HxW", opt.size, "shape of the windows of --everywhere: 2x16 is 2 rows, 16 columns"),
        opt.flag("--everywhere", "re-solve all windows of the shape of --window, one after the other"),
        opt.flag("--around-mismatches", "free the cells around the mismatches (default)"),
        opt.value("--donors", "K", opt.whole_number, "also free K cells elsewhere whose pieces fit the region "
                  "(default 0)",
                  default=0),
    ),
    *opt.grouped(
        "method",
        opt.choice("--order", ("auto", "static", "dynamic"), "static: fill the cells in fixed orders; dynamic: the "
                   "most constrained cell first; auto (default): static, in long searches both in turns"),
        opt.flag("--no-backjumping", "with --order dynamic: backtrack one level at a time, without conflict-directed "
                 "jumps"),
        opt.value("--heuristic", "NAME", None, "with --order dynamic or auto: the criterion for the most constrained "
                  "cell, dom-deg (default) or a name of `lns exact count --heuristic`", default="dom-deg"),
        opt.flag("--preemption", "with --order dynamic or auto: keep the pieces that one cell needs from the others"),
        opt.flag("--instantiation", "with --order dynamic or auto: decide a cell with one candidate at once"),
        opt.flag("--check", "then ask a second, independent solver (python-sat) if any refill scores more, for as "
                 "long as --time"),
    ),
    *opt.grouped(
        "budget",
        opt.NODES.but("limit of search nodes, of each window with --everywhere (default 5 million there, else none)"),
        opt.TIME.but("time limit in seconds, or like 10m (default 60 s; none with --nodes or --everywhere)"),
        opt.value("--target", "S", opt.positive_number, "stop at a board of score S; exit status 1 if it is not "
                  "reached"),
    ),
    opt.OUTPUT.but(type=None),
    opt.value("--svg", "FILE", None, "write the map of --everywhere as SVG"), opt.FORCE, opt.JSON, opt.QUIET,
    epilog=_EXAMPLES,
)  # fmt: skip
def improve(args: argparse.Namespace) -> int:
    _check_options(args)
    puzzle, board, document, notes = read_board(args)
    check_board_file(args.output, puzzle, args.force)
    opt.check_files(args.force, args.output, args.svg)

    def write(better: Board) -> None:
        if args.output:
            formats.write(args.output, None, puzzle, better, instance=args.puzzle or document.instance)

    def write_meanwhile(better: Board) -> None:  # an OSError is ignored, as the best board is written at the end too
        with contextlib.suppress(OSError):
            write(better)

    try:
        found = (_everywhere if args.everywhere else _one_region)(args, puzzle, board, write_meanwhile)
    except BoardError as error:
        raise error.at(source_name(board_source(args.board))) from None
    is_new = found.board != board  # boards are compared, as a new board may have the score of an illegal given one
    try:
        write(found.board)
        if args.svg:
            write_output(args.svg, found.picture)
    finally:  # the answer is printed even if writing a file fails
        notes += found.notes
        if not args.quiet:
            print_notes(notes)
        facts = found.facts | {"url": formats.url_if_any(puzzle, found.board)}
        facts |= {"placements": found.board.without_blanks(puzzle).pairs(), "notes": notes}
        facts["output"] = args.output
        shown = out.board_lines(puzzle, found.board) if is_new else []  # printed first, as its URL may fill a terminal
        out.print_answer(args, facts, chain(shown, found.lines))
    if args.output and not args.json:
        out.print_text(f"written     {args.output}{'' if is_new else ', the board as it was'}")
    if found.status == out.FAULT:
        out.print_error(
            f"lns: the search said that no refill scores as much as {facts['score']}, but {facts['check_solver']} "
            "found this one, which is verified: a fault of lns; please report it with the files of board and puzzle"
        )
    return found.status


def _check_options(args: argparse.Namespace) -> None:
    """Raise InputError for options in conflict, and for an unknown heuristic."""
    if args.everywhere != (args.window is not None):
        raise InputError("--everywhere needs --window HxW, and --window needs --everywhere; expected both or neither")
    if sum((args.rows is not None, args.cells is not None, args.everywhere, args.around_mismatches)) > 1:
        raise InputError("--rows, --cells, --around-mismatches and --everywhere exclude each other")
    if args.everywhere and (args.donors or args.target or args.check):
        raise InputError("--donors, --target and --check are for one region, not for --everywhere")
    if args.svg and not args.everywhere:
        raise InputError("--svg draws the map of --everywhere; `lns show` draws a board")
    if args.no_backjumping and args.order != "dynamic":
        raise InputError("--no-backjumping is for --order dynamic; expected that with it")
    if args.order == "static" and (args.heuristic != "dom-deg" or args.preemption or args.instantiation):
        raise InputError("--heuristic, --preemption and --instantiation are for --order dynamic or auto")
    RegionOptions(**_method(args))


def _method(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the group "method" as keyword arguments of a region search."""
    return out.picked(args, "order heuristic preemption instantiation") | {"backjumping": not args.no_backjumping}


class _Found(NamedTuple):
    """The result of `lns improve`: the board, and what the command reports about the search."""

    status: int  # exit status of the command
    board: Board
    facts: dict[str, Any]
    lines: Iterable[str]
    notes: Sequence[str] = ()
    picture: str = ""  # the map of --everywhere as SVG; "" without --everywhere


def _one_region(args: argparse.Namespace, puzzle: Puzzle, board: Board, write: Callable[[Board], None]) -> _Found:
    from lns.api import improving

    region = None
    if args.rows is not None:
        region = cells.rows(puzzle, args.rows[0], args.rows[1] + 1)
    elif args.cells is not None:
        region = cells.parse(args.cells, puzzle)
    limit = improving.DEFAULT_SECONDS if args.time is None and args.nodes is None else args.time
    with live_line(limit, quiet=args.quiet or args.json) as line:
        result = improving.improve(
            puzzle, board, region, time=limit, on_improve=write,
            on_progress=lambda score, bound, nodes, seconds: line.show(
                f"score {score}, at most {bound}, {nodes / 1e6:.1f} M nodes", seconds
            ),
            **out.picked(args, "donors target nodes check"), **_method(args),
        )  # fmt: skip
    before = verify(puzzle, board)
    facts = out.picked(result, "score score_before legal bound nodes seconds check check_solver check_seconds")
    facts |= {"status": _status_name(result, before), "improved": result.improved and result.legal}
    facts |= {"legal_before": not before.violations, "problems_before": before.violations}
    facts |= {"rim_faults_before": before.rim_faults, "cells": len(result.cells)}
    freed, notes = set(result.cells), []
    if result.proven and freed and not before.violations and freed.isdisjoint(chain(*before.mismatches)):
        notes = ["no mismatch touches these cells, so the proof says nothing new"]
    status = out.DONE
    if result.check == "contradicted":
        status = out.FAULT
    elif result.status == "interrupted":
        status = out.INTERRUPTED
    elif args.target is not None and result.score < args.target:
        status = out.ANSWER_IS_NO
    return _Found(status, result.board, facts, _lines(args, result, before), notes)


def _lines(args: argparse.Namespace, result: RegionResult, before: Verification) -> Iterator[str]:
    donors = f", {args.donors} of them donors" if args.donors and result.cells else ""
    nothing = "" if result.cells or before.mismatches else ": the board has no mismatch"
    yield f"region      {count_of(len(result.cells), 'cell')}{donors}{nothing}"
    # the given board has no score if it broke a rule; its matched seams (inner edges) are counted all the same
    broke = f"the given board broke {count_of(len(before.violations), 'rule')} ({before.seams} by seams)"
    score = f"{result.score} of {before.max_score}"
    if not before.violations:
        yield f"score       {score}, before {result.score_before}"
    elif result.legal:
        yield f"score       {score}, the best legal refill found; {broke}"
    else:
        yield f"score       none, no legal refill found; {broke}"
    yield f"status      {status_in_words(result, before)}"
    yield f"search      {count_of(result.nodes, 'node')}, {format_seconds(result.seconds)}"
    if result.check:
        sentence = f"{_CHECKS[result.check].format(bound=result.bound)}, by {result.check_solver}"
        yield f"check       {result.check}: {sentence} in {format_seconds(result.check_seconds)}"


def status_in_words(result: RegionResult, before: Verification) -> str:
    """Return the status of a search and what it means; ``before`` is the verification of the given board."""
    if not before.violations:
        name = result.status.name
        if name == "INTERRUPTED":
            name = "IMPROVED" if result.improved else "BUDGET_SPENT"
        return f"{result.status}: {_SENTENCES[name].format(bound=result.bound)}"
    if result.proven:
        return "optimal: no other legal refill of this region has a higher score"
    return f"{_status_name(result, before)}: a legal refill has at most {result.bound}"


def _status_name(result: RegionResult, before: Verification) -> str:
    """Return the status of a search in a word or two: 'legal' if the search only made an illegal board legal."""
    if result.proven:
        return "optimal"
    legal_only = before.violations and result.legal and result.status == "budget spent"
    return "legal" if legal_only else str(result.status)


def _everywhere(args: argparse.Namespace, puzzle: Puzzle, board: Board, write: Callable[[Board], None]) -> _Found:
    """Search all windows of a shape; return the best board, and a map that shows which windows are proven."""
    from lns.api import improving
    from lns.exact.region import windows

    height, width = args.window
    windows.check_shape(puzzle, height, width)
    with live_line(None, quiet=args.quiet or args.json):
        improving.prepare(args.order)
    found = verify(puzzle, board)
    given, _ = improving.legal_refill(puzzle, board, found, range(puzzle.cells))
    before, began = verify(puzzle, given).score, time.perf_counter()
    if given != board and not args.quiet:
        out.print_error(
            f"lns: the given board broke {count_of(len(found.violations), 'rule')} ({found.seams} by seams); the "
            f"windows begin with a legal refill of score {before}"
        )
    # outcome of each window, by row and column of the window's upper left cell
    grid = [[""] * (puzzle.width - width + 1) for _ in range(puzzle.height - height + 1)]
    total, done, boards = sum(map(len, grid)), list[windows.WindowResult](), [given]

    def on_improve(better: Board) -> None:
        boards.append(better)
        write(better)

    swept = windows.sweep_windows(
        puzzle, given, height, width, options=RegionOptions(**_method(args)), on_improve=on_improve,
        nodes=_WINDOW_NODES if args.nodes is None else args.nodes,
        seconds=lambda: None if args.time is None else args.time - (time.perf_counter() - began),
    )  # fmt: skip
    with live_line(args.time, quiet=args.quiet or args.json) as line:
        interrupted = True  # stays True if Ctrl-C comes between two windows
        with contextlib.suppress(KeyboardInterrupt):
            for window in swept:
                done.append(window)
                boards.append(window.result.board)
                grid[window.row][window.column] = window.outcome
                said = f"window {len(done)} of {total}, score {max(before, window.result.score)}"
                line.show(said, time.perf_counter() - began)
            interrupted = any(window.result.status == "interrupted" for window in done)
    best = boards[-1]
    seconds, score = time.perf_counter() - began, verify(puzzle, best).score
    # a window was proven for the board of that moment: the proof holds for the final board only if the board never
    # changed, not even at equal score, as when an empty cell is filled
    unchanged = len(done) == total and best == given
    optimal = score == puzzle.max_score or (unchanged and all(window.result.proven for window in done))
    ended = "interrupted" if interrupted else "optimal" if optimal else "improved" if score > before else "open"
    facts: dict[str, Any] = {"status": ended, "score": score, "score_before": before}
    facts["bound"] = max(window.result.bound for window in done) if unchanged else puzzle.max_score
    facts |= {"nodes": sum(window.result.nodes for window in done), "seconds": round(seconds, 3)}
    counts = Counter(chain(*grid))
    facts["windows"] = {outcome: counts[outcome] for outcome in _LEGEND} | {"total": total}
    shape = f"windows of {count_of(height, 'row')} and {count_of(width, 'column')}"
    lines = [
        terminal_map(grid, _LEGEND),
        f"{shape}: {len(done)} of {total} searched in {format_seconds(seconds)}, by upper left cell",
        f"score       {score} of {puzzle.max_score}, before {before}",
    ]
    picture = svg_map(grid, _LEGEND, f"{puzzle.name}: {shape}")
    return _Found(out.INTERRUPTED if interrupted else out.DONE, best, facts, lines, picture=picture)
