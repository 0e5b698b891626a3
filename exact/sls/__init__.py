"""Local search for SAT on flat clause arrays: the five methods of seed 004's experiments. They prove nothing."""
