"""The digest of the sources that decide a search: what holds for one engine need not hold for another."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


@cache
def engine_digest(module: str = "lns.engines", root: Path = _ROOT) -> str:
    """Digest (32 hexadecimal digits) of all sources that can decide what a module does, computed once in a process.

    The default is what every search begins with; a study takes what makes its runs.
    """
    digest = hashlib.sha256()
    for path in sorted(decisive_sources(module, root)):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:32]


def decisive_sources(module: str = "lns.engines", root: Path = _ROOT) -> set[Path]:
    """Files of a module and of every module of this project that it imports, directly or not.

    Imports for the type checker do not count, nor those inside functions of a package's `__init__`.
    """
    waiting, paths = [module], set()
    while waiting:
        module = waiting.pop()
        path = _path_of(root, module)
        if path is not None and path not in paths:
            paths.add(path)
            waiting += [module.rpartition(".")[0], *_imports(path)]
    return paths


def _path_of(root: Path, module: str) -> Path | None:
    base = root.joinpath(*module.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if module and path.is_file()), None)


def _imports(path: Path) -> Iterator[str]:
    """Dotted names that the file imports; for ``from a import b`` both a and a.b, which may be a module."""
    waiting: list[ast.AST] = list(ast.parse(path.read_bytes()).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif not (path.name == "__init__.py" and isinstance(node, ast.FunctionDef)):
            waiting += ast.iter_child_nodes(node)
