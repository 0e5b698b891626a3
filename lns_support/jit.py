"""How kernels are compiled with numba, and where their machine code is kept.

A kernel is a function that one of the decorators here compiles: `kernel`, `inline_kernel`, `flat_kernel` or
`inline_flat_kernel`. No other module of the project uses numba's own decorators.

Numba's cache checks only the file in which a kernel is defined, so an edited callee or constant in another module would
leave stale machine code in use. Here each kernel module gets a cache directory whose name is a hash of its kernels and
of all definitions that they mention, directly or indirectly: callees, the constants that numba freezes, the NamedTuples
of their arguments. Names are followed through absolute imports, also those under TYPE_CHECKING; the linter bans
relative ones. Other Python code and docstrings are not part of the hash: editing them recompiles only the kernels of
the same file, which numba compares as a whole.

When numba is upgraded: all decorators use private parts of numba, and pyproject.toml caps its version for
that reason. Install the new version and run tests/support; test_numba.py names the private parts. Compare the node
counts of ``python -m tests.trajectories`` and the speed of a search before and after. Only then raise the cap in
pyproject.toml and relock requirements.lock.
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
from typing import IO, Any, TypeVar, cast

import numba
from numba.core import config
from numba.core.caching import FunctionCache

from lns_support.file_lock import try_lock, unlock

_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}  # nothing calls kernels from C
numba_config: Any = config  # numba makes its options at run time, so a type checker does not know them
_njit: Any = numba.njit  # its type stubs lack the option _nrt
_ROOT = Path(__file__).resolve().parent.parent
_MAX_WAIT_S, _POLL_S = 300.0, 0.05  # while another process compiles the same kernel

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


def kernel(function: _Kernel) -> _Kernel:
    """Decorator: compile a function in nopython mode, with a cache on disk.

    The machine code releases the GIL, divides by numpy's rules (``error_model="numpy"``) and uses no fastmath. It is
    compiled at the first call with each combination of argument types, or loaded from `cache_directory`.

    Parameters
    ----------
    function : callable
        A function at the top level of its module, which must import this decorator by name.

    Returns
    -------
    callable
        The compiled function; ``function`` itself if ``NUMBA_DISABLE_JIT=1`` is set.
    """
    return _compile(function, {})


def _compile(function: _Kernel, options: dict[str, bool]) -> _Kernel:
    """`kernel` with further options of numba."""
    if numba_config.DISABLE_JIT:
        return function
    if _path_of(function.__module__) is not None and function.__name__ not in _source(function.__module__).kernels():
        raise TypeError(
            f"{function.__module__}.{function.__name__}: expected the decorator to be imported from lns_support.jit"
        )
    directory = cache_directory(function.__module__)
    before = numba_config.CACHE_DIR
    try:  # numba reads this setting when the decorator is applied; kernels of other packages keep theirs
        numba_config.CACHE_DIR = "" if directory is None else str(directory)
        compiled = _njit(**_OPTIONS, **options)(function)
        if directory is not None:
            compiled._cache = _Cache(function)
            compiled._compiler.compile = compiled._cache.unlocking_on_failure(compiled._compiler.compile)
    finally:
        numba_config.CACHE_DIR = before
    return cast(_Kernel, compiled)


class _Cache(FunctionCache):
    """Numba's cache, made robust and shared between processes.

    A file that cannot be read is compiled again; a file that cannot be written is left out. If several processes need
    the same kernel, one holds a lock and compiles, and the others wait for its machine code: without that, each worker
    of a first run would spend half a minute and some hundred megabytes on the same code. A process that has waited
    `_MAX_WAIT_S` once, for example for a process that was stopped, does not wait again.
    """

    may_wait = True  # of this process, for all kernels

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._path = Path(self.cache_path, f"{self._impl.filename_base}.lock")
        self._lock: IO[bytes] | None = None  # the locked file while this process compiles

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for a signature from disk. None asks numba to compile it, possibly after a wait."""
        machine_code = self._load(sig, target_context)
        if machine_code is None:
            before = self._index_state()
            waited = self._acquire_lock()
            machine_code = self._load(sig, target_context)
            # a process that compiled and saved nothing shows that nothing can be saved: then all compile at once
            if machine_code is not None or (waited and self._index_state() == before):
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
        """``compile_`` that releases the lock if it raises; after a success `save_overload` releases it."""

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

    def _index_state(self) -> tuple[int, int] | None:
        """Inode and time of the index file, which change whenever machine code of this kernel is saved."""
        try:
            status = Path(self._cache_file._index_path).stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns

    def _acquire_lock(self) -> bool:
        """Lock this kernel, if the system has locks. Returns whether another process had to be waited for."""
        if self._lock is not None or not _Cache.may_wait:
            return False
        try:
            file = self._path.open("ab")
        except OSError:
            return False
        waited, deadline = False, time.monotonic() + _MAX_WAIT_S
        while (locked := try_lock(file)) is False and time.monotonic() < deadline:
            waited = True
            time.sleep(_POLL_S)
        _Cache.may_wait = locked is not False
        if locked:
            self._lock = file
        else:
            file.close()
        return waited

    def _release_lock(self) -> None:
        if self._lock is not None:
            unlock(self._lock)
            self._lock = None


def inline_kernel(function: _Kernel) -> _Kernel:
    """Decorator: like `kernel`, for a small function that LLVM inlines into every caller.

    It has no cache of its own: its machine code is part of that of its callers. What Python needs to call it is left
    out, as it takes long to compile for NamedTuples of many arrays; a call from Python compiles the function again.

    Parameters
    ----------
    function : callable

    Returns
    -------
    callable
        As for `kernel`.
    """
    return _inlined(function, {})


def _inlined(function: _Kernel, options: dict[str, bool]) -> _Kernel:
    """`inline_kernel` with further options of numba."""
    if numba_config.DISABLE_JIT:
        return function
    inlined = _njit(**_OPTIONS, **options, forceinline=True, no_cpython_wrapper=True)(function)
    callable_from_python = _njit(**_OPTIONS, **options)(function)

    def add_overload(result: Any) -> None:  # numba's own makes it callable from Python too
        inlined.overloads[tuple(result.signature.args)] = result

    inlined.add_overload = add_overload
    inlined._compile_for_args = lambda *_args, **_keywords: callable_from_python
    return cast(_Kernel, inlined)


def flat_kernel(function: _Kernel) -> _Kernel:
    """Decorator: like `kernel`, without numba's reference counting.

    For functions that allocate no memory and return only scalars, and that call only such functions (``flat_kernel`` or
    ``inline_flat_kernel``). Reference counting costs an atomic operation at each use of an array inside a NamedTuple; a
    search over 30 such arrays was 40 times slower with it.

    Parameters
    ----------
    function : callable

    Returns
    -------
    callable
        As for `kernel`.
    """
    return _compile(function, {"_nrt": False})


def inline_flat_kernel(function: _Kernel) -> _Kernel:
    """Decorator: like `inline_kernel`, without numba's reference counting; for use inside a `flat_kernel`.

    Parameters
    ----------
    function : callable

    Returns
    -------
    callable
        As for `kernel`.
    """
    return _inlined(function, {"_nrt": False})


@cache
def cache_directory(module: str) -> Path | None:
    """The directory with the machine code of a module's kernels.

    Parameters
    ----------
    module : str
        Dotted name of the module.

    Returns
    -------
    Path or None
        An existing directory below that of `checkout_cache`, named by `source_key`; None if none can be written.
    """
    base = checkout_cache()
    if base is None:
        return None
    directory = base / source_key(module)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return directory


def checkout_cache() -> Path | None:
    """The directory, below `cache_base`, of what this checkout compiles with this numba and Python.

    Numba finds machine code by the path of its source, so two checkouts cannot share it.

    Returns
    -------
    Path or None
        A directory that may not exist yet; None if there is no `cache_base`.
    """
    base = cache_base()
    key = f"{numba.__version__} {sys.version_info[:2]} bounds={numba_config.BOUNDSCHECK} {_ROOT}"
    return None if base is None else base / hashlib.sha256(key.encode()).hexdigest()[:16]


@cache
def cache_base() -> Path | None:
    """The directory of all machine code, made if it does not exist.

    Returns
    -------
    Path or None
        The first of ``$NUMBA_CACHE_DIR/lns``, ``$XDG_CACHE_HOME/lns`` (by default ``~/.cache/lns``) and a directory of
        this user in the system's temporary directory that can be written. None if there is none, or if other users can
        write the last: then every process compiles for itself.
    """
    candidates = []
    if os.environ.get("NUMBA_CACHE_DIR"):
        candidates.append(Path(os.environ["NUMBA_CACHE_DIR"]) / "lns")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 (Path.expanduser may raise)
    if not home.startswith("~"):  # it stays for a user without a home directory
        candidates.append(Path(home) / "lns")
    shared = Path(tempfile.gettempdir()) / f"lns-cache-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    for candidate in [*candidates, shared]:
        try:
            candidate.mkdir(mode=0o700, parents=True, exist_ok=True)
            if candidate is shared and not _is_private(shared):
                continue
            with tempfile.TemporaryFile(dir=candidate):
                return candidate
        except OSError:
            continue
    return None


def _is_private(directory: Path) -> bool:
    """Whether only this user can write a directory. Its name is predictable, and numba runs whatever code is in it."""
    status = directory.lstat()
    return not hasattr(os, "getuid") or (
        stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
    )


@cache
def source_key(module: str) -> str:
    """A key that changes whenever a module's machine code may change.

    Parameters
    ----------
    module : str
        Dotted name of the module.

    Returns
    -------
    str
        16 hexadecimal digits: a hash of the definitions that its kernels depend on.
    """
    digest = hashlib.sha256()
    for name, definition in sorted(_definitions(module)):
        digest.update(f"{name}: {definition}\n".encode())
    return digest.hexdigest()[:16]


def is_compiled(module: str) -> bool:
    """Whether machine code of all kernels of a module, without those that are inlined, is on disk.

    Parameters
    ----------
    module : str
        Dotted name of the module.

    Returns
    -------
    bool
        False on the first run after an install or an edit, also if that run was stopped before the end.
    """
    kernels = [each for each in vars(import_module(module)).values() if getattr(each, "__module__", "") == module]
    caches = [each._cache for each in kernels if hasattr(each, "_cache")]
    return cache_base() is not None and all(_has_machine_code(each) for each in caches if isinstance(each, _Cache))


def _has_machine_code(cache: _Cache) -> bool:
    """Whether machine code of this version of a kernel's file is on disk."""
    try:
        return bool(cache._cache_file._load_index())
    except Exception:  # a damaged pickle may raise anything
        return False


def saved_kernels() -> int:
    """Number of kernels whose machine code is on disk, of all versions of this checkout.

    It grows while a process of this checkout compiles.
    """
    base = checkout_cache()
    folders = () if base is None else os.walk(base)
    return sum(name.endswith(".nbi") for _, _, names in folders for name in names)


def _definitions(module: str) -> set[tuple[str, str]]:
    """(module, definition) of a module's kernels and of everything that they mention, directly or indirectly."""
    waiting = [(module, name) for name in _source(module).kernels()]
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
    return definitions


class _Source:
    """The top-level statements of a module by the names that they define, and the project's names that it imports."""

    def __init__(self, text: bytes) -> None:
        self.defined: dict[str, list[ast.stmt]] = {}
        self.imported: dict[str, list[str]] = {}
        for statement in ast.parse(text).body:
            for name in _defines(statement):
                self.defined.setdefault(name, []).append(statement)
            for node in ast.walk(statement):
                self._note_import(node)

    def _note_import(self, node: ast.AST) -> None:
        targets = []
        if isinstance(node, ast.Import):
            targets = [(alias.asname or alias.name.split(".")[0], alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            targets = [(alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names]
        for name, target in targets:
            if _is_of_project(target):
                self.imported.setdefault(name, []).append(target)

    def kernels(self) -> list[str]:
        """Names of the functions that are decorated with a decorator of `lns_support.jit`."""
        decorators = {
            name for name, targets in self.imported.items() if any(f"{t}.".startswith(f"{__name__}.") for t in targets)
        }
        defined = self.defined.items()
        return [name for name, statements in defined if any(decorators & _names(each) for each in statements)]


@cache
def _is_of_project(target: str) -> bool:
    """Whether a dotted name belongs to a package in the same folder as this one."""
    return _path_of(target.split(".")[0]) is not None


@cache
def _source(module: str) -> _Source:
    path = _path_of(module)
    return _Source(b"" if path is None else path.read_bytes())


def _defines(statement: ast.stmt) -> frozenset[str]:
    """The names that a top-level statement may define or change.

    Those of a definition or an assignment are known; for any other statement, all names in it are returned.
    """
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return frozenset({statement.name})
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
        return frozenset(node.id for node in names if isinstance(node.ctx, ast.Store)) or _names(statement)
    return _names(statement)


@cache
def _names(statement: ast.stmt) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))


@cache
def _text(statement: ast.stmt) -> str:
    """A definition as text, without layout, comments and docstrings."""
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(statement)


@cache
def _path_of(module: str) -> Path | None:
    """The file of a module of this project; None for every other name."""
    base = _ROOT.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None
