"""All operators by name: what `--engine lns` chooses from, and the names that its finds carry as their origin."""

from __future__ import annotations

from lns.neighbourhoods.destroy import band, block, cluster, comb, donors, freeing, path
from lns.neighbourhoods.local import assign, exchange, perturb
from lns.neighbourhoods.move import Operator
from lns.neighbourhoods.reconstruct import Suffix
from lns.params import BeamParams, ConstructParams


def operators(construct: ConstructParams, beam: BeamParams) -> dict[str, Operator]:
    """In the order of ``lns.engine.OPERATORS``; those that construct do it by a run's parameters."""
    return {
        "block": freeing(block),
        "band": freeing(band),
        "cluster": freeing(cluster),
        "comb": freeing(comb),
        "path": freeing(path),
        "donors": freeing(donors),
        "suffix": Suffix(construct, beam),
        "assign": assign,
        "exchange": exchange,
        "perturb": perturb,
    }
