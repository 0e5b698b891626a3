"""The instances that come with the package: ``instances/data/NAME.txt``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_SOLUTION = ".solution.txt"


@cache
def shipped_instances() -> dict[str, Path]:
    """The instances of the package.

    Returns
    -------
    dict of str to Path
        The file of each instance by its name, sorted by name. Their planted solutions are not among them.
    """
    folder = Path(__file__).parent.parent / "data"
    return {
        path.name.removesuffix(".txt"): path
        for path in sorted(folder.glob("*.txt"))
        if not path.name.endswith(_SOLUTION)
    }
