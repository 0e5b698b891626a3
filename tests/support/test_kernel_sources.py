"""The key of machine code: an edit recompiles just the kernels that it may affect."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.demo_package import answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("demo", "module", "old", "new", "expected"),
    [
        ("checkout", "constants", "base(1)", "base(3)", 66),
        ("site-packages", "places", "HERE = 5", "HERE = 7", 28),  # through the module's name
        ("checkout", "places", "return number", "return number + 1", 46),  # a constant that a plain function computes
        ("checkout", "callee", "2 * number", "3 * number", 36),
        ("site-packages", "callee", "2 * number", "3 * number", 36),
        ("checkout", "pair", "first: int\n    second: int", "second: int\n    first: int", 17),  # for annotations alone
    ],
    indirect=["demo"],
)
def test_an_edit_never_leaves_stale_machine_code(module: str, old: str, new: str, expected: int, demo: Path) -> None:
    assert answer(demo)[0] == 26
    path = demo / f"{module}.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert answer(demo)[0] == expected


def test_an_edit_of_other_python_code_recompiles_nothing(demo: Path) -> None:
    before = answer(demo)
    for module, old, new in (
        ("constants", "UNUSED = 1", "UNUSED = 2"),
        ("pair", "Docstring", "Words"),
        ("callee", "from lns.exact.kernels.jit", "# A comment.\nfrom lns.exact.kernels.jit"),
        ("kernel", "def report() -> None:\n", 'def report() -> None:\n    print(end="")\n'),
    ):
        path = demo / f"{module}.py"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    assert answer(demo) == before


@pytest.mark.parametrize(("demo", "is_followed"), [("checkout", True), ("site-packages", False)], indirect=["demo"])
def test_packages_of_other_projects_are_not_read_where_all_are_installed(demo: Path, is_followed: bool) -> None:
    """Following the names of numpy takes seconds."""
    path, other = demo / "constants.py", demo.parents[2] / "other.py"
    path.write_text("from other import FACTOR\n")
    other.write_text("FACTOR = 1\n")
    before = answer(demo)
    other.write_text("FACTOR = 1 + 0\n")
    assert (answer(demo) != before) is is_followed
