"""Exact cover as a paused search (`dlx`, `dlx:binary`, `xcc:counted`) and by the library xcover (`xcc`)."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise

import numpy as np

from exact.building import Check, unlimited
from exact.cover.kernel import DESCENDING, EXHAUSTED, LEVEL, NODES, SOLUTIONS, advance, initial_state, option_lists
from exact.cover.model import build, matrix_nodes
from exact.driver import CountedSearch, explored_by_tries
from exact.enumeration import build_and_run
from exact.outcome import NODES_UNKNOWN, Answer
from exact.request import Request
from exact.solver_protocol import SolverReporter, solve_in_child
from instances.board import Board
from instances.puzzle import Puzzle
from lns_support.child_process import Emit
from lns_support.errors import InputError
from lns_support.optional_deps import require

MAX_NODES = 60_000_000
"""Most nodes of a matrix, about 1.5 GB."""

MAX_NODES_XCOVER = 4_000_000
"""Most nodes for xcover, which takes options as lists of strings; about four times the matrix of Eternity II."""


class Cover(CountedSearch):
    """A paused exact cover search (Jolivet 2008, 2.2). Duplicate pieces are distinct (see `exact.piece_classes`).

    Parameters
    ----------
    puzzle : Puzzle
    code : str
        How the edges are written, one of `exact.cover.model.CODES`.
    all_four : bool
        The equal rotations of symmetric pieces are distinct too.
    check : callable
        Called while the matrix is built.

    Raises
    ------
    InputError
        If the matrix has more than `MAX_NODES` nodes.
    """

    COUNTER_INDEXES = NODES, SOLUTIONS, EXHAUSTED

    def __init__(
        self, puzzle: Puzzle, code: str = "unary", *, all_four: bool = False, check: Check = unlimited
    ) -> None:
        _check_size(puzzle, matrix_nodes(puzzle, code, all_four=all_four), MAX_NODES)
        self.model = build(puzzle, code, all_four=all_four, check=check)
        check()
        lists = option_lists(self.model.begin, self.model.item, self.model.items)
        check()
        none = np.zeros(0, dtype=np.int32)
        self.problem = self.model.problem
        self.state = initial_state(lists, puzzle.cells, copies=none, rank=none, cells=0, root=1)
        check()
        self.counters = self.state.counters

    @property
    def explored(self) -> float:
        """Share of the tree that is searched, as if sibling subtrees had equal sizes."""
        levels = (
            int(self.counters[LEVEL]) + 1 - int(self.counters[DESCENDING])
        )  # the last level may have no options listed yet
        return explored_by_tries(self.state.next_try, self.state.end_try, levels)

    @property
    def details(self) -> dict[str, float]:
        model, deepest = self.model, np.flatnonzero(self.state.per_level).max()
        sizes = {"items": model.items, "options": len(model.cell), "matrix_nodes": len(model.item), "deepest": deepest}
        return {name: float(size) for name, size in sizes.items()}

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Go on for ``budget`` nodes, or to the end, or to the next solution when ``stop_at_first``."""
        advance(self.state, self.problem, budget, stop_at_first)

    def first_board(self) -> Board | None:
        """The first solution found, None before there is one."""
        return self.model.board(self.state.first) if self.solutions else None


def _check_size(puzzle: Puzzle, nodes: int, most: int) -> None:
    if nodes > most:
        raise InputError(
            f"exact cover of {puzzle.cells} pieces and {puzzle.colours} colours takes a matrix of {nodes:,} nodes; "
            f"expected at most {most:,}"
        )


def run_cover(code: str, puzzle: Puzzle, request: Request) -> Answer:
    """The solvers 'dlx', 'dlx:binary' and 'xcc:counted'; nodes as in Jolivet 2008, where the root is one."""
    return build_and_run(lambda check: Cover(puzzle, code, check=check), puzzle, request)


def run_xcover(puzzle: Puzzle, request: Request) -> Answer:
    """The solver 'xcc': exact cover with colours by xcover, in a child process. It does not report its nodes.

    Raises InputError without xcover, with a budget of nodes or if the matrix is too large, and ChildProcessError if
    the library crashes.
    """
    require("cover", "the solver xcc")
    if request.nodes is not None:
        raise InputError("xcover reports no nodes; expected a budget of time, or the solver xcc:counted")
    _check_size(puzzle, matrix_nodes(puzzle, "colours"), MAX_NODES_XCOVER)
    list_boards = request.on_solution is not None
    return solve_in_child(cover_by_library, puzzle, request, request.count_all, list_boards, prepare=import_xcover)


def import_xcover() -> None:
    """Import xcover, which compiles itself at its first import, in some 10 s, and keeps the machine code."""
    import_module("xcover")


def cover_by_library(emit: Emit, puzzle: Puzzle, count_all: bool, list_boards: bool = False) -> None:
    """The task of the child process: reports the size of the model, the first solution, progress, and the end."""
    from xcover import covers

    reporter = SolverReporter(emit, puzzle, "xcover", duplicates_distinct=True, list_boards=list_boards)
    model = build(puzzle, "colours")
    item, colour, begin = model.item.tolist(), model.colour.tolist(), model.begin.tolist()
    options = [
        [f"{item[at]}:{colour[at]}" if colour[at] else str(item[at]) for at in range(first, last)]
        for first, last in pairwise(begin)
    ]
    primary = [str(i) for i in range(model.primary)]
    secondary = [str(i) for i in range(model.primary, model.items)]
    reporter.details |= {"items": model.items, "options": len(options), "matrix_nodes": len(item)}
    reporter.report(NODES_UNKNOWN)
    missing = set(range(model.primary)) - set(item)
    for chosen in () if missing else covers(options, primary=primary, secondary=secondary, colored=True):
        reporter.add_board(model.board([int(option) for option in chosen]), NODES_UNKNOWN)
        if not count_all:
            break
    reporter.report(NODES_UNKNOWN, exhausted=count_all or reporter.found == 0)
