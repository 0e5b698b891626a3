"""Optuna's journal of a study in a file. Every record is checked before optuna sees it.

The order in which the tuner writes is known, so a line that is lost or was changed is found where a later one does not
follow from what is left.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from optuna.distributions import FloatDistribution, IntDistribution, json_to_distribution
from optuna.storages.journal import BaseJournalBackend
from optuna.trial import TrialState

from lns_support.errors import InputError
from lns_support.json_values import JsonFields, bounded_integer, describe_found, json_object
from lns_support.text import quoted
from tuning.append_file import AppendFile

OPTUNA_NAME = "lns"  # of the study inside the journal
CHOICES = "choices"  # attribute of the study: (share of each candidate, trial numbers) of each choice
MAX_VALUE = 1e15  # of any number in a journal, in absolute value
MAX_STEPS = 10**6
_MAXIMIZE = 2
_HOLDER_TEXTS = ("host", "boot", "started", "since")

Distribution = FloatDistribution | IntDistribution


class JournalFile(BaseJournalBackend):
    """Optuna's journal in a file, shared by several processes.

    Only the end of a trial is flushed to the disk. What a killed process wrote is safe with the system, and a dozen
    flushes a trial would take longer than the runs of a small study.

    Parameters
    ----------
    path : Path
        The file, created by the first record; a lock file is kept beside it.
    reading : bool
        Only read the file; nothing is created or repaired.

    Raises
    ------
    InputError
        A line is no record that can follow the earlier ones; the message has its number.
    """

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        self._file = AppendFile(path, reading=reading)
        self._checker = _Checker()

    @property
    def has_study(self) -> bool:
        """Whether the journal holds the study, as far as it has been read."""
        return OPTUNA_NAME in self._checker.names.values()

    def line_of(self, trial: int) -> int:
        """Number of the last line that changed a trial."""
        return self._checker.trials[trial].line

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """The records from number ``log_number_from`` on, counted from 0."""
        if log_number_from < self._file.lines:
            self._file.rewind()
            self._checker = _Checker()
        for raw in self._file.new_lines():
            number = self._file.lines
            try:
                record = self._checker.check(raw, number)
            except InputError as error:
                raise InputError(f"damaged: {error.message}", self._file.path, number) from None
            if number > log_number_from:
                yield record

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Append records."""
        text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in logs)
        self._file.append(text, durable=any("state" in record for record in logs))


@dataclass
class _Trial:
    """What later records of a trial depend on."""

    study: int
    number: int
    state: int
    steps: int = 0
    names: set[str] = field(default_factory=set)  # attributes
    line: int = 0

    @property
    def is_finished(self) -> bool:
        return TrialState(self.state).is_finished()


class _Checker:
    """Checks one record after another.

    Attributes
    ----------
    names : dict of int to str
        Name of each study.
    trials : list of _Trial
        The trials of all studies, by their ids.
    """

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.trials: list[_Trial] = []
        self._studies = 0  # ever created
        self._distributions: dict[tuple[int, str], Distribution] = {}
        self._operations: list[Callable[[JsonFields, int], None]] = [
            self._create_study, self._delete_study, partial(self._set_study_attribute, "user_attr"),
            partial(self._set_study_attribute, "system_attr"), self._create_trial, self._set_parameter, self._set_state,
            self._set_step, partial(self._set_attribute, "user_attr"), partial(self._set_attribute, "system_attr"),
        ]  # fmt: skip

    def check(self, raw: bytes, line: int) -> dict[str, Any]:
        """The record in line number ``line``. Raises InputError if it cannot follow the earlier ones."""
        try:
            record = json_object(raw.decode())
        except UnicodeDecodeError:
            raise InputError("no UTF-8 text; expected a record of optuna") from None
        fields = JsonFields(record)
        operation = fields.integer("op_code", 0, len(self._operations) - 1)
        fields.text("worker_id", 200)
        self._operations[operation](fields, line)
        return record

    # -- studies -----------------------------------------------------------------------------------------------------

    def _create_study(self, fields: JsonFields, line: int) -> None:
        name, directions = fields.text("study_name", 200), fields.array("directions")
        for direction in directions:
            bounded_integer(direction, 0, _MAXIMIZE, "'directions'")
        if not directions or (name == OPTUNA_NAME and directions != [_MAXIMIZE]):
            raise InputError(f"'directions': {describe_found(directions)}; expected [{_MAXIMIZE}], to maximise")
        if name not in self.names.values():  # created again by every process that opens the study
            self.names[self._studies] = name
            self._studies += 1

    def _delete_study(self, fields: JsonFields, line: int) -> None:
        del self.names[self._study(fields)]

    def _study(self, fields: JsonFields) -> int:
        number = fields.integer("study_id", 0, 10**9)
        if number not in self.names:
            raise InputError(f"a record of study {number}, which no earlier line creates")
        return number

    def _set_study_attribute(self, kind: str, fields: JsonFields, line: int) -> None:
        study = self._study(fields)
        name, value = _attribute(kind, fields)
        if name == CHOICES and self.names[study] == OPTUNA_NAME and kind == "user_attr":
            self._check_choices(value, study)

    def _check_choices(self, value: Any, study: int) -> None:
        """Check the candidates: each is a complete trial, chosen once."""
        complete = {
            trial.number for trial in self.trials if trial.study == study and trial.state == TrialState.COMPLETE
        }
        chosen: set[int] = set()
        for choice in JsonFields({CHOICES: value}).array(CHOICES):
            if not isinstance(choice, list) or len(choice) != 2:
                raise InputError(f"'{CHOICES}': {describe_found(choice)}; expected [share, trial numbers]")
            share, numbers = JsonFields({"share": choice[0], "trials": choice[1]}), choice[1]
            share.number("share", 1e-12, 1)
            for number in share.array("trials"):
                bounded_integer(number, 0, len(self.trials), f"a trial of '{CHOICES}'")
                if number not in complete or number in chosen:
                    raise InputError(f"trial {number} is a candidate; expected a complete trial, and only once")
                chosen.add(number)
            if not numbers:
                raise InputError(f"'{CHOICES}': a choice of no trials; expected at least one")

    # -- trials ------------------------------------------------------------------------------------------------------

    def _create_trial(self, fields: JsonFields, line: int) -> None:
        study = self._study(fields)
        number = sum(trial.study == study for trial in self.trials) if self._studies > 1 else len(self.trials)
        state = fields.integer("state", 0, 4) if "state" in fields else int(TrialState.RUNNING)
        if state not in (TrialState.RUNNING, TrialState.WAITING):
            raise InputError(f"'state': {describe_found(state)}; expected that of a running or a waiting trial")
        trial = _Trial(study=study, number=number, state=state, line=line)
        _check_time(fields, "datetime_start", optional=True)
        for name in ("value", "values", "datetime_complete"):
            if name in fields and fields.get(name) is not None:
                raise InputError(f"'{name}': {describe_found(fields.get(name))}; expected none in a new trial")
        for name in ("params", "distributions", "intermediate_values"):
            if name in fields and fields.get(name) != {}:
                raise InputError(f"'{name}': {describe_found(fields.get(name))}; expected {{}} in a new trial")
        for kind in ("user_attrs", "system_attrs"):
            for name, value in _object(fields, kind).items():
                _check_attribute(trial, name, value)
        self.trials.append(trial)

    def _trial(self, fields: JsonFields, line: int) -> _Trial:
        """The trial of a record. Updates of a finished trial have no effect, but are written by slow processes."""
        number = fields.integer("trial_id", 0, 10**9)
        if number >= len(self.trials):
            raise InputError(f"a record of trial {number}, which no earlier line creates")
        trial = self.trials[number]
        if not trial.is_finished:
            trial.line = line
        return trial

    def _set_parameter(self, fields: JsonFields, line: int) -> None:
        trial, name = self._trial(fields, line), fields.text("param_name", 200)
        value = fields.number("param_value_internal", -MAX_VALUE, MAX_VALUE)
        distribution = _distribution(fields.text("distribution", 1000))
        if not distribution.low <= value <= distribution.high:
            raise InputError(f"{quoted(name)} is {value:g}; expected {distribution.low:g} to {distribution.high:g}")
        if self._distributions.setdefault((trial.study, name), distribution) != distribution:
            raise InputError(f"the range of {quoted(name)} is not that of earlier trials")

    def _set_state(self, fields: JsonFields, line: int) -> None:
        trial, state = self._trial(fields, line), fields.integer("state", 0, 4)
        values = fields.get("values")
        if values is not None:
            for value in fields.array("values", 1):
                _check_number("values", value)
        if state == TrialState.RUNNING:
            _check_time(fields, "datetime_start", optional=False)
        elif state != TrialState.WAITING:
            _check_time(fields, "datetime_complete", optional=False)
        if trial.is_finished:
            return
        if state == TrialState.COMPLETE and (values is None or "short" not in trial.names):
            raise InputError(f"trial {trial.number} is complete without a value or without its short runs")
        trial.state = state

    def _set_step(self, fields: JsonFields, line: int) -> None:
        trial, step = self._trial(fields, line), fields.integer("step", 0, MAX_STEPS)
        fields.number("intermediate_value", -MAX_VALUE, MAX_VALUE)
        if trial.is_finished:
            return
        if step != trial.steps:
            raise InputError(f"step {step} of trial {trial.number}; expected step {trial.steps}")
        trial.steps += 1

    def _set_attribute(self, kind: str, fields: JsonFields, line: int) -> None:
        _check_attribute(self._trial(fields, line), *_attribute(kind, fields))


def _attribute(kind: str, fields: JsonFields) -> tuple[str, Any]:
    """Name and value of the one attribute in a record, of the ``kind`` that its operation sets."""
    entries = fields.get(kind)
    if not isinstance(entries, dict) or len(entries) != 1:
        raise InputError(f"'{kind}': {describe_found(entries)}; expected one attribute and its value")
    return next(iter(entries.items()))


def _check_attribute(trial: _Trial, name: str, value: Any) -> None:
    """Check an attribute that is read later; others may be anything."""
    fields = JsonFields({name: value})
    if name in ("short", "long"):
        _check_number(name, value)
    elif name in ("retries", "first_number"):
        fields.integer(name, 0, 10**9)
    elif name in ("origin", "error", "refused", "no_board"):
        fields.text(name, 1000)
    elif name == "holder":
        holder = _object(fields, name)
        JsonFields(holder).integer("pid", 1, 2**31 - 1)
        for text in (*_HOLDER_TEXTS, *(["space"] if "space" in holder else [])):
            JsonFields(holder).text(text, 200)
        if unknown := set(holder) - {"pid", "space", *_HOLDER_TEXTS}:
            raise InputError(f"'holder': the field {quoted(min(unknown))}; expected a process")
    elif name == "fixed_params":
        for parameter, number in _object(fields, name).items():
            _check_number(parameter, number)
    if name == "long" and "short" not in trial.names:
        raise InputError(f"trial {trial.number} has long runs; expected its short runs before")
    trial.names.add(name)


def _object(fields: JsonFields, name: str) -> dict[str, Any]:
    """A JSON object in a record; empty if the field is missing."""
    value = fields.get(name) if name in fields else {}
    if not isinstance(value, dict):
        raise InputError(f"'{name}': {describe_found(value)}; expected an object")
    return value


def _check_number(name: str, value: Any) -> None:
    JsonFields({name: value}).number(name, -MAX_VALUE, MAX_VALUE)


def _check_time(fields: JsonFields, name: str, *, optional: bool) -> None:
    """Check a time of day as optuna reads it."""
    if optional and fields.get(name) is None:
        return
    text = fields.text(name, 64)
    try:
        datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        raise InputError(f"'{name}': {describe_found(text)}; expected a time of day") from None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MAX_VALUE


def _distribution(text: str) -> Distribution:
    """The range of a parameter."""
    try:
        distribution = json_to_distribution(text)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError):
        distribution = None
    if (
        not isinstance(distribution, FloatDistribution | IntDistribution)
        or distribution.step not in (None, 1)
        or not isinstance(distribution.log, bool)
        or not all(_is_number(limit) for limit in (distribution.low, distribution.high))
    ):
        raise InputError(f"'distribution': {describe_found(text)}; expected a range of numbers")
    return distribution
