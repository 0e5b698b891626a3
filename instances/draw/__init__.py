"""Pictures of puzzles and boards.

Boards
    `svg`, `tikz` and `terminal`: each has a function ``render(puzzle, board)`` that returns the picture as text.
    `notebook`: how puzzles and boards show themselves in Jupyter. `palette` holds the colours, `scene` what is drawn.
Text
    `summary`: a description of a puzzle's pieces, colours and clues.
Reports
    `page`: the frame, tables and charts of an HTML report. `heatmap`: a map of values over the positions of a window.
"""
