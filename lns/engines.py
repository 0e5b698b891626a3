"""The engines by name. Importing this module loads none of them; `make_engine` imports the one it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lns.instances.errors import InputError
from lns.neighbourhoods import OPERATORS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lns.instances.puzzle import Puzzle
    from lns.loop.search_loop import SearchLoop
    from lns.params import Params

ENGINES = ("auto", "construct", "beam", "tabu", "lns", "polish", *OPERATORS)
_KERNELS = {"auto": 37, "construct": 15, "beam": 3, "tabu": 4, "lns": 30}
_MAIN_KERNELS = {"auto": "lns.construct.kernel", "construct": "lns.construct.kernel", "tabu": "lns.tabu.kernel"}


def kernel_count(engine: str) -> int:
    """About how many kernels `lns.warmup.warm_up` compiles for an engine, for messages."""
    return _KERNELS.get(engine, _KERNELS["lns"])


def main_kernel(engine: str) -> str:
    """A module of kernels of an engine: while it is not compiled, a run begins by compiling."""
    return _MAIN_KERNELS.get(engine, "lns.construct.beam")


def make_engine(
    name: str,
    puzzle: Puzzle,
    params: Params,
    seed: int,
    island: int,
    islands: int = 1,
    operators: Sequence[str] | None = None,
) -> SearchLoop:
    """Make the engine of one island.

    Parameters
    ----------
    name : str
        "auto" has all operators, "lns" all but the construction; any other is the loop with the operator of that name.
    puzzle : Puzzle
        The puzzle of the run.
    params : Params
        Parameters of all components.
    seed : int
        Random seed of the run; each island draws a random stream of its own from it.
    island, islands : int
        Number of the island, from 0, and how many islands the run has. They share the prefixes of the construction.
    operators : sequence of str, optional
        Operators of the engine "lns" in their order; by default all that are known in this process.

    Returns
    -------
    SearchLoop
        An engine that has made no step.

    Raises
    ------
    InputError
        If ``name`` is not in `ENGINES`, an operator is not known, or the engine cannot take the puzzle (too many
        colours, for instance).
    """
    from lns.loop.search_loop import SearchLoop
    from lns.neighbourhoods.operators import Island, make_operators, operators_of
    from lns.orientation import Orientation
    from lns.rng import STREAM, random_state

    if name not in ENGINES:
        raise InputError(f"unknown engine '{name}'; expected one of {', '.join(ENGINES)}")
    if puzzle.rules and name in ("construct", "beam", "suffix"):
        raise InputError(
            f"engine {name} fills rectangles with a frame with pieces that may be turned, and {puzzle.name} has "
            f"{' and '.join(puzzle.rules)}; expected engine auto, lns or tabu"
        )
    puzzle = puzzle.renumbered()
    orientation = None if puzzle.rules else Orientation.of_island(puzzle, island, islands)
    names = operators_of(name, puzzle, params, operators)
    made = make_operators(names, Island(puzzle, orientation, params, seed, island, name))
    random = random_state(seed, island + STREAM)
    return SearchLoop(puzzle, params, made, random, island, keeps_half=name == "polish")
