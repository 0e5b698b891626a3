"""The speed of the row scan on one core: `python -m lns.exact.measurements.rowscan_speed INSTANCE [NODES]`."""

from __future__ import annotations

import sys
import time

from lns.exact.rowscan import RowScan
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Puzzle


def placements_per_second(puzzle: Puzzle, nodes: int = 2_000_000_000) -> float:
    """Placements per second of a row scan of ``nodes`` placements, or fewer if its tree ends; without compilation."""
    search = RowScan(puzzle)
    search.advance(0, True)  # compiles
    began = time.perf_counter()
    while search.nodes < nodes and not search.exhausted:
        search.advance(min(nodes - search.nodes, 50_000_000), False)
    return search.nodes / (time.perf_counter() - began)


def main(arguments: list[str]) -> None:
    """Print it."""
    puzzle = load_puzzle(arguments[0])
    nodes = int(float(arguments[1])) if len(arguments) > 1 else 2_000_000_000
    print(f"{puzzle.name}: {placements_per_second(puzzle, nodes) / 1e6:.1f} M placements/s over {nodes:,} placements")


if __name__ == "__main__":
    main(sys.argv[1:])
