"""Generators of puzzles with a planted solution, the same for the same seed everywhere."""

from instances.generate.defaults import default_colours, default_like_e2
from instances.generate.eternity import like_e2
from instances.generate.families import KINDS, Family, family
from instances.generate.independent import uniform
from instances.generate.planted import Planted, clue_cells, corner_cells
from instances.generate.three_partition import three_partition, triples_of
from instances.generate.torus import balanced_torus
from instances.generate.unique import unique

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
    "three_partition",
    "triples_of",
    "uniform",
    "unique",
]
