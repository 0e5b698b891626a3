"""run.json: what a run was asked to do. Written once, sealed, and read by everything that comes later."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from instances.puzzle import MAX_CELLS, Clue
from lns.engines import ENGINES
from lns.runs.files import SETTINGS, expect_schema, read_sealed, seal
from lns_support.errors import InputError
from lns_support.files import atomic_write
from lns_support.json_values import JsonFields, bounded_row

SCHEMA = 2
LEAST_CHECKPOINT_S = 0.1
_HEX = re.compile(r"[0-9a-f]{32}|[0-9a-f]{64}")


@dataclass(frozen=True)
class RunSettings:
    """``run``: random id of the run. ``instance``: how the user named the puzzle; never used as a path.

    ``target``: the score that was asked for; -1: none, so that any end but a failure is a success.
    ``min_score``: boards of at least this score are kept in boards.jsonl; -1: of the best score so far less one.
    ``params_sha256``: of params.toml. ``pins``: what `--pin` keeps where it lies, beside the puzzle's own clues.
    Raises InputError for values out of bounds, so that nothing is written that could not be read again.
    """

    run: str
    instance: str
    instance_sha256: str
    seed: int
    engine: str
    target: int
    min_score: int
    checkpoint_s: float
    params_sha256: str
    created_at: str
    pins: tuple[Clue, ...] = ()
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        values, most = JsonFields(self.__dict__), 2 * MAX_CELLS
        values.text("instance", 2**20)
        values.integer("seed", 0, 2**64)
        values.integer("target", -1, most)
        values.integer("min_score", -1, most)
        values.number("checkpoint_s", LEAST_CHECKPOINT_S, 1e9)
        values.text("created_at", 40)
        if values.text("engine", 20) not in ENGINES:
            raise InputError(f"'engine' is none of {', '.join(ENGINES)}")
        for name, digits in (("run", 32), ("instance_sha256", 64), ("params_sha256", 64)):
            if not _HEX.fullmatch(values.text(name, digits)):
                raise InputError("expected hexadecimal digits as 'run', 'instance_sha256' and 'params_sha256'")

    def write(self, directory: Path) -> None:
        atomic_write(
            directory / SETTINGS,
            seal(asdict(self) | {"pins": [[pin.cell, pin.piece, pin.rotation] for pin in self.pins]}) + "\n",
        )

    @classmethod
    def read(cls, directory: Path) -> RunSettings:
        """Raises InputError, naming the file, when there is none, or it is damaged or of another version."""
        path = directory / SETTINGS
        if not path.is_file():
            raise InputError(f"no run directory; expected one that `lns solve` made, with {SETTINGS} in it", directory)
        found = read_sealed(path)
        try:
            expect_schema(found, SCHEMA)
            pins = found.array("pins", default=[])[:MAX_CELLS]
            bounds = [(0, MAX_CELLS - 1), (0, MAX_CELLS - 1), (0, 3)]
            clues = tuple(Clue(*bounded_row(entry, bounds, "'pins'", "cell, piece, rotation")) for entry in pins)
            others = {spec.name for spec in fields(cls)} - {"pins", "schema"}
            return cls(pins=clues, **{name: found.get(name) for name in others})
        except InputError as error:
            raise error.at(path) from None


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
