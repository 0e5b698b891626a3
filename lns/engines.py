"""The engines by name. Importing this module loads none of them; `make_engine` imports the one it makes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lns_support.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.puzzle import Puzzle
    from lns.engine import Engine
    from lns.orientation import Orientation
    from lns.params import Params

ENGINES = ("auto", "construct", "beam", "tabu", "lns")
KERNELS = {"auto": 25, "construct": 15, "beam": 3, "tabu": 4, "lns": 13}
"""About how many kernels `lns.warmup.warm_up` compiles for each engine, for messages."""


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
        One of `ENGINES`. "auto" is the main engine, "construct" the main engine without beams and regions.
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
    from lns.rng import random_state

    def make(orientation: Orientation) -> Engine:
        match name:
            case "beam":
                from lns.construct.beam_engine import BeamEngine

                return BeamEngine(orientation.puzzle, params, random_state(seed, island))
            case "tabu":
                from lns.tabu.engine import TabuEngine

                return TabuEngine(orientation.puzzle, params, seed, island)
            case "lns":
                from lns.neighbourhoods.engine import LnsEngine

                return LnsEngine(orientation.puzzle, params, seed, island, operators)
        from lns.main_engine import MainEngine

        chosen = construction_only(params) if name == "construct" else params
        return MainEngine(orientation.puzzle, chosen, seed, island, orientation.partition, orientation.views)

    return oriented_engine(puzzle, island, islands, make)


def _engine_for_rules(
    name: str, puzzle: Puzzle, params: Params, seed: int, island: int, operators: Sequence[str] | None
) -> Engine:
    """The engine for a puzzle without frame, without turns or with holes: "auto" is then "lns".

    Constructor and beams fill rectangles row by row, from a frame that tells each cell which grey sides its piece has,
    with pieces in all four rotations.
    """
    puzzle = puzzle.renumbered()
    if name == "tabu":
        from lns.tabu.engine import TabuEngine

        return TabuEngine(puzzle, params, seed, island)
    if name in ("auto", "lns"):
        from lns.neighbourhoods.engine import LnsEngine

        return LnsEngine(puzzle, params, seed, island, operators)
    raise InputError(
        f"engine {name} fills rectangles with a frame with pieces that may be turned, and {puzzle.name} has "
        f"{' and '.join(puzzle.rules)}; expected engine auto, lns or tabu"
    )


def construction_only(params: Params) -> Params:
    """``params`` with beams and regions of the main engine switched off."""
    return replace(params, windows=replace(params.windows, nodes=0), engine=replace(params.engine, beams=0))
