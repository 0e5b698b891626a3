"""Checkpoints: the whole state of a run, without pickles.

A checkpoint is a zip archive of ``meta.json`` (schema, run id, hash of the puzzle, islands) and of the state of each
island as ``NUMBER.npz``. The file is replaced as a whole. The CRC-32 of each member and the SHA-256 of each state
detect damage, so no damaged value reaches a kernel; run id and hash of the puzzle detect a checkpoint of another
run. If any member does not fit, the whole file is refused: the search begins anew from the best board known.
"""

from __future__ import annotations

import json
import logging
import zipfile
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from lns.engine import FoundBoard, unpack
from lns.engines import make_engine
from lns.instances.errors import InputError
from lns.instances.files import atomic_file, open_to_read
from lns.instances.json_values import JsonFields, json_object
from lns.instances.puzzle import Puzzle
from lns.instances.text import printable
from lns.rounds import Island
from lns.runs.directory import RunSettings, with_pins
from lns.runs.files import BEST, BOARDS, CHECKPOINT, expect_schema, from_json

if TYPE_CHECKING:
    from lns.loop.search_loop import SearchLoop

log = logging.getLogger("lns")

SCHEMA = 22
_META = "meta.json"


Islands = dict[int, Island]  # number of an island -> the island


def save(directory: Path, run: str, puzzle: Puzzle, islands: Islands) -> None:
    """Write a checkpoint of the run with the id ``run``, whose directory this process has locked.

    Raises OSError if the file cannot be written; the previous checkpoint is then kept.
    """
    saved = list(islands.values())
    states = [asdict(one) | {"state": sha256(one.state).hexdigest()} for one in saved]
    meta = {"schema": SCHEMA, "run": run, "instance_sha256": puzzle.sha256, "islands": states}
    with atomic_file(directory / CHECKPOINT) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr(_META, json.dumps(meta))
        for one in saved:
            archive.writestr(f"{one.number}.npz", one.state)


def load(path: Path, run: str, puzzle: Puzzle) -> Islands:
    """Return the islands of a checkpoint of the run with the id ``run``. Their states are not unpacked.

    Raises InputError, which names the file, if the checkpoint is damaged, of another run, or of another version.
    """
    try:
        with open_to_read(path) as file, zipfile.ZipFile(file) as archive:
            return _read(archive, run, puzzle)
    except InputError as error:
        raise error.at(path) from None
    except Exception as error:  # zipfile raises almost anything for a damaged file
        why = getattr(error, "strerror", "") or str(error) or "cut short"
        raise InputError(f"cannot be read: {printable(why, 150)}", path) from None


def _read(archive: zipfile.ZipFile, run: str, puzzle: Puzzle) -> Islands:
    meta = JsonFields(json_object(archive.read(_META).decode()))
    expect_schema(meta, SCHEMA)
    if (meta.get("run"), meta.get("instance_sha256")) != (run, puzzle.sha256):
        raise InputError("belongs to another run; expected a checkpoint of this run")
    islands: list[Island] = []
    for each in meta.array("islands"):
        state = archive.read(f"{each['number']}.npz")
        if sha256(state).hexdigest() != each["state"]:
            raise InputError(f"damaged: the digest of the state of island {each['number']} is another one")
        islands.append(from_json(Island, each | {"state": state}, "an island"))
    return {island.number: island for island in islands}


# -- states of islands -----------------------------------------------------------------------------------------------


def usable(path: Path, settings: RunSettings, puzzle: Puzzle) -> tuple[Islands, FoundBoard | None] | None:
    """Return the islands in a run directory's checkpoint and their best board, if any; None if it cannot be continued.

    The reason for None is logged. ``puzzle`` has the clues of the puzzle file only, not the pinned cells.
    """
    pinned, best = with_pins(puzzle, settings.pins), None
    try:
        islands = load(path / CHECKPOINT, settings.run, puzzle)
        for number, island in islands.items():
            engine = make_engine(
                settings.engine, pinned, settings.parameters, settings.seed, number, operators=settings.operators
            )
            _restore(engine, island)
            if engine.best is not None and (best is None or engine.best_score > best.score):
                best = FoundBoard(engine.best, engine.best_score, CHECKPOINT)
    except InputError as error:
        log.warning("%s; the search begins anew from %s and %s", error.at(path / CHECKPOINT), BEST, BOARDS)
        return None
    return islands, best


def _restore(engine: SearchLoop, island: Island) -> None:
    """Give a new engine the state of an island. Raises InputError if the state does not fit the engine."""
    try:
        engine.restore(unpack(island.state))
    except Exception as error:  # numpy and zipfile raise almost anything for a damaged file
        why = error.message if isinstance(error, InputError) else str(error).partition("\n")[0].partition(". ")[0]
        raise InputError(f"island {island.number} cannot be restored: {printable(why, 250)}") from None
    if engine.best_score != island.best_score:
        raise InputError(f"the board of island {island.number} has another score than the island")
