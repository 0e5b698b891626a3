"""The search space of a study, read off the parameter dataclasses: what `option` says of each field is all there is."""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

_P = TypeVar("_P")  # a dataclass of components, such as lns.params.Params

_CONDITION = re.compile(r"(\w+) (>=|<=|==|!=|>|<) (\S+)")
_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class Chooser(Protocol):
    """What is used of an optuna trial."""

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int: ...
    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float: ...
    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any: ...


@dataclass(frozen=True)
class Variable:
    """One tunable parameter. ``section``, ``field``: where it stands; ``choices``: of a text or a truth value."""

    section: str
    field: str
    kind: type
    low: float
    high: float
    log: bool
    choices: tuple[Any, ...]
    when: str
    doc: str

    @property
    def name(self) -> str:
        return f"{self.section}.{self.field}"

    def suggest(self, trial: Chooser) -> Any:
        if self.choices:
            return trial.suggest_categorical(self.name, self.choices)
        if self.kind is int:
            return trial.suggest_int(self.name, int(self.low), int(self.high), log=self.log)
        return trial.suggest_float(self.name, self.low, self.high, log=self.log)

    def applies(self, section: Mapping[str, Any]) -> bool:
        """Whether the parameter does something, given the others of its section."""
        if not self.when:
            return True
        match = _CONDITION.fullmatch(self.when)
        assert match is not None, f'{self.name}: \'when\' is "{self.when}"; expected like "quota > 0"'
        other, relation, text = match.groups()
        value = section[other]
        return _RELATIONS[relation](value, type(value)(text))


def variables(params: Any, engine: str) -> list[Variable]:
    """The tunable parameters of the components that ``engine`` uses, in their order in ``params``."""
    found = []
    for part in dataclasses.fields(params):
        component = getattr(params, part.name)
        if engine not in component.engines:
            continue
        for spec in dataclasses.fields(component):
            used = engine in (spec.metadata.get("engines") or component.engines)
            if used and spec.metadata.get("tune", False) is not False:
                found.append(_variable(part.name, spec, type(getattr(component, spec.name))))
    return found


def _variable(section: str, spec: dataclasses.Field[Any], kind: type) -> Variable:
    told, tune = spec.metadata, spec.metadata["tune"]
    low, high = (told["low"], told["high"]) if tune is True else (tune[0], tune[-1])
    choices: tuple[Any, ...] = ()
    if kind is bool:
        choices = (False, True)
    elif kind is str:
        choices = tuple(tune)
    low, high = (0, 0) if choices else (low, high)
    return Variable(section, spec.name, kind, low, high, told["log"], choices, told.get("when", ""), told["doc"])


def suggest(trial: Chooser, space: Sequence[Variable], base: _P) -> _P:
    """``base`` with the variables of ``space`` as the trial says; those whose condition does not hold stay."""
    sections: dict[str, dict[str, Any]] = {}
    for variable in space:
        component = getattr(base, variable.section)
        values = sections.setdefault(variable.section, dataclasses.asdict(component))
        if variable.applies(values):
            values[variable.field] = variable.suggest(trial)
    return dataclasses.replace(
        base,  # type: ignore[type-var]
        **{name: type(getattr(base, name))(**values) for name, values in sections.items()},
    )


def values_of(params: Any, space: Sequence[Variable]) -> dict[str, Any]:
    """The values of the variables in ``params``, as a trial would name them."""
    values = {}
    for variable in space:
        component = getattr(params, variable.section)
        if variable.applies(dataclasses.asdict(component)):
            values[variable.name] = getattr(component, variable.field)
    return values
