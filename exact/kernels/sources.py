"""The definitions that the machine code of a module's kernels depends on.

Numba's cache checks only the file in which a kernel is defined, so an edited callee or constant in another module would
leave stale machine code in use. `source_key` is a hash of a module's kernels and of all definitions that they mention,
directly or indirectly: callees, the constants that numba freezes, the NamedTuples of their arguments. Names are
followed through absolute imports, also those under TYPE_CHECKING; the linter bans relative ones. Other Python code and
docstrings are not part of the hash: editing them recompiles only the kernels of the same file, which numba compares as
a whole.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).absolute().parents[__name__.count(".")]  # of the folder of lns; a link is not followed
_IS_INSTALLED = ROOT.name in ("site-packages", "dist-packages")  # other projects lie beside it
_DECORATORS = "lns.exact.kernels.jit"  # the module of the decorators that make a function a kernel


@cache
def source_key(module: str) -> str:
    """16 hexadecimal digits that change whenever the machine code of a module, by its dotted name, may change."""
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
    lines = (f"{name}: {definition}\n".encode() for name, definition in sorted(definitions))
    return hashlib.sha256(b"".join(lines)).hexdigest()[:16]


def kernels_of(module: str) -> list[str] | None:
    """Names of the kernels of a module, by its dotted name; None if it is no module of this project."""
    return None if _path_of(module) is None else _source(module).kernels()


class _Source:
    """The top-level statements of a module by the names that they define, and the project's names that it imports."""

    def __init__(self, text: bytes) -> None:
        self.defined: dict[str, list[ast.stmt]] = {}
        self.imported: dict[str, list[str]] = {}
        for statement in ast.parse(text).body:
            for name in _defines(statement):
                self.defined.setdefault(name, []).append(statement)
            for node in ast.walk(statement):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    self._note_import(node)

    def _note_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            target = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
            name = alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.split(".")[0])
            if _path_of(target.split(".")[0]) is not None:
                self.imported.setdefault(name, []).append(target)

    def kernels(self) -> list[str]:
        """Names of the functions that are decorated with a decorator of `lns.exact.kernels.jit`."""
        imported = self.imported.items()
        decorators = {name for name, targets in imported if any(f"{t}.".startswith(f"{_DECORATORS}.") for t in targets)}
        defined = self.defined.items()
        return [name for name, statements in defined if any(decorators & _names(each) for each in statements)]


@cache
def _source(module: str) -> _Source:
    path = _path_of(module)
    return _Source(b"" if path is None else path.read_bytes())


def _defines(statement: ast.stmt) -> frozenset[str]:
    """The names that a top-level statement may define or change: all names in it, unless it is known to define few."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return frozenset({statement.name})
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        names = [node for node in names if isinstance(node.ctx, ast.Store)] or names
    return frozenset(node.id for node in names)


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
    parts = module.split(".")
    if _IS_INSTALLED and parts[0] != "lns":
        return None
    base = ROOT.joinpath(*parts)
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)
