"""The engines by name. Importing this module loads no engine; `make_engine` imports the one it makes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lns_support.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.puzzle import Puzzle
    from lns.engine import Engine
    from lns.params import Params

ENGINES = ("auto", "construct", "beam", "tabu", "lns")


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
        One of `ENGINES`. 'construct' is 'auto' without beams and regions.
    puzzle : Puzzle
        Puzzle to search. Islands may search it from different sides; the boards returned are those of this puzzle.
    params : Params
        Parameters of the search.
    seed : int
        Random seed of the run.
    island, islands : int
        Number of the island, from 0, and number of islands.
    operators : sequence of str, optional
        Operators of the engine 'lns' in their order; all that are known in this process by default.

    Returns
    -------
    Engine

    Raises
    ------
    InputError
        There is no engine or operator of that name, or the engine cannot search this puzzle.
    """
    from lns.construct.beam_engine import BeamEngine
    from lns.main_engine import MainEngine
    from lns.neighbourhoods.engine import LnsEngine
    from lns.orientation import OrientedEngine, best_quarter_turns, island_views, prefix_partition
    from lns.rng import random_state
    from lns.tabu.engine import TabuEngine

    puzzle = puzzle.renumbered()
    partition, views = prefix_partition(island, islands), island_views(puzzle, island)

    def made(puzzle: Puzzle) -> Engine:
        match name:
            case "auto":
                return MainEngine(puzzle, params, seed, island, partition, views)
            case "construct":
                return MainEngine(puzzle, construction_only(params), seed, island, partition, views)
            case "beam":
                return BeamEngine(puzzle, params, random_state(seed, island))
            case "tabu":
                return TabuEngine(puzzle, params, seed, island)
            case "lns":
                return LnsEngine(puzzle, params, seed, island, operators)
        raise InputError(f"unknown engine '{name}'; expected one of {', '.join(ENGINES)}")

    turns = best_quarter_turns(puzzle, island)
    return OrientedEngine(puzzle, turns, made) if turns else made(puzzle)


def construction_only(params: Params) -> Params:
    """The main engine without beams and regions."""
    return replace(params, windows=replace(params.windows, nodes=0), engine=replace(params.engine, beams=0))
