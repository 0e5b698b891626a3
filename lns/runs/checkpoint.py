"""Checkpoints: the whole state of a run as ``.npz`` without pickles, in two generations.

A file holds ``meta`` (JSON as bytes: schema, run id, hash of the puzzle, history, islands) and the arrays of each
island as ``NUMBER/NAME``, or, of an island on a cluster, as one archive ``NUMBER.npz`` of compressed arrays. It is
written to a temporary file, synced and renamed; the previous checkpoint is kept. The CRC-32 of each zip member detects
damage; run id and hash detect the checkpoint of another run.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from instances.puzzle import Puzzle
from lns.engine import State, Statistics
from lns.packed_state import PackedState
from lns.rounds import MAX_ISLANDS, Island
from lns.runs.files import CHECKPOINT, PREVIOUS, expect_schema, open_regular
from lns.runs.history import RunHistory, history_from_json
from lns_support.errors import InputError
from lns_support.files import open_to_read, sync_folder
from lns_support.json_values import JsonFields, describe_found, json_object
from lns_support.text import printable

SCHEMA = 18
OLDEST_HISTORY = 17  # of a checkpoint whose history is read, though its search cannot go on
MAX_BYTES = 2**30  # of a file
MAX_STATE_BYTES = MAX_BYTES - 2**25  # of the arrays in it
MAX_FREE_BYTES = 2**26  # of an array whose length depends on the search
MAX_META_BYTES = 2**22
MAX_ENTRIES = 60_000  # of the zip file; fewer than the format without extensions can number
MAX_DIRECTORY_BYTES = 2**22  # of the list of entries at its end
MEMBER_HEADER_BYTES = 30  # before the name of a member
_END = struct.Struct("<4s4H2LH")  # the record at the end of a zip file
_END_MARK, _ZIP64_MARK = b"PK\5\6", b"PK\6\7"
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Checkpoint:
    """State of a run at one moment."""

    history: RunHistory
    islands: dict[int, Island]  # by number
    log_size: int  # bytes of boards.jsonl whose boards ``history`` has counted
    is_earlier: bool = False  # whether it is of an earlier version: there are no islands then


def save(directory: Path, run: str, puzzle: Puzzle, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; the last one becomes the previous one.

    Parameters
    ----------
    directory : Path
        Run directory, locked by this process.
    run : str
        Id of the run.
    puzzle : Puzzle
        Puzzle of the run.
    checkpoint : Checkpoint
        State to write.

    Raises
    ------
    OSError
        The file cannot be written, or is larger than `load` accepts; the last checkpoint then stays.
    """
    states = [island.state for island in checkpoint.islands.values()]
    if sum(map(_size, states)) > MAX_STATE_BYTES:
        raise OSError(errno.EFBIG, f"more than {MAX_STATE_BYTES >> 20} MiB")
    if sum(1 if isinstance(state, PackedState) else len(state) for state in states) >= MAX_ENTRIES:
        raise OSError(errno.EFBIG, f"more than {MAX_ENTRIES} arrays")
    meta = {
        "schema": SCHEMA,
        "run": run,
        "instance_sha256": puzzle.sha256,
        "log_size": checkpoint.log_size,
        "history": checkpoint.history.to_json(),
        "islands": [_island_json(island) for island in checkpoint.islands.values()],
    }
    temporary = (
        directory / f".{CHECKPOINT}.tmp"
    )  # always the same name, so that the next writer removes what a killed one left
    temporary.unlink(missing_ok=True)
    try:
        with open_regular(temporary, os.O_RDWR | os.O_EXCL) as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                _add(archive, "meta", np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8))
                for number, island in checkpoint.islands.items():
                    _add_state(archive, number, island.state)
            os.fsync(file.fileno())
        _exchange(temporary, directory / CHECKPOINT, directory / PREVIOUS)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(directory)


def _exchange(new: Path, last: Path, previous: Path) -> None:
    """Rename ``last`` to ``previous`` and ``new`` to ``last``; undone if the second renaming fails."""
    if last.is_dir():  # the renaming below would fail with 'Not a directory'
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
    """Read a checkpoint.

    Parameters
    ----------
    path : Path
        File to read.
    run : str
        Id of the run.
    puzzle : Puzzle
        Puzzle of the run.
    template : State
        State of a new engine: the names, dtypes and shapes that are expected. Empty: no islands are read.

    Returns
    -------
    Checkpoint

    Raises
    ------
    InputError
        The file is damaged, of another run, or of another version; the message names it.
    """
    with _errors_of(path):
        return _load(path, run, puzzle, template)


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Every error of a damaged file becomes an InputError that names it."""
    try:
        yield
    except InputError as error:
        raise error.at(path) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"damaged: {str(error).splitlines()[0] if str(error) else 'cut short'}"[:200], path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or 'not a whole file'}", path) from None


def load_history(path: Path, run: str, puzzle: Puzzle) -> RunHistory:
    """Read only the history of a checkpoint. Raises InputError as `load` does."""
    return load(path, run, puzzle, {}).history


def load_islands(path: Path, run: str, puzzle: Puzzle) -> dict[int, Island]:
    """Read the islands of a checkpoint, by number, without the state of their engines. Raises InputError as `load`."""
    with _errors_of(path), _open(path) as archive:
        islands = _islands_of(_meta(archive, run, puzzle))
        return {number: _island(number, values, {}, puzzle) for number, values in islands.items()}


def _load(path: Path, run: str, puzzle: Puzzle, template: State) -> Checkpoint:
    with _open(path) as archive:
        meta = _meta(archive, run, puzzle)
        history = history_from_json(inner(meta, "history"), puzzle)
        log_size = meta.integer("log_size", 0, 2**62)
        islands, is_earlier = {}, meta.integer("schema", 0, 10**6) < SCHEMA
        for number, values in _islands_of(meta).items() if template and not is_earlier else ():
            islands[number] = _island(number, values, _state(archive, number, template), puzzle)
    return Checkpoint(history, islands, log_size, is_earlier)


def _state(archive: zipfile.ZipFile, number: int, template: State) -> State | PackedState:
    """The state of an island. One that is packed is checked and stays packed, so that many need little memory."""
    if f"{number}.npz" not in archive.NameToInfo:
        return _arrays(archive, f"{number}/", template)
    member = archive.getinfo(f"{number}.npz")
    if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
        raise InputError(f"'{number}.npz' is compressed as a whole; expected an archive of compressed arrays")
    data = archive.read(member)
    with zipfile.ZipFile(BytesIO(data)) as packed:
        most = sum(array.nbytes + 1024 for array in template.values()) + MAX_FREE_BYTES
        if len(packed.infolist()) != len(template) or sum(array.file_size for array in packed.infolist()) > most:
            raise InputError(
                f"'{number}.npz' has {len(packed.infolist())} arrays; expected {len(template)} of {most} bytes"
            )
        _arrays(packed, "", template, compressed=True)
    return PackedState(data)


def _arrays(archive: zipfile.ZipFile, part: str, template: State, *, compressed: bool = False) -> State:
    """The members below ``part``, which have the names, dtypes and shapes of ``template``."""
    names = {name[len(part) : -len(".npy")] for name in archive.namelist() if name.startswith(part)}
    if names != template.keys():
        odd = ", ".join(sorted(names ^ template.keys())[:3])
        raise InputError(f"written by another version: the arrays differ in '{printable(odd, 100)}'")
    return {name: _array(archive, part + name, array, compressed=compressed) for name, array in template.items()}


def _open_archive(file: IO[bytes]) -> zipfile.ZipFile:
    """Open a zip file whose members lie one behind the other, so that they take no more memory than the file has bytes.

    `zipfile` reads the list of entries as a whole; its size is checked before.
    """
    size = os.fstat(file.fileno()).st_size
    file.seek(max(0, size - _END.size - 20))
    tail = file.read()
    if size < _END.size or tail[-_END.size :][:4] != _END_MARK or tail[:4] == _ZIP64_MARK:
        raise InputError("damaged: the end of the file is no end of a checkpoint")
    _, disk, start_disk, here, entries, listed, start, comment = _END.unpack(tail[-_END.size :])
    if disk or start_disk or comment or here != entries or start + listed + _END.size != size:
        raise InputError("damaged: the list of arrays is not at the end of the file")
    if entries > MAX_ENTRIES or listed > MAX_DIRECTORY_BYTES:
        raise InputError(
            f"{entries} arrays, listed in {listed} bytes; expected at most {MAX_ENTRIES} in {MAX_DIRECTORY_BYTES}"
        )
    archive = zipfile.ZipFile(file)
    members = sorted(archive.infolist(), key=lambda member: member.header_offset)
    ends = [member.header_offset for member in members[1:]] + [start]
    for member, end in zip(members, ends, strict=bool(members)):
        if member.header_offset + MEMBER_HEADER_BYTES + len(member.filename) + member.compress_size > end:
            raise InputError(f"damaged: '{printable(member.filename, 60)}' overlaps with what follows it")
    return archive


@contextmanager
def _open(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive in a file. Raises InputError if it is no file or too large."""
    if not path.exists():
        raise InputError("no such file; expected a checkpoint")
    if not path.is_file():
        raise InputError("is not a regular file; expected a checkpoint")
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"{path.stat().st_size} bytes; expected at most {MAX_BYTES}")
    with open_to_read(path) as file, _open_archive(file) as archive:
        yield archive


def _meta(archive: zipfile.ZipFile, run: str, puzzle: Puzzle) -> JsonFields:
    """The fields of ``meta``. Raises InputError if they are of another run."""
    meta = JsonFields(json_object(_array(archive, "meta", np.zeros(0, np.uint8), MAX_META_BYTES).tobytes().decode()))
    if meta.integer("schema", 0, 10**6) != OLDEST_HISTORY:
        expect_schema(meta, SCHEMA)
    if meta.text("run", 64) != run or meta.text("instance_sha256", 64) != puzzle.sha256:
        raise InputError("belongs to another run; expected a checkpoint of this run")
    return meta


def _islands_of(meta: JsonFields) -> dict[int, JsonFields]:
    """The fields of each island by its number."""
    entries = meta.array("islands")
    if len(entries) > MAX_ISLANDS:
        raise InputError(f"'islands': {len(entries)} entries; expected at most {MAX_ISLANDS}")
    islands = [JsonFields(entry) if isinstance(entry, dict) else inner(meta, "islands") for entry in entries]
    return {values.integer("number", 0, MAX_ISLANDS - 1): values for values in islands}


def _island_json(island: Island) -> dict[str, Any]:
    return {
        "number": island.number,
        "best_score": island.best_score,
        "steps": island.steps,
        "statistics": island.statistics.to_json(),
    }


def _island(number: int, values: JsonFields, state: State | PackedState, puzzle: Puzzle) -> Island:
    statistics = Statistics.from_json(values.get("statistics"))
    score = values.integer("best_score", -1, puzzle.max_score)
    steps = values.integer("steps", 0, 2**62)
    return Island(number, state, score, statistics, steps)


def inner(values: JsonFields, name: str) -> JsonFields:
    """The fields of the object in field ``name``. Raises InputError if it is no object."""
    value = values.get(name)
    if not isinstance(value, dict):
        raise InputError(f"'{name}': {describe_found(value)}; expected an object")
    return JsonFields(value)


def _size(state: State | PackedState) -> int:
    """Bytes of a state in a checkpoint."""
    return len(state.data) if isinstance(state, PackedState) else sum(array.nbytes for array in state.values())


def _add_state(archive: zipfile.ZipFile, number: int, state: State | PackedState) -> None:
    if isinstance(state, PackedState):
        archive.writestr(zipfile.ZipInfo(f"{number}.npz", _ZIP_TIME), state.data)
        return
    for name, array in state.items():
        _add(archive, f"{number}/{name}", np.asarray(array))


def _add(archive: zipfile.ZipFile, name: str, array: npt.NDArray[np.generic]) -> None:
    data = BytesIO()
    np.lib.format.write_array(data, array, version=(1, 0), allow_pickle=False)
    archive.writestr(zipfile.ZipInfo(f"{name}.npy", _ZIP_TIME), data.getbuffer())


def _array(
    archive: zipfile.ZipFile,
    name: str,
    like: npt.NDArray[np.generic],
    free: int = MAX_FREE_BYTES,
    *,
    compressed: bool = False,
) -> npt.NDArray[np.generic]:
    """Read a member of the dtype and shape of ``like``; if ``like`` is empty, of any length up to ``free`` bytes."""
    member = archive.getinfo(f"{name}.npy")
    most = (like.nbytes or free) + 1024
    is_stored = member.compress_type == zipfile.ZIP_STORED and member.file_size == member.compress_size
    if not (is_stored or (compressed and member.compress_type == zipfile.ZIP_DEFLATED)) or member.file_size > most:
        form = "" if compressed else ", not compressed"
        raise InputError(f"'{name}' takes {member.file_size} bytes; expected at most {most}{form}")
    data = BytesIO(archive.read(member))
    if np.lib.format.read_magic(data) != (1, 0):
        raise InputError(f"'{name}' is not a numpy array of format 1.0")
    try:
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(data, max_header_size=1000)
    except Exception:  # numpy parses the header as Python, which may raise anything
        raise InputError(f"'{name}' has a damaged header") from None
    expected = shape[:1] + like.shape[1:] if like.size == 0 and shape else like.shape
    if dtype != like.dtype or shape != expected or fortran:
        raise InputError(
            f"written by another version: '{name}' is {dtype} of shape {shape}; expected {like.dtype} of {like.shape}"
        )
    content = data.getbuffer()[data.tell() :]
    if len(content) != dtype.itemsize * int(np.prod(shape, dtype=object)):
        raise InputError(f"'{name}' is cut short")
    return np.frombuffer(content, dtype=dtype).reshape(shape).copy()
