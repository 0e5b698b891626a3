"""Run directories: make, open, lock and find them; read the settings, puzzle, parameters and best board of a run."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

from lns import params as parameters
from lns.engine import FoundBoard
from lns.engines import ENGINES
from lns.instances.errors import InputError, named
from lns.instances.files import atomic_write
from lns.instances.formats import load_board, load_puzzle, write
from lns.instances.puzzle import MAX_CELLS, Clue, Puzzle
from lns.instances.text import printable, quoted
from lns.instances.verify import verify
from lns.params import Params
from lns.runs.board_log import BoardLog
from lns.runs.files import (
    BEST,
    BOARDS,
    FIRST_FILES,
    INSTANCE,
    PARAMETERS,
    SETTINGS,
    STOP,
    from_json,
    read_sealed,
    seal,
    utc_now,
)
from lns.runs.history import Heartbeat, RunHistory, read_status
from lns.runs.lock import Lock

log = logging.getLogger("lns")

SCHEMA = 2  # version of the format of run.json
LEAST_CHECKPOINT_S = 0.1
RunSources = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]  # run directories, or folders with runs

MAX_DEPTH = 4  # levels of subfolders in which `runs_below` looks for runs
_FOR_PEOPLE = "# for people, and for `lns solve --params`; the run itself has its parameters in run.json\n\n"
MIN_FREE_KIB = 16 * 2**10  # KiB of free space on the disk that a new run needs
_Score = Annotated[int, -1, 2 * MAX_CELLS]


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Settings of a run, as run.json has them.

    `RunDirectory.create` sets ``run``, ``instance_sha256``, ``created_at``, and ``operators`` of engine 'lns' if empty.
    """

    run: str = ""  # random id of the run
    instance: Annotated[str, 0, 2**20]  # name or source of the puzzle, as the user gave it; never used as a path
    instance_sha256: str = ""  # SHA-256 of the puzzle
    seed: Annotated[int, 0, 2**64]
    engine: str  # one of lns.engines.ENGINES
    target: _Score = -1  # score at which the search ends, set by the user; -1: no such score
    min_score: _Score = -1  # least score of logged boards besides new bests; -1: the best score so far minus one
    checkpoint_s: Annotated[float, LEAST_CHECKPOINT_S, 1e9] = 60.0  # seconds between two checkpoints
    created_at: str = ""  # date and time (UTC) at which the run was made
    pins: tuple[Clue, ...] = ()  # pieces that stay on their cells, besides the clues of the puzzle
    params: dict[str, dict[str, Any]]  # values of the parameters by section and name
    params_source: Annotated[str, 0, 10_000] = ""  # source of ``params``: "default", "given", a file, or study and gain
    operators: tuple[str, ...] = ()  # names of the operators of engine 'lns', in the engine's order; (): all known
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise InputError(f"'engine' is {quoted(self.engine)}; expected one of {', '.join(ENGINES)}")

    @cached_property
    def parameters(self) -> Params:
        """The parameters of the search, from ``params``. Raises InputError for an impossible value."""
        return parameters.from_dict(self.params, earlier=True)


class RunDirectory:
    """The directory of one run, locked by this process until `close`. A context manager, made by `create` or `open`."""

    def __init__(self, path: Path, settings: RunSettings, puzzle: Puzzle, lock: Lock) -> None:
        self.path, self.settings = path, settings
        self.puzzle = puzzle  # its clues do not include the pinned cells
        self._lock = lock
        self._undo: Callable[[], None] | None = None
        self.crashed_holder = lock.stale  # process of the last session if it crashed, else None
        self.clear_stop()

    @classmethod
    def create(cls, path: Path, puzzle: Puzzle, settings: RunSettings) -> RunDirectory:
        """Make a run directory and its first files. Pinned cells are in ``settings``, not clues of ``puzzle``.

        Raises InputError if the directory is not empty or cannot be written.
        """
        settings = replace(settings, run=os.urandom(16).hex(), instance_sha256=puzzle.sha256, created_at=utc_now())
        if settings.engine == "lns" and not settings.operators:
            from lns.neighbourhoods.operators import operator_names  # imported here, as reading a run needs no engine

            settings = replace(settings, operators=operator_names())
        try:
            if path.exists() and not path.is_dir():
                raise InputError("is a file; expected the name of a new run directory", path)
            if path.is_dir() and any(path.iterdir()):
                hint = "go on there with `lns resume`, or name" if (path / SETTINGS).exists() else "name"
                raise InputError(f"is not empty; {hint} a new directory", path)
            missing = [folder for folder in (path, *path.parents) if not folder.is_dir()]
            with contextlib.ExitStack() as undo:
                undo.callback(_unmake, path, missing)
                path.mkdir(parents=True, exist_ok=True)
                if (free := shutil.disk_usage(path).free // 1024) < MIN_FREE_KIB:
                    raise InputError(f"the disk has {free} KiB free; expected at least {MIN_FREE_KIB} KiB", path)
                try:
                    lock = Lock(path)
                except InputError:  # another process has made a run here meanwhile: keep that run's files
                    undo.pop_all()
                    raise
                write(path / INSTANCE, "json", puzzle, None)
                atomic_write(path / PARAMETERS, _FOR_PEOPLE + parameters.to_toml(settings.parameters))
                atomic_write(path / SETTINGS, seal(asdict(settings)) + "\n")
                directory = cls(path, settings, puzzle, lock)
                _ = directory.board_log  # opened now, so that an error is raised before the search
                directory._undo = undo.pop_all().close
                return directory
        except (OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise InputError(f"cannot write a run directory here: {why}", printable(str(path))) from None

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """Open and lock the directory of an existing run, which may have been moved since.

        Raises InputError if ``path`` is no run directory, damaged, of another version, or in use by another process.
        """
        settings, puzzle = read_run(path)
        if not os.access(path, os.W_OK | os.X_OK):
            raise InputError("no permission to write here; expected a run directory that can be written", path)
        with named(path, "cannot be written"):
            return cls(path, settings, puzzle, Lock(path))

    @cached_property
    def pinned_puzzle(self) -> Puzzle:
        """The puzzle that is searched: its clues include the pinned cells."""
        return with_pins(self.puzzle, self.settings.pins)

    @cached_property
    def last_status(self) -> tuple[RunHistory, Heartbeat]:
        """History and heartbeat from status.json; if the file cannot be used, empty ones, after a warning."""
        try:
            return read_status(self.path, self.settings.run)
        except InputError as error:
            log.warning("what earlier sessions did is not known (%s)", error)
            return RunHistory(0.0), Heartbeat()

    @cached_property
    def board_log(self) -> BoardLog:
        """The log of boards, open for writing. Raises InputError or OSError as `BoardLog` does."""
        return BoardLog(self.path)

    def __enter__(self) -> RunDirectory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None and self._undo is not None and self._lock.is_in_place():
            self._undo()
        self.close()

    def check_lock(self) -> None:
        """Raise OSError if the directory was removed or replaced: another process may have locked the new directory."""
        if not self._lock.is_in_place():
            raise OSError(errno.ESTALE, "the run directory was removed or replaced", str(self.path))

    def begin(self) -> None:
        """Forget that the last session crashed, when the search begins; `close` then leaves an empty lock file."""
        self._lock.stale = None

    def close(self) -> None:
        if self._lock.is_in_place():
            self.clear_stop()
        with contextlib.suppress(OSError), contextlib.closing(self._lock):  # an error is ignored: the disk may be full
            if "board_log" in self.__dict__:
                self.board_log.close()

    @property
    def stop_wanted(self) -> bool:
        """Whether `lns stop` was called, so that the session should end its search."""
        return os.path.lexists(self.path / STOP)

    def clear_stop(self) -> None:
        with contextlib.suppress(OSError):
            (self.path / STOP).unlink()


def take_run_directory(puzzle: Puzzle, folder: Path) -> Path:
    """Make and return the directory FOLDER/NAME-DATE-TIME for a run; if that exists, FOLDER/NAME-DATE-TIME-2, -3, ...

    Raises InputError if the directory cannot be made.
    """
    first = folder / f"{safe_name(puzzle.name)}-{time.strftime('%Y%m%d-%H%M%S')}"
    with named(printable(str(first)), "cannot write a run directory here"):
        for number in count(1):
            path = first if number == 1 else first.with_name(f"{first.name}-{number}")
            with contextlib.suppress(FileExistsError):
                path.mkdir(parents=True)
                break
    return path


@contextlib.contextmanager
def new_run_directory(puzzle: Puzzle) -> Iterator[Path]:
    """Yield a new directory in ``runs``, in the working directory; remove the directory at the end if it is empty."""
    folder = Path("runs")
    is_new = not folder.exists()
    path = take_run_directory(puzzle, folder)
    try:
        yield path
    finally:
        with contextlib.suppress(OSError):
            path.rmdir()
            if is_new:
                folder.rmdir()


def with_pins(puzzle: Puzzle, pins: Sequence[Clue]) -> Puzzle:
    """Return the puzzle with the pieces ``pins`` as further clues. Raises InputError if these are impossible."""
    return puzzle.with_clues({*puzzle.clues, *pins}) if pins else puzzle


def read_run(path: Path) -> tuple[RunSettings, Puzzle]:
    """Return the settings and the puzzle of a run directory.

    Raises InputError if ``path`` is no run directory, a file is damaged or of another version, or settings and puzzle
    do not belong together.
    """
    with named(printable(str(path)), "cannot be read"):  # also if the name is too long or permission is missing
        if not path.is_dir():
            raise InputError("no such directory; expected the directory of a run")
        if not (path / SETTINGS).is_file():
            raise InputError(f"no run directory: it has no {SETTINGS}", path)
        with named(path / SETTINGS):
            settings: RunSettings = from_json(RunSettings, read_sealed(path / SETTINGS, SCHEMA).values, SETTINGS)
        puzzle = load_puzzle(os.path.join(path, INSTANCE), "json")  # noqa: PTH118
    if puzzle.sha256 != settings.instance_sha256:
        raise InputError("not the puzzle of this run; expected the copy made at its start", path / INSTANCE)
    with named(path / SETTINGS):
        with_pins(puzzle, settings.pins)
        _ = settings.parameters
    return settings, puzzle


def read_best(path: Path, puzzle: Puzzle, pinned: Puzzle | None = None) -> FoundBoard | None:
    """Return the board in best.json of a run directory with its verified score; None if there is no such file.

    Raises InputError if the file is damaged, or the board is not full and legal for ``pinned`` (default: ``puzzle``).
    """
    file = path / BEST
    if not os.path.lexists(file):
        return None
    _, board = load_board(os.path.join(path, BEST), puzzle, "best")  # noqa: PTH118
    verdict = verify(pinned or puzzle, board)
    if not verdict.complete:
        raise InputError(f"not a full legal board: {(*verdict.problems, 'cells are empty')[0]}", file)
    return FoundBoard(board, verdict.score, BEST)


def _unmake(path: Path, folders: Sequence[Path]) -> None:
    """Remove the files of the run in ``path`` and the ``folders`` made for the run, if the run has no board."""
    with contextlib.suppress(OSError):
        files = list(path.iterdir())
        if all(file.name in FIRST_FILES or (file.name == BOARDS and not file.stat().st_size) for file in files):
            for file in files:
                file.unlink()
            for folder in folders:
                folder.rmdir()


def safe_name(name: str) -> str:
    """Return a safe folder name, made from the name of a puzzle, which may come from a URL."""
    kept = "".join(c if c.isalnum() or c in "-_." else "-" for c in Path(name).stem)[:60].strip(".-")
    return kept or "puzzle"


# -- finding runs: a user names a run directory, or a folder that holds runs ------------------------------------------


def run_directories(paths: RunSources) -> list[Path]:
    """Return the run directories among and below ``paths``, each once; those below one folder are sorted by name.

    A path without any run is returned as it is, so that the caller can report that path.
    """
    found: dict[Path, None] = {}
    for path in map(Path, [paths] if isinstance(paths, str | os.PathLike) else paths):
        for run in runs_below(path) or [path]:
            found.setdefault(run)
    return list(found)


def runs_below(folder: Path) -> list[Path]:
    """Return the run directories in and below a folder, sorted by name; of a run directory, only that directory.

    Links and folders named ``.*`` or ``__*`` are skipped, and folders more than `MAX_DEPTH` levels deep.
    """
    runs = []
    for name, folders, files in os.walk(folder):
        path = Path(name)
        is_run = SETTINGS in files and (path / SETTINGS).is_file()
        runs += [path] * is_run
        deepest = is_run or len(path.parts) - len(folder.parts) == MAX_DEPTH
        folders[:] = [] if deepest else sorted(one for one in folders if not one.startswith((".", "__")))
    return runs


def board_source(source: str) -> str:
    """Return the source of a board: for a run directory its best.json, any other ``source`` unchanged.

    Raises InputError for a run that has found no board yet.
    """
    try:
        is_run = (Path(source) / SETTINGS).is_file()
    except (OSError, ValueError):  # a URL may be too long for a path
        is_run = False
    if not is_run:
        return source
    if not os.path.lexists(Path(source) / BEST):
        raise InputError("this run has found no board yet", source)
    return os.path.join(source, BEST)  # noqa: PTH118 (keeps the path as typed, for messages)
