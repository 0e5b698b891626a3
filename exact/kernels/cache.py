"""Where the machine code of kernels is kept, how processes share it, and the definitions that it depends on.

Numba's cache checks only the file in which a kernel is defined, so an edited callee or constant in another module would
leave stale machine code in use. Each kernel module gets a cache directory whose name is its `source_key`: a hash of its
kernels and of all definitions that they mention, directly or indirectly: callees, the constants that numba freezes, the
NamedTuples of their arguments. Names are followed through absolute imports, also those under TYPE_CHECKING; the linter
bans relative ones. Other Python code and docstrings are not part of the hash: editing them recompiles only the kernels
of the same file, because numba checks the whole file for changes.
"""

from __future__ import annotations

import ast
import hashlib
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple

import numba
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator

from lns.exact.file_lock import try_lock, unlock

_numba_config: Any = config  # numba makes its options at run time, so a type checker does not know them
_MAX_WAIT_S, _POLL_S = 300.0, 0.05  # longest wait for a process that compiles the same kernel, and pause
ROOT = Path(__file__).absolute().parents[__name__.count(".")]  # the folder that holds lns; links are not followed
_IS_INSTALLED = ROOT.name in ("site-packages", "dist-packages")  # then ROOT holds other projects too
_DECORATORS = "lns.exact.kernels.jit"  # the module of the decorators that make a function a kernel


class _Locator(UserProvidedCacheLocator):
    """A locator that, unlike numba's own, accepts a directory that cannot be written."""

    def ensure_cache_path(self) -> None:
        with suppress(OSError):
            super().ensure_cache_path()


class _Serializer(CompileResultCacheImpl):
    _locator_classes: list[type[object]] = [_Locator]  # noqa: RUF012


class KernelCache(FunctionCache):
    """Numba's cache on disk, robust against damaged and read-only files, and shared between processes.

    A kernel whose file cannot be read is compiled again; a file that cannot be written is left out. If several
    processes need the same kernel, one holds a lock and compiles, and the others wait for its machine code: otherwise
    each worker of a first run would spend half a minute and some hundred megabytes on the same code. A process that has
    waited `_MAX_WAIT_S` once, for example for a process that was stopped, does not wait again.
    """

    _impl_class = _Serializer
    may_wait = True  # whether this process may wait, for any kernel

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._path = Path(self.cache_path, f"{self._impl.filename_base}.lock")
        self._lock: IO[bytes] | None = None  # the locked file while this process compiles

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for a signature from disk, possibly after a wait; None makes numba compile it."""
        machine_code = self._load(sig, target_context)
        if machine_code is None:
            waited = self._acquire_lock()
            machine_code = self._load(sig, target_context)
            if machine_code is not None or waited:  # if the other process could not save it, all compile at once
                self._release_lock()
        return machine_code

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged pickle may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def unlocking_on_failure(self, compile_: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap ``compile_`` to release the lock if it raises; after a success `save_overload` releases it."""

        def compiled(*args: Any) -> Any:
            try:
                return compile_(*args)
            except BaseException:
                self._release_lock()
                raise

        return compiled

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the machine code for a signature, if that is possible, and release the lock."""
        try:
            with suppress(OSError):
                super().save_overload(sig, data)
        finally:
            self._release_lock()

    @property
    def is_saved(self) -> bool:
        """Whether machine code of this version of the kernel's file is on disk."""
        try:
            return bool(self._cache_file._load_index())
        except Exception:  # a damaged pickle may raise anything
            return False

    def _acquire_lock(self) -> bool:
        """Lock this kernel, if locks are available; return whether another process held the lock before."""
        if self._lock is not None or not KernelCache.may_wait:
            return False
        try:
            file = self._path.open("ab")
        except OSError:
            return False
        waited, deadline = False, time.monotonic() + _MAX_WAIT_S
        while (locked := try_lock(file)) is False and time.monotonic() < deadline:
            waited = True
            time.sleep(_POLL_S)
        KernelCache.may_wait = locked is not False
        if locked:
            self._lock = file
        else:
            file.close()
        return waited

    def _release_lock(self) -> None:
        if self._lock is not None:
            unlock(self._lock)
            self._lock = None


@cache
def cache_directory(module: str) -> Path | None:
    """Return the directory with the machine code of the kernels of a module, given by its dotted name.

    It is named by `source_key` and lies in `cache_base`, or in a place listed before `cache_base` that cannot be
    written but holds machine code of an earlier run. None if there is neither.
    """
    key, edited = source_key(module), Path(sys.modules[module].__file__ or "").stat().st_mtime
    with suppress(OSError):
        for place in _places():
            directory = _of_checkout(place) / key
            if place == cache_base():
                directory.mkdir(parents=True, exist_ok=True)
                return directory
            if any(index.stat().st_mtime >= edited for index in directory.rglob("*.nbi")):  # numba ignores older files
                return directory
    return None


def _of_checkout(place: Path) -> Path:
    """Return the directory in ``place`` of the machine code of this checkout; it may not exist yet.

    Numba finds machine code by the path of its source, so two checkouts cannot share it.
    """
    key = f"{numba.__version__} {sys.version_info[:2]} bounds={_numba_config.BOUNDSCHECK} {ROOT}"
    return place / hashlib.sha256(key.encode()).hexdigest()[:16]


@cache
def cache_base() -> Path | None:
    """Return the directory of all new machine code, and make it if it does not exist.

    It is the first of ``$NUMBA_CACHE_DIR/lns``, ``$XDG_CACHE_HOME/lns`` (by default ``~/.cache/lns``) and a directory
    of this user in ``$TMPDIR`` (by default ``/tmp``) that can be written; the last must not be writable for others.
    None if there is no such directory: then every process compiles what is not on disk for itself.
    """
    for place in _places():
        with suppress(OSError):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if place.name == "lns" or _is_private(place):
                with tempfile.TemporaryFile(dir=place):
                    return place
    return None


def _places() -> list[Path]:
    """Return where machine code may be, see `cache_base`; the directories need not exist."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 (Path.expanduser may raise)
    folders = [os.environ.get("NUMBA_CACHE_DIR", ""), home]
    places = [Path(folder) / "lns" for folder in folders if folder and folder[0] != "~"]  # "~": no home directory
    shared = Path(os.environ.get("TMPDIR") or "/tmp") / f"lns-cache-{os.getuid()}"
    return [*places, shared] if not os.path.lexists(shared) or _is_private(shared) else places


def _is_private(directory: Path) -> bool:
    """Whether only this user can write a directory. Its name is predictable, and numba runs whatever code is in it."""
    status = directory.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022


def is_compiled(module: str) -> bool:
    """Whether machine code of all kernels of a module, without those that are inlined, is on disk.

    After an install or an edit it is not, until one run has compiled all of them.
    """
    kernels = (each for each in vars(import_module(module)).values() if getattr(each, "__module__", "") == module)
    caches = [each._cache for each in kernels if isinstance(getattr(each, "_cache", None), KernelCache)]
    return cache_directory(module) is not None and all(each.is_saved for each in caches)


def saved_kernels() -> int:
    """Return the number of kernels whose machine code is on disk, of all versions of this checkout.

    It grows while a process of this checkout compiles.
    """
    base = cache_base()
    folders = () if base is None else os.walk(_of_checkout(base))
    return sum(name.endswith(".nbi") for _, _, names in folders for name in names)


# -- what machine code depends on -------------------------------------------------------------------------------------


@cache
def source_key(module: str) -> str:
    """Return 16 hexadecimal digits that change whenever the machine code of a module (dotted name) may change."""
    waiting = [(module, name) for name in kernels_of(module) or ()]
    visited: set[tuple[str, str]] = set()
    definitions: set[tuple[str, str]] = set()
    while waiting:
        owner, name = place = waiting.pop()
        if place in visited:
            continue
        visited.add(place)
        source = _source(owner)
        for target in source.imported.get(name, ()):
            if _path_of(target) is not None:  # a whole module: the kernel may use any of its names
                whole = _source(target)
                waiting += [(target, inner) for inner in whole.defined.keys() | whole.imported.keys()]
            else:
                home, _, inner = target.rpartition(".")
                waiting.append((home, inner))
        for statement in source.defined.get(name, ()):
            definitions.add((owner, _text(statement)))
            waiting += [(owner, mentioned) for mentioned in _names(statement)]
    lines = (f"{name}: {definition}\n".encode() for name, definition in sorted(definitions))
    return hashlib.sha256(b"".join(lines)).hexdigest()[:16]


def kernels_of(module: str) -> list[str] | None:
    """Return the names of the kernels of a module (dotted name); None if it is no module of this project.

    Kernels are the functions with a decorator of `lns.exact.kernels.jit`.
    """
    if _path_of(module) is None:
        return None
    source = _source(module)
    imported = source.imported.items()
    decorators = {name for name, targets in imported if any(f"{t}.".startswith(f"{_DECORATORS}.") for t in targets)}
    defined = source.defined.items()
    return [name for name, statements in defined if any(decorators & _names(each) for each in statements)]


class _Source(NamedTuple):
    """The top-level statements of a module by the names that they define, and the project's names that it imports."""

    defined: dict[str, list[ast.stmt]]
    imported: dict[str, list[str]]


@cache
def _source(module: str) -> _Source:
    path, source = _path_of(module), _Source({}, {})
    for statement in ast.parse(b"" if path is None else path.read_bytes()).body:
        for name in _defines(statement):
            source.defined.setdefault(name, []).append(statement)
        for node in ast.walk(statement):
            for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
                target = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
                name = alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.split(".")[0])
                if _path_of(target.split(".")[0]) is not None:
                    source.imported.setdefault(name, []).append(target)
    return source


def _defines(statement: ast.stmt) -> frozenset[str]:
    """Return the names a top-level statement may define: function, class, targets of an assignment, else all names."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return frozenset({statement.name})
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        names = [node for node in names if isinstance(node.ctx, ast.Store)] or names
    return frozenset(node.id for node in names)


@cache
def _names(statement: ast.stmt) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))


@cache
def _text(statement: ast.stmt) -> str:
    """Return a definition as text, without layout, comments and docstrings."""
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(statement)


@cache
def _path_of(module: str) -> Path | None:
    """Return the file of a module of this project; None for every other name."""
    parts = module.split(".")
    if _IS_INSTALLED and parts[0] != "lns":
        return None
    base = ROOT.joinpath(*parts)
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)
