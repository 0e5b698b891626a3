"""Local search for SAT: the five methods of Cuvillier & Szymkowiak 2010. They find solutions and prove nothing."""
