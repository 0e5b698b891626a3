"""The constraint-programming baseline of Benoist & Bourreau 2008, on OR-tools CP-SAT."""
