"""Checkpoints: all state needed to go on, as ``.npz`` without pickles, two generations.

A file holds ``meta`` (JSON as bytes: schema, run, puzzle, account, islands) and the arrays of each island under
``NUMBER/NAME``. It is written beside its place, synced, and renamed; the one before is kept. zip's CRC-32 of every
member tells a damaged file; the run's id and the puzzle's hash tell a foreign one.
"""

from __future__ import annotations

import errno
import json
import os
import zipfile
import zlib
from dataclasses import dataclass, fields
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instances.puzzle import Puzzle
from lns.engine import State, Statistics
from lns.islands import Island
from lns.runs.files import CHECKPOINT, PREVIOUS, expect_schema, open_regular
from lns.runs.history import RunHistory, history_from_json
from lns_support.errors import InputError
from lns_support.files import sync_folder
from lns_support.json_values import JsonFields, bounded_integer, describe_found, json_object
from lns_support.text import printable

SCHEMA = 16
MAX_BYTES = 2**30  # of a file
MOST_STATE = MAX_BYTES - 2**25  # of the arrays in it
MAX_FREE_BYTES = 2**26  # of an array whose length is the engine's own
MAX_META = 2**22
MAX_ISLANDS = 4096
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Checkpoint:
    """``log_size``: bytes of boards.jsonl that ``history`` has counted."""

    history: RunHistory
    islands: dict[int, Island]
    log_size: int


def save(directory: Path, run: str, puzzle: Puzzle, checkpoint: Checkpoint) -> None:
    """Write the checkpoint; the last one becomes the previous one.

    Raises OSError, also for one that is larger than `load` takes; the last one then stays.
    """
    if sum(array.nbytes for island in checkpoint.islands.values() for array in island.state.values()) > MOST_STATE:
        raise OSError(errno.EFBIG, f"of more than {MOST_STATE >> 20} MiB")
    meta = {
        "schema": SCHEMA,
        "run": run,
        "instance_sha256": puzzle.sha256,
        "log_size": checkpoint.log_size,
        "history": checkpoint.history.to_json(),
        "islands": [_island_json(island) for island in checkpoint.islands.values()],
    }
    temporary = directory / f".{CHECKPOINT}.tmp"  # one name: the next writer removes what a killed one left
    temporary.unlink(missing_ok=True)
    try:
        with open_regular(temporary, os.O_RDWR | os.O_EXCL) as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                _add(archive, "meta", np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8))
                for number, island in checkpoint.islands.items():
                    for name, array in island.state.items():
                        _add(archive, f"{number}/{name}", np.asarray(array))
            os.fsync(file.fileno())
        _exchange(temporary, directory / CHECKPOINT, directory / PREVIOUS)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(directory)


def _exchange(new: Path, last: Path, previous: Path) -> None:
    """Put ``new`` in the place of ``last``, which becomes ``previous``; where that fails, ``last`` comes back."""
    if last.is_dir():  # renamed over the previous file it would be refused as 'Not a directory'
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(last))
    if not last.exists():
        new.replace(last)
        return
    last.replace(previous)
    try:
        new.replace(last)
    except BaseException:
        previous.replace(last)
        raise


def load(path: Path, run: str, puzzle: Puzzle, template: State) -> Checkpoint:
    """Read a checkpoint; ``template`` is the state of a new engine, whose arrays say what is expected.

    Raises InputError, naming the file, when it is damaged, foreign, or of another version.
    """
    try:
        return _load(path, run, puzzle, template)
    except InputError as error:
        raise error.at(path) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"damaged: {str(error).splitlines()[0] if str(error) else 'cut short'}"[:200], path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or 'not a whole file'}", path) from None


def load_history(path: Path, run: str, puzzle: Puzzle) -> RunHistory:
    """Only the account of a checkpoint. Raises InputError as `load`."""
    return load(path, run, puzzle, {}).history


def _load(path: Path, run: str, puzzle: Puzzle, template: State) -> Checkpoint:
    if not path.exists():
        raise InputError("no such file; expected a checkpoint")
    if not path.is_file():
        raise InputError("is no regular file; expected a checkpoint")
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"{path.stat().st_size} bytes; expected at most {MAX_BYTES}")
    with zipfile.ZipFile(path) as archive:
        meta = JsonFields(json_object(_array(archive, "meta", np.zeros(0, np.uint8), MAX_META).tobytes().decode()))
        expect_schema(meta, SCHEMA)
        if meta.text("run", 64) != run or meta.text("instance_sha256", 64) != puzzle.sha256:
            raise InputError("of another run; expected the checkpoint of this one")
        history = history_from_json(inner(meta, "history"), puzzle)
        log_size = meta.integer("log_size", 0, 2**62)
        islands = {}
        for entry in meta.array("islands")[:MAX_ISLANDS] if template else []:
            values = JsonFields(entry) if isinstance(entry, dict) else inner(meta, "islands")
            number = values.integer("number", 0, MAX_ISLANDS - 1)
            part = f"{number}/"
            names = {name[len(part) : -len(".npy")] for name in archive.namelist() if name.startswith(part)}
            if names != template.keys():
                odd = ", ".join(sorted(names ^ template.keys())[:3])
                raise InputError(f"made by another version: not both have '{printable(odd, 100)}'")
            state = {name: _array(archive, part + name, array) for name, array in template.items()}
            islands[number] = _island(number, values, state, puzzle)
    return Checkpoint(history, islands, log_size)


def _island_json(island: Island) -> dict[str, Any]:
    return {
        "number": island.number,
        "best_score": island.best_score,
        "steps": island.steps,
        "exhausted": island.exhausted,
        "statistics": island.statistics.__dict__,
    }


def _island(number: int, values: JsonFields, state: State, puzzle: Puzzle) -> Island:
    counted = values.get("statistics")
    if not isinstance(counted, dict):
        raise InputError(f"'statistics': {describe_found(counted)}; expected an object")
    statistics = Statistics(
        **{
            spec.name: bounded_integer(counted.get(spec.name, 0), 0, 2**63 - 1, spec.name)
            for spec in fields(Statistics)
        }
    )
    score = values.integer("best_score", -1, puzzle.max_score)
    return Island(number, state, score, statistics, values.integer("steps", 0, 2**62), values.get("exhausted") is True)


def inner(values: JsonFields, name: str) -> JsonFields:
    """The object in a field."""
    value = values.get(name)
    if not isinstance(value, dict):
        raise InputError(f"'{name}': {describe_found(value)}; expected an object")
    return JsonFields(value)


def _add(archive: zipfile.ZipFile, name: str, array: npt.NDArray[np.generic]) -> None:
    data = BytesIO()
    np.lib.format.write_array(data, array, version=(1, 0), allow_pickle=False)
    archive.writestr(zipfile.ZipInfo(f"{name}.npy", _ZIP_TIME), data.getbuffer())


def _array(
    archive: zipfile.ZipFile, name: str, like: npt.NDArray[np.generic], free: int = MAX_FREE_BYTES
) -> npt.NDArray[np.generic]:
    """A member, if it has dtype and shape of ``like``; where that is empty, any length of at most ``free`` bytes."""
    member = archive.getinfo(f"{name}.npy")
    most = (like.nbytes or free) + 1024
    if member.compress_type != zipfile.ZIP_STORED or not member.file_size == member.compress_size <= most:
        raise InputError(f"'{name}' takes {member.file_size} bytes; expected at most {most}, not compressed")
    data = BytesIO(archive.read(member))
    if np.lib.format.read_magic(data) != (1, 0):
        raise InputError(f"'{name}' is no array of version 1.0")
    try:
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(data, max_header_size=1000)
    except Exception:  # numpy reads the header as Python: its tokens, keys and types raise whatever they like
        raise InputError(f"the header of '{name}' is that of no array") from None
    expected = shape[:1] + like.shape[1:] if like.size == 0 and shape else like.shape
    if dtype != like.dtype or shape != expected or fortran:
        raise InputError(
            f"made by another version: '{name}' is {dtype} of shape {shape}; expected {like.dtype} of {like.shape}"
        )
    content = data.getbuffer()[data.tell() :]
    if len(content) != dtype.itemsize * int(np.prod(shape, dtype=object)):
        raise InputError(f"'{name}' is cut short")
    return np.frombuffer(content, dtype=dtype).reshape(shape).copy()
