"""Optional packages that only some solvers and commands need, and the message when one is missing."""

from __future__ import annotations

from importlib.util import find_spec

from lns.instances.errors import InputError

# extra of this project (as in ``pip install PROJECT[EXTRA]``) -> (module that is imported, packages that pip installs)
EXTRAS = {
    "sat": ("pysat", "python-sat"),
    "cp": ("ortools", "ortools"),
    "cover": ("xcover", "xcover"),
    "plot": ("matplotlib", "matplotlib"),
    "web": ("uvicorn", "starlette uvicorn"),
    "gpu": ("numba_cuda", "numba-cuda[cu13]"),
    "cluster": ("distributed", "distributed"),
}


def is_installed(name: str) -> bool:
    """Return whether the optional package of the extra ``name``, a key of `EXTRAS`, can be imported."""
    return find_spec(EXTRAS[name][0]) is not None


def require(name: str, feature: str) -> None:
    """Raise InputError if the optional package of the extra ``name``, which ``feature`` needs, is not installed.

    The message says how to install the package by its own name, not as ``lns[EXTRA]``, because the name ``lns`` on PyPI
    belongs to another project.
    """
    if not is_installed(name):
        _, packages = EXTRAS[name]
        raise InputError(
            f"{feature} needs {' and '.join(packages.split())}, which is not installed (extra '{name}'): "
            f"pip install {packages}, or make install in a checkout"
        )
