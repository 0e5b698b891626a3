"""Grouping (Jolivet 2008, 2.3): all 2x2 blocks of pieces, then a row scan over blocks."""
