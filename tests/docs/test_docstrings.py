"""The names of this project that docstrings mention in backquotes exist, and each parameter is described."""

import ast
import inspect
import pkgutil
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
def exists(dotted: str) -> bool:
    """Whether a dotted name is a module of this project, something in one, or an attribute that its class writes."""
    try:
        pkgutil.resolve_name(dotted)
    except (ImportError, AttributeError):
        owner, _, name = dotted.rpartition(".")
        if not owner or not exists(owner) or not isinstance(found := pkgutil.resolve_name(owner), type):
            return False
        fields = [field for each in found.__mro__ for field in getattr(each, "__annotations__", ())]
        return name in fields or f"self.{name}" in inspect.getsource(found)
    return True


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


def test_what_is_wrong_is_found() -> None:
    wrong = ["lns.exact.nothing", "lns.islands.Archipelago.nothing"]
    text = (
        "`lns.exact.nothing`, ``lns.exact.a``, `lns.exact.solve(puzzle)`, `lns.islands.Archipelago.nothing`, `numpy.a`"
    )
    assert [*misnamed(text)] == wrong
    text = "What.\n\nParameters\n----------\na : int\nb, c : str\n    Two words.\n\nReturns\n-------\nd : int\n"
    assert [*undescribed(text)] == ["a : int"]
