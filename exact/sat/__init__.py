"""Edge matching as SAT: encodings of Bailleux 2025 and Cuvillier & Szymkowiak 2010, SAT solvers, and local search."""
