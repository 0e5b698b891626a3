"""The operators of the large-neighbourhood search by name: built-in, registered, or of installed packages.

An operator is a function ``(puzzle, board, rng, nodes) -> Move`` (see `lns.neighbourhoods.move`). An operator of this
process is registered with `register_operator`. Worker processes start without it; they find the operators of installed
packages, which are entry points::

    [project.entry-points."lns.operators"]
    my-operator = "my_package.module:function"
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

import numpy as np

from instances.board import Board
from instances.puzzle import Puzzle
from instances.verify import verify
from lns.engine import MAX_OPERATOR_NAME, MAX_OPERATORS
from lns.greedy import ORIGIN as GREEDY
from lns.neighbourhoods.destroy import destroy_and_repair
from lns.neighbourhoods.local import assign, exchange, perturb
from lns.neighbourhoods.move import Move, Operator
from lns.neighbourhoods.reconstruct import Suffix
from lns.neighbourhoods.regions import SHAPES, band, block, cluster, comb, donors, path
from lns.params import BeamParams, ConstructParams
from lns_support.arguments import checked
from lns_support.errors import InputError
from lns_support.text import quoted

ENTRY_POINTS = "lns.operators"
_REPAIRED = {"block": block, "band": band, "cluster": cluster, "comb": comb, "path": path, "donors": donors}  # regions
_LOCAL: dict[str, Operator] = {"assign": assign, "exchange": exchange, "perturb": perturb}
BUILT_IN = (*_REPAIRED, "suffix", *_LOCAL)
RESERVED = ("construct", "beam", "tabu", "fill", "start", "elsewhere", "others", GREEDY, *SHAPES)
"""Origins of boards of other parts; `lns.loop.rework` has further ones, `_OF_REWORK`."""
_OF_REWORK = re.compile(r"suffix-.*|.*-colorpairs")
_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_.-]{{0,{MAX_OPERATOR_NAME - 1}}}")
_registered: dict[str, Operator] = {}


@checked
def register_operator(name: str, function: Operator) -> None:
    """Make a function an operator of the large-neighbourhood search, in this process.

    Parameters
    ----------
    name : str
        Letters, digits, ``_``, ``.`` and ``-``, beginning with a letter. Statistics and boards carry it.
    function : callable
        ``(puzzle, board, rng, nodes) -> Move``. ``board`` is a full legal board of ``puzzle``, which may be a rotated
        copy of the user's puzzle with its colours renumbered; ``rng`` is a `numpy.random.Generator`, the only source
        of randomness; ``nodes`` is the budget in placements of a region re-solve. The move holds a full legal board,
        its score, and the nodes spent. It is verified at each call.

    Raises
    ------
    InputError
        The name is taken or malformed, or ``function`` is not callable.

    Notes
    -----
    Worker processes do not know what was registered here: they use the entry points of installed packages. A search
    with one worker therefore runs in this process if it uses a registered operator; one with several refuses it.
    """
    _check_name(name, "register_operator", _registered.keys() | _plugins().keys())
    _registered[name] = function


def unregister_operator(name: str) -> None:
    """Remove an operator that `register_operator` added; other names are ignored."""
    _registered.pop(name, None)


def process_only_operators() -> frozenset[str]:
    """Names of the operators that only this process knows, because `register_operator` added them."""
    return frozenset(_registered)


def operator_names() -> tuple[str, ...]:
    """Names of all operators known in this process: the built-in ones in their order, then the others by name.

    Raises
    ------
    InputError
        An entry point has a malformed or taken name.
    """
    return BUILT_IN + tuple(sorted(_registered.keys() | _plugins().keys()))


def make_operators(
    construct: ConstructParams, beam: BeamParams, names: Iterable[str] | None = None
) -> dict[str, Operator]:
    """The operators of a run, in a fixed order.

    Parameters
    ----------
    construct : ConstructParams
        Parameters of the operators that construct.
    beam : BeamParams
        Parameters of their beams.
    names : iterable of str, optional
        Which operators, in this order; all of `operator_names` by default.

    Returns
    -------
    dict of str to Operator

    Raises
    ------
    InputError
        An operator is not known in this process, or its entry point cannot be loaded.
    """
    repairs = {name: destroy_and_repair(choose_region) for name, choose_region in _REPAIRED.items()}
    operators: dict[str, Operator] = {**repairs, "suffix": Suffix(construct, beam), **_LOCAL}
    wanted = operator_names() if names is None else tuple(names)
    if not wanted or len(wanted) > MAX_OPERATORS:
        raise InputError(f"{len(wanted)} operators; expected 1 to {MAX_OPERATORS}")
    plugins = _plugins() if set(wanted) - operators.keys() - _registered.keys() else {}
    return {name: operators.get(name) or _own(name, plugins) for name in wanted}


def _own(name: str, plugins: dict[str, EntryPoint]) -> Operator:
    """The operator of a user or of an installed package."""
    if name in _registered:
        return CheckedOperator(name, _registered[name])
    if name not in plugins:
        raise InputError(
            f"operator {quoted(name)} is not registered in this process; "
            f"a worker process knows only the entry points of the group '{ENTRY_POINTS}'"
        )
    point = plugins[name]
    try:
        function = point.load()
    except Exception as error:
        raise InputError(
            f"operator {quoted(name)} cannot be loaded from {point.value} ({type(error).__name__}: {error})"
        ) from error
    if not callable(function):
        raise InputError(f"operator {quoted(name)}: {point.value} is a {type(function).__name__}; expected a function")
    return CheckedOperator(name, function)


def _plugins() -> dict[str, EntryPoint]:
    """The operators of installed packages; none is loaded."""
    plugins: dict[str, EntryPoint] = {}
    for point in entry_points(group=ENTRY_POINTS):
        package = "an installed package" if point.dist is None else point.dist.name
        _check_name(point.name, package, _registered.keys() | plugins.keys())
        plugins[point.name] = point
    return plugins


def _check_name(name: str, source: str, taken: Iterable[str]) -> None:
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{source}: {quoted(name)} is no name of an operator; "
            f"expected at most {MAX_OPERATOR_NAME} letters, digits, '_', '.' or '-', beginning with a letter"
        )
    if name in {*BUILT_IN, *RESERVED, *taken} or _OF_REWORK.fullmatch(name):
        raise InputError(f"{source}: an operator {quoted(name)} exists already; expected another name")


@dataclass(frozen=True)
class CheckedOperator:
    """An operator of a user or an installed package, whose moves are verified."""

    name: str
    function: Operator

    def __call__(self, puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
        """The move of the operator. Raises InputError if it is not legal, or says a wrong score."""
        move = self.function(puzzle, board, rng, nodes)
        if not isinstance(move, Move) or not isinstance(move.board, Board) or not self._is_count(move.nodes):
            raise InputError(
                f"operator '{self.name}' returned {type(move).__name__}; expected Move(board, score, nodes)"
            )
        verdict = verify(puzzle, move.board)
        if not verdict.complete:
            problem = (*verdict.problems, "cells are empty")[0]
            raise InputError(f"operator '{self.name}' returned a board that is not full and legal: {problem}")
        if verdict.score != move.score:
            raise InputError(f"operator '{self.name}' returned a board of {verdict.score} as one of {move.score}")
        return Move(move.board, verdict.score, int(move.nodes))

    @staticmethod
    def _is_count(nodes: object) -> bool:
        return isinstance(nodes, int | np.integer) and 0 <= int(nodes) < 2**40
