"""Puzzles and boards: the data that every solver works on.

Values
    `lns.instances.puzzle` has `Puzzle` (pieces, clues, rules), `Clue`, and constants for the sides of a piece and for
    grey; `lns.instances.layout` has the cells of a board and their neighbours; `lns.instances.board` has `Board` (an
    oriented piece on each cell). Puzzles and boards are shown as pictures in a notebook.
Verification
    `lns.instances.verify` counts the score of a board and lists the rules that it breaks.
Files and pictures
    `lns.instances.formats` reads and writes files, `lns.instances.generate` makes puzzles with a planted solution,
    `lns.instances.draw` makes pictures.
Equivalence
    `lns.instances.symmetry` rotates and mirrors puzzles and boards; `lns.instances.piece_set` compares sets of pieces
    in any numbering, and exchanges identical pieces.
"""
