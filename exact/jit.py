"""The one door to numba: how kernels are compiled, and where their machine code is kept.

Numba's cache looks only at the file in which a kernel stands: an edited callee in another module would leave its
callers stale. So each kernel module gets a cache directory named by a hash of its own source and of all kernel
modules that it imports (followed through absolute imports; relative ones are banned by the linter).
"""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config

numba_config: Any = config  # its options are made at run time
_njit: Any = numba.njit  # its stubs do not know _nrt
_ROOT = Path(__file__).resolve().parent.parent

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


def kernel(function: _Kernel) -> _Kernel:
    """Compile ``function`` in nopython mode, cached on disk under the key of its sources; nogil, no fastmath.

    With ``NUMBA_DISABLE_JIT=1`` the plain function is returned.
    """
    return _compile(function, {})


def _compile(function: _Kernel, options: dict[str, bool]) -> _Kernel:
    if numba_config.DISABLE_JIT:
        return function
    directory = cache_directory(function.__module__)
    before = numba_config.CACHE_DIR
    try:  # numba reads the directory when the decorator is applied; other users of numba keep theirs
        numba_config.CACHE_DIR = "" if directory is None else str(directory)
        compiled = _njit(cache=directory is not None, nogil=True, error_model="numpy", **options)(function)
    finally:
        numba_config.CACHE_DIR = before
    return cast(_Kernel, compiled)


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
    """``$NUMBA_CACHE_DIR/lns``, else ``$XDG_CACHE_HOME/lns`` (``~/.cache/lns``), else a temporary directory."""
    candidates = []
    if os.environ.get("NUMBA_CACHE_DIR"):
        candidates.append(Path(os.environ["NUMBA_CACHE_DIR"]) / "lns")
    home = os.environ.get("XDG_CACHE_HOME")
    candidates.append((Path(home) if home else Path("~/.cache").expanduser()) / "lns")
    candidates.append(Path(tempfile.gettempdir()) / f"lns-cache-{os.getuid() if hasattr(os, 'getuid') else 'user'}")
    for candidate in candidates:
        try:
            candidate.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=candidate):
                return candidate
        except OSError:
            continue
    return None


@cache
def source_key(module: str) -> str:
    """Hash of the sources that decide ``module``'s machine code, and of what compiles them."""
    digest = hashlib.sha256()
    for path in sorted(_kernel_sources(module)):
        digest.update(path.relative_to(_ROOT).as_posix().encode())
        digest.update(path.read_bytes())
    digest.update(f"{numba.__version__} {sys.version_info[:2]} bounds={numba_config.BOUNDSCHECK}".encode())
    return digest.hexdigest()[:16]


def is_compiled(module: str) -> bool:
    """Whether some machine code of ``module`` is on disk: False on the first run after an install or an edit."""
    directory = cache_directory(module)
    return directory is not None and any(directory.rglob("*.nbc"))


def _kernel_sources(module: str) -> set[Path]:
    """``module``'s file and those of the kernel modules (users of this one) that it imports, directly or not."""
    found: set[Path] = set()
    waiting = [path for path in [_path_of(module)] if path is not None]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for target in _imports(path):
            candidate = _path_of(target)
            if candidate is not None and b"exact.jit" in candidate.read_bytes():
                waiting.append(candidate)
    return found


def _imports(path: Path) -> set[str]:
    """Names of modules that ``path`` may import (``from a import b``: both ``a`` and ``a.b``)."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name for name in names if name.split(".")[0] in ("exact", "lns")}


def _path_of(module: str) -> Path | None:
    base = _ROOT.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None
