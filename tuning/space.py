"""The search space of a study, read off the parameter dataclasses: what `option` says of each field is all there is."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from optuna.distributions import FloatDistribution, IntDistribution

_P = TypeVar("_P")  # a dataclass of components, such as lns.params.Params


class Chooser(Protocol):
    """What is used of an optuna trial."""

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int: ...
    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float: ...


@dataclass(frozen=True)
class Variable:
    """One tunable parameter. ``section``, ``field``: where it stands; ``when``: what switches it on, or ""."""

    section: str
    field: str
    kind: type
    low: float
    high: float
    log: bool
    when: str
    doc: str

    @property
    def distribution(self) -> IntDistribution | FloatDistribution:
        if self.kind is int:
            return IntDistribution(int(self.low), int(self.high), log=self.log)
        return FloatDistribution(self.low, self.high, log=self.log)

    @property
    def name(self) -> str:
        return f"{self.section}.{self.field}"

    def suggest(self, trial: Chooser) -> float:
        if self.kind is int:
            return trial.suggest_int(self.name, int(self.low), int(self.high), log=self.log)
        return trial.suggest_float(self.name, self.low, self.high, log=self.log)

    def applies(self, section: Mapping[str, float]) -> bool:
        """Whether the parameter does something, given the others of its section."""
        return not self.when or section[self.when] > 0


def variables(params: Any, engine: str) -> list[Variable]:
    """The tunable parameters of the components that ``engine`` uses, in their order in ``params``."""
    found = []
    for part in dataclasses.fields(params):
        component = getattr(params, part.name)
        if engine not in component.engines:
            continue
        for spec in dataclasses.fields(component):
            used = engine in (spec.metadata["engines"] or component.engines)
            if used and spec.metadata["tune"] is not False:
                found.append(_variable(part.name, spec, type(getattr(component, spec.name))))
    return found


def _variable(section: str, spec: dataclasses.Field[Any], kind: type) -> Variable:
    told, tune = spec.metadata, spec.metadata["tune"]
    low, high = (told["low"], told["high"]) if tune is True else tune
    return Variable(section, spec.name, kind, low, high, told["log"], told["when"], told["doc"])


def suggest(trial: Chooser, space: Sequence[Variable], base: _P) -> _P:
    """``base`` with the variables of ``space`` as the trial says; those whose condition does not hold stay."""
    sections: dict[str, dict[str, float]] = {}
    for variable in space:
        component = getattr(base, variable.section)
        values = sections.setdefault(variable.section, dataclasses.asdict(component))
        if variable.applies(values):
            values[variable.field] = variable.suggest(trial)
    return dataclasses.replace(
        base,  # type: ignore[type-var]
        **{name: type(getattr(base, name))(**values) for name, values in sections.items()},
    )


def values_of(params: Any, space: Sequence[Variable]) -> dict[str, float]:
    """The values of the variables in ``params``, as a trial would name them; those out of range are no part of it."""
    values = {}
    for variable in space:
        component = getattr(params, variable.section)
        value = getattr(component, variable.field)
        if variable.applies(dataclasses.asdict(component)) and variable.low <= value <= variable.high:
            values[variable.name] = value
    return values
