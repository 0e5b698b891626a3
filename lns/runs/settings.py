"""run.json: the settings of a run, written once at its start, with a checksum."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from instances.puzzle import MAX_CELLS, Clue
from lns.engine import MAX_OPERATOR_NAME, MAX_OPERATORS
from lns.engines import ENGINES
from lns.runs.files import SETTINGS, expect_schema, read_sealed, seal
from lns_support.errors import InputError
from lns_support.files import atomic_write
from lns_support.json_values import JsonFields, bounded_row
from lns_support.text import quoted

SCHEMA = 2
LEAST_CHECKPOINT_S = 0.1
_HEX = re.compile(r"[0-9a-f]{32}|[0-9a-f]{64}")


@dataclass(frozen=True)
class RunSettings:
    """Settings of a run.

    Raises
    ------
    InputError
        A value is out of range, so that nothing is written that could not be read again.
    """

    run: str  # random id of the run
    instance: str  # how the user named the puzzle; never used as a path
    instance_sha256: str  # of the puzzle
    seed: int
    engine: str  # one of lns.engines.ENGINES
    target: int  # score that the user asked for; -1: none, any score is a success
    min_score: int  # boards of at least this score are logged; -1: of the best score so far less one
    checkpoint_s: float  # seconds between checkpoints
    params_sha256: str  # of params.toml, from which a later session reads them
    created_at: str  # time of day, UTC
    pins: tuple[Clue, ...] = ()  # cells that keep their piece, beside the clues of the puzzle
    params: dict[str, dict[str, float]] = field(default_factory=dict)  # values by section; {} in older runs
    params_source: str = ""  # "default", "given", a file, or a study and what it proved; "" in older runs
    operators: tuple[str, ...] = ()  # of the engine 'lns', in their order
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        values, most = JsonFields(self.__dict__), 2 * MAX_CELLS
        values.text("instance", 2**20)
        values.integer("seed", 0, 2**64)
        values.integer("target", -1, most)
        values.integer("min_score", -1, most)
        values.number("checkpoint_s", LEAST_CHECKPOINT_S, 1e9)
        values.text("created_at", 40)
        values.text("params_source", 10_000)
        if values.text("engine", 20) not in ENGINES:
            raise InputError(f"'engine' is {quoted(self.engine)}; expected one of {', '.join(ENGINES)}")
        for name, digits in (("run", 32), ("instance_sha256", 64), ("params_sha256", 64)):
            if not _HEX.fullmatch(values.text(name, digits)):
                raise InputError(f"'{name}' is not hexadecimal; expected {digits} digits")
        if len(self.operators) > MAX_OPERATORS:
            raise InputError(f"{len(self.operators)} operators; expected at most {MAX_OPERATORS}")
        for operator in self.operators:
            JsonFields({"operators": operator}).text("operators", MAX_OPERATOR_NAME)

    def write(self, directory: Path) -> None:
        """Write run.json. Raises OSError."""
        atomic_write(
            directory / SETTINGS,
            seal(asdict(self) | {"pins": [[pin.cell, pin.piece, pin.rotation] for pin in self.pins]}) + "\n",
        )

    @classmethod
    def read(cls, directory: Path) -> RunSettings:
        """Read run.json. Raises InputError, naming the file, if it is absent, damaged or of another version."""
        path = directory / SETTINGS
        if not path.is_file():
            raise InputError(f"no run directory: it has no {SETTINGS}", directory)
        found = read_sealed(path)
        try:
            expect_schema(found, SCHEMA)
            pins = found.array("pins", default=[])[:MAX_CELLS]
            bounds = [(0, MAX_CELLS - 1), (0, MAX_CELLS - 1), (0, 3)]
            clues = tuple(Clue(*bounded_row(entry, bounds, "'pins'", "cell, piece, rotation")) for entry in pins)
            operators = tuple(found.array("operators", default=[]))
            later = {name: found.get(name) for name in ("params", "params_source") if name in found}
            others = {spec.name for spec in fields(cls)} - {"pins", "operators", "schema", "params", "params_source"}
            return cls(pins=clues, operators=operators, **later, **{name: found.get(name) for name in others})
        except InputError as error:
            raise error.at(path) from None


def digest(text: str) -> str:
    """SHA-256 of a text, as hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()
