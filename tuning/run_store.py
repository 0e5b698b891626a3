"""The finished runs of a study, so that none is repeated: those of the defaults, of a trial that was killed, of the
validation.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from lns_support.errors import InputError
from lns_support.json_values import JsonFields, bounded_integer, describe_found, json_object
from tuning.objective import Trace
from tuning.records import RecordFile

MAX_SCORE = 10**7  # more edges than any board has
MAX_NODES = 2**60

RunKey = tuple[str, str, int]
"""What identifies a run: (digest of the parameters, sha256 of the puzzle, seed)."""


SHARED_S = 10.0  # between two looks at the runs of other machines


class OtherRuns(Protocol):
    """Runs that other machines made, and that they are told."""

    def put(self, key: RunKey, line: str) -> None: ...

    def lines(self) -> list[str]: ...


class RunStore:
    """The finished runs of a study.

    Parameters
    ----------
    path : Path
        The file, created by the first run; a lock file is kept beside it.
    reading : bool
        Only read the file; nothing is created or repaired.

    Raises
    ------
    InputError
        A line of the file is damaged, or the file is none of a study.
    """

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        self._file = RecordFile(path, reading=reading)
        self._runs: dict[RunKey, Trace] = {}
        self._others: OtherRuns | None = None
        self._shared_at = 0.0
        self.refresh()

    def share(self, others: OtherRuns) -> None:
        """Exchange runs with other machines from now on."""
        self._others = others
        self.refresh()

    @property
    def lines(self) -> int:
        """Lines read so far, one for each finished run."""
        return self._file.lines

    def get(self, key: RunKey) -> Trace | None:
        """The run with ``key``, None if there is none."""
        return self._runs.get(key)

    def add(self, key: RunKey, trace: Trace) -> None:
        """Store a run, unless one that is as long is stored already."""
        stored = self._runs.get(key)
        if stored is not None and stored.covers(trace.nodes):
            return
        record = {"params": key[0], "puzzle": key[1], "seed": key[2], **asdict(trace)}
        self._file.append([record], durable=True)
        if self._others is not None:
            self._others.put(key, json.dumps(record))
        self._runs[key] = trace

    def refresh(self) -> None:
        """Read what other processes have added. Raises InputError with the number of a damaged line."""
        for record in self._file.new_records():
            try:
                self._take(*_parse(record))
            except InputError as error:
                raise InputError(error.message, self._file.path, self._file.lines) from None
        if self._others is not None and time.monotonic() - self._shared_at >= SHARED_S:
            self._shared_at = time.monotonic()
            for line in self._others.lines():
                self._take(*_parse(json_object(line)))

    def _take(self, key: RunKey, trace: Trace) -> None:
        stored = self._runs.get(key)
        if stored is None or not stored.covers(trace.nodes):
            self._runs[key] = trace


def _parse(record: dict[str, Any]) -> tuple[RunKey, Trace]:
    fields = JsonFields(record)
    key = fields.text("params", 64), fields.text("puzzle", 64), fields.integer("seed", 0, 2**63)
    trace = Trace(
        best_scores=tuple(
            (bounded_integer(score, 0, MAX_SCORE, "a score of 'best_scores'"), at)
            for score, at in _entries(fields, "best_scores")
        ),
        nodes=fields.integer("nodes", 0, MAX_NODES),
        exhausted=fields.boolean("exhausted"),
        seconds=fields.number("seconds", 0.0, 1e9),
        wall_s=fields.number("wall_s", 0.0, 1e9),
        worths=tuple(
            (JsonFields({"worths": worth}).number("worths", 0, MAX_SCORE), at)
            for worth, at in _entries(fields, "worths")
        ),
    )
    return key, trace


def _entries(fields: JsonFields, name: str) -> list[tuple[Any, int]]:
    """The [score, nodes] of a field; the scores are unchecked."""
    entries = []
    for entry in fields.array(name):
        if not isinstance(entry, list) or len(entry) != 2:
            raise InputError(f"'{name}': {describe_found(entry)}; expected [score, nodes]")
        entries.append((entry[0], bounded_integer(entry[1], 0, MAX_NODES, f"nodes of '{name}'")))
    return entries
