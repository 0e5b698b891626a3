"""The dialects of other programs that the readers by evidence know, with an example line each."""

from __future__ import annotations

from typing import NamedTuple


class Dialect(NamedTuple):
    """One dialect."""

    reader: str  # the format that reads it: pieces, cells, clues or url
    example: str  # a typical line
    about: str


DIALECTS = (
    Dialect("pieces", "1 0 5 9 0", "pieces: id, four sides in any order; comments after #, //, c"),
    Dialect("pieces", "1,0,0,5,9,0", "pieces: id, type, four sides; other separators too"),
    Dialect("pieces", "- 1 braa", "pieces: letters, after a number or bare"),
    Dialect("pieces", "12=0-5-9-0", "pieces: INI, as the editor FPS writes them"),
    Dialect("pieces", "[0, 5, 9, 0],", "pieces: lists of Python, JavaScript, JSON"),
    Dialect("pieces", '{"rows":4,"cols":4,"tiles":[...]}', "pieces: JSON of other programs, with placed tiles"),
    Dialect("pieces", "ntiles 256", "a header of a count, one size, two sizes, or bounded signed w h"),
    Dialect("pieces", "8594 @1590 6966", "Tetravex: words of four digits, up left right down; @ is pinned"),
    Dialect("cells", "12/3 200/0", "board: piece/turn of each cell; also 12(3), 12:3, [ 12(3]"),
    Dialect("cells", "12 3", "board: piece and turn, a line for each cell"),
    Dialect("cells", "4 0 2", "board: x, y and turn of each piece, in the order of the pieces"),
    Dialect("cells", "12 4 0 2", "board: piece, column, row and turn"),
    Dialect("cells", "$12N:.:7E;", "board: piece and compass letter of each cell"),
    Dialect("cells", "abdc _bba", "board: four letters for each cell"),
    Dialect("cells", "0 5 9 0", "board: four colours for each cell, rows from top or bottom"),
    Dialect("clues", "139 8 7 2", "clues: piece, row, column (or x, y), turn"),
    Dialect("clues", "8,7 139 2", "clues: row, column, piece, turn; sections that agree are one"),
    Dialect("clues", "139=I8-Rot0", "clues: row letter, column, anticlockwise turns"),
    Dialect("clues", "0,1,-650,2", "clues: a list of cell types; -(piece + 256 turns) is a clue"),
    Dialect("url", "…board_edges=abdc…", "board: viewer URL in prose, markdown, HTML or JSON; several in a file"),
)
