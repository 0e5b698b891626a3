"""The search space of a study, read from the parameter dataclasses (`lns.params.option` has the ranges)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from optuna.distributions import FloatDistribution, IntDistribution

_P = TypeVar("_P")  # a dataclass of components, such as lns.params.Params


class SupportsSuggest(Protocol):
    """The methods of an optuna trial that are used here."""

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int: ...
    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float: ...


@dataclass(frozen=True)
class Variable:
    """A tunable parameter.

    Parameters
    ----------
    section, field : str
        Component and field, as in ``[construct]`` and ``tail``.
    type : type
        int or float.
    low, high : float
        Range that is searched, both included.
    log : bool
        Search on a logarithmic scale.
    when : str
        Field of the same section that must be above 0 for this one to have an effect; "" if there is none.
    doc : str
        What the parameter means.
    """

    section: str
    field: str
    type: type
    low: float
    high: float
    log: bool
    when: str
    doc: str

    @property
    def distribution(self) -> IntDistribution | FloatDistribution:
        """The range as optuna describes it."""
        if self.type is int:
            return IntDistribution(int(self.low), int(self.high), log=self.log)
        return FloatDistribution(self.low, self.high, log=self.log)

    @property
    def name(self) -> str:
        return f"{self.section}.{self.field}"

    def suggest(self, trial: SupportsSuggest) -> float:
        """The value of this variable in ``trial``."""
        if self.type is int:
            return trial.suggest_int(self.name, int(self.low), int(self.high), log=self.log)
        return trial.suggest_float(self.name, self.low, self.high, log=self.log)

    def applies(self, section: Mapping[str, float]) -> bool:
        """Whether the parameter has an effect, given the values of its section."""
        return not self.when or section[self.when] > 0


def search_space(params: Any, engine: str) -> list[Variable]:
    """The tunable parameters of the components that ``engine`` uses, in their order in ``params``.

    Parameters
    ----------
    params : Params
        A dataclass of components.
    engine : str
        One of `lns.engines.ENGINES`.
    """
    space = []
    for part in dataclasses.fields(params):
        component = getattr(params, part.name)
        if engine not in component.engines:
            continue
        for spec in dataclasses.fields(component):
            used = engine in (spec.metadata["engines"] or component.engines)
            if used and spec.metadata["tune"] is not False:
                space.append(_variable(part.name, spec, type(getattr(component, spec.name))))
    return space


def _variable(section: str, spec: dataclasses.Field[Any], value_type: type) -> Variable:
    metadata, tune = spec.metadata, spec.metadata["tune"]
    low, high = (metadata["low"], metadata["high"]) if tune is True else tune
    return Variable(section, spec.name, value_type, low, high, metadata["log"], metadata["when"], metadata["doc"])


def suggest_params(trial: SupportsSuggest, space: Sequence[Variable], base: _P) -> _P:
    """``base`` with the values of ``trial`` for the variables of ``space``; those without effect stay as they are."""
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
    """The values of ``space`` in ``params`` by name, without those out of range and those without effect."""
    values = {}
    for variable in space:
        component = getattr(params, variable.section)
        value = getattr(component, variable.field)
        if variable.applies(dataclasses.asdict(component)) and variable.low <= value <= variable.high:
            values[variable.name] = value
    return values
