"""Tables: aligned columns, and blocks of columns on a narrow terminal."""

import io
import re
from pathlib import Path

import pytest

from lns.cli.exact_paper import PAPERS
from lns.cli.main import main
from lns.exact.text_table import aligned, markdown, table_width

LINES = [["grid", "smallest", "largest", "mean", "report"], ["5x11", "1", "22", "3.5", "4"]]
DATA = Path(__file__).parents[2] / "docs" / "papers" / "data"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_wider_table_is_broken_into_blocks_that_repeat_the_first_columns() -> None:
    whole = "grid  smallest  largest  mean  report\n5x11         1       22   3.5       4"
    with table_width(len(whole.splitlines()[0])):
        assert aligned(LINES) == whole
    with table_width(26):
        assert aligned(LINES) == (
            "grid  smallest  largest\n5x11         1       22\n\ngrid  mean  report\n5x11   3.5       4"
        )
        assert aligned(LINES, left=(0, 1), repeated=2) == (
            "grid  smallest  largest\n5x11  1              22\n\n"
            "grid  smallest  mean\n5x11  1          3.5\n\n"
            "grid  smallest  report\n5x11  1              4"
        )
        assert markdown(LINES[0], LINES[1:]) == (
            "| grid | smallest |\n| --- | --- |\n| 5x11 | 1 |\n\n"
            "| grid | largest | mean |\n| --- | --- | --- |\n| 5x11 | 22 | 3.5 |\n\n"
            "| grid | report |\n| --- | --- |\n| 5x11 | 4 |"
        )


@pytest.mark.parametrize("width", [1, 8, 13, 20, 40])
def test_nothing_is_cut(width: int) -> None:
    whole = aligned(LINES).split()
    with table_width(width):
        blocks = aligned(LINES)
    assert set(blocks.split()) == set(whole)
    assert all(len(line) <= max(width, len("grid  smallest")) for line in blocks.splitlines())
    assert aligned(LINES).split() == whole, "the limit ends with its context"


@pytest.mark.parametrize("paper", sorted(PAPERS.keys() - {"all"}))
def test_tables_of_a_paper_fit_a_terminal(
    paper: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    show = ["exact", "paper", paper, "--show", "-o", str(DATA / f"{paper}.csv")]
    assert main(show) == 0
    whole = capsys.readouterr().out
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(show) == 0
    shown = terminal.getvalue()
    assert max(map(len, whole.splitlines())) > 80, "without a terminal nothing is broken"
    assert max(map(len, shown.splitlines())) <= 80
    assert set(re.findall(r"\S+", whole)) == set(re.findall(r"\S+", shown)), "nothing is cut"
