"""The glossary defines each term once, each term is in use, and no retired word is left."""

import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.docs.pages import ROOT

ROOMS = ("instances", "exact", "lns", "tuning", "docs", "README.md", "CONTRIBUTING.md")

# retired word -> the term instead
RETIRED = {
    r"slips?|slipped": "break",
    r"(?<!\.)stems?": "frontier prefix, prefix",
    r"(?<!of )courses?": "arm, quota configuration",
    r"barren": "no prefix found",
    r"outlook": "novelty rate",
    r"foretold|foretell": "expected",
    r"dealt|lots?": "partition",
    r"drain(s|ed)?|pop_finds": "pop_boards",
    r"(def |\.)meet": "inject_incumbent",
    r"mourn(s|ed)?": "handle a lost worker",
    r"crew": "worker pool",
    r"keeper": "recorder",
    r"census": "child counts, node counts",
    r"tempered|promised": "shrunk estimate, prior",
    r"outdone": "should abandon",
    r"troubles": "write errors",
    r"(?-i:SHY|HOPE|ASIDE|RISE|OUTDONE|TRUST|DEALT)": "a name that says what it weighs",
    r"seeds?[ _-]00\d|seed00\d": "the paper's name",
    r"trays?": "polyomino, board",
    r"boards[_-]from|log[_-]from|finds[_-]from": "min_score, search_floor",
    r"reshuffle_nodes|patience_nodes|aim_below|quota_rim|quota_inner": "the parameter's present name",
    r"(?<!random\.)(?<!rng\.)(?<!draws\.)(?<!\.)shuffles(?! every| and| the)": "restart",
    r"order[ =\"']+urgent|urgent order": "dynamic order",
    r"whom": "a standard noun",
    r"kin|teller|poorest": "a standard noun",
    r"lay_again|anchored|spared": "replay, anchor colour, pieces left after reserving",
    r"judged(?=\.| =)|the independent judge": "verification",
}
# what may stand all the same: (file, text of the line)
ALLOWED = {
    ("lns/cli/__init__.py", "tray")  # the former name of a command, refused with the present one
}


def texts(*rooms: str) -> Iterator[tuple[str, str]]:
    """(path, content) of the Python files and pages of rooms; the changelog of former names is not among them."""
    for room in rooms:
        path = ROOT / room
        found = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in found:
            if file.suffix in (".py", ".md", ".ipynb"):
                yield str(file.relative_to(ROOT)), file.read_text()


@cache
def terms() -> list[str]:
    return re.findall(r"^(\S.*)\n:   ", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)


def test_each_term_is_defined_once() -> None:
    assert len(terms()) == len(set(terms())) > 80


@pytest.mark.parametrize("term", terms())
def test_each_term_is_in_use(term: str) -> None:
    pattern = re.compile(r"(?<![a-z])" + re.escape(term).replace(r"\ ", r"[ _\n-]*") + r"s?(?![a-z])", re.IGNORECASE)
    assert any(pattern.search(text) for path, text in texts(*ROOMS) if path != "docs/glossary.md")


@pytest.mark.parametrize("room", ROOMS)
def test_no_retired_word_is_left(room: str) -> None:
    left = []
    for path, text in texts(room):
        for word, instead in RETIRED.items():
            for match in re.finditer(rf"(?<![A-Za-z])(?:{word})(?![A-Za-z])", text, re.IGNORECASE):
                if (path, match[0].lower()) not in ALLOWED:
                    left.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]} ({instead})")
    assert not left, "\n".join(left)
