"""Parameters: one validated dataclass for each component, with the same names in TOML, in the docs and for the tuner.

A parameter is a field made by ``option(default, doc, low, high, ...)``; TOML, docs and search space derive from it.
"""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from lns.instances.arguments import checked_class
from lns.instances.errors import InputError, named
from lns.instances.files import read_text
from lns.instances.text import unknown


def option(
    default: float | int,
    doc: str,
    low: float,
    high: float,
    *,
    log: bool = False,
    tune: bool | tuple[float, float] = False,
    engines: tuple[str, ...] = (),
) -> Any:
    """Return a dataclass field for a parameter of the type of ``default``; ``doc`` is its meaning, with its unit.

    Values are from ``low`` to ``high``, both included. ``tune`` says whether `lns tune` searches the parameter: over
    its full range (True) or over a narrower range, on a logarithmic scale if ``log``, and only for ``engines`` (by
    default all engines of its component).
    """
    metadata = {"doc": doc, "low": low, "high": high, "log": log, "tune": tune, "engines": engines}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Component:
    """Base class of components. A value of wrong type or out of range raises an InputError that names the parameter."""

    engines: ClassVar[tuple[str, ...]] = ("auto", "construct")  # engines for which `lns tune` searches the component

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            value, kind = getattr(self, spec.name), type(spec.default)
            low, high = spec.metadata["low"], spec.metadata["high"]
            name = f"{type(self).__name__.removesuffix('Params').lower()}.{spec.name}"
            is_integral = kind is float and type(value) is int
            if not is_integral and type(value) is not kind:
                raise InputError(f"parameter {name} is {value!r}; expected {_KIND_NAMES[kind]}")
            if not low <= value <= high:
                raise InputError(f"parameter {name} is {value}; expected {low} to {high}")
            if is_integral:  # converted after the check of the range, as a huge integer fits no float
                object.__setattr__(self, spec.name, float(value))


_KIND_NAMES = {int: "a whole number", float: "a number"}
_DEPTH_FIRST = ("auto", "construct")  # engines that search depth-first: only these use all construction parameters


@dataclass(frozen=True)
class ConstructParams(Component):
    """Depth-first construction in comb order, with breaks and colour quotas; an exact search fills the last cells."""

    engines: ClassVar[tuple[str, ...]] = ("auto", "construct", "beam", "lns")

    column_major_fraction: float = option(
        0.25, "fraction of the rows, at the bottom, that are filled column by column", 0.0, 1.0, tune=(0.15, 0.4)
    )
    column_major_skip: int = option(
        0, "columns, at the left of those rows, that are filled row by row all the same", 0, 64, tune=(0, 10)
    )
    corner_size: int = option(
        2, "columns, at the right of those rows, that are filled by row and by column in turn", 1, 64, tune=(1, 6)
    )
    tail: int = option(
        6, "cells at the end that the exact search (exact tail) fills", 1, 16, tune=(2, 12), engines=_DEPTH_FIRST
    )
    tail_nodes: int = option(20_000, "most nodes of one exact tail", 100, 10_000_000, log=True, tune=(1000, 300_000))
    quota_scale: float = option(
        1.0, "factor on the quota of favoured colours that is tried first; 0 switches quotas off", 0.0, 1.2,
        tune=(0.85, 1.15), engines=_DEPTH_FIRST,
    )  # fmt: skip
    border_colours: int = option(1, "border colours that are favoured, that is used up early", 0, 5, tune=(0, 2))
    inner_colours: int = option(
        2, "inner colours that are favoured; on boards larger than 16x16 more, in proportion to the cells", 0, 8,
        tune=(1, 4),
    )  # fmt: skip
    population: int = option(
        1000, "prefixes grown at once to measure how many pieces fit at each depth", 100, 100_000, log=True,
        tune=(200, 3000), engines=_DEPTH_FIRST,
    )  # fmt: skip
    horizon: float = option(
        1e7, "the first break schedule aims at the best score forecast once in this many nodes", 1e6, 1e16, log=True
    )
    schedule_slack: int = option(
        1, "the break schedule is derived for a score this much below the wanted one", 0, 20, tune=(0, 6),
        engines=_DEPTH_FIRST,
    )  # fmt: skip
    break_shift: int = option(
        0, "cells by which breaks (allowed mismatches) unlock earlier than derived; negative: later", -40, 40,
        tune=(-4, 4), engines=_DEPTH_FIRST,
    )  # fmt: skip
    restart_nodes: int = option(
        300_000_000, "nodes after which a restart that reached the exact tail ends once another promises more", 1000,
        10**12, log=True, tune=(10**7, 10**10), engines=_DEPTH_FIRST,
    )  # fmt: skip
    restart_nodes_without_prefix: int = option(
        20_000_000, "nodes after which a restart ends that has not reached the exact tail", 1000, 10**12, log=True,
        tune=(2 * 10**6, 10**9), engines=_DEPTH_FIRST,
    )  # fmt: skip


@dataclass(frozen=True)
class BeamParams(Component):
    """Beam search with the cell order and the favoured colours of the construction; exact tails fill the last cells."""

    engines: ClassVar[tuple[str, ...]] = ("beam", "lns")

    width: int = option(4096, "prefixes kept at each depth", 1, 2**20, log=True, tune=(256, 2**17))
    fan_out: int = option(8, "most children kept of one prefix", 1, 64, log=True, tune=(2, 32))
    break_cost: int = option(
        16, "price of a break, in favoured half-edges, when prefixes are ranked", 4, 256, log=True, tune=True
    )
    tail: int = option(13, "cells at the end that the exact search (exact tail) fills", 1, 16, tune=(8, 16))


@dataclass(frozen=True)
class TabuParams(Component):
    """Tabu search on full boards."""

    engines: ClassVar[tuple[str, ...]] = ("tabu",)

    tenure: int = option(
        12, "steps for which the reversal of a move is forbidden, at the start", 1, 1000, log=True, tune=(2, 200)
    )
    steps: int = option(1000, "most moves of one step of the engine", 1, 20_000, log=True)
    patience: int = option(
        20, "moves for each cell without a new best after which the board is kicked", 1, 10**9, log=True,
        tune=(2, 1000),
    )  # fmt: skip
    kick: int = option(12, "random exchanges of a kick", 1, 10_000, log=True, tune=(2, 200))
    kicks: int = option(
        200, "kicks without a new best after which a new random board is begun", 0, 10**9, log=True, tune=(5, 1000)
    )


@dataclass(frozen=True)
class NeighbourhoodsParams(Component):
    """Which cells of the boards near the best are freed, and how much each operator may cost."""

    engines: ClassVar[tuple[str, ...]] = ("auto", "lns")

    nodes: int = option(
        5_000_000, "most nodes of a call of an operator that frees regions", 100, 10**10, log=True,
        tune=(100_000, 20_000_000),
    )  # fmt: skip
    least_cells: int = option(6, "fewest cells of a region", 1, 64, tune=(2, 20))
    most_cells: int = option(48, "most cells of a region", 4, 80, tune=(20, 80))
    band_lines: int = option(3, "most rows or columns of a band", 1, 5, tune=True)
    blocks: int = option(1, "whether blocks are freed (1 or 0)", 0, 1, tune=True)
    bands: int = option(1, "whether bands are freed (1 or 0)", 0, 1, tune=True)
    clusters: int = option(1, "whether clusters of mismatches are freed (1 or 0)", 0, 1, tune=True)
    combs: int = option(1, "whether combs are freed (1 or 0)", 0, 1, tune=True)
    paths: int = option(1, "whether paths between mismatches are freed (1 or 0)", 0, 1, tune=True)
    donors: int = option(1, "whether blocks with donors are freed (1 or 0)", 0, 1, tune=True)
    last: int = option(20, "last cells of the construction that are freed first", 1, 64, tune=(12, 28))
    last_step: int = option(6, "by how many cells more are freed each further time", 1, 64, tune=(2, 8))
    last_sizes: int = option(3, "how many numbers of last cells are freed", 0, 8, tune=(0, 6))
    pool: int = option(64, "most boards in the pool", 1, 10_000, log=True)
    floor: float = option(
        0.003, "share of the search that an operator may cost though it gains nothing", 0.0, 0.1, tune=(0.0, 0.02)
    )
    certificate: float = option(
        0.05, "share of the search that proofs for the best boards may cost; 0 switches them off", 0.0, 0.5
    )
    patience: int = option(
        750_000_000, "node equivalents without a gain after which other boards come first", 1000, 10**12, log=True,
        tune=(5 * 10**7, 5 * 10**10), engines=("lns",),
    )  # fmt: skip
    slack: int = option(
        0, "edges by which an accepted board may be worse than the best of its line", 0, 100, tune=(0, 3),
        engines=("lns",),
    )  # fmt: skip
    new_board_share: float = option(
        0.3, "share of the changes of board that begin with a new board, not one of the pool", 0.0, 1.0, tune=True,
        engines=("lns",),
    )  # fmt: skip


@dataclass(frozen=True)
class EngineParams(Component):
    """The search loop, which runs the construction and the operators in turn."""

    engines: ClassVar[tuple[str, ...]] = ("auto",)

    step_nodes: int = option(4_000_000, "nodes of construction in one step", 1000, 10**9, log=True)
    beams: int = option(1, "whether a beam makes the first board (1 or 0)", 0, 1)
    search_floor: int = option(
        0, "search for boards of this score even if better ones are known; 0: only for better ones", 0, 10**6
    )


RENAMED: dict[str, str | None] = {
    "rework.nodes": "neighbourhoods.nodes",
    "rework.near_misses": None,
    "rework.suffix": "neighbourhoods.last",
    "rework.suffix_step": "neighbourhoods.last_step",
    "rework.suffixes": "neighbourhoods.last_sizes",
    "rework.share": "neighbourhoods.floor",
    "rework.max_share": None,
    "rework.candidates": "neighbourhoods.pool",
    "neighbourhoods.near_misses": None,
    "neighbourhoods.half_life": None,
    "neighbourhoods.elites": "neighbourhoods.pool",
    "neighbourhoods.elite_distance": None,
    "neighbourhoods.new_beam_share": "neighbourhoods.new_board_share",
    "engine.side_share": "neighbourhoods.floor",
}
"""Parameter name of an earlier version -> present name, or None if the parameter was removed."""


@checked_class
@dataclass(frozen=True)
class Params:
    """Parameters of all components; ``Params()`` has the defaults. Attributes are named like the TOML sections."""

    construct: ConstructParams = field(default_factory=ConstructParams)
    beam: BeamParams = field(default_factory=BeamParams)
    neighbourhoods: NeighbourhoodsParams = field(default_factory=NeighbourhoodsParams)
    tabu: TabuParams = field(default_factory=TabuParams)
    engine: EngineParams = field(default_factory=EngineParams)


def from_dict(values: dict[str, Any], *, earlier: bool = False) -> Params:
    """Return parameters from ``{section: {name: value}}`` as in TOML; omitted parameters have their defaults.

    ``earlier``: also accept names of earlier versions (`RENAMED`), which old runs have. Raises InputError for an
    unknown section or name (the message suggests the nearest known one), or a bad value.
    """
    found: dict[str, dict[str, Any]] = {}
    for section, entries in values.items():
        if not isinstance(entries, dict):
            raise InputError(f"'{section}' is not a section; expected [{section}], then lines of name = value")
        if not earlier:
            found.setdefault(section, {})
        for name, value in entries.items():
            old = f"{section}.{name}"
            new = RENAMED.get(old, old)
            if new != old and not earlier:
                instead = f"it is called {new} now" if new else "there is none like it now"
                raise InputError(f"parameter {old} is of an earlier version; {instead}")
            if new is not None:
                new_section, _, new_name = new.partition(".")
                found.setdefault(new_section, {})[new_name] = value
    defaults, components = vars(Params()), {}
    for section, entries in found.items():
        if section not in defaults:
            raise InputError(unknown("section", section, defaults))
        for name in entries:
            if name not in vars(defaults[section]):
                raise InputError(unknown(f"parameter in [{section}]", name, vars(defaults[section])))
        components[section] = type(defaults[section])(**entries)
    return Params(**components)


def to_dict(params: Params) -> dict[str, Any]:
    """Return nested dicts ``{section: {name: value}}``, as in TOML."""
    return dataclasses.asdict(params)


def load(path: str | Path) -> Params:
    """Return the parameters in a TOML file, as by `from_dict`. Every InputError raised names the file."""
    if not Path(path).exists():
        raise InputError("no such file; expected parameters as TOML", path)
    text = read_text(path)
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # raised also for too long numbers and too deeply nested lists
        raise InputError(f"not TOML: {error}", path) from None
    with named(path):
        return from_dict(values)


def omitted_names(given: dict[str, Any]) -> list[str]:
    """Return the names, as 'section.name', of the parameters that ``given`` (see `from_dict`) does not contain."""
    every = to_dict(Params()).items()
    return [f"{section}.{name}" for section, names in every for name in names if name not in given.get(section, {})]


def to_toml(params: Params) -> str:
    """Return the parameters as TOML, with the meaning and range of each as a comment."""
    lines = []
    for section in dataclasses.fields(params):
        component = getattr(params, section.name)
        lines += [f"# {(type(component).__doc__ or '').strip()}", f"[{section.name}]"]
        for spec in dataclasses.fields(component):
            facts, value = spec.metadata, getattr(component, spec.name)
            lines.append(f"{spec.name} = {value!r}  # {facts['doc']} ({facts['low']} to {facts['high']})")
        lines.append("")
    return "\n".join(lines)
