"""Fixed orders of the cells in which the upper and the left side of every cell are known when it is filled.

Any order that never visits a cell before its upper and its left neighbour qualifies (a linear extension of the
staircase order). The comb order fills the upper rows row by row and the
last rows column by column, so that the frontier gets short while breaks are being spent.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instances.puzzle import IntArray


def comb(width: int, height: int, band: int, lead: int = 0, corner: int = 1) -> IntArray:
    """The comb order; shape (width*height,), int32.

    Rows 0 to height-band-1 row by row; in the last ``band`` rows the first ``lead`` columns row by row, then column by
    column; the last ``corner`` columns alternately by row and by column towards the last corner.
    """
    band = max(1, min(band, height))
    lead = max(0, min(lead, width))
    corner = max(1, min(corner, width - lead)) if lead < width else 0
    top = height - band
    order = [(row, column) for row in range(top) for column in range(width)]
    order += [(row, column) for row in range(top, height) for column in range(lead)]
    order += [(row, column) for column in range(lead, width - corner) for row in range(top, height)]
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


def padded(order: IntArray, width: int) -> npt.NDArray[np.int64]:
    """Where each cell of ``order`` lies in a board with a row above and a column to the left more; int64."""
    row, column = np.divmod(order.astype(np.int64), width)
    return (row + 1) * (width + 1) + column + 1
