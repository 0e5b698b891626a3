"""`make bench`: prints figures of speed of this machine, one a line. Scores are measured by `lns benchmark`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from lns.engines import make_engine
from lns.exact.measurements import placements_per_second
from lns.instances.formats import load_puzzle, shipped_instances
from lns.instances.puzzle import Puzzle
from lns.params import Params
from lns.tuning.cost_calibration import measure_costs
from lns.warmup import warm_up

REAL = Path("../shared/instances/eternity2_clue1.txt")  # beside a checkout, as for `lns benchmark`; else SHIPPED
SHIPPED = "like-e2-16x16"
COMMANDS = {"lns --help": ["--help"], "lns verify": ["verify", "{solution}", "--puzzle", SHIPPED]}


def speed_figures() -> Iterator[tuple[str, str]]:
    """Measure each figure; yields (what, figure)."""
    puzzle = load_puzzle(str(REAL) if REAL.exists() else SHIPPED)
    yield "instance", puzzle.name
    yield "row scan, placements/s", f"{placements_per_second(puzzle.with_clues(()), 1_000_000_000) / 1e6:.1f} M"
    yield from construction(puzzle)
    yield from tabu(puzzle)
    for what, cost, measured in measure_costs(puzzle):
        yield what, f"{measured:.3g} nodes of construction; counted as {cost:.3g}"
    for name, arguments in COMMANDS.items():
        yield f"{name}, whole process", f"{seconds_of(arguments):.2f} s"


def construction(puzzle: Puzzle, seconds: float = 20.0) -> Iterator[tuple[str, str]]:
    """Time to the first board and to each score on one core, and nodes a second; without compilation."""
    for _ in range(2):  # the first one compiles
        search = make_engine("construct", puzzle, Params(), 1, 0)
        began = time.perf_counter()
        while not search.statistics.nodes:
            search.step()
        measured = time.perf_counter() - began
    reached = {search.best_score: measured}
    while (now := time.perf_counter() - began - measured) < seconds:
        search.step()
        reached.setdefault(search.best_score, time.perf_counter() - began)
    done = search.statistics
    speed, tails = (f"{nodes / now / 1e6:.1f} M" for nodes in (done.nodes, done.tail_nodes))
    yield "first board and measurement", f"{measured:.2f} s, first step of construction included"
    yield "construction, nodes/s", f"{speed}, and exact tails {tails}"
    yield "nodes per exact tail", f"{done.tail_nodes / max(1, done.prefixes):,.0f} ({done.prefixes:,} tails)"
    yield "scores, one core", ", ".join(f"{score} at {at:.1f} s" for score, at in reached.items())


def tabu(puzzle: Puzzle, seconds: float = 20.0) -> Iterator[tuple[str, str]]:
    """Speed and score of tabu search from random boards, one core; without compilation."""
    warm_up("tabu")
    search = make_engine("tabu", puzzle, Params(), 1, 0)
    began = time.perf_counter()
    while (now := time.perf_counter() - began) < seconds:
        search.step()
    yield "tabu, moves evaluated/s", f"{search.statistics.moves / now / 1e6:.1f} M"
    yield f"tabu alone, {seconds:.0f} s", f"{search.best_score} of {puzzle.max_score}"


def seconds_of(arguments: list[str], runs: int = 5) -> float:
    """Median elapsed seconds of a command, run as a process ``runs`` times."""
    with tempfile.TemporaryDirectory() as folder:
        solution, times = Path(folder) / "board.txt", []
        solution.write_bytes(shipped_instances()[SHIPPED].with_name(f"{SHIPPED}.solution.txt").read_bytes())
        words = [sys.executable, "-m", "lns", *(part.format(solution=solution) for part in arguments)]
        for _ in range(runs):
            began = time.perf_counter()
            subprocess.run(words, check=True, capture_output=True)
            times.append(time.perf_counter() - began)
    return median(times)


if __name__ == "__main__":
    for what, figure in speed_figures():
        print(f"{what:<30} {figure}", flush=True)
