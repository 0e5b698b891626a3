"""Neighbourhoods: which cells the operators of the loop free."""

OPERATORS = (
    "block", "block-32", "block-48", "band", "damage", "cluster", "comb", "path", "donors",
    "suffix", "assign", "exchange", "perturb",
)  # fmt: skip
"""The operators that change a board, in the order of `lns.neighbourhoods.operators.TABLE`."""
