"""Kernels that `lns.tuning.bench` times."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns.construct import kernel
from lns.construct.endgame import REACHED, start_endgame
from lns.construct.endgame_plan import EndgamePlan, EndgameState
from lns.construct.kernel import ConstructorPlan, ConstructorState
from lns.construct.tail import solve_tail
from lns.exact.kernels.jit import flat_kernel


@flat_kernel
def start_endgames(
    end: EndgamePlan,
    work: EndgameState,
    used: npt.NDArray[np.uint8],
    right: npt.NDArray[np.int64],
    down: npt.NDArray[np.int64],
    rounds: int,
) -> None:
    """Start ``rounds`` endgames from each prefix."""
    for _ in range(rounds):
        for i in range(len(used)):
            start_endgame(end, work, used[i], right[i], down[i], 0)


@flat_kernel
def finish_prefixes(
    plan: ConstructorPlan, state: ConstructorState, node_limit: int, allowed: int, repeats: int
) -> tuple[int, int]:
    """Search to ``node_limit`` nodes, solving each exact tail ``repeats`` times; return (prefixes, tail placements)."""
    prefixes, placements, prefix, most = 0, 0, state.prefix, 1_000_000
    while kernel.next_prefix(plan, state, node_limit) == REACHED:
        prefixes += 1
        for _ in range(repeats):
            tail = solve_tail(plan.tail, state.tail, prefix.used, prefix.right, prefix.down, allowed, most)
            placements += tail[1]
    return prefixes, placements
