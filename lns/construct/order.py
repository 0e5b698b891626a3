"""Fixed orders of the cells in which the upper and the left neighbour of every cell come before it.

Any such order is a linear extension of the staircase order. The comb order fills the upper rows row by row and the last
rows (the band) column by column, so that the frontier is short while breaks are spent.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns.instances.puzzle import IntArray


def comb_order(
    width: int, height: int, column_major_rows: int, column_major_skip: int = 0, corner_size: int = 1
) -> IntArray:
    """The comb order of a board.

    Parameters
    ----------
    width, height : int
        Size of the board in cells.
    column_major_rows : int
        Number of rows at the bottom (the band) that are filled column by column; the rows above are filled row by row.
    column_major_skip : int
        Number of columns at the left of the band that are filled row by row instead.
    corner_size : int
        Number of columns at the right of the band that are filled alternately by row and by column, towards the last
        corner.

    Returns
    -------
    int32 (width * height,)
        Cells in the order in which they are filled.
    """
    band = max(1, min(column_major_rows, height))
    skip = max(0, min(column_major_skip, width))
    corner = max(1, min(corner_size, width - skip)) if skip < width else 0
    top = height - band
    order = [(row, column) for row in range(top) for column in range(width)]
    order += [(row, column) for row in range(top, height) for column in range(skip)]
    order += [(row, column) for column in range(skip, width - corner) for row in range(top, height)]
    row, column = top, width - corner
    by_row = True
    while corner and row < height and column < width:
        if by_row:
            order += [(row, c) for c in range(column, width)]
            row += 1
        else:
            order += [(r, column) for r in range(row, height)]
            column += 1
        by_row = not by_row
    return np.array([r * width + c for r, c in order], dtype=np.int32)


def padded_positions(order: IntArray, width: int) -> npt.NDArray[np.int64]:
    """The position of each cell of ``order`` in a board padded by one row above and one column on the left; int64."""
    row, column = np.divmod(order.astype(np.int64), width)
    return (row + 1) * (width + 1) + column + 1
