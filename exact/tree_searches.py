"""ColorPairs and the row scan behind the single interface."""

from __future__ import annotations

from exact.colorpairs.search import ColorPairs
from exact.enumeration import run_request
from exact.outcome import Answer
from exact.request import Request
from exact.rowscan import RowScan
from instances.puzzle import Puzzle


def run_colorpairs(puzzle: Puzzle, request: Request) -> Answer:
    """The solver 'colorpairs' (Benoist & Bourreau 2008) with ``request.options``."""
    return run_request(ColorPairs(puzzle, request.options, request.seed), request)


def run_rowscan(puzzle: Puzzle, request: Request) -> Answer:
    """The solver 'rowscan'; it has no options."""
    return run_request(RowScan(puzzle), request)
