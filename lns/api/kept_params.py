"""Parameters that `lns tune` has proved better, kept in the user's configuration directory for `lns solve`.

A file holds the parameters that one study proved, for one version of an engine, and for a set of pieces with its clues
or a family of generated puzzles. Only `lns.api` reads these files; an engine receives its parameters from the caller.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lns import params as parameters
from lns.engines import engine_digest
from lns.instances.errors import InputError, named
from lns.instances.files import atomic_write
from lns.instances.pairing import half_edges
from lns.instances.piece_set import numbering, set_sha256
from lns.instances.puzzle import Puzzle
from lns.instances.text import printable
from lns.params import Params
from lns.runs.files import read_sealed, seal, utc_now
from lns.version import __version__

SCHEMA = 1
DEFAULTS = "default"  # a user gives this word in place of a parameter file to ignore kept parameters


@dataclass(frozen=True)
class KeptParams:
    """Kept parameters, and the study that proved them better than the defaults."""

    params: Params
    study: str  # absolute path of the directory of the study
    subject: str  # puzzles of the study: a family such as "like-e2:12x12", or the names of puzzles
    gain: str  # gain that the study proved, such as "+0.40 edges on 24 held-out pairs"

    def __str__(self) -> str:
        here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118 (the text of a path, which need not exist)
        return f"{printable(self.study.removeprefix(here), 200)}: {self.gain}"


def folder() -> Path:
    """Return the directory of kept parameters: ``$XDG_CONFIG_HOME/lns/params``, by default ``~/.config/lns/params``."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111 (may not raise)
    return Path(home, "lns", "params")


def keep(kept: KeptParams, engine: str, puzzle: Puzzle, *, family: bool) -> Path:
    """Save parameters for a puzzle, or for its family if ``family``, in place of those saved before.

    Returns the path of the file. Raises OSError if it cannot be written.
    """
    path = _file(_family_key(puzzle) if family else _puzzle_key(puzzle), engine)
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = {
        "schema": SCHEMA, "file": path.name, "study": kept.study, "subject": kept.subject, "gain": kept.gain,
        "version": __version__, "kept_at": utc_now(), "params": parameters.to_dict(kept.params),
    }  # fmt: skip
    atomic_write(path, seal(fields) + "\n")
    return path


def find(puzzle: Puzzle, engine: str) -> tuple[KeptParams | None, str]:
    """Return the parameters kept for a puzzle, or else, if it has no clues, for its family; and return a note.

    The parameters are None if none can be used. The note says why kept parameters cannot be used; else it is "".
    """
    note = ""
    for key in (_puzzle_key(puzzle), *([] if puzzle.clues else [_family_key(puzzle)])):
        path = _file(key, engine)
        try:
            if path.exists():
                return _read(path), ""
            if any(folder().glob(f"{key}.{engine}.*.json")):
                note = note or (
                    f"parameters are kept for {puzzle.name}, but a study proved them with another version of the "
                    "engine, so the defaults are used; a new study may prove them again"
                )
        except InputError as error:
            note = note or f"{error}; so the defaults are used instead of what a study proved"
    return None, note


def _read(path: Path) -> KeptParams:
    with named(path):
        fields = read_sealed(path, SCHEMA)
        if fields.text("file", 300) != path.name:
            raise InputError("this file was kept under another name, for another puzzle or engine")
        values = fields.get("params")
        if not isinstance(values, dict):
            raise InputError("'params' is no object; expected {section: {name: value}}")
        params = parameters.from_dict(values)
        return KeptParams(params, fields.text("study", 5000), fields.text("subject", 5000), fields.text("gain", 100))


def _file(key: str, engine: str) -> Path:
    """Return the path of the file of kept parameters for a key, an engine and the present sources of the engines."""
    return folder() / f"{key}.{engine}.{engine_digest()[:16]}.json"


def _puzzle_key(puzzle: Puzzle) -> str:
    """Return a key of the pieces and clues, the same however pieces and colours are numbered.

    With clues this holds only if all colours can be told apart, whatever their numbers.
    """
    key, numbers = f"set-{set_sha256(puzzle)[:32]}", numbering(puzzle)
    if not puzzle.clues:
        return key
    if numbers is None:
        return f"{key}-clues-{puzzle.sha256[:16]}"
    clues = [(c.cell, numbers[c.piece][0], (numbers[c.piece][1] + c.rotation) % 4) for c in puzzle.clues]
    return f"{key}-clues-{_digest(clues)}"


def _family_key(puzzle: Puzzle) -> str:
    """Return a key of size, rules, counts of border and of inner colours, and whether colours are equally frequent.

    Puzzles by `generate.like_e2` of one size with default colours share a key; Eternity II has the key of size 16 x 16.
    """
    rim, inner = half_edges(puzzle)
    both = len(rim.keys() & inner.keys())
    words = [f"family-{puzzle.width}x{puzzle.height}", f"r{len(rim)}-i{len(inner)}-b{both}"]
    if rim and not both and all(max(each.values()) - min(each.values()) <= 2 for each in (rim, inner) if each):
        words.append("even")
    if unusual := puzzle.unusual_fields():
        words.append(_digest(unusual))
    return "-".join(words)


def _digest(values: Any) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
