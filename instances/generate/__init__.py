"""Generators of puzzles with a planted solution. The same seed gives the same puzzle on every machine.

Kinds of puzzles
    `like_e2` (the rules of Eternity II), `uniform` (every edge coloured independently), `balanced_torus` (near-equal
    colour counts on a torus), `unique` (a single solution by construction), `three_partition` (an encoded 3-partition
    problem; `triples_of` decodes its solutions). `other_rules`: no frame, no turns (`tetravex`), boards with holes.
Families
    `family` reads a text such as 'like-e2:12x20:5+17' as a `Family`, a function from seeds to puzzles. `KINDS` lists
    the kinds that have families.
Results and defaults
    `Planted` is a puzzle with its solution. `clue_cells` and `corner_cells` choose cells for clues; `default_colours`
    and `default_like_e2` choose numbers of colours.
"""

from lns.instances.generate.eternity import default_colours, default_like_e2, like_e2
from lns.instances.generate.kinds import (
    KINDS,
    Family,
    balanced_torus,
    family,
    numbers_of,
    other_rules,
    tetravex,
    three_partition,
    triples_of,
    uniform,
    unique,
)
from lns.instances.generate.planted import Planted, clue_cells, corner_cells

__all__ = [
    "KINDS",
    "Family",
    "Planted",
    "balanced_torus",
    "clue_cells",
    "corner_cells",
    "default_colours",
    "default_like_e2",
    "family",
    "like_e2",
    "numbers_of",
    "other_rules",
    "tetravex",
    "three_partition",
    "triples_of",
    "uniform",
    "unique",
]
