"""Names that the command line offers and that run.json or study.json hold; to import them costs nothing."""

from __future__ import annotations

ENGINES = ("auto", "construct", "beam", "tabu", "lns")
SAMPLERS = ("tpe", "cmaes", "random")  # of `lns tune`
