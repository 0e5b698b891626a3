"""All perfect solutions of a puzzle, counted by any of the exact solvers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lns.api.files import PuzzleSource, load_puzzle
from lns_support.arguments import checked

if TYPE_CHECKING:
    from exact.colorpairs.options import Options
    from exact.outcome import Outcome


@checked
def count(
    puzzle: PuzzleSource,
    solver: str = "colorpairs",
    *,
    time: float | None = None,
    nodes: int | None = None,
    options: Options | None = None,
    fix_corner: bool = False,
) -> Outcome:
    """Count the perfect solutions of a puzzle.

    Parameters
    ----------
    puzzle : Puzzle, str or path-like
        Puzzle, or what `load_puzzle` reads.
    solver : str
        Name of an exact solver; ``lns exact solvers`` lists them.
    time : float, optional
        Seconds at most.
    nodes : int, optional
        Nodes at most, in the unit of the solver: the same answer on every machine.
    options : Options, optional
        Switches of ColorPairs.
    fix_corner : bool
        Whether rotated copies of a solution count once.

    Returns
    -------
    Outcome
        ``solutions``, ``status``, ``nodes``, ``seconds``, ``board`` (the first solution). The count is exact if the
        status is ``solved`` or ``infeasible``, and a lower bound otherwise.

    Raises
    ------
    InputError
        Unknown solver, missing package, or a puzzle that the solver cannot take.
    """
    from exact import solvers

    return solvers.count(load_puzzle(puzzle), solver, seconds=time, nodes=nodes, options=options, fix_corner=fix_corner)
