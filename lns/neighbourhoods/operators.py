"""The table of built-in operators, and operators of users: registered in this process, or of installed packages.

An operator of a user is a function ``(puzzle, board, rng, nodes) -> Move`` (see `lns.neighbourhoods.move`). Those
that `register_operator` registers are known in this process only. Those of installed packages are known in worker
processes too; they are entry points::

    [project.entry-points."lns.operators"]
    my-operator = "my_package.module:function"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

from lns.assignment import GREEDY
from lns.construct import refused_rules
from lns.gpu.card import CudaCard
from lns.instances.arguments import checked
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.text import quoted
from lns.loop.construction import Beam, Construction, Fill
from lns.loop.pool import Operator
from lns.neighbourhoods import OPERATORS
from lns.neighbourhoods import move as moves
from lns.neighbourhoods.exact_repair import Certificate, RegionOperator
from lns.neighbourhoods.move import MoveOperator, OperatorFunction
from lns.neighbourhoods.regions import Regions
from lns.orientation import Orientation
from lns.params import Params
from lns.rng import STREAM
from lns.tabu.search import MAX_CELLS, Tabu

ENTRY_POINTS = "lns.operators"
MAX_OPERATOR_NAME = 40
RESERVED = ("start", "elsewhere", "others", GREEDY)
"""Origins of boards that no operator made. No operator of a user has such a name, or one that `_VARIANTS` matches."""
_VARIANTS = re.compile(r"last-.*|.*-colorpairs")
_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_.-]{{0,{MAX_OPERATOR_NAME - 1}}}")
REGISTERED: dict[str, OperatorFunction] = {}
"""The functions of the operators that are registered in this process, by name."""


class Island(NamedTuple):
    """The data from which the operators of one island are made."""

    puzzle: Puzzle  # puzzle of the boards in the pool
    orientation: Orientation | None  # how the construction sees the puzzle; None if it refuses the puzzle
    params: Params
    seed: int
    number: int
    engine: str

    @property
    def constructs(self) -> bool:
        """True if the construction is one of the island's operators, besides those that change boards."""
        return self.engine in ("auto", "gpu") and self.orientation is not None

    def stream(self, number: int) -> int:
        """Return the index of the random stream of operator ``number``, which no other operator of the island uses."""
        return self.number + number * STREAM * self.constructs

    @property
    def view(self) -> Orientation:
        assert self.orientation is not None, "such operators are not made for these puzzles"
        return self.orientation


Make = Callable[[Island], Operator]


def _region(name: str, method: str, **sizes: int) -> Make:
    """Return a function that makes the operator ``name``, which re-solves the regions of a method of `Regions`."""

    def make(island: Island) -> Operator:
        params = island.params.neighbourhoods
        listing = partial(getattr(Regions(params), method), **sizes)
        return RegionOperator(name, island.puzzle, listing, params.nodes, moves=not island.constructs)

    return make


def _function(name: str, function: OperatorFunction) -> Make:
    return lambda i: MoveOperator(name, i.puzzle, function, i.params.neighbourhoods.nodes)


MAKERS: dict[str, Make] = {
    "construct": lambda i: Construction(
        i.view, i.params, i.seed, i.number, open_card=CudaCard if i.engine == "gpu" and i.number == 0 else None
    ),
    "beam": lambda i: Beam(i.view, i.params, i.seed, i.stream(3), whole=i.engine != "beam"),
    "fill": lambda i: Fill(i.puzzle, i.orientation),
    "tabu": lambda i: Tabu(i.puzzle, i.params.tabu, i.seed, i.stream(2), from_pool=i.constructs),
    "certificate": lambda i: Certificate(i.puzzle, i.params.neighbourhoods),
    "regrow": lambda i: moves.Regrow(i.puzzle, i.params),
}
"""Functions that make the operators for whole boards and for proofs, by name of the operator."""
TABLE: dict[str, tuple[Make, str]] = {
    "block": (_region("block", "blocks", least=1, most=20), "blocks"),
    "block-32": (_region("block-32", "blocks", least=21, most=32), "blocks"),
    "block-48": (_region("block-48", "blocks", least=33, most=48), "blocks"),
    "band": (_region("band", "bands"), "bands"),
    "damage": (_region("damage", "damage"), "bands"),
    "cluster": (_region("cluster", "clusters"), "clusters"),
    "comb": (_region("comb", "combs"), "combs"),
    "path": (_region("path", "paths"), "paths"),
    "donors": (_region("donors", "donors"), "donors"),
    "suffix": (lambda i: _function("suffix", moves.Suffix(i.params.construct, i.params.beam))(i), ""),
    "assign": (_function("assign", moves.assign), ""),
    "exchange": (_function("exchange", moves.exchange), ""),
    "perturb": (_function("perturb", moves.perturb), ""),
}
"""For each operator that changes a board: its maker, and the field of `NeighbourhoodsParams` that enables it, or ""."""


def operators_of(engine: str, puzzle: Puzzle, params: Params, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the names of the operators of an engine, in the order of the loop.

    Engines "auto" and "gpu" have all built-in operators but regrow (a fill only without beams); "lns" has a beam, the
    certificate, and operators that change a board (``names``, by default all known in this process); "polish" has a
    fill, the certificate, regrow, and the built-in operators that change a board; all without those that parameters
    disable. Another engine is the name of its operator, before which it has one that makes a first board if need be.
    For puzzles of rules that the construction refuses (`lns.construct.REFUSED`), a greedy fill and tabu search replace
    construction and beams.
    """
    sizes = params.neighbourhoods
    refused = refused_rules(puzzle)
    beams = ("beam",) if params.engine.beams and not refused else ()
    walks = ("tabu",) if puzzle.cells <= MAX_CELLS else ()
    makers = ("fill", *walks) if refused else ("beam",)
    if engine in ("auto", "gpu", "lns", "polish"):
        changing = (operator_names() if names is None else tuple(names)) if engine == "lns" else OPERATORS
        chosen = [name for name in changing if not (refused and name == "suffix")]
        chosen = [name for name in chosen if getattr(sizes, TABLE.get(name, (None, ""))[1], 1)]
        proofs = ("certificate",) if sizes.certificate else ()
        if engine == "polish":
            return ("fill", *proofs, *(() if refused else ("regrow",)), *chosen)
        if engine == "lns" or refused:
            return (*makers, *proofs, *chosen)
        last = [f"last-{sizes.last + i * sizes.last_step}" for i in range(sizes.last_sizes)]
        return (*beams, *(() if beams else ("fill",)), "construct", *proofs, *last, *chosen, *walks)
    if engine == "construct":
        return "fill", "construct"
    return (engine,) if engine in MAKERS else (*makers[:1], engine)


def make_operators(names: Iterable[str], island: Island) -> list[Operator]:
    """Make the operators of an island. Raises InputError if a name is not known in this process."""
    return [_maker(name)(island) for name in names]


def _maker(name: str) -> Make:
    if name in MAKERS or name in TABLE:
        return MAKERS[name] if name in MAKERS else TABLE[name][0]
    if name.startswith("last-"):
        return _region(name, "last", size=int(name.removeprefix("last-")))
    function = _function_of(name)
    return lambda i: _function(name, moves.guarded(function, i.params.neighbourhoods.nodes))(i)


@checked
def register_operator(name: str, function: OperatorFunction) -> None:
    """Make a function an operator of the large-neighbourhood search, in this process.

    Parameters
    ----------
    name : str
        Letters, digits, ``_``, ``.`` and ``-``, beginning with a letter. Statistics and boards show this name.
    function : callable
        ``(puzzle, board, rng, nodes) -> Move``. ``board`` is a full legal board of ``puzzle``, which is the
        user's puzzle with its colours renumbered; ``rng`` is a `numpy.random.Generator`, the only source
        of randomness; ``nodes`` is the budget in placements of a region re-solve. The move holds a full legal board,
        its score, and the nodes spent. The move is verified at each call.

    Raises
    ------
    InputError
        The name is taken or malformed, or ``function`` is not callable.

    Notes
    -----
    Worker processes do not know what was registered here: they use the entry points of installed packages. A search
    with one worker therefore runs in this process if it uses a registered operator; a search with several refuses it.
    """
    _check_name(name, "register_operator", REGISTERED.keys() | _plugins().keys())
    REGISTERED[name] = function


def operator_names() -> tuple[str, ...]:
    """Return the names of all operators in this process that change a board: built-in ones, then sorted ones of users.

    Raises InputError if an entry point has a malformed or taken name.
    """
    return OPERATORS + tuple(sorted(REGISTERED.keys() | _plugins().keys()))


def _function_of(name: str) -> OperatorFunction:
    """Return the function of a user's operator, which is registered or belongs to an installed package."""
    if name in REGISTERED:
        return REGISTERED[name]
    point = _plugins().get(name)
    if point is None:
        raise InputError(
            f"operator {quoted(name)} is not registered in this process; "
            f"a worker process knows only the entry points of the group '{ENTRY_POINTS}'"
        )
    try:
        function: OperatorFunction = point.load()
    except Exception as error:
        problem = f"({type(error).__name__}: {error})"
        raise InputError(f"operator {quoted(name)} cannot be loaded from {point.value} {problem}") from error
    if not callable(function):
        raise InputError(f"operator {quoted(name)}: {point.value} is a {type(function).__name__}; expected a function")
    return function


def _plugins() -> dict[str, EntryPoint]:
    """Return the entry points of the operators of installed packages, without loading any."""
    plugins: dict[str, EntryPoint] = {}
    for point in entry_points(group=ENTRY_POINTS):
        package = "an installed package" if point.dist is None else point.dist.name
        _check_name(point.name, package, REGISTERED.keys() | plugins.keys())
        plugins[point.name] = point
    return plugins


def _check_name(name: str, source: str, taken: Iterable[str]) -> None:
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{source}: {quoted(name)} is no name of an operator; "
            f"expected at most {MAX_OPERATOR_NAME} letters, digits, '_', '.' or '-', beginning with a letter"
        )
    if name in {*MAKERS, *TABLE, *RESERVED, *taken} or _VARIANTS.fullmatch(name):
        raise InputError(f"{source}: an operator {quoted(name)} exists already; expected another name")
