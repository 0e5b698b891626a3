"""The exact solvers behind one interface: `solve` for the first solution, `count` for all of them.

A solver is a function from (puzzle, `lns.exact.execution.Request`) to `lns.exact.outcome.Outcome`. The module
`lns.exact.registry` lists all. Here is what they share: counting conventions, pinned corners, checks of boards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lns.exact.driver import Progress
from lns.exact.execution import Request
from lns.exact.outcome import Outcome, SolveStatus, require_solution
from lns.exact.piece_classes import assignments_per_board
from lns.exact.registry import solver_for
from lns.instances.board import Board
from lns.instances.puzzle import GREY, Clue, Puzzle, canonical, rotate
from lns.instances.symmetry import rotate_board


def solve(puzzle: Puzzle, solver: str = "colorpairs", **fields: Any) -> Outcome:
    """Search for the first solution of a puzzle, or prove that it has none.

    Parameters
    ----------
    puzzle : Puzzle
        The pieces and the board; its clues stay on their cells.
    solver : str
        A name of `lns.exact.registry.all_solvers`; the default is ColorPairs [1]_.
    **fields
        Fields of `lns.exact.execution.Request`, such as ``seconds`` and ``nodes``; None stands for a field's default.

    Returns
    -------
    Outcome
        What the search found. After Ctrl-C the status is 'interrupted', with what is known so far.

    Raises
    ------
    InputError
        If the solver is unknown, cannot take the puzzle, or lacks an optional package.
    RuntimeError
        If the solver returns a board that is not a solution.

    References
    ----------
    .. [1] T. Benoist and E. Bourreau, "La programmation par contraintes à l'attaque d'Eternity II", JFPC 2008.
    """
    return solve_request(puzzle, _request(fields), solver)


def count(puzzle: Puzzle, solver: str = "colorpairs", **fields: Any) -> Outcome:
    """Count all solutions of a puzzle.

    Boards are counted by their colours: boards that differ only by swapping duplicate pieces are one solution.

    Parameters
    ----------
    puzzle, solver, **fields
        As for `solve`. With ``fix_corner`` rotated copies of solutions are left out; otherwise all rotations count.
        ``on_solution`` is called with each solution as it is found, after the solution was verified.

    Returns
    -------
    Outcome
        Its ``solutions`` are exact if the status is 'solved' or 'infeasible', else a lower bound. Ctrl-C ends the
        search with status 'interrupted'.

    Raises
    ------
    InputError, RuntimeError
        As `solve`; also if the solver cannot count.
    """
    return solve_request(puzzle, replace(_request(fields), count_all=True), solver)


def _request(fields: dict[str, Any]) -> Request:
    return Request(**{name: value for name, value in fields.items() if value is not None})


def solve_request(puzzle: Puzzle, request: Request, solver: str = "colorpairs") -> Outcome:
    """Search for the first solution or count all solutions, as ``request`` says.

    If there is a ``request.on_solution``, it is called with each verified solution, and all solutions are searched for.

    Parameters
    ----------
    puzzle, solver
        As for `solve`.
    request : Request
        Whether to find the first solution or all, with limits and callbacks.

    Returns
    -------
    Outcome
        As for `solve` and `count`.

    Raises
    ------
    InputError, RuntimeError
        As `solve` and `count`.
    """
    run = solver_for(solver, puzzle, count_all=request.count_all or request.on_solution is not None)
    if request.on_solution is not None:
        once = _each_once(puzzle, solver, request.on_solution)
        request = replace(request, count_all=True, on_solution=once)
    variants, convention = corner_variants(puzzle) if request.fix_corner else ([puzzle], "all rotations counted")
    total = Outcome(SolveStatus.INFEASIBLE, 0, 0, 0.0)
    for variant in variants:
        total = _sum(total, run(variant, _left(request, total)), convention)
        if total.status in (SolveStatus.BUDGET_SPENT, SolveStatus.INTERRUPTED):
            break
        if total.solutions and not request.count_all:
            break
    if total.board is not None:
        require_solution(puzzle, total.board, solver)
    return total


def _left(request: Request, before: Outcome) -> Request:
    """Return ``request`` with the budgets that ``before`` left; its progress reports add the totals of ``before``."""

    def on_progress(now: Progress) -> None:
        assert request.on_progress is not None
        nodes, solutions = now.nodes + (before.nodes or 0), now.solutions + before.solutions
        request.on_progress(replace(now, nodes=nodes, solutions=solutions, seconds=now.seconds + before.seconds))

    used = int(before.details.get("budget_spent", before.nodes or 0))
    return replace(
        request,
        nodes=None if request.nodes is None else max(0, request.nodes - used),
        seconds=None if request.seconds is None else max(0.0, request.seconds - before.seconds),
        on_progress=None if request.on_progress is None else on_progress,
    )


def corner_variants(puzzle: Puzzle) -> tuple[list[Puzzle], str]:
    """Pin a corner piece of a puzzle, where possible, so that of a solution and its rotated copies only one is found.

    The first corner piece without a duplicate is pinned to the top left corner. A board that is not square has only
    half turns, so a second puzzle has the piece in the top right corner, unless there is one row or column. Nothing is
    pinned in a puzzle with clues, which has no rotated copies, nor if every corner piece has a duplicate, because with
    the duplicate in another corner a solution and its rotated copy would both be found. Nor is anything pinned on a
    single cell, or in a puzzle with rules other than mates, such as holes.

    Parameters
    ----------
    puzzle : Puzzle
        The puzzle whose solutions are counted.

    Returns
    -------
    variants : list of Puzzle
        One or two puzzles; ``[puzzle]`` where nothing is pinned.
    convention : str
        What is counted, in words: which piece is fixed and where, or why none is.
    """
    if puzzle.clues:
        return [puzzle], "all solutions counted (clues leave no rotated copies)"
    if rules := [rule for rule in puzzle.rules if rule != "mates"]:
        return [puzzle], f"all solutions counted (no corner piece is fixed: {', '.join(rules)})"
    if puzzle.cells == 1:
        return [puzzle], "all rotations counted (a single cell)"
    corners = [0] if puzzle.width == puzzle.height or 1 in (puzzle.width, puzzle.height) else [0, puzzle.width - 1]
    quads = list(map(canonical, puzzle.pieces.tolist()))

    def turns(piece: int, cell: int) -> list[int]:
        """Return the rotations of a piece that show grey on the sides of a cell along the rim, and on no other side."""
        turned = [rotate(puzzle.pieces[piece].tolist(), turn) for turn in range(4)]
        return [at for at in range(4) if tuple(side == GREY for side in turned[at]) == puzzle.rim_sides(cell)]

    pieces = (piece for piece in range(puzzle.cells) if turns(piece, 0) and quads.count(quads[piece]) == 1)
    piece = next(pieces, None)
    if piece is None:
        return [puzzle], "all rotations counted (every corner piece has a duplicate)"
    where = "the top left corner" if len(corners) == 1 else "the top left or top right corner"
    variants = [puzzle.with_clues([Clue(cell, piece, turns(piece, cell)[0])]) for cell in corners]
    return variants, f"piece {piece + 1} fixed in {where}"


def counted_rotations(puzzle: Puzzle, board: Board) -> int:
    """Return how many solutions `count` with ``fix_corner`` finds among a perfect board and its rotated copies.

    The number is 1 if a corner piece is pinned or the puzzle has clues; otherwise rotated copies count if they differ
    in their colours. Rules that forbid rotated copies, such as holes, are not considered.
    """
    if corner_variants(puzzle)[0][0].clues:
        return 1
    turns = range(4) if puzzle.width == puzzle.height else (0, 2)
    return len({puzzle.oriented[rotate_board(board, turn).placements].tobytes() for turn in turns})


# names in `Outcome.details` that are summed over the variants of a puzzle; of others (sizes, peaks) the maximum is kept
_ADDITIVE = {
    "contradictions", "preemptions", "levels_jumped", "shaving_tests", "conflicts", "budget_spent",
    "processor_seconds",
}  # fmt: skip


def _sum(before: Outcome, after: Outcome, convention: str) -> Outcome:
    """Combine ``before``, the outcome of the variants searched so far, with ``after``, that of the latest variant."""
    solutions, details = before.solutions + after.solutions, before.details | after.details
    for name in before.details.keys() & after.details.keys():
        both = before.details[name], after.details[name]
        details[name] = sum(both) if name in _ADDITIVE else max(both)
    return replace(
        after,
        status=SolveStatus.SOLVED if after.status is SolveStatus.INFEASIBLE and solutions else after.status,
        solutions=solutions,
        nodes=None if before.nodes is None or after.nodes is None else before.nodes + after.nodes,
        seconds=before.seconds + after.seconds,
        board=before.board if before.board is not None else after.board,
        details=details,
        convention=convention,
    )


def _each_once(puzzle: Puzzle, solver: str, on_solution: Callable[[Board], None]) -> Callable[[Board], None]:
    """Wrap ``on_solution`` so that each board is verified, and boards with the same colours are passed on only once."""
    has_duplicates = assignments_per_board(puzzle) > 1
    seen: set[bytes] = set()

    def once(board: Board) -> None:
        require_solution(puzzle, board, solver)
        colours = puzzle.oriented[board.placements].tobytes()
        if colours not in seen:
            if has_duplicates:
                seen.add(colours)
            on_solution(board)

    return once
