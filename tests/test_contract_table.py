"""The table of what the program can do, contract.md: its tests exist, and what a user can name has a line in it."""

from pathlib import Path

import pytest

import lns
from lns.cli.exact_paper import PAPERS
from lns.cli.main import commands, parser_of
from lns.exact.registry import SOLVERS
from lns.instances.formats import FORMATS

TESTS, BETWEEN = Path(__file__).parent, str.maketrans("`,", "  ")
LINES: dict[str, list[list[str]]] = {}  # by section: what is typed, what one gets, and the tests of each line
for line in (TESTS / "contract.md").read_text().splitlines():
    if line.startswith("#"):
        section = LINES.setdefault(line.strip("# "), [])
    elif line.startswith("| ") and line.count(" | ") == 2 and not line.startswith("| typed"):
        section.append(line.removeprefix("| ").removesuffix("|").split(" | "))
NAMED = {title: set("`".join(line[0] for line in of).translate(BETWEEN).split()) for title, of in LINES.items()}


def test_each_line_has_tests_that_exist() -> None:
    for typed, _, tests in (line for of in LINES.values() for line in of):
        assert tests.strip(), typed
        for path, name in (node.split("::") for node in tests.split()):
            assert f"def {name}(" in (TESTS.parent / path).read_text(), name


def test_what_a_user_can_name_has_a_line() -> None:
    for name in commands():
        words = NAMED[f"lns {name}"] | NAMED["Every command"]
        names = [action.option_strings for action in parser_of(name)._actions if action.option_strings]
        assert [each for each in names if words.isdisjoint(each)] == []
    assert {f"lns.{name}" for name in lns.__all__} <= NAMED["Python"]
    pages = pytest.importorskip("lns.web.app").PAGES
    known = {"Formats": FORMATS, "Exact solvers": SOLVERS, "Papers": PAPERS, "Pages of lns web": pages}
    assert [name for title, names in known.items() for name in names if name not in NAMED[title]] == []
