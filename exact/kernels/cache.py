"""The cache of kernels' machine code: where it lies, how processes share it, and which definitions it depends on.

Numba's cache checks only the file in which a kernel is defined, so an edited callee or constant in another module would
leave stale machine code in use. Each kernel module gets a cache directory that is named by `source_key`: a hash of the
module's kernels and of all definitions that they mention, directly or indirectly (callees, constants, which numba
compiles in, and the NamedTuples of arguments). Names are followed through absolute imports, also those under
TYPE_CHECKING; the linter bans relative imports. Other Python code and docstrings are not part of the hash: editing them
recompiles only the kernels of the same file, because numba checks the whole file for changes.
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

numba_config: Any = config  # Any, because numba adds its options at run time, where no type checker sees them
_MAX_WAIT_S, _POLL_S = 300.0, 0.05  # seconds: longest wait for another process's lock, and pause between attempts
ROOT = Path(__file__).absolute().parents[__name__.count(".")]  # the folder that holds package lns; links not resolved
_IS_INSTALLED = ROOT.name in ("site-packages", "dist-packages")  # whether ROOT holds other projects too
_DECORATORS = "lns.exact.kernels.jit"  # the module of the decorators that make a function a kernel


class _Locator(UserProvidedCacheLocator):
    """Tells numba the cache directory and, unlike numba's own locator, accepts one that cannot be written."""

    def ensure_cache_path(self) -> None:
        with suppress(OSError):
            super().ensure_cache_path()


class _Serializer(CompileResultCacheImpl):
    _locator_classes: list[type[object]] = [_Locator]  # noqa: RUF012


class KernelCache(FunctionCache):
    """Numba's cache on disk, robust against damaged and read-only files, and shared between processes.

    A kernel whose file cannot be read is compiled again; machine code that cannot be written to disk is used unsaved.
    If several processes need the same kernel, one holds a lock and compiles, and the others wait for the machine code:
    otherwise each worker of a first run would spend half a minute and some hundred megabytes on the same code. A
    process that has waited `_MAX_WAIT_S` once, for example for a process that was suspended, does not wait again.
    """

    _impl_class = _Serializer
    may_wait = True  # whether this process may still wait for another one; the same for all kernels

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._path = Path(self.cache_path, f"{self._impl.filename_base}.lock")
        self._lock: IO[bytes] | None = None  # the locked file while this process compiles the kernel, else None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for signature ``sig`` from disk, perhaps after a wait; None makes numba compile."""
        machine_code = self._load(sig, target_context)
        if machine_code is None:
            waited = self._acquire_lock()
            machine_code = self._load(sig, target_context)
            if machine_code is not None or waited:  # after a wait in vain, compile without the lock
                self._release_lock()
        return machine_code

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # reading a damaged pickle may raise any exception
            with suppress(OSError):
                self.flush()
            return None

    def unlocking_on_failure(self, compile_: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap ``compile_`` to release the lock if ``compile_`` raises; otherwise `save_overload` releases the lock."""

        def compiled(*args: Any) -> Any:
            try:
                return compile_(*args)
            except BaseException:
                self._release_lock()
                raise

        return compiled

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the machine code for signature ``sig`` to disk, if that is possible, and release the lock."""
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
        except Exception:  # reading a damaged pickle may raise any exception
            return False

    def _acquire_lock(self) -> bool:
        """Lock this kernel, if possible, waiting for other processes; return whether another one held the lock."""
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

    The directory is named by `source_key`. It lies in `cache_base` or, if machine code of an earlier run is still valid
    there, in an earlier one of `_places`, which cannot be written. Returns None if there is no such directory.
    """
    key, edited = source_key(module), Path(sys.modules[module].__file__ or "").stat().st_mtime
    with suppress(OSError):
        for place in _places():
            directory = _of_checkout(place) / key
            if place == cache_base():
                directory.mkdir(parents=True, exist_ok=True)
                return directory
            # numba ignores machine code that is older than its source file
            if any(index.stat().st_mtime >= edited for index in directory.rglob("*.nbi")):
                return directory
    return None


def _of_checkout(place: Path) -> Path:
    """Return the directory in ``place`` for the machine code of this checkout, which may not exist yet.

    Numba finds machine code by the path of its source file, so two checkouts cannot share machine code.
    """
    key = f"{numba.__version__} {sys.version_info[:2]} bounds={numba_config.BOUNDSCHECK} {ROOT}"
    return place / hashlib.sha256(key.encode()).hexdigest()[:16]


@cache
def cache_base() -> Path | None:
    """Return the directory into which all new machine code is written; make the directory if it does not exist.

    It is the first of ``$NUMBA_CACHE_DIR/lns``, ``$XDG_CACHE_HOME/lns`` (by default ``~/.cache/lns``) and a directory
    of this user in ``$TMPDIR`` (by default ``/tmp``) that can be written; the last must not be writable for others.
    Returns None if there is no such directory; then every process compiles for itself what is not on disk.
    """
    for place in _places():
        with suppress(OSError):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if place.name == "lns" or _is_private(place):
                with tempfile.TemporaryFile(dir=place):
                    return place
    return None


def _places() -> list[Path]:
    """Return the directories in which machine code may be, in the order of `cache_base`; they need not exist."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 (Path.expanduser may raise)
    folders = [os.environ.get("NUMBA_CACHE_DIR", ""), home]
    places = [Path(folder) / "lns" for folder in folders if folder and folder[0] != "~"]  # "~" if no home was found
    shared = Path(os.environ.get("TMPDIR") or "/tmp") / f"lns-cache-{os.getuid()}"
    return [*places, shared] if not os.path.lexists(shared) or _is_private(shared) else places


def _is_private(directory: Path) -> bool:
    """Return whether only this user can write to a directory; numba would run code that others had put there."""
    status = directory.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022


def is_compiled(module: str) -> bool:
    """Return whether machine code of all kernels of a module, apart from inlined kernels, is on disk.

    After an install or an edit of the kernels the answer is False until some runs have compiled all of them.
    """
    kernels = (each for each in vars(import_module(module)).values() if getattr(each, "__module__", "") == module)
    caches = [each._cache for each in kernels if isinstance(getattr(each, "_cache", None), KernelCache)]
    return cache_directory(module) is not None and all(each.is_saved for each in caches)


def saved_kernels() -> int:
    """Return the number of kernels with machine code in `cache_base`, over all versions of this checkout's source.

    The number grows while a process of this checkout compiles.
    """
    base = cache_base()
    folders = () if base is None else os.walk(_of_checkout(base))
    return sum(name.endswith(".nbi") for _, _, names in folders for name in names)


# -- the definitions that machine code depends on ---------------------------------------------------------------------


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
            if _path_of(target) is not None:  # the name is a whole module: a kernel may use any name in it
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
    """Return the names of a module's kernels (functions decorated from `_DECORATORS`); None outside this project."""
    if _path_of(module) is None:
        return None
    source = _source(module)
    imported = source.imported.items()
    decorators = {name for name, targets in imported if any(f"{t}.".startswith(f"{_DECORATORS}.") for t in targets)}
    defined = source.defined.items()
    return [name for name, statements in defined if any(decorators & _names(each) for each in statements)]


class _Source(NamedTuple):
    """The top-level statements of a module, by defined name, and what the module imports from this project, by name."""

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
    """Return the names that a statement may define: its function, class or assigned names, or else all names in it."""
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
    """Return a definition as a text that does not depend on its layout, comments and docstrings."""
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(statement)


@cache
def _path_of(module: str) -> Path | None:
    """Return the file of a module of this project (dotted name); None for any other name."""
    parts = module.split(".")
    if _IS_INSTALLED and parts[0] != "lns":
        return None
    base = ROOT.joinpath(*parts)
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)
