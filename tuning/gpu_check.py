"""`python -m lns.tuning.gpu_check`: checks and timings that need a graphics card, printed as tables and JSON.

1. Whether the card searches the same trees as the processor: all scalars and stacks of its lanes must be equal.
2. Nodes per second by number of lanes and block size, compared with one core.
3. Boards that the construction finds with the card, compared with one core without it.
4. Memory used on the card, and the time of the longest launch, for which Ctrl-C may have to wait.

``--compile`` needs the extra 'gpu' and ``ptxas``, but no card: it prints registers and spills for sm_80 and sm_90.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from lns.construct.constructor import Constructor
from lns.exact.text_table import aligned
from lns.gpu import lanes as lane
from lns.gpu.card import BLOCK, Card, CudaCard, Twin
from lns.gpu.search import CardSearch
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.loop.construction import Construction
from lns.loop.pool import WHOLE_BOARD
from lns.orientation import Orientation
from lns.params import EngineParams, Params
from lns.tuning.bench import constructor_at_tails

RESTART_NODES = 50_000_000  # nodes of the restart of the construction that provides the tree
FIRST_NODES = 100_000_000  # most nodes spent on finding first prefixes, so that all lanes have work
BOARDS_BELOW = 16  # edges from the wanted to the best possible score; boards count from 2 edges below the wanted one
CHECKED_LANES, CHECKED_TURNS, CHECKED_LAUNCHES = 4096, 2000, 5
LANES, BLOCKS = (32_768, 65_536, 135_168, 270_336), (64, 128, 256)


@cache
def fertile(puzzle: Puzzle) -> Constructor:
    """Return a constructor at the end of a restart that has reached exact tails."""
    params = replace(Params().construct, restart_nodes=RESTART_NODES)
    _, constructor = constructor_at_tails(Orientation.of_island(puzzle).puzzle, params)
    while not constructor.restart_due:
        constructor.run(RESTART_NODES, puzzle.max_score + 1)
    return constructor


def prepared(puzzle: Puzzle, card: Card, turns: int) -> CardSearch:
    """Return a card's search in the tree of `fertile`, with its first launch started."""
    constructor = fertile(puzzle)
    search = CardSearch(constructor.puzzle, constructor.params, card)
    search.turns, search.first_nodes = turns, FIRST_NODES
    search.take(constructor)
    return search


def equal_trees(puzzle: Puzzle) -> dict[str, Any]:
    """Compare all scalars and stacks of the lanes of card and processor after some launches; return the result."""
    ends = []
    for card in (Twin(CHECKED_LANES), CudaCard(CHECKED_LANES)):
        prepared(puzzle, card, CHECKED_TURNS)
        scalars = card.wait()
        for _ in range(CHECKED_LAUNCHES - 1):
            card.launch()
            scalars = card.wait()
        stacks = card.prefixes(np.arange(CHECKED_LANES, dtype=np.int32))
        stacks[np.arange(stacks.shape[1]) >= scalars[lane.DEPTH][:, None]] = 0  # entries from the depth on are stale
        ends.append((scalars, stacks))
    equal = all(np.array_equal(one, other) for one, other in zip(*ends, strict=True))
    return {"equal": equal, "lanes": CHECKED_LANES, "at the cut": int(ends[0][0][lane.AT_CUT].sum())}


def rate(puzzle: Puzzle, card: Card, turns: int, launches: int) -> dict[str, Any]:
    """Return measurements of a card by name, such as nodes per second, longest launch and memory used on the card."""
    search = prepared(puzzle, card, turns)
    search.collect(0)  # warm-up: compiles before the clock starts
    done, began = search.statistics, time.perf_counter()
    before = done.card_nodes
    for _ in range(launches):
        search.collect(0)
    seconds = time.perf_counter() - began
    made, alone, longest = done.card_nodes - before, 0, 0.0
    card.wait()
    for _ in range(launches):  # timed alone, without new prefixes: Ctrl-C may have to wait for one launch
        began = time.perf_counter()
        card.launch()
        alone += int(card.wait()[lane.NODES].sum())
        longest = max(longest, time.perf_counter() - began)
    return {
        "card": card.name, "lanes": card.lanes, "M nodes/s": round(made / seconds / 1e6, 1),
        "at work": round(done.card_turns / done.card_capacity, 3), "M nodes a launch": round(alone / launches / 1e6, 2),
        "longest launch ms": round(1e3 * longest, 1), "MB": round(search.bytes / 1e6, 1),
    }  # fmt: skip


def boards(puzzle: Puzzle, seconds: float, *, with_card: bool) -> dict[str, Any]:
    """Count the boards of at least each score that the construction finds in ``seconds``; measure nodes per second."""
    rng, wanted = np.random.default_rng(1), puzzle.max_score - BOARDS_BELOW
    params = Params(engine=EngineParams(search_floor=wanted - 2))
    construction = Construction(Orientation.of_island(puzzle), params, 1, 0, open_card=CudaCard if with_card else None)
    waits_for_card = with_card  # the card gets its first tree when a restart ends
    while construction.constructor is None or construction.constructor.no_prefix_found or waits_for_card:
        construction.repair(WHOLE_BOARD, wanted, rng)
        waits_for_card = with_card and construction.card is None and not construction.statistics.failures
    found: dict[bytes, tuple[int, str]] = {}
    before, began = construction.statistics, time.perf_counter()
    while time.perf_counter() - began < seconds:
        for board in construction.repair(WHOLE_BOARD, wanted, rng).boards:
            found[board.board.placements.tobytes()] = verify(puzzle, board.board).score, board.origin
    done = construction.statistics
    by_score = {
        score: sum(one >= score for one, _ in found.values()) for score in sorted({one for one, _ in found.values()})
    }
    return {
        "card": with_card, "seconds": seconds, "boards of at least": by_score,
        "of the card": sum(origin == "gpu" for _, origin in found.values()),
        "M nodes/s of the core": round((done.nodes - before.nodes) / seconds / 1e6, 1),
        "M nodes/s of the card": round((done.card_nodes - before.card_nodes) / seconds / 1e6, 1),
    }  # fmt: skip


def side_by_side(puzzle: Puzzle, seconds: float) -> list[dict[str, Any]]:
    """Return the results of `boards` for one core alone and for one core with the card."""
    return [boards(puzzle, seconds, with_card=with_card) for with_card in (False, True)]


def compiled(target: str) -> dict[str, Any]:
    """Compile the kernel, without a card, for a target such as 'sm_90'; return registers, and stack and spill bytes."""
    cuda, dispatcher, types = map(import_module, ("numba.cuda", "numba.cuda.dispatcher", "numba.types"))
    kernels: Any = import_module("lns.gpu.kernels")
    function: Any = lane.search_lane
    version = int(target[3:-1]), int(target[-1])
    dispatcher.__dict__["get_current_device"] = lambda: SimpleNamespace(compute_capability=version)
    kernels.search_lane = cuda.jit(device=True)(function.py_func)
    array = {name: types.Array(getattr(types, name), 1, "C") for name in ("int32", "uint16", "uint32")}
    arguments = types.void(*[array["int32"]] * 7, array["uint16"], array["uint32"])
    code, _ = cuda.compile(kernels.search, arguments, cc=version, output="ptx", device=False, abi="numba")
    assembler = Path(sys.prefix).glob("lib/python*/site-packages/nvidia/cu*/bin/ptxas")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.ptx"
        path.write_text(code)
        command = [str(next(assembler, "ptxas")), f"-arch={target}", "-v", str(path), "-o", str(path.with_suffix(".o"))]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    spills = re.findall(r"(\d+) bytes (?:stack frame|spill stores|spill loads)", said)
    return {
        "target": target,
        "registers": int(re.findall(r"Used (\d+) registers", said)[0]),
        "stack and spills": sum(map(int, spills)),
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m lns.tuning.gpu_check", description=__doc__.split("\n")[0])
    parser.add_argument("instances", nargs="*", default=["like-e2-16x16"], help="default like-e2-16x16")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each count of boards (default 30)")
    parser.add_argument("--compile", action="store_true", help="only compile, without a card")
    args = parser.parse_args(arguments)
    try:
        if args.compile:
            rows = {"kernel": [compiled(target) for target in ("sm_80", "sm_90")]}
        else:
            puzzles = [load_puzzle(name) for name in args.instances]
            CudaCard()
            rows = {"trees": [equal_trees(puzzles[0])], "rates": [rate(puzzles[0], Twin(64), 20_000, 5)]}
            for lanes, block in [(lanes, BLOCK) for lanes in LANES] + [(LANES[2], block) for block in BLOCKS]:
                rows["rates"].append({**rate(puzzles[0], CudaCard(lanes, block), 20_000, 10), "block": block})
            for puzzle in puzzles:
                rows[puzzle.name] = side_by_side(puzzle, args.seconds)
    except InputError as error:
        print(f"gpu_check: {error}", file=sys.stderr)
        return 2
    for title, of in rows.items():
        print(f"\n{title}\n{table(of)}")
    print(json.dumps(rows))
    return int(not all(row["equal"] for row in rows.get("trees", ())))


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a text table with a column for each key."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return aligned([names, *([str(row.get(name, "")) for name in names] for row in rows)])


if __name__ == "__main__":
    sys.exit(main())
