"""Parameters: one validated dataclass a component, the same names in TOML, in the docs and for the tuner.

A field is made with ``option(default, doc, low, high, ...)``; nothing else has to be told about it.
"""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar

from lns_support.errors import InputError
from lns_support.files import read_text


def option(
    default: float | int,
    doc: str,
    low: float | None = None,
    high: float | None = None,
    *,
    log: bool = False,
    tune: bool | tuple[float, float] = False,
    when: str = "",
    engines: tuple[str, ...] = (),
) -> Any:
    """A parameter with its meaning and its range (inclusive); ``log``: its sensible steps are factors.

    ``tune``: whether `lns tune` searches it, over the whole range (True) or over a narrower one (low, high). ``when``:
    the parameter of the section that has to be above 0 for this one to do anything.
    ``engines``: those for which it is tuned, where not all that its component is tuned for use it.
    """
    told = {"doc": doc, "low": low, "high": high, "log": log, "tune": tune, "when": when, "engines": engines}
    return field(default=default, metadata=told)


@dataclass(frozen=True)
class Component:
    """Checks ranges and types of the fields when made; raises InputError naming the parameter."""

    engines: ClassVar[tuple[str, ...]] = ("auto", "construct")  # for which `lns tune` searches it

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            value, low, high = getattr(self, spec.name), spec.metadata.get("low"), spec.metadata.get("high")
            name = f"{_section(type(self))}.{spec.name}"
            kind = type(spec.default)
            whole = kind is float and type(value) is int
            if not whole and type(value) is not kind:
                raise InputError(f"parameter {name} is {value!r}; expected {_KIND_NAMES[kind]}")
            if low is not None and not low <= value <= (float("inf") if high is None else high):
                raise InputError(f"parameter {name} is {value}; expected {low} to {'any' if high is None else high}")
            if whole:  # not before: there are whole numbers that no float holds
                object.__setattr__(self, spec.name, float(value))


_KIND_NAMES = {int: "a whole number", float: "a number"}


_DEPTH_FIRST = ("auto", "construct")  # beams take order and favoured colours only from the construction


@dataclass(frozen=True)
class ConstructParams(Component):
    """Depth-first construction with breaks, colour quotas and the comb order, then the exact tail."""

    engines: ClassVar[tuple[str, ...]] = ("auto", "construct", "beam", "lns")

    column_major_fraction: float = option(
        0.25, "share of the rows, at the end, that are filled column by column", 0.0, 1.0, tune=(0.15, 0.4)
    )
    column_major_skip: int = option(0, "columns of that band that are filled row by row first", 0, 64, tune=(0, 10))
    corner_size: int = option(2, "last columns of that band, filled row and column in turn", 1, 64, tune=(1, 6))
    tail: int = option(6, "cells at the end that the exact search fills", 1, 16, tune=(2, 12), engines=_DEPTH_FIRST)
    tail_nodes: int = option(
        20_000, "nodes that one exact tail may use", 100, 10_000_000, log=True, tune=(1000, 300_000)
    )
    quota_scale: float = option(
        1.0,
        "height of the quota that is tried first; 0: no quota",
        0.0,
        1.2,
        tune=(0.85, 1.15),
        engines=_DEPTH_FIRST,
    )
    border_colours: int = option(1, "favoured rim colours", 0, 5, tune=(0, 2), when="quota_scale")
    inner_colours: int = option(
        2,
        "favoured inner colours; more, in proportion, on boards larger than 16x16",
        0,
        8,
        tune=(1, 4),
        when="quota_scale",
    )
    population: int = option(
        1000, "prefixes grown to measure how pieces fit", 100, 100_000, log=True, tune=(200, 3000), engines=_DEPTH_FIRST
    )
    horizon: float = option(1e7, "nodes in which the first score aimed at is expected once", 1e6, 1e16, log=True)
    schedule_slack: int = option(
        1, "edges below the next score that the break schedule is derived for", 0, 20, tune=(0, 6), engines=_DEPTH_FIRST
    )
    break_shift: int = option(
        0,
        "cells by which breaks unlock earlier (later: negative) than derived",
        -40,
        40,
        tune=(-4, 4),
        engines=_DEPTH_FIRST,
    )
    restart_nodes: int = option(
        300_000_000,
        "nodes after which candidates are shuffled again; more in a long run",
        1000,
        10**12,
        log=True,
        tune=(10**7, 10**10),
        engines=_DEPTH_FIRST,
    )
    restart_nodes_without_prefix: int = option(
        20_000_000,
        "the same, where no prefix has reached the tail yet",
        1000,
        10**12,
        log=True,
        tune=(2 * 10**6, 10**9),
        engines=_DEPTH_FIRST,
    )


@dataclass(frozen=True)
class BeamParams(Component):
    """Many prefixes at once, in the order and with the favoured colours of the construction; then the exact tail."""

    engines: ClassVar[tuple[str, ...]] = ("beam", "lns")

    width: int = option(4096, "prefixes that live on at each cell", 1, 2**20, log=True, tune=(256, 2**17))
    fan_out: int = option(8, "children that one prefix may have", 1, 64, log=True, tune=(2, 32))
    break_cost: int = option(16, "what a break costs, in favoured half-edges", 4, 256, log=True, tune=True)
    tail: int = option(13, "cells at the end that the exact search fills", 1, 16, tune=(8, 16))


@dataclass(frozen=True)
class TabuParams(Component):
    """Tabu search on full boards."""

    engines: ClassVar[tuple[str, ...]] = ("tabu",)

    tenure: int = option(
        12, "steps for which a move's way back is forbidden at the start", 1, 1000, log=True, tune=(2, 200)
    )
    steps: int = option(1000, "moves in one go, at most", 1, 20_000, log=True)
    patience: int = option(20, "moves a cell without a new best before a kick", 1, 10**9, log=True, tune=(2, 1000))
    kick: int = option(12, "random exchanges of a kick", 1, 10_000, log=True, tune=(2, 200))
    kicks: int = option(
        200, "kicks without a new best before another start from a random board", 0, 10**9, log=True, tune=(5, 1000)
    )


@dataclass(frozen=True)
class WindowsParams(Component):
    """Regions around the damage of the best board, freed and re-solved exactly."""

    engines: ClassVar[tuple[str, ...]] = ("auto",)

    nodes: int = option(
        2_000_000, "nodes that one region may use; 0: no regions", 0, 10**10, log=True, tune=(20_000, 20_000_000)
    )
    patience: int = option(
        300, "steps of construction without a new best before its damage is worked on", 0, 10**6, tune=(0, 3000)
    )
    share: float = option(0.005, "nodes of regions, at most, for each node of construction", 0.0, 1000.0)


@dataclass(frozen=True)
class NeighbourhoodsParams(Component):
    """Large-neighbourhood search on one board at a time: operators that free cells and re-solve them, and elites."""

    engines: ClassVar[tuple[str, ...]] = ("lns",)

    nodes: int = option(
        1_000_000, "nodes that an operator may use each time", 100, 10**10, log=True, tune=(30_000, 10_000_000)
    )
    patience: int = option(
        150_000_000,
        "nodes without a gain before another board is worked on",
        1000,
        10**12,
        log=True,
        tune=(10**7, 10**10),
    )
    memory: float = option(
        20_000_000.0, "nodes after which half of an operator's past is forgotten", 1e3, 1e15, log=True, tune=(1e6, 1e9)
    )
    slack: int = option(0, "edges that an accepted board may be worse than the best of its line", 0, 100, tune=(0, 3))
    elites: int = option(8, "boards in the pool", 1, 1000, log=True, tune=(2, 64))
    apart: int = option(20, "cells on which any two of them differ at least", 1, 4096, log=True, tune=(5, 100))
    fresh: float = option(
        0.3, "share of restarts that begin with a new beam once the pool is full", 0.0, 1.0, tune=True
    )


@dataclass(frozen=True)
class EngineParams(Component):
    """The loop that ties the parts together."""

    engines: ClassVar[tuple[str, ...]] = ("auto",)

    step_nodes: int = option(4_000_000, "nodes of construction in one step", 1000, 10**9, log=True)
    beams: int = option(1, "beams before the construction begins; 0: none", 0, 10, tune=(0, 3))
    search_floor: int = option(
        0, "look for boards of this score even when better ones are known; 0: only better", 0, 10**6
    )


@dataclass(frozen=True)
class Params:
    """All components. ``Params()`` are the defaults."""

    construct: ConstructParams = field(default_factory=ConstructParams)
    beam: BeamParams = field(default_factory=BeamParams)
    windows: WindowsParams = field(default_factory=WindowsParams)
    neighbourhoods: NeighbourhoodsParams = field(default_factory=NeighbourhoodsParams)
    tabu: TabuParams = field(default_factory=TabuParams)
    engine: EngineParams = field(default_factory=EngineParams)


def _section(component: type) -> str:
    return component.__name__.removesuffix("Params").lower()


def from_dict(values: dict[str, Any]) -> Params:
    """Params from nested dicts as in TOML; raises InputError for an unknown name, with the nearest known one."""
    sections = {spec.name: type(getattr(Params(), spec.name)) for spec in dataclasses.fields(Params)}
    made = {}
    for section, entries in values.items():
        if section not in sections:
            raise InputError(_unknown("section", section, list(sections)))
        if not isinstance(entries, dict):
            raise InputError(f"'{section}' must be a section: [{section}], then name = value lines")
        names = [spec.name for spec in dataclasses.fields(sections[section])]
        for name in entries:
            if name not in names:
                raise InputError(_unknown(f"parameter in [{section}]", name, names))
        made[section] = sections[section](**entries)
    return Params(**made)


def to_dict(params: Params) -> dict[str, Any]:
    """Nested dicts as in TOML."""
    return dataclasses.asdict(params)


def load(path: str | Path) -> Params:
    """Params from a TOML file; raises InputError naming the file."""
    if not Path(path).exists():
        raise InputError("no such file; expected parameters as TOML", path)
    text = read_text(path)
    try:
        return from_dict(tomllib.loads(text))
    except InputError as error:
        raise error.at(path) from None
    except (ValueError, RecursionError) as error:  # numbers and lists without end, too
        raise InputError(f"not TOML: {error}", path) from None


def omitted_names(text: str) -> list[str]:
    """Parameters that parameters as TOML leave at their defaults, as 'section.name'."""
    named = tomllib.loads(text)
    return [
        f"{section}.{name}"
        for section, entries in to_dict(Params()).items()
        for name in entries
        if name not in named.get(section, {})
    ]


def to_toml(params: Params) -> str:
    """TOML with each parameter's meaning and range as a comment."""
    lines = []
    for section in dataclasses.fields(params):
        component = getattr(params, section.name)
        lines += [f"# {(type(component).__doc__ or '').strip()}", f"[{section.name}]"]
        for spec in dataclasses.fields(component):
            low, high = spec.metadata["low"], spec.metadata["high"]
            span = "" if low is None else f" ({low} to {high})"
            lines.append(f"{spec.name} = {getattr(component, spec.name)!r}  # {spec.metadata['doc']}{span}")
        lines.append("")
    return "\n".join(lines)


def _unknown(what: str, name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"unknown {what}: '{name}'; " + (
        f"did you mean '{near[0]}'?" if near else "expected one of " + ", ".join(known)
    )
