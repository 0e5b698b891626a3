"""The engine that a study is begun with, named by its sources: runs of two engines cannot be compared."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_DECISIVE = (
    "lns_support",
    "instances",
    "exact",
    "lns",
    "tuning/objective.py",
)  # what a run finds, and how its work is counted
_COMPARATORS = ("blocks", "cover", "cp", "paper", "polyominoes", "sat", "sls")
_APART = ("lns/cli", "lns/runs", "instances/draw", *(f"exact/{name}" for name in _COMPARATORS))  # no engine sees these


@cache
def engine_digest(root: Path = _ROOT) -> str:
    """Digest of every byte of the sources that can decide a run; read once, when the process begins with a study."""
    found = hashlib.sha256()
    paths = [path for name in _DECISIVE for path in (root / name, *(root / name).rglob("*.py")) if path.is_file()]
    for path in sorted(paths):
        name = path.relative_to(root).as_posix()
        if not name.startswith(tuple(f"{apart}/" for apart in _APART)):
            data = path.read_bytes()
            found.update(f"{name} {len(data)}\n".encode() + data)
    return found.hexdigest()[:32]
