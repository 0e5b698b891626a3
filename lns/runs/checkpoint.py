"""Checkpoints: the whole state of a run as ``.npz`` without pickles, in two generations.

A file holds ``meta`` (JSON as bytes: schema, run id, hash of the puzzle, history, islands) and the arrays of each
island as ``NUMBER/NAME``, or, of an island on a cluster, one array ``NUMBER/packed``: an archive of compressed arrays.
It is written to a temporary file, synced and renamed; the previous checkpoint is kept. The CRC-32 of each zip member
detects damage; run id and hash detect the checkpoint of another run. What does not fit is refused as a whole.
"""

from __future__ import annotations

import errno
import io
import json
import os
import zipfile
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lns.engine import PackedState, State, Statistics
from lns.instances.errors import InputError
from lns.instances.files import open_to_read, sync_folder
from lns.instances.json_values import JsonFields, json_object
from lns.instances.puzzle import Puzzle
from lns.instances.text import printable
from lns.rounds import MAX_ISLANDS, Island
from lns.runs.files import CHECKPOINT, PREVIOUS, expect_schema, from_json, open_regular
from lns.runs.history import RunHistory, history_from_json

SCHEMA = 18
MAX_BYTES = 2**30  # of a file
MAX_STATE_BYTES = MAX_BYTES - 2**25  # of the arrays in it
_PACKED = "packed"


@dataclass(frozen=True)
class Checkpoint:
    """State of a run at one moment."""

    history: RunHistory
    islands: dict[int, Island]  # by number
    log_size: int  # bytes of boards.jsonl whose boards ``history`` has counted


def save(directory: Path, run: str, puzzle: Puzzle, checkpoint: Checkpoint) -> None:
    """Write a checkpoint of the run with the id ``run``, whose directory this process has locked.

    The last one becomes the previous one. Raises OSError if the file cannot be written, or is larger than `load`
    accepts; the last checkpoint then stays.
    """
    meta = {
        "schema": SCHEMA,
        "run": run,
        "instance_sha256": puzzle.sha256,
        "log_size": checkpoint.log_size,
        "history": checkpoint.history.to_json(),
        "islands": [
            {"number": number, "best_score": island.best_score, "steps": island.steps,
             "statistics": island.statistics.to_json()}
            for number, island in checkpoint.islands.items()
        ],
    }  # fmt: skip
    arrays: State = {"meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)}
    for number, island in checkpoint.islands.items():
        state = island.state
        if isinstance(state, PackedState):
            state = {_PACKED: np.frombuffer(state.data, dtype=np.uint8)}
        arrays |= {f"{number}/{name}": array for name, array in state.items()}
    if sum(array.nbytes for array in arrays.values()) > MAX_STATE_BYTES:
        raise OSError(errno.EFBIG, f"more than {MAX_STATE_BYTES >> 20} MiB")
    new, last, previous = directory / f".{CHECKPOINT}.tmp", directory / CHECKPOINT, directory / PREVIOUS
    new.unlink(missing_ok=True)  # always the same name, so that the next writer removes what a killed one left
    try:
        with io.BufferedWriter(open_regular(new, os.O_RDWR | os.O_EXCL)) as file:  # a full disk is an error
            np.savez(file, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        if last.exists():
            last.replace(previous)
        try:
            new.replace(last)
        except BaseException:
            with suppress(OSError):
                previous.replace(last)
            raise
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    sync_folder(directory)


def load(path: Path, run: str, puzzle: Puzzle, template: State) -> Checkpoint:
    """Read a checkpoint of the run with the id ``run``.

    ``template`` is the state of a new engine: the names, dtypes and shapes that are expected; without it no states are
    read. Raises InputError, naming the file, if it is damaged, of another run, or of another version.
    """
    try:
        if not path.is_file():
            raise InputError(f"{'is not a regular file' if path.exists() else 'no such file'}; expected a checkpoint")
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputError(f"{size} bytes; expected at most {MAX_BYTES}")
        with open_to_read(path) as file, np.load(file, allow_pickle=False) as archive:
            members = archive.zip.infolist()
            if sum(one.file_size for one in members) > size or any(one.compress_type for one in members):
                raise InputError(
                    "its arrays take more than the file has bytes; expected arrays that are not compressed"
                )
            return _read(archive, run, puzzle, template)
    except InputError as error:
        raise error.at(path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or 'not a whole file'}", path) from None
    except Exception as error:  # numpy and zipfile raise almost anything for a damaged file
        what = str(error).splitlines()[0].partition(". ")[0] if str(error) else "cut short"
        raise InputError(f"damaged: {printable(what, 150)}", path) from None


def _read(archive: np.lib.npyio.NpzFile, run: str, puzzle: Puzzle, template: State) -> Checkpoint:
    meta = JsonFields(json_object(archive["meta"].tobytes().decode()))
    expect_schema(meta, SCHEMA)
    if (meta.get("run"), meta.get("instance_sha256")) != (run, puzzle.sha256):
        raise InputError("belongs to another run; expected a checkpoint of this run")
    names: dict[str, list[str]] = defaultdict(list)  # of the arrays of each island
    for name in archive.files if template else ():
        names[name.partition("/")[0]].append(name.partition("/")[2])
    islands = {}
    for each in meta.array("islands"):
        values = JsonFields(each)
        number = values.integer("number", 0, MAX_ISLANDS - 1)
        islands[number] = Island(
            number=number,
            state=_state({name: archive[f"{number}/{name}"] for name in names[str(number)]}, template),
            best_score=values.integer("best_score", -1, puzzle.max_score),
            statistics=from_json(Statistics, values.get("statistics"), "statistics"),
            steps=values.integer("steps", 0, 2**62),
        )
    history = history_from_json(meta.get("history"), puzzle)
    return Checkpoint(history, islands, meta.integer("log_size", 0, 2**62))


def _state(found: State, template: State) -> State | PackedState:
    """The arrays of an island, which have the names, dtypes and shapes of ``template``; packed ones stay packed."""
    packed = PackedState(found[_PACKED].tobytes()) if found.keys() == {_PACKED} else None
    if packed is not None:
        with zipfile.ZipFile(io.BytesIO(packed.data)) as archive:
            if (size := sum(one.file_size for one in archive.infolist())) > MAX_STATE_BYTES:
                raise InputError(f"a packed state of {size} bytes; expected at most {MAX_STATE_BYTES}")
    arrays = found if packed is None else packed.unpacked()
    if arrays.keys() != template.keys():
        odd = ", ".join(sorted(arrays.keys() ^ template.keys())[:3])
        raise InputError(f"written by another version: the arrays differ in '{printable(odd, 100)}'")
    for name, like in template.items():
        array = np.asarray(arrays[name])
        shape = array.shape[:1] + like.shape[1:] if like.size == 0 and array.ndim else like.shape
        if (array.dtype, array.shape) != (like.dtype, shape) or not array.flags.c_contiguous:
            raise InputError(
                f"written by another version: '{name}' is {array.dtype} of shape {array.shape}; expected {like.dtype} "
                f"of {like.shape}"
            )
    return arrays if packed is None else packed
