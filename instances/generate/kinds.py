"""The names of the kinds of puzzles that have families."""

KINDS = ("uniform", "balanced-torus", "like-e2", "unframed", "tetravex", "triangle", "diamond")
