"""The methods of seeds 000, 002, 003 and 004 by name: one line each, what each needs, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exact.outcome import Answer
    from exact.request import Request
    from instances.puzzle import Puzzle


@dataclass(frozen=True)
class SolverEntry:
    """``function_path``: 'module:function', loaded when first called, with ``arguments`` before (puzzle, request).

    ``kernel_module``: the module that it compiles, if any; ``extra``: see `lns_support.optional_deps`;
    ``can_count``: whether it can count all solutions.
    """

    description: str
    source: str
    function_path: str
    arguments: tuple[Any, ...] = ()
    extra: str | None = None
    can_count: bool = True
    kernel_module: str | None = None

    def __call__(self, puzzle: Puzzle, request: Request) -> Answer:
        module, name = self.function_path.split(":")
        function: Callable[..., Answer] = getattr(import_module(module), name)
        return function(*self.arguments, puzzle, request)


def _sat(name: str, description: str, source: str) -> SolverEntry:
    return SolverEntry(description, source, "exact.sat.solver:run_sat", (name,), "sat")


def _sls(name: str, description: str) -> SolverEntry:
    kernel_module = "exact.sls.rules"
    return SolverEntry(
        description,
        "seed 004, 1.2.2.1",
        "exact.sls.solver:run_sls",
        (name,),
        can_count=False,
        kernel_module=kernel_module,
    )


def _cover(description: str, source: str, items: str) -> SolverEntry:
    return SolverEntry(
        description, source, "exact.cover.search:run_cover", (items,), kernel_module="exact.cover.kernel"
    )


SOLVERS: dict[str, SolverEntry] = {
    "colorpairs": SolverEntry(
        "pairs of colours, preemption, backjumping",
        "seed 000",
        "exact.tree_searches:run_colorpairs",
        kernel_module="exact.colorpairs.kernel",
    ),
    "rowscan": SolverEntry(
        "plain depth first, row by row, tables of what fits",
        "seeds 000, 003",
        "exact.tree_searches:run_rowscan",
        kernel_module="exact.rowscan.kernel",
    ),
    "dlx": _cover("exact cover, k items a joint, nodes as the seed counts them", "seed 003, 2.2", "unary"),
    "dlx:binary": _cover("the same with about log2 k items a joint", "seed 003, 2.2", "binary"),
    "xcc": SolverEntry(
        "exact cover with colours, by xcover (counts no nodes)",
        "Knuth, TAOCP 7.2.2.1",
        "exact.cover.search:run_xcover",
        (),
        "cover",
    ),
    "xcc:counted": _cover("exact cover with colours, nodes counted", "Knuth, TAOCP 7.2.2.1", "colours"),
    "blocks": SolverEntry(
        "all 2x2 blocks, then row by row; even sides only",
        "seed 003, 2.3",
        "exact.blocks.search:run_blocks",
        kernel_module="exact.blocks.kernel",
    ),
    "cp": SolverEntry(
        "AllDifferent and tables, by OR-tools CP-SAT", "seed 000, 2.2 and 6", "exact.cp.model:run_cp", (), "cp"
    ),
    "sat:full-4": _sat("full-4", "piece and rotation, joints in extension", "seed 002, 2.1.1"),
    "sat:full-2": _sat("full-2", "oriented pieces, joints in extension", "seed 002, 2.1.2"),
    "sat:half-3": _sat("half-3", "piece, rotation and colours of joints", "seed 002, 2.1.3"),
    "sat:half-2": _sat("half-2", "oriented pieces and colours of joints", "seed 002, 2.1.4"),
    "sat:triangles": _sat("triangles", "placements, orientations, coloured triangles", "seed 004, 2.2"),
    "sat:triangles-restricted": SolverEntry(
        "the same, decisions on pieces and orientations only",
        "seed 004, 3.2",
        "exact.sat.solver:run_restricted",
        ("triangles",),
        "sat",
    ),
    "sls:adaptnovelty+": _sls("adaptnovelty+", "local search: AdaptNovelty+ (Hoos 2002)"),
    "sls:adaptg2wsat": _sls("adaptg2wsat", "local search: AdaptG2WSAT (Li, Wei, Zhang 2007)"),
    "sls:rsaps": _sls("rsaps", "local search: RSAPS (Hutter, Tompkins, Hoos 2002)"),
    "sls:dcrwalk": _sls("dcrwalk", "local search: deterministic conflict-directed random walk (Tompkins, Hoos 2006)"),
    "sls:irots": _sls("irots", "local search: IRoTS (Smyth, Hoos, Stützle 2003)"),
}
