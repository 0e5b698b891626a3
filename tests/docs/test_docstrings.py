"""The names of this project that docstrings mention in backquotes exist; modules are parsed, not imported."""

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import pytest

from tests.docs.pages import ROOT

PACKAGES = ("instances", "exact", "lns", "tuning")
_NAME = re.compile(rf"(?<!`)`((?:{'|'.join((*PACKAGES, 'tests'))})(?:\.\w+)+)[`(]")


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of the docstrings of a module, its classes, functions and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


@cache
def parsed(module: str) -> ast.Module | None:
    """The syntax tree of a module of this project; None if there is no such module."""
    path = ROOT.joinpath(*module.split("."))
    files = [file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()]
    return ast.parse(files[0].read_text()) if files else None


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body and of the blocks in it, without those of functions and classes."""
    for node in body:
        yield node
        for block in ("body", "orelse", "finalbody"):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from statements(getattr(node, block, []))


def targets(node: ast.stmt) -> Iterator[str]:
    """The names and attributes that an assignment writes, as source text."""
    written = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    for target in written:
        yield from map(ast.unparse, target.elts if isinstance(target, ast.Tuple) else [target])


def definition(module: str, name: str) -> tuple[str, ast.stmt] | None:
    """The statement that defines a name of a module and its module, imports followed; None if there is none."""
    tree = parsed(module)
    for node in statements(tree.body if tree else []):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
            return module, node
        if name in targets(node):
            return module, node
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name and node.module.split(".")[0] in PACKAGES:
                    return definition(node.module, alias.name)
    return None


def has_member(module: str, node: ast.stmt, name: str) -> bool:
    """Whether a class or one of its bases in this project has a method, a field or an attribute of this name."""
    if not isinstance(node, ast.ClassDef):
        return False
    for member in statements(node.body):
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
            assigned = (one for inner in statements(member.body) for one in targets(inner))
            if member.name == name or f"self.{name}" in assigned:
                return True
        if name in targets(member):
            return True
    bases = (definition(module, ast.unparse(base)) for base in node.bases)
    return any(base is not None and has_member(*base, name) for base in bases)


def exists(dotted: str) -> bool:
    """Whether a dotted name is a module of this project, or something in one."""
    parts = dotted.split(".")
    cut = next((cut for cut in range(len(parts), 0, -1) if parsed(".".join(parts[:cut]))), 0)
    module, rest = ".".join(parts[:cut]), parts[cut:]
    if not rest:
        return True
    found = definition(module, rest[0])
    return found is not None and (len(rest) == 1 or (len(rest) == 2 and has_member(*found, rest[1])))


def test_what_exists() -> None:
    known = ("lns.exact.region", "lns.exact.region.kernel", "lns.exact.execution.run_search", "lns.exact.solve",
             "lns.exact.registry.SOLVERS", "lns.islands.Archipelago.stop",
             "lns.exact.polyominoes.model.FillingSearch.nodes", "lns.tuning.SAMPLERS",
             "lns.exact.outcome.SolveStatus.SOLVED", "lns.exact.colorpairs.state.Switches.motifs")  # fmt: skip
    assert [name for name in known if not exists(name)] == []
    unknown = (
        "lns.exact.nothing",
        "lns.exact.driver.drive",
        "lns.exact.polyominoes.fill",
        "lns.islands.Archipelago.nothing",
    )
    assert [name for name in unknown if exists(name)] == []
    text = "`lns.exact.solve`, ``lns.exact.a``, `lns.exact.solve(puzzle)`, `lns.cells.rows` and `numpy.ndarray`"
    assert _NAME.findall(text) == ["lns.exact.solve", "lns.exact.solve", "lns.cells.rows"]


def misnamed(text: str) -> Iterable[str]:
    """The names in backquotes that do not exist."""
    return (name for name in _NAME.findall(text) if not exists(name))


def undescribed(text: str) -> Iterator[str]:
    """The lines "name : type" of numpydoc sections that no description follows."""
    lines, section = inspect.cleandoc(text).splitlines(), ""
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        section = line if re.fullmatch("-{3,}", after) else section
        named = section in ("Parameters", "Attributes") and re.match(r"[A-Za-z_*][\w*, ]* : ", line)
        if named and not after.startswith("    "):
            yield line


@pytest.mark.parametrize("wrong", [misnamed, undescribed])
@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_name_what_exists_and_describe_each_parameter(
    package: str, wrong: Callable[[str], Iterable[str]]
) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, text in docstrings(ast.parse(path.read_text()))
        for name in wrong(text)
    ]
    assert not found, "\n".join(found)


def test_what_has_no_description() -> None:
    text = """What it does.

    Parameters
    ----------
    a : int
    b, c : str, optional
        Two words.

    Returns
    -------
    d : int
    """
    assert [*undescribed(text)] == ["a : int"]
