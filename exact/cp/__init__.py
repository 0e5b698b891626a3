"""Seed 000's constraint-programming baseline: AllDifferent and tables, on OR-tools CP-SAT."""
