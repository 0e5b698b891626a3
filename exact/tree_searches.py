"""ColorPairs and the row scan behind the single interface; their own rooms know nothing of it."""

from __future__ import annotations

from exact.colorpairs.search import ColorPairs
from exact.enumeration import enumerate_boards
from exact.outcome import Answer
from exact.request import Request
from exact.rowscan.search import RowScan
from instances.puzzle import Puzzle


def run_colorpairs(puzzle: Puzzle, request: Request) -> Answer:
    """Seed 000's ColorPairs with ``request.options``."""
    search = ColorPairs(puzzle, request.options)
    status, solutions, seconds, first = enumerate_boards(search, request)
    return Answer(status, solutions, search.nodes, seconds, first, search.details)


def run_rowscan(puzzle: Puzzle, request: Request) -> Answer:
    """The plain row scan; it has no options."""
    search = RowScan(puzzle)
    status, solutions, seconds, first = enumerate_boards(search, request)
    return Answer(status, solutions, search.nodes, seconds, first, search.details)
