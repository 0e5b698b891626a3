"""Seed 003's grouping: all 2x2 blocks, then a zig-zag on the board of half the size."""
