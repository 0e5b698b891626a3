"""What every exact solver is asked: the same few fields, whatever the method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from exact.colorpairs.options import Options
from exact.driver import ProgressCallback
from instances.board import Board


@dataclass(frozen=True)
class Request:
    """What is asked of a solver: all solutions or the first, within ``nodes`` and ``seconds`` (None = no limit).

    ``memory``: bytes of address space, for solvers in a process of their own. ``sat_solver``: python-sat's name of one.
    ``seed``: of the local searches. ``each`` is called with every board found, identical pieces told apart or not.
    ``processor``: seconds are of processor time, as limit and as answer; for experiments on a busy machine.
    """

    count_all: bool = False
    nodes: int | None = None
    seconds: float | None = None
    options: Options = field(default_factory=Options)
    report: ProgressCallback | None = None
    memory: int | None = None
    sat_solver: str | None = None
    seed: int = 0
    each: Callable[[Board], None] | None = None
    processor: bool = False
