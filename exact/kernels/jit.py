"""Decorators that compile kernels with numba.

A kernel is a function that one of the decorators here compiles: `kernel`, `inline_kernel`, `flat_kernel` or
`inline_flat_kernel`. No other module of the project uses numba's own decorators, except ``cuda.jit`` for a GPU.
`lns.exact.kernels.cache` keeps the machine code.

All decorators use private parts of numba, so pyproject.toml caps numba's version. To upgrade numba, install the new
version and run tests/support, which uses the decorators. Compare the node counts of ``python -m tests.trajectories``
and the speed of a search before and after. Only then raise the cap in pyproject.toml and relock requirements.lock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from lns.exact.kernels.cache import KernelCache, cache_directory, kernels_of, numba_config

_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}  # no code in C calls kernels
_njit: Any = numba.njit  # Any, because numba's type stubs lack the option _nrt

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


def kernel(function: _Kernel) -> _Kernel:
    """Make numba compile the decorated function, in nopython mode and with a cache on disk.

    The machine code releases the GIL, divides by numpy's rules (``error_model="numpy"``) and uses no fastmath. It is
    compiled at the first call with each combination of argument types, or loaded from the directory that
    `lns.exact.kernels.cache.cache_directory` gives. The function must be at the top level of its module, which must
    import this decorator by name. With ``NUMBA_DISABLE_JIT=1`` the function is returned unchanged.
    """
    return _compile(function, {})


def _compile(function: _Kernel, options: dict[str, bool]) -> _Kernel:
    """Compile a function as `kernel` does, with further ``options`` of numba."""
    if numba_config.DISABLE_JIT:
        return function
    expected = kernels_of(function.__module__)
    if expected is not None and function.__name__ not in expected:
        raise TypeError(f"{function.__module__}.{function.__name__}: expected the decorator from lns.exact.kernels.jit")
    directory = cache_directory(function.__module__)
    before = numba_config.CACHE_DIR
    try:  # numba reads CACHE_DIR in the next lines; then it is set back, for kernels of other packages
        numba_config.CACHE_DIR = "" if directory is None else str(directory)
        compiled = _njit(**_OPTIONS, **options)(function)
        if directory is not None:
            compiled._cache = KernelCache(function)
            compiled._compiler.compile = compiled._cache.unlocking_on_failure(compiled._compiler.compile)
    finally:
        numba_config.CACHE_DIR = before
    return cast(_Kernel, compiled)


def inline_kernel(function: _Kernel) -> _Kernel:
    """Make numba compile the decorated function like `kernel`, but inline it into every caller; for small functions.

    The function has no cache of its own, because its machine code is part of its callers' code. It has no wrapper for
    calls from Python, which takes long to compile for NamedTuples of many arrays. A call from Python compiles the
    function once more, with such a wrapper.
    """
    return _inlined(function, {})


def _inlined(function: _Kernel, options: dict[str, bool]) -> _Kernel:
    """Compile a function as `inline_kernel` does, with further ``options`` of numba."""
    if numba_config.DISABLE_JIT:
        return function
    inlined = _njit(**_OPTIONS, **options, forceinline=True, no_cpython_wrapper=True)(function)
    callable_from_python = _njit(**_OPTIONS, **options)(function)

    def add_overload(result: Any) -> None:  # numba's own method also registers the wrapper for Python
        inlined.overloads[tuple(result.signature.args)] = result

    inlined.add_overload = add_overload
    inlined._compile_for_args = lambda *_args, **_keywords: callable_from_python
    return cast(_Kernel, inlined)


def flat_kernel(function: _Kernel) -> _Kernel:
    """Make numba compile the decorated function like `kernel`, but without numba's reference counting.

    It is for functions that allocate no memory, return only scalars, and call only functions with the same properties
    (``flat_kernel`` or ``inline_flat_kernel``). Reference counting costs an atomic operation at each use of an array in
    a NamedTuple; a search over 30 such arrays was 40 times slower with reference counting.
    """
    return _compile(function, {"_nrt": False})


def inline_flat_kernel(function: _Kernel) -> _Kernel:
    """Inline the decorated function like `inline_kernel`, without reference counting, for use in a `flat_kernel`."""
    return _inlined(function, {"_nrt": False})
