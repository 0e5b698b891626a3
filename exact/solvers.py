"""One interface to all exact solvers: `solve(puzzle, solver=...) -> Outcome`.

A solver is a function from (puzzle, `Request`) to `Answer`; counting conventions, pinned corners, and the check of the
first board are handled here, the same for all. To add one: write the function, and an `Entry` in `exact.registry`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches

from exact.colorpairs.options import Options
from exact.driver import Progress, ProgressCallback
from exact.outcome import NODES_UNKNOWN, Answer, Outcome, SolveStatus, require_solution
from exact.piece_multiplicity import assignments_per_board
from exact.registry import SOLVERS
from exact.request import Request
from instances.board import Board
from instances.puzzle import GREY, Clue, Puzzle, canonical, rotate
from instances.symmetry import rotate_board
from lns_support.errors import InputError


def solve(
    puzzle: Puzzle,
    *,
    solver: str = "colorpairs",
    count_all: bool = False,
    nodes: int | None = None,
    seconds: float | None = None,
    fix_corner: bool = False,
    options: Options | None = None,
    report: ProgressCallback | None = None,
    memory: int | None = None,
    sat_solver: str | None = None,
    seed: int = 0,
    each: Callable[[Board], None] | None = None,
    processor: bool = False,
) -> Outcome:
    """Search ``puzzle`` for its first solution, or for all of them when ``count_all``.

    Boards are counted by their colours: identical pieces swapped are one solution. ``fix_corner`` leaves out rotated
    copies (see `corner_variants`). ``nodes``, ``seconds``: budgets, None = no limit. ``options``: parts of ColorPairs.
    ``memory``, ``sat_solver``, ``seed``, ``processor``: see `Request`. ``each`` is called with every solution as it
    is found, verified; with it all are searched for. ``report`` is called every tenth of a second or so. Ctrl-C ends
    the search with what is known so far.
    Raises InputError for an unknown solver or a puzzle that it cannot take, and RuntimeError if a solver returns a
    board that is not a solution.
    """
    if solver not in SOLVERS:
        near = get_close_matches(solver, SOLVERS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else "expected one of " + ", ".join(SOLVERS)
        raise InputError(f"unknown solver '{solver}': {hint}")
    count_all = count_all or each is not None
    variants, convention = corner_variants(puzzle) if fix_corner else ([puzzle], "all rotations counted")
    total = Answer(SolveStatus.INFEASIBLE, 0, 0, 0.0, None)
    for variant in variants:
        rest = Request(
            count_all,
            None if nodes is None else max(0, nodes - max(0, total.nodes if total.spent is None else total.spent)),
            None if seconds is None else max(0.0, seconds - total.seconds),
            Options() if options is None else options,
            None if report is None else _shifted(report, total),
            memory,
            sat_solver,
            seed,
            None if each is None else _once(puzzle, solver, each),
            processor,
        )
        total = _sum(total, SOLVERS[solver](variant, rest))
        if total.status in (SolveStatus.BUDGET_SPENT, SolveStatus.INTERRUPTED) or (total.solutions and not count_all):
            break
    if total.board is not None:
        require_solution(puzzle, total.board, solver)
    return Outcome(
        total.status, total.solutions, total.nodes, total.seconds, convention, total.board, dict(total.details)
    )


def corner_variants(puzzle: Puzzle) -> tuple[list[Puzzle], str]:
    """The puzzles that together hold one solution of each set of rotated copies, and the convention in words.

    The first corner piece without an identical twin is pinned to the top left corner; on a board that is not square,
    which has only half turns, to the top left and then to the top right corner. Nothing is fixed in a puzzle with
    clues, which has no rotated copies, and where every corner piece has a twin: all rotations are counted then, because
    with the twin in another corner a solution and its rotated copy would both be found.
    """
    if puzzle.clues:
        return [puzzle], "all solutions counted (clues leave no rotated copies)"
    if puzzle.cells == 1:
        return [puzzle], "all rotations counted (a single cell)"
    corners = [0] if puzzle.width == puzzle.height or 1 in (puzzle.width, puzzle.height) else [0, puzzle.width - 1]
    needed = [puzzle.rim_sides(cell) for cell in corners]
    looks = list(map(canonical, puzzle.pieces.tolist()))
    pieces = [
        piece
        for piece in range(puzzle.cells)
        if any(tuple(side == GREY for side in rotate(looks[piece], turn)) == needed[0] for turn in range(4))
    ]
    piece = next((candidate for candidate in pieces if looks.count(looks[candidate]) == 1), None)
    if piece is None:
        return [puzzle], "all rotations counted (no corner piece without a twin)"
    variants = []
    for cell, grey in zip(corners, needed, strict=True):
        turns = [rotate(puzzle.pieces[piece].tolist(), turn) for turn in range(4)]
        turn = next(turn for turn in range(4) if tuple(side == GREY for side in turns[turn]) == grey)
        variants.append(puzzle.with_clues([Clue(cell, piece, turn)]))
    where = "the top left corner" if len(corners) == 1 else "the top left or top right corner"
    return variants, f"piece {piece + 1} fixed in {where}"


def counted_rotations(puzzle: Puzzle, board: Board) -> int:
    """As how many solutions `solve` with ``fix_corner`` counts a perfect ``board`` and its rotated copies."""
    if corner_variants(puzzle)[0][0].clues:
        return 1
    turns = range(4) if puzzle.width == puzzle.height else (0, 2)
    return len({puzzle.oriented[rotate_board(board, turn).placements].tobytes() for turn in turns})


# details that add up; the others are sizes and peaks, the same for every variant of a puzzle, or the largest counts
_COUNTED = {
    "contradictions", "preemptions", "levels_jumped", "shaving_tests", "conflicts", "budget_spent",
    "processor_seconds",
}  # fmt: skip


def _sum(before: Answer, after: Answer) -> Answer:
    solutions = before.solutions + after.solutions
    status = after.status
    if status is SolveStatus.INFEASIBLE and solutions:
        status = SolveStatus.SOLVED
    details = dict(before.details)
    for name, value in after.details.items():
        known = details.get(name, 0.0)
        details[name] = known + value if name in _COUNTED else max(known, value)
    return replace(
        after,
        status=status,
        solutions=solutions,
        nodes=NODES_UNKNOWN if NODES_UNKNOWN in (before.nodes, after.nodes) else before.nodes + after.nodes,
        seconds=before.seconds + after.seconds,
        board=before.board if before.board is not None else after.board,
        details=details,
        spent=None if after.spent is None else (before.spent or 0) + after.spent,
    )


def _once(puzzle: Puzzle, solver: str, each: Callable[[Board], None]) -> Callable[[Board], None]:
    """``each`` with verified boards, and only once for those that show the same colours."""
    twins = assignments_per_board(puzzle) > 1
    seen: set[bytes] = set()

    def once(board: Board) -> None:
        require_solution(puzzle, board, solver)
        look = puzzle.oriented[board.placements].tobytes()
        if look not in seen:
            if twins:
                seen.add(look)
            each(board)

    return once


def _shifted(report: ProgressCallback, before: Answer) -> ProgressCallback:
    def shifted(progress: Progress) -> None:
        report(
            Progress(
                progress.nodes + before.nodes,
                progress.solutions + before.solutions,
                progress.seconds + before.seconds,
                progress.explored,
            )
        )

    return shifted
