"""The glossary defines each term once, and each term is in use."""

import re
from functools import cache

import pytest

from tests.docs.pages import ROOT

GLOSSARY = ROOT / "docs" / "glossary.md"
TERMS = re.findall(r"^(\S.*)\n:   ", GLOSSARY.read_text(), re.MULTILINE)


@cache
def text() -> str:
    """All Python files and pages but the glossary itself."""
    folders = ("instances", "exact", "lns", "tuning", "docs")
    found = [file for folder in folders for file in sorted((ROOT / folder).rglob("*")) if file != GLOSSARY]
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *found]
    return "\n".join(file.read_text() for file in pages if file.suffix in (".py", ".md", ".ipynb"))


def test_each_term_is_defined_once() -> None:
    assert len(TERMS) == len(set(TERMS)) > 80


@pytest.mark.parametrize("term", TERMS)
def test_each_term_is_in_use(term: str) -> None:
    words = re.escape(term).replace(r"\ ", r"[ _\n-]*")
    assert re.search(rf"(?<![a-z]){words}s?(?![a-z])", text(), re.IGNORECASE)
