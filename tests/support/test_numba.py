"""The private parts of numba that `lns.exact.kernels.jit` uses, and the cap on its version."""

import inspect
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
from numba.core import config, dispatcher
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, UserProvidedCacheLocator

from lns.exact.kernels import jit

ROOT = Path(__file__).resolve().parents[2]


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


def test_the_cap_of_the_version_covers_what_is_installed_and_locked() -> None:
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    [requirement] = [line for line in dependencies if line.startswith("numba")]
    bounds = {part[:2] if part[1] == "=" else part[:1]: part.lstrip("<>=") for part in requirement[5:].split(",")}
    assert set(bounds) == {">=", "<"}
    [locked] = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if line.startswith("numba==")]
    for release in (version("numba"), locked.split("==")[1].split()[0]):
        assert numbers(bounds[">="]) <= numbers(release) < numbers(bounds["<"]), release


def test_the_private_parts_of_numba_that_are_used_exist() -> None:
    for name in ("cache_path", "load_overload", "save_overload", "flush"):
        assert hasattr(FunctionCache, name)
    assert FunctionCache._impl_class is CompileResultCacheImpl
    assert UserProvidedCacheLocator in CompileResultCacheImpl._locator_classes
    assert hasattr(UserProvidedCacheLocator, "ensure_cache_path")
    cache = FunctionCache(test_the_private_parts_of_numba_that_are_used_exist)
    assert isinstance(cache._impl.filename_base, str)
    assert isinstance(cache._cache_file, IndexDataCacheFile) and Path(cache._cache_file._index_path).suffix == ".nbi"
    assert list(inspect.signature(FunctionCache.load_overload).parameters) == ["self", "sig", "target_context"]
    assert list(inspect.signature(FunctionCache.save_overload).parameters) == ["self", "sig", "data"]
    assert hasattr(dispatcher._FunctionCompiler, "compile")
    for name in ("CACHE_DIR", "DISABLE_JIT", "BOUNDSCHECK"):
        assert hasattr(config, name)


class Arrays(NamedTuple):
    first: np.ndarray
    second: np.ndarray


def test_the_private_option_of_flat_kernels_removes_reference_counts() -> None:
    def last_positive(arrays: Arrays, count: int) -> float:
        chosen = arrays.first
        for index in range(count):
            if arrays.second[index] > 0:
                chosen = arrays.second
        return chosen[0]

    for options, counted in (({}, True), ({"_nrt": False}, False)):
        compiled = numba.njit(nogil=True, **options)(last_positive)
        assert hasattr(compiled, "_cache") and hasattr(compiled._compiler, "compile")
        assert compiled(Arrays(np.ones(3), np.full(3, 2.0)), 3) == 2.0
        [code] = compiled.inspect_llvm().values()
        assert ("NRT_incref" in code) is counted


@jit.inline_flat_kernel
def doubled(number: float) -> float:
    return 2 * number


def test_inlined_kernels_leave_out_what_a_call_from_python_needs_and_can_be_called_all_the_same() -> None:
    assert doubled(4) == 8  # before any kernel uses it

    def six_times(number: float) -> float:
        return 3.0 * doubled(number)

    compiled = numba.njit(nogil=True, _nrt=False)(six_times)
    assert compiled(5) == 30.0
    assert doubled(5) == 10 and doubled(number=0.5) == 1.0  # with and without machine code for the type of argument
    [code] = doubled.inspect_llvm().values()
    assert "define" in code and "cpython" not in code and "cfunc" not in code
