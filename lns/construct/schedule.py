"""What a construction is asked to do, derived from the instance: order, slip schedule, favoured colours and quotas.

The shapes are those of the record method (field.md, Records; Blackwood's engine), stated per 16x16 board and scaled:
the slip schedule by the number of cells left, the quota curve by the share of cells filled and of favoured half-edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from instances.puzzle import IntArray, Puzzle
from lns.construct.order import comb
from lns.construct.tables import SLIP
from lns.params import Construct

# (share of the cells filled, share of the favoured half-edges used by then); nothing is asked behind the last point
QUOTA_CURVE = (
    (16 / 256, 0.0),
    (26 / 256, 28 / 122),
    (56 / 256, 71 / 122),
    (76 / 256, 89 / 122),
    (102 / 256, 106 / 122),
    (160 / 256, 119 / 122),
)


@dataclass(frozen=True)
class Schedule:
    """``order``: int32 cells by depth; ``allowed``: slips that may have been spent, by depth; ``floor``: favoured
    half-edges that must have been used, by depth; ``favoured``: colours; ``cut``: depth where the exact tail begins.
    """

    order: IntArray
    allowed: IntArray
    floor: IntArray
    favoured: tuple[int, ...]
    cut: int

    @property
    def need(self) -> npt.NDArray[np.int64]:
        """Least gain by depth, as the kernel wants it."""
        return self.floor.astype(np.int64) - SLIP * self.allowed.astype(np.int64)

    @property
    def may_slip(self) -> npt.NDArray[np.bool_]:
        """Depths at which some slip may be spent."""
        return self.allowed > 0


def derive(puzzle: Puzzle, params: Construct) -> Schedule:
    """The schedule of ``params`` for this puzzle."""
    cells = puzzle.cells
    order = comb(puzzle.width, puzzle.height, params.band, params.lead, params.corner)
    favoured = favoured_colours(puzzle, params.quota_rim, params.quota_inner) if params.quota > 0 else ()
    return Schedule(
        order,
        slip_allowance(cells, params),
        quota_floor(puzzle, favoured, params.quota),
        favoured,
        max(0, cells - params.tail),
    )


def slip_allowance(cells: int, params: Construct) -> IntArray:
    """Slips that may have been spent once a depth is filled; shape (cells,)."""
    share = (
        np.linspace(0.0, 1.0, params.slips) ** (1 / params.slip_bend) if params.slips > 1 else np.zeros(params.slips)
    )
    left = params.first_slip + (params.last_slip - params.first_slip) * share
    unlock = np.ceil(cells - left).astype(int)
    return (np.arange(cells)[:, None] >= unlock[None, :]).sum(axis=1).astype(np.int32)


def quota_floor(puzzle: Puzzle, favoured: tuple[int, ...], height: float) -> IntArray:
    """Favoured half-edges that must have been used once a depth is filled; shape (cells,)."""
    if not favoured:
        return np.zeros(puzzle.cells, dtype=np.int32)
    total = int(np.isin(puzzle.pieces, favoured).sum())
    depth = np.arange(puzzle.cells) / puzzle.cells
    at, share = zip(*QUOTA_CURVE, strict=True)
    floor = np.interp(depth, at, share) * total * height
    return np.where(depth <= at[-1], np.floor(floor), 0).astype(np.int32)


def favoured_colours(puzzle: Puzzle, rim: int, inner: int) -> tuple[int, ...]:
    """``rim`` rim colours and ``inner`` inner colours that the fewest pieces carry between them.

    Using them up early leaves pieces with fewer colours, and the fewer pieces carry them the sooner they are gone.
    """
    outer_colours, inner_colours = colour_classes(puzzle)
    carries = np.stack([(puzzle.pieces == colour).any(axis=1) for colour in range(puzzle.colours + 1)])
    best: tuple[int, tuple[int, ...]] | None = None
    for outer in combinations(outer_colours, min(rim, len(outer_colours))):
        for chosen in combinations(inner_colours, min(inner, len(inner_colours))):
            pieces = int(carries[list(outer + chosen)].any(axis=0).sum())
            if best is None or (pieces, outer + chosen) < best:
                best = (pieces, outer + chosen)
    return () if best is None else best[1]


def colour_classes(puzzle: Puzzle) -> tuple[list[int], list[int]]:
    """(rim colours, inner colours): rim colours show only along the rim, next to a grey side; the rest is inner."""
    quads = puzzle.pieces
    beside_grey = (np.roll(quads, 1, axis=1) == 0) | (np.roll(quads, -1, axis=1) == 0)
    along = set(np.unique(quads[beside_grey & (quads > 0)]).tolist())
    elsewhere = set(np.unique(quads[~beside_grey & (quads > 0)]).tolist())
    return sorted(along - elsewhere), sorted(elsewhere)
