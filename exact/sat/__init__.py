"""Eternity II as SAT: the encodings of seeds 002 and 004, and the solvers of python-sat."""
