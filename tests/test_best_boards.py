"""The boards in runs/best: each verified against its instance, and told as it is."""

import json
import re
from pathlib import Path

import pytest

import lns
from lns.instances.formats import shipped_instances
from tests.shared_data import shared

BEST = Path(__file__).resolve().parent.parent / "runs" / "best"
FILES = sorted(BEST.glob("*.json"))


def test_each_file_has_a_row_and_each_row_a_file() -> None:
    rows = re.findall(r"^\| \[[^]]+\]\(([^)]+\.json)\)", (BEST / "README.md").read_text(), re.MULTILINE)
    assert sorted(rows) == [file.name for file in FILES]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_best_board_is_what_it_says(file: Path) -> None:
    said = json.loads(file.read_text())
    assert said["instance"] == file.stem and said["command"].startswith("lns solve ")
    assert re.fullmatch(r"[0-9a-f]{7,40}", said["commit"])
    puzzle = lns.load_puzzle(file.stem if file.stem in shipped_instances() else shared("instances", f"{file.stem}.txt"))
    assert puzzle.sha256 == said["instance_sha256"]
    checked = lns.verify(puzzle, lns.load_board(file, puzzle))
    assert checked.valid and checked.full
    assert (checked.score, checked.max_score) == (said["score"], said["max_score"])
    row = next(line for line in (BEST / "README.md").read_text().splitlines() if f"]({file.name})" in line)
    assert f"| **{said['score']}** of {said['max_score']} |" in row and f"`{said['command']}`" in row
    assert said["commit"] in row
