"""`lns improve` of one region: the board that is to be improved, the search, and its answer."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lns.instances.text import count_of, format_seconds
from lns.terminal.inputs import print_notes
from lns.terminal.output import (
    ANSWER_IS_NO,
    DONE,
    FAULT,
    INTERRUPTED,
    board_lines,
    picked,
    print_answer,
    print_error,
    print_text,
)

if TYPE_CHECKING:
    from lns.exact.region.options import RegionOptions
    from lns.exact.region.resolve import RegionResult
    from lns.instances.board import Board
    from lns.instances.puzzle import Puzzle
    from lns.instances.verify import Verification

_MINUTE = 60.0
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


@dataclass
class Question:
    """A board that is to be improved, as the command line asks for it."""

    args: argparse.Namespace
    puzzle: Puzzle
    board: Board
    instance: str | None  # what files of better boards call the puzzle
    notes: list[str]  # what was noticed while reading

    def announce_compilation(self) -> None:
        """Print a line on stderr if the kernels must be compiled first."""
        from lns.exact.region.resolve import is_ready

        if not self.args.quiet and not is_ready(self.args.order):
            print_error("compiling the kernels, once for this installation: about a minute of an idle core ...")

    def write(self, board: Board) -> None:
        """Write ``board`` to the file of --output, if there is one."""
        if self.args.output:
            from lns.instances import formats

            formats.write(self.args.output, None, self.puzzle, board, instance=self.instance)

    def write_meanwhile(self, board: Board) -> None:
        """Write a better board at once. Errors are ignored: the final board is written again."""
        with contextlib.suppress(OSError):
            self.write(board)


def region_options(args: argparse.Namespace) -> RegionOptions:
    """The options of the region search. Raises InputError for an unknown heuristic."""
    from lns.exact.region.options import RegionOptions

    return RegionOptions(
        args.order,
        backjumping=not args.no_backjumping,
        heuristic=args.heuristic,
        preemption=args.preemption,
        instantiation=args.instantiation,
    )


def improve_region(asked: Question) -> int:
    from lns.exact.region.resolve import RegionStatus

    args, result = asked.args, _improved(asked)
    try:
        asked.write(result.board)
    finally:  # the answer is printed even if the file cannot be written, and the file written even if stdout is closed
        _print_result(asked, result)
    if args.output and not args.json:
        print_text(f"written     {args.output}")
    if result.check == "contradicted":
        print_error(
            f"lns: the search said that no refill scores as much as {result.score}, but {result.check_solver} found "
            "this one, which is verified: a fault of lns; please report it with the files of board and puzzle"
        )
        return FAULT
    if result.status == RegionStatus.INTERRUPTED:
        return INTERRUPTED
    return ANSWER_IS_NO if args.target is not None and result.score < args.target else DONE


def _improved(asked: Question) -> RegionResult:
    from lns import cells
    from lns.api.improving import improve
    from lns.terminal.progress import live_line

    args, puzzle = asked.args, asked.puzzle
    region = None
    if args.rows is not None:
        region = cells.rows(puzzle, *args.rows)
    elif args.cells is not None:
        region = cells.parse(args.cells, puzzle)
    asked.announce_compilation()
    limit = _MINUTE if args.time is None and args.nodes is None else args.time
    with live_line(limit, quiet=args.quiet or args.json) as line:
        return improve(
            puzzle,
            asked.board,
            region,
            donors=args.donors,
            target=args.target,
            time=limit,
            nodes=args.nodes,
            order=args.order,
            backjumping=not args.no_backjumping,
            heuristic=args.heuristic,
            preemption=args.preemption,
            instantiation=args.instantiation,
            check=args.check,
            on_improve=asked.write_meanwhile,
            on_progress=lambda score, bound, nodes, seconds: line.show(
                f"score {score}, at most {bound}, {nodes / 1e6:.1f} M nodes", seconds
            ),
        )


def _print_result(asked: Question, result: RegionResult) -> None:
    from lns.instances.formats import url_if_any
    from lns.instances.verify import verify

    puzzle, before = asked.puzzle, verify(asked.puzzle, asked.board)
    if not asked.args.quiet:
        print_notes(asked.notes)
    facts = {"status": _status_name(result, before), "improved": result.improved and result.legal}
    facts |= picked(result, "score score_before legal") | {"legal_before": not before.violations}
    facts |= {"problems_before": before.violations, "rim_faults_before": before.rim_faults}
    facts |= (
        picked(result, "bound nodes") | {"seconds": round(result.seconds, 4)} | picked(result, "check check_solver")
    )
    facts |= {"check_seconds": round(result.check_seconds, 4), "cells": len(result.cells)}
    facts |= {"url": url_if_any(puzzle, result.board), "placements": result.board.without_blanks(puzzle).pairs()}
    facts["notes"] = asked.notes
    print_answer(asked.args, facts, _lines(asked, result, before))


def _lines(asked: Question, result: RegionResult, before: Verification) -> Iterator[str]:
    if result.board != asked.board:  # it may have the same score, for example if the given board broke a rule
        yield from board_lines(asked.puzzle, result.board)  # first: a URL may fill a terminal
    donors = f", {asked.args.donors} of them donors" if asked.args.donors and result.cells else ""
    nothing = "" if result.cells or before.mismatches else ": the board has no mismatch"
    yield f"region      {count_of(len(result.cells), 'cell')}{donors}{nothing}"
    # a board that broke a rule has no score, only matched seams
    broke = f"the given board broke {count_of(len(before.violations), 'rule')} ({before.seams} by seams)"
    score = f"{result.score} of {asked.puzzle.max_score}"
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
    """What a search has shown of a region, given how the verifier judged the board before it."""
    if not before.violations:
        name = result.status.name
        if name == "INTERRUPTED":
            name = "IMPROVED" if result.improved else "BUDGET_SPENT"
        return f"{result.status}: {_SENTENCES[name].format(bound=result.bound)}"
    if result.proven:
        return "optimal: no other legal refill of this region has a higher score"
    return f"{_status_name(result, before)}: a legal refill has at most {result.bound}"


def _status_name(result: RegionResult, before: Verification) -> str:
    """The status in one word or two: 'legal' for a board that is that now, where nothing else can be said of it."""
    if result.proven:
        return "optimal"
    legal_only = before.violations and result.legal and result.status.name == "BUDGET_SPENT"
    return "legal" if legal_only else str(result.status)
