"""Puzzles and boards: the data that every solver works on.

Values
    `instances.puzzle` has `Puzzle` (pieces, board shape, clues), `Clue`, the sides of a piece and the grey of the rim,
    `instances.board` has `Board` (an oriented piece on each cell). Both draw themselves in a notebook.
Verification
    `instances.verify` counts the score of a board and lists the rules that it breaks.
Files and pictures
    `instances.formats` reads and writes files, `instances.generate` makes puzzles with a planted solution,
    `instances.draw` makes pictures.
Sameness
    `instances.symmetry` rotates and mirrors puzzles and boards; `instances.duplicates` handles identical pieces.
"""
