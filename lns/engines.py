"""The engines by name. Importing this module loads none of them; `make_engine` imports the one it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lns_support.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.puzzle import Puzzle
    from lns.engine import Engine
    from lns.loop.search_loop import SearchLoop
    from lns.orientation import Orientation
    from lns.params import Params

ENGINES = ("auto", "construct", "beam", "tabu", "lns")
_STREAM = 2**20  # parts of an island have random streams so far apart
KERNELS = {"auto": 37, "construct": 15, "beam": 3, "tabu": 4, "lns": 13}
"""About how many kernels `lns.warmup.warm_up` compiles for each engine, for messages."""
MAIN_KERNELS = {
    "auto": "lns.construct.kernel",
    "construct": "lns.construct.kernel",
    "beam": "lns.construct.beam_kernel",
    "tabu": "lns.tabu.kernel",
    "lns": "lns.construct.beam_kernel",
}
"""A module of kernels of each engine: while it is not compiled, a run begins by compiling."""


def make_engine(
    name: str,
    puzzle: Puzzle,
    params: Params,
    seed: int,
    island: int,
    islands: int = 1,
    operators: Sequence[str] | None = None,
) -> Engine:
    """Make the engine of one island.

    Parameters
    ----------
    name : str
        One of `ENGINES`. "auto" has all parts, each of the others one of them.
    puzzle : Puzzle
        The puzzle of the run. The engine may turn it (`lns.orientation`); its boards are those of ``puzzle``.
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
    Engine
        An engine that has made no step.

    Raises
    ------
    InputError
        If ``name`` is not in `ENGINES`, an operator is not known, or the engine cannot take the puzzle (too many
        colours, for instance).
    """
    if name not in ENGINES:
        raise InputError(f"unknown engine '{name}'; expected one of {', '.join(ENGINES)}")
    if puzzle.rules:
        return _engine_for_rules(name, puzzle, params, seed, island, operators)
    from lns.orientation import oriented_engine

    def make(orientation: Orientation) -> Engine:
        return island_engine(name, orientation, params, seed, island, operators)

    return oriented_engine(puzzle, island, islands, make)


def island_engine(
    name: str, orientation: Orientation, params: Params, seed: int, island: int, operators: Sequence[str] | None = None
) -> SearchLoop:
    """The engine of an island in its own orientation: as `make_engine`, for ``orientation.puzzle``."""
    from lns.loop.search_loop import SearchLoop

    if name == "auto":
        return _all_parts(orientation, params, seed, island)
    part = _part(name, orientation, params, seed, island, operators)
    return SearchLoop(orientation.puzzle, params, part, island=island)


def _part(
    name: str, orientation: Orientation, params: Params, seed: int, island: int, operators: Sequence[str] | None = None
) -> Engine:
    """The only part of an engine other than "auto"."""
    puzzle = orientation.puzzle
    match name:
        case "beam":
            from lns.construct.beam_engine import BeamEngine
            from lns.rng import random_state

            return BeamEngine(puzzle, params, random_state(seed, island))
        case "tabu":
            from lns.tabu.engine import TabuEngine

            return TabuEngine(puzzle, params, seed, island)
        case "lns":
            from lns.neighbourhoods.engine import LnsEngine

            return LnsEngine(puzzle, params, seed, island, operators)
    from lns.loop.construction import Construction

    return Construction(puzzle, params, seed, island, orientation.partition, orientation.views)


def _all_parts(orientation: Orientation, params: Params, seed: int, island: int) -> SearchLoop:
    """The engine "auto": all parts."""
    from lns.construct.beam_engine import BeamEngine
    from lns.loop.construction import Construction
    from lns.loop.rework import Rework
    from lns.loop.search_loop import SearchLoop
    from lns.neighbourhoods.engine import LnsEngine
    from lns.neighbourhoods.operators import BUILT_IN
    from lns.rng import random_state
    from lns.tabu.engine import TabuEngine
    from lns.tabu.search import MAX_CELLS

    puzzle = orientation.puzzle
    rework = Rework(puzzle, params.rework) if params.rework.nodes else None
    near_misses = params.rework.near_misses if rework else 0
    sides: dict[str, Engine] = {}
    if params.engine.side_share:
        sides["lns"] = LnsEngine(puzzle, params, seed, island + _STREAM, BUILT_IN, beams=False)
        if puzzle.cells <= MAX_CELLS:
            sides["tabu"] = TabuEngine(puzzle, params, seed, island + 2 * _STREAM)
    return SearchLoop(
        puzzle,
        params,
        Construction(puzzle, params, seed, island, orientation.partition, orientation.views, near_misses),
        opening=BeamEngine(puzzle, params, random_state(seed, island + 3 * _STREAM)) if params.engine.beams else None,
        sides=sides,
        rework=rework,
        island=island,
    )


def _engine_for_rules(
    name: str, puzzle: Puzzle, params: Params, seed: int, island: int, operators: Sequence[str] | None
) -> Engine:
    """The engine for a puzzle without frame, without turns or with holes: "auto" is then "lns".

    Constructor and beams fill rectangles row by row, from a frame that tells each cell which grey sides its piece has,
    with pieces in all four rotations.
    """
    from lns.loop.search_loop import SearchLoop

    puzzle = puzzle.renumbered()
    if name == "tabu":
        from lns.tabu.engine import TabuEngine

        return SearchLoop(puzzle, params, TabuEngine(puzzle, params, seed, island), island=island)
    if name in ("auto", "lns"):
        from lns.neighbourhoods.engine import LnsEngine
        from lns.neighbourhoods.operators import BUILT_IN

        chosen = operators if name == "lns" else BUILT_IN
        return SearchLoop(puzzle, params, LnsEngine(puzzle, params, seed, island, chosen), island=island)
    raise InputError(
        f"engine {name} fills rectangles with a frame with pieces that may be turned, and {puzzle.name} has "
        f"{' and '.join(puzzle.rules)}; expected engine auto, lns or tabu"
    )
