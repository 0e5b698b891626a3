"""The one door to numba: how kernels are compiled, and where their machine code is kept.

Numba's cache looks only at the file in which a kernel stands: an edited callee or constant in another module would
leave it stale. So each kernel module gets a cache directory named by a hash of its kernels and of every definition
that they mention, directly or not: callees, the constants that numba freezes, the NamedTuples of their arguments. Names
are followed through absolute imports, those for the type checker too (relative ones are banned by the linter). Other
Python and docstrings do not count, so that their edits compile nothing again.
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
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import numba
from numba.core import config
from numba.core.caching import FunctionCache

from lns_support.file_lock import try_lock, unlock

numba_config: Any = config  # its options are made at run time
_njit: Any = numba.njit  # its stubs do not know _nrt
_ROOT = Path(__file__).resolve().parent.parent
_PATIENCE_S, _LOOK_S = 300.0, 0.05  # for another process that compiles the same kernel

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


def kernel(function: _Kernel) -> _Kernel:
    """Compile ``function`` in nopython mode, cached on disk under the key of its sources; nogil, no fastmath.

    With ``NUMBA_DISABLE_JIT=1`` the plain function is returned.
    """
    return _compile(function, {})


def _compile(function: _Kernel, options: dict[str, bool]) -> _Kernel:
    if numba_config.DISABLE_JIT:
        return function
    if _path_of(function.__module__) is not None and function.__name__ not in _source(function.__module__).kernels():
        raise TypeError(f"{function.__module__}.{function.__name__}: decorate kernels by the names in lns_support.jit")
    directory = cache_directory(function.__module__)
    before = numba_config.CACHE_DIR
    try:  # numba reads the directory when the decorator is applied; other users of numba keep theirs
        numba_config.CACHE_DIR = "" if directory is None else str(directory)
        compiled = _njit(nogil=True, error_model="numpy", **options)(function)
        if directory is not None:
            compiled._cache = _Cache(function)
            compiled._compiler.compile = compiled._cache.ending_the_turn(compiled._compiler.compile)
    finally:
        numba_config.CACHE_DIR = before
    return cast(_Kernel, compiled)


class _Cache(FunctionCache):
    """Numba's, but a file that cannot be read is compiled again, and one that cannot be written is done without.

    Of several processes that need the same kernel one compiles it, in its turn, and the others wait for its machine
    code: workers of a first run would each take half a minute and some hundred megabytes for the same. A process that
    has waited `_PATIENCE_S` once, say for one that was stopped, waits no more.
    """

    patient = True

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._path = Path(self.cache_path, f"{self._impl.filename_base}.lock")
        self._turn: IO[bytes] | None = None  # held while this process compiles

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._load(sig, target_context)
        if found is None:
            before = self._kept()
            waited = self._take_turn()
            found = self._load(sig, target_context)
            if found is not None or (waited and self._kept() == before):  # nothing can be kept: no use in turns
                self._give_turn()
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a garbled pickle may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def ending_the_turn(self, compile_: Callable[..., Any]) -> Callable[..., Any]:
        """``compile_``, which lets others have their turn where it fails; else `save_overload` does."""

        def compiled(*args: Any) -> Any:
            try:
                return compile_(*args)
            except BaseException:
                self._give_turn()
                raise

        return compiled

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            with suppress(OSError):
                super().save_overload(sig, data)
        finally:
            self._give_turn()

    def _kept(self) -> tuple[int, int] | None:
        """What changes when machine code of this kernel is kept, for whatever types of arguments."""
        try:
            found = Path(self._cache_file._index_path).stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns

    def _take_turn(self) -> bool:
        """Hold the lock, where there are locks; whether another process had to be waited for."""
        if self._turn is not None or not _Cache.patient:
            return False
        try:
            file = self._path.open("ab")
        except OSError:
            return False
        waited, end = False, time.monotonic() + _PATIENCE_S
        while (mine := try_lock(file)) is False and time.monotonic() < end:
            waited = True
            time.sleep(_LOOK_S)
        _Cache.patient = mine is not False
        if mine:
            self._turn = file
        else:
            file.close()
        return waited

    def _give_turn(self) -> None:
        if self._turn is not None:
            unlock(self._turn)
            self._turn = None


def inline_kernel(function: _Kernel) -> _Kernel:
    """A small kernel that LLVM always inlines into its callers; it has no cache entry of its own."""
    if numba_config.DISABLE_JIT:
        return function
    return cast(_Kernel, _njit(nogil=True, error_model="numpy", forceinline=True)(function))


def flat_kernel(function: _Kernel) -> _Kernel:
    """`kernel` for functions that allocate nothing and return only scalars: without numba's reference counts.

    Those are atomic operations at every use of an array inside a NamedTuple; a search over 30 such arrays ran 40 times
    slower with them. Everything that it calls must be flat too (``flat_kernel`` or ``inline_flat_kernel``).
    """
    return _compile(function, {"_nrt": False})


def inline_flat_kernel(function: _Kernel) -> _Kernel:
    """`inline_kernel` without reference counts, for use inside a `flat_kernel`."""
    if numba_config.DISABLE_JIT:
        return function
    return cast(_Kernel, _njit(nogil=True, error_model="numpy", forceinline=True, _nrt=False)(function))


@cache
def cache_directory(module: str) -> Path | None:
    """Directory of the machine code of ``module``'s kernels, made if need be; None where nothing can be written."""
    base = cache_base()
    if base is None:
        return None
    directory = base / source_key(module)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return directory


@cache
def cache_base() -> Path | None:
    """``$NUMBA_CACHE_DIR/lns``, else ``$XDG_CACHE_HOME/lns`` (``~/.cache/lns``), else a temporary directory.

    None where none of them can be written, or is this user's alone to write: then every process compiles for itself.
    """
    candidates = []
    if os.environ.get("NUMBA_CACHE_DIR"):
        candidates.append(Path(os.environ["NUMBA_CACHE_DIR"]) / "lns")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 (raises nothing)
    if not home.startswith("~"):  # a user without a home
        candidates.append(Path(home) / "lns")
    shared = Path(tempfile.gettempdir()) / f"lns-cache-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    for candidate in [*candidates, shared]:
        try:
            candidate.mkdir(mode=0o700, parents=True, exist_ok=True)
            if candidate is shared and not _is_mine_alone(shared):
                continue
            with tempfile.TemporaryFile(dir=candidate):
                return candidate
        except OSError:
            continue
    return None


def _is_mine_alone(directory: Path) -> bool:
    """Whether nobody else can have put code there: its name can be guessed, and numba runs what it finds."""
    found = directory.lstat()
    return not hasattr(os, "getuid") or (
        stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
    )


@cache
def source_key(module: str) -> str:
    """Hash of the definitions that decide ``module``'s machine code, and of what compiles them."""
    digest = hashlib.sha256()
    for where, definition in sorted(_decisive(module)):
        digest.update(f"{where}: {definition}\n".encode())
    # numba keeps machine code by the path of its source: what another checkout compiled is of no use to this one
    digest.update(f"{numba.__version__} {sys.version_info[:2]} bounds={numba_config.BOUNDSCHECK} {_ROOT}".encode())
    return digest.hexdigest()[:16]


def is_compiled(module: str) -> bool:
    """Whether some machine code of ``module`` is on disk: False on the first run after an install or an edit."""
    directory = cache_directory(module)
    return directory is not None and any(directory.rglob("*.nbc"))


def _decisive(module: str) -> set[tuple[str, str]]:
    """(module, definition) of ``module``'s kernels and of everything that they mention, directly or not."""
    waiting = [(module, name) for name in _source(module).kernels()]
    seen: set[tuple[str, str]] = set()
    found: set[tuple[str, str]] = set()
    while waiting:
        where, name = place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        source = _source(where)
        for target in source.imported.get(name, ()):
            if _path_of(target) is not None:  # a whole module: anything in it may be meant
                whole = _source(target)
                waiting += [(target, within) for within in whole.defined.keys() | whole.imported.keys()]
            else:
                home, _, within = target.rpartition(".")
                waiting.append((home, within))
        for statement in source.defined.get(name, ()):
            found.add((where, _text(statement)))
            waiting += [(where, mentioned) for mentioned in _names(statement)]
    return found


class _Source:
    """A module's statements by the names that they define, and by name what it imports of this project."""

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
        """Names of the definitions that use this module's decorators."""
        mine = {
            name for name, targets in self.imported.items() if any(f"{t}.".startswith(f"{__name__}.") for t in targets)
        }
        return [name for name, statements in self.defined.items() if any(_names(one) & mine for one in statements)]


@cache
def _is_of_project(target: str) -> bool:
    """Whether a dotted name is of a package that stands beside this one."""
    return _path_of(target.split(".")[0]) is not None


@cache
def _source(module: str) -> _Source:
    path = _path_of(module)
    return _Source(b"" if path is None else path.read_bytes())


def _defines(statement: ast.stmt) -> frozenset[str]:
    """The names that a top-level statement defines, or changes; all that it mentions where that is not plain."""
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
    """A definition without layout, comments and docstrings."""
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(statement)


@cache
def _path_of(module: str) -> Path | None:
    base = _ROOT.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None
