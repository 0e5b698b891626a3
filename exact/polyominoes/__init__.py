"""Grids filled with polyominoes, as an exact cover problem: the IQ Puzzler Pro report of Perrin & Beaujard."""
