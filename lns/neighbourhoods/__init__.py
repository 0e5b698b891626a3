"""The neighbourhoods of a board, and the operators that change a board: each frees some cells and refills these."""

OPERATORS = (
    "block", "block-32", "block-48", "band", "damage", "cluster", "comb", "path", "donors",
    "suffix", "assign", "exchange", "perturb",
)  # fmt: skip
"""The names of the operators that change a board, in the order of `lns.neighbourhoods.operators.TABLE`."""
