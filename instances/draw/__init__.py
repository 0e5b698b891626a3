"""Pictures of boards and puzzles: `terminal`, `svg` and `tikz`, each with a `render` that returns text."""
