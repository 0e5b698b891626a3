"""Trays filled with polyominoes, as exact cover: the IQ Puzzler Pro report (seed 001)."""
