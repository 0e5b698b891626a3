"""Fill grids with polyominoes, as an exact cover problem, after the IQ Puzzler Pro report of Perrin & Beaujard."""
