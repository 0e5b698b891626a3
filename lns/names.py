"""Names that the command line offers and run.json holds; to import them costs nothing."""

from __future__ import annotations

ENGINES = ("auto", "construct", "beam", "tabu", "lns")
