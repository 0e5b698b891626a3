"""The experiments of the papers: a small scale, files of rows that are continued, and tables.

The tables are printed from the rows that are committed in docs/papers/data: a line of each.
"""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lns.cli.main import main
from lns.exact.blocks import Blocks
from lns.exact.compare import ComparisonRow, append_row, read_rows, run_experiment
from lns.exact.paper import bailleux2025, benoist2008, cuvillier2010, jolivet2008, outcome
from lns.exact.paper.benoist2008 import REFERENCE, ROW_SCAN
from lns.exact.paper.outcome import METHODS, PICTURES, scores, shade

DATA = Path(__file__).resolve().parents[2] / "docs" / "papers" / "data"


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


def made(paper: Any, plan: Any, csv: Path) -> list[ComparisonRow]:
    return list(run_experiment(paper.runs(plan), csv))


# -- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paper", "small", "title"),
    [
        (bailleux2025, {"sizes": (4,), "per_size": 1, "seconds": 20.0}, "Bailleux 2025, tables 4 to 7"),
        (jolivet2008, {"per_size": 1, "nodes": 5_000, "sizes": (4,), "trees": 2}, "Jolivet 2008, table 1"),
        (cuvillier2010, {"sizes": (3,), "colours": (3,), "per_size": 1, "seconds": 0.3}, "Cuvillier & Szymkowiak 2010"),
        pytest.param(benoist2008, {"sizes": (7,), "per_size": 1, "seconds": 5.0}, "1 instances, 1 finished by some",
                     marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_experiments_of_the_papers_at_a_small_scale(
    paper: Any, small: dict[str, Any], title: str, csv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pysat")
    monkeypatch.setattr(jolivet2008, "SAMPLES", 3000)
    monkeypatch.setattr(jolivet2008, "MOST_NODES", 3000)
    plan = replace(paper.PLAN, **small)
    rows = made(paper, plan, csv)
    assert rows and made(paper, plan, csv) == rows
    assert len(csv.read_text().splitlines()) == len(rows) + 1
    assert title in paper.tables(rows, plan)


def test_an_interrupted_run_adds_no_row(csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a tree in the file would count as measured, and never be searched again."""
    ended: list[int] = []

    def interrupted_in_the_third(search: Blocks, budget: int, stop_at_first: bool) -> None:
        if budget and len(ended) == 2:
            raise KeyboardInterrupt
        if budget:
            ended.append(budget)
        advance(search, budget, stop_at_first)

    advance = Blocks.advance
    monkeypatch.setattr(Blocks, "advance", interrupted_in_the_third)
    plan = replace(jolivet2008.PLAN, per_size=1, nodes=100, sizes=(4,), solvers=("zig-zag",))
    with pytest.raises(KeyboardInterrupt):
        made(jolivet2008, plan, csv)
    assert len(read_rows(csv)) == len(ended) == 2
    assert jolivet2008.tables(list(read_rows(csv).values()), plan).endswith("left out, 2 runs are missing")


def test_trees_are_timed_and_rows_without_a_time_are_not_run_again(csv: Path) -> None:
    plan = replace(jolivet2008.PLAN, per_size=2, nodes=100, sizes=(4,), colours=(4,), solvers=("zig-zag",))

    def section_2_4(rows: list[ComparisonRow]) -> str:
        text = jolivet2008.tables(rows, plan)
        return " ".join(text[text.index("section 2.4") :].split("\n\n")[0].split())

    timed = made(jolivet2008, plan, csv)
    assert len(timed) == 2 and all(0 < row.seconds < 10 for row in timed)
    csv.unlink()
    untimed = [replace(row, seconds=-1.0) for row in timed]
    for row in untimed:
        append_row(csv, asdict(row))
    assert made(jolivet2008, plan, csv) == untimed
    assert f"4x4, 4 colours - {timed[1].seconds:.4f} - -" in section_2_4([untimed[0], timed[1]])
    assert "4x4, 4 colours - - - -" in section_2_4(untimed)


def test_a_tree_that_ended_answers_for_every_limit_and_one_that_was_cut_for_its_own(csv: Path) -> None:
    plan = replace(jolivet2008.PLAN, per_size=20, nodes=150, sizes=(4,), colours=(4,), solvers=("zig-zag",))
    longer, longest = replace(plan, nodes=200), replace(plan, nodes=10**6)
    cut = made(jolivet2008, plan, csv)
    ended = [row for row in cut if row.status == "solved"]
    assert 0 < len(ended) < len(cut) == 20
    assert {row.question for row in ended} == {"all solutions of the uniform puzzle"}
    assert {row.question for row in cut if row not in ended} == {"all solutions of the uniform puzzle; 150 nodes"}
    again = made(jolivet2008, longer, csv)
    assert [row for row in again if row in cut] == ended, "only trees that were cut are searched again"
    whole = made(jolivet2008, longest, csv)
    assert {row.status for row in whole} == {"solved"} and [row for row in whole if row in ended] == ended
    size = csv.stat().st_size
    for asked in (plan, longer, longest):
        assert made(jolivet2008, asked, csv) == whole
    assert csv.stat().st_size == size


def test_another_budget_adds_other_rows(csv: Path) -> None:
    plan = replace(bailleux2025.PLAN, sizes=(3,), per_size=1, solvers=("rowscan",))
    (first,), (other,) = (made(bailleux2025, replace(plan, seconds=seconds), csv) for seconds in (20.0, 21.0))
    assert first.question != other.question and [*read_rows(csv).values()] == [first, other]


# -- tables of committed rows -----------------------------------------------------------------------------------------

PARTS = ["ColorPairs", "row scan", "without backjumping", "without preemption", "MinOffer"]
PARTS += ["MinOffer without backjumping", "MinOffer without preemption", "MinExpectedOffer", "MinExpectedRatio"]


def shown(capsys: pytest.CaptureFixture[str], paper: str, *options: str) -> list[str]:
    """The lines of the tables, words one space apart."""
    capsys.readouterr()
    assert main(["exact", "paper", paper, *options, "--show", "-o", str(DATA / f"{paper}.csv")]) == 0
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("benoist2008 --per-size 8 --budget 60 --solvers", (
            "| 8x8-c7-s2 | 1 | 267.93 / 15239.729 | 11.22 / 51.652 | 11.47 / 58.877 | 9.00 / 66.771 | 10.45 / 59.452 "
            "| |",
            "| MinOffer: nodes, geometric mean | 13.7 (11) (paper 2.9) | 30.5 (9) (paper 377) | 17.3 (1) (paper 407) "
            "| - (paper 321) |",
            "| MinExpectedGap: time, arithmetic mean | 3.07 (11) | 7 (9) | 1.67 (1) | - |",
            "| MinOffer without backjumping | +30% (+51%) | -7% (+32%) | +28% (+62%) | -8% (+41%) | 21 |",
        )),
        ("jolivet2008 --sizes 3 4 5 --per-size 200 --budget 20", (
            "4x4, 3 colours 322±24.3 (422) 1,040±95.1 (1,578) 262±25.1 (209) 174±13.8",  # table 1
            "4x4, 3 colours 0.0019 0.0008 0.0011 0.0018",  # section 2.4
            "4x4 5.74±0.16 (6) 28.2±1.90 (36) 39.5±1.81 (30) 29.6±1.15 (29) 28.7±0.95 (26) 26.7±0.83 (24) "
            "24.8±0.69 (23) 22.4±0.54 (21)",  # table 2
            "spiral 0 1 1 1 1 1 1 1 1 1 1 2 2 3 3 4 24 926 285 - -",  # figure 3
            "4 16 64 70 58 60",  # table 5
            "10 4 5 5",  # lower bounds
            "4x4 7,890 29.8 4.83 2.44 1.59 1.42 1.27 1.21 3 (2 of 200) 4",  # section 5.2
            "4x4 blocks 300,000 8.85 5.05e+15 +- 3.7e+13",  # section 2.5
        )),
        ("jolivet2008 --full", ("8x8, 10 colours 3,536,595 - (67613577) 114,525±22,001 (192861)",)),  # table 3
        ("jolivet2008 --sizes 3 4 5 6 --trees 800 --budget 5 --solvers single", (  # table 4
            "3 2..3 (3) 2..3 (3) 2..3 (3) 3..3 (3)", "4 3..3 (3) 3..3 (4) 3..4 (4)", "5 3..4 (4) 3..4 (5)",
        )),
        ("perrin_iq --sizes 11 --solvers race descender none-no-dead-ends", (
            "game, 4 placed 10 27 27 31 -",  # placements tested
            "level, expert 6 0.12 0.21 0.25 -",  # milliseconds
        )),
        ("bailleux2025 --sizes 6 7 --per-size 10 --budget 60", (
            "sat:half-2 7x7 10 100 0.16 2.76 18.7 30.4k 106.4k 1.74 126 100 0.54 30k 107k 1.7",  # tables 4 to 7
            "sat:half-2 7x7 117 0",  # spread
            "7x7 sat:half-2 10 of 10 2.756 - - -",  # the best
        )),
        ("cuvillier2010 --full --sizes 4 5 6 --per-size 5 --solvers minisat", (  # table 4.1
            "4 0.02 s 100% (0.01 s 100%) 0.16 s 100% (0.13 s 100%) 64.3 s 100% (10.7 s 100%)",
        )),
        ("outcome", (
            "8 rowscan <0.001 blocks <0.001 rowscan 0.001 colorpairs 0.569 - -",
            "colorpairs C Benoist 63 of 72 4 18 0.05 169,557 ColorPairs, MinExpectedGap",
            "6x6 4 <0.001 <0.001 0.030 0.320 - 0.003 10.7 (100%)",
        )),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_tables_of_committed_rows(words: str, wanted: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    paper, *options = words.split()
    lines = shown(capsys, paper, *options, *(PARTS if paper == "benoist2008" else ()))
    assert not set(wanted) - set(lines)
    if paper == "benoist2008":
        assert any(line.startswith("32 instances, 21 finished by some method; 60 s") for line in lines)
        assert any(line.startswith("| MinExpectedGap, nodes saved | ") and "(paper 52%)" in line for line in lines)


def test_the_standing_of_all_papers_is_a_line_for_each_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exact", "paper", "all", "--show", "-o", str(DATA)]) == 0
    lines = capsys.readouterr().out.splitlines()
    papers = [line.split(" | ")[0].removeprefix("| ") for line in lines[2:]]
    assert [*dict.fromkeys(papers)] == ["benoist2008", "perrin_iq", "bailleux2025", "jolivet2008", "cuvillier2010"]
    for start in (
        "| benoist2008 | 2, nodes: row scan / MinOffer | 3 of 4 | 21 of 32 | 10 s to 3 min: 407, 17.3 | 0.25 | ",
        "| jolivet2008 | 1, grouping: nodes | 25 of 25 | 5,000 of 5,000 | 16x16, 55 colours: 88.0, 91.0 | ",
    ):
        assert any(line.startswith(start) for line in lines)
    assert main(["exact", "paper", "all"]) == 2


# -- figures of made-up rows ------------------------------------------------------------------------------------------


def a_row(instance: str, solver: str, seconds: float, nodes: int = 1_000, *, solved: bool = True) -> ComparisonRow:
    return ComparisonRow(instance, solver, "solved" if solved else "budget spent", int(solved), nodes, seconds)


def test_without_a_tree_that_ended_there_are_no_levels() -> None:
    plan = replace(jolivet2008.PLAN, per_size=1, nodes=10, sizes=(4,), solvers=("zig-zag",))
    text = jolivet2008.tables([run.make() for run in jolivet2008.runs(plan)], plan)
    assert "table 1" in text and text.endswith("figure 6 d: no 4x4 tree ended within 10 nodes")


def test_ratios_and_classes() -> None:
    first, other = "8x8-c8-s1", "8x8-c8-s2"
    rows = [
        a_row(first, REFERENCE, 2.0, 1_000),
        a_row(first, ROW_SCAN, 30.0, 50_000, solved=False),
        a_row(first, "without backjumping", 3.0, 1_500),
        a_row(first, "MinOffer", 4.0, 2_000),
        a_row(first, "MinOffer without backjumping", 6.0, 2_500),
        a_row(first, "CP, table", 80.0, 40_000),
        *(a_row(other, solver, 30.0, 9, solved=False) for solver in (REFERENCE, ROW_SCAN)),
    ]
    text = benoist2008.tables(rows, benoist2008.PLAN)
    for line in (
        "2 instances, 1 finished by some method",
        "| MinOffer: nodes divided by, geometric mean over all | - | ≥ 25 (1) | - | - |",
        "| MinExpectedGap: nodes divided by, geometric mean over all | - | ≥ 50 (1) | - | - |",
        "| MinOffer: nodes, arithmetic mean | - (paper 4.3) | - (paper 1760) | - (paper 2720) |",
        "| without backjumping | +50% | +50% | +50% | +50% | 1 |",
        "| MinOffer without backjumping | +25% (+51%) | +50% (+32%) | +25% (+62%) | +50% (+41%) | 1 |",
        "| MinExpectedGap, nodes saved | - (paper 28%) | 50% (paper 33%) |",
        ">30.00 / 0.050",
        "| MinOffer with shaving | CP, table |",
        "80.00 / 0.040",
    ):
        assert line in text


ROWS = [a_row(instance, solver, seconds, solved=seconds < 2.0) for instance, solver, seconds in (
    ("5x5-c2-s1", "rowscan", 0.25), ("5x5-c2-s2", "rowscan", 2.0),
    ("5x5-c2-s1", "colorpairs", 0.5), ("5x5-c2-s2", "colorpairs", 0.75),
    ("5x5-c2-s1", "row-major", 2.0), ("5x5-c2-s2", "row-major", 2.0),
    ("6x6-c20-s1", "rowscan", 2.0), ("6x6-c20-s1", "colorpairs", 2.0), ("6x6-c20-s1", "half-2", 0.125),
    ("6x6-c30-s1", "rowscan", 2.0),
)]  # fmt: skip


def test_the_best_method_solves_most_and_then_is_fastest() -> None:
    ranked = scores(ROWS)[5, 2]
    found = [(score.method, score.solved, score.tried) for score in ranked]
    assert found == [("colorpairs", 2, 2), ("rowscan", 1, 2), ("row-major", 0, 2)]
    assert ranked[0].seconds == pytest.approx(0.625)
    text = outcome.tables(ROWS, replace(outcome.PLAN, sizes=(5, 6), colours=(2, 20, 30), per_size=2))
    lines = [line.split() for line in text.splitlines()]
    for words in ("2 colorpairs 0.625", "20 half-2 0.125", "30 -", "5x5 2 0.250 50% 0.625 - 0.01 (100%)"):
        assert words.split() in lines
    for words in ("rowscan R plain 1 of 4 0 0", "half-2 2 here 1 of 1 1 1"):
        assert words.split() in [line[:8] for line in lines]


@pytest.mark.parametrize(
    ("name", "words", "fills"),
    [
        ("fastest", {"0.625", "0.125", "none", "half-2"}, {METHODS["half-2"].colour: 2}),  # the class and the legend
        ("methods", {"half-2: HALF-2 with CaDiCaL"}, {shade(0.125): 4}),  # three methods of 0.1 to 1 s, and the legend
        ("solved", {"rowscan 1", "colorpairs 2", "row-major 0", "half-2 1"}, {}),
    ],
)
def test_pictures_are_documents_with_the_rows(name: str, words: set[str], fills: dict[str, int]) -> None:
    pytest.importorskip("matplotlib")
    text = PICTURES[name](ROWS)
    root = ElementTree.fromstring(text)
    assert words <= {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert all(text.count(f"fill: {colour}") == count for colour, count in fills.items())
    assert text == PICTURES[name](ROWS), "the same rows are the same file"
