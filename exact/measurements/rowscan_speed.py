"""The speed of the row scan: placements per second on one core."""

from __future__ import annotations

import time

from exact.rowscan.search import RowScan
from instances.puzzle import Puzzle


def placements_per_second(puzzle: Puzzle, nodes: int = 2_000_000_000) -> float:
    """Placements per second of a row scan.

    Parameters
    ----------
    puzzle : Puzzle
    nodes : int
        Placements to make; fewer if the tree ends before.

    Returns
    -------
    float
        Compilation is not timed.
    """
    search = RowScan(puzzle)
    search.advance(0, True)  # compiles
    began = time.perf_counter()
    while search.nodes < nodes and not search.exhausted:
        search.advance(min(nodes - search.nodes, 50_000_000), False)
    return search.nodes / (time.perf_counter() - began)


def main() -> None:
    """``python -m exact.measurements.rowscan_speed INSTANCE [NODES]``: print it."""
    import sys

    from instances.formats import load_puzzle

    puzzle = load_puzzle(sys.argv[1])
    nodes = int(float(sys.argv[2])) if len(sys.argv) > 2 else 2_000_000_000
    print(f"{puzzle.name}: {placements_per_second(puzzle, nodes) / 1e6:.1f} M placements/s over {nodes:,} placements")


if __name__ == "__main__":
    main()
