"""The key of machine code: an edit recompiles just the kernels that it may affect."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.demo_package import answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "old", "new", "expected"),
    [
        ("constants", "base(1)", "base(3)", 66),
        ("places", "HERE = 5", "HERE = 7", 28),  # through the module's name
        ("places", "return number", "return number + 1", 46),  # a constant that a plain function computes
        ("callee", "2 * number", "3 * number", 36),
        ("pair", "first: int\n    second: int", "second: int\n    first: int", 17),  # imported for annotations alone
    ],
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
        ("callee", "from lns_support.jit", "# A comment.\nfrom lns_support.jit"),
        ("kernel", "def report() -> None:\n", 'def report() -> None:\n    print(end="")\n'),
    ):
        path = demo / f"{module}.py"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    assert answer(demo) == before
