"""Packages that only some solvers need: what to install when one is missing."""

from __future__ import annotations

from importlib.util import find_spec

from lns_support.errors import InputError

# what is needed -> (module to look for, package that people know, extra of this project that brings it)
EXTRAS = {
    "sat": ("pysat", "python-sat", "sat"),
    "cp": ("ortools", "ortools", "cp"),
    "cover": ("xcover", "xcover", "cover"),
    "graph": ("networkx", "networkx", "cover"),
    "plot": ("matplotlib", "matplotlib", "plot"),
    "cma": ("cmaes", "cmaes", "cma"),
}


def is_installed(what: str) -> bool:
    return find_spec(EXTRAS[what][0]) is not None


def require(what: str, who: str) -> None:
    """Raises InputError with the line to type when the package that ``who`` needs is missing."""
    if not is_installed(what):
        _, package, extra = EXTRAS[what]
        raise InputError(
            f"{who} needs {package}, which is not installed; it comes with the extra '{extra}': "
            f"pip install 'lns[{extra}]', or make install in a checkout"
        )
