"""Edge matching as SAT: the encodings of Bailleux 2025 and Cuvillier & Szymkowiak 2010, solved by python-sat."""
