"""The one door to `../shared` (public data that the project may use but not ship): skips where it is absent."""

import csv
from functools import cache
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"


def shared(*parts: str) -> Path:
    """Path of a shared file; skips the test, with the reason, where it is not there."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"public data not present: ../shared/{'/'.join(parts)}")
    return path


@cache
def published_boards() -> list[tuple[int, int, str]]:
    """(score, clues that hold, the starter clue if any does, board_edges) of the published Eternity II boards."""
    with shared("boards", "eternity2_boards.csv").open(newline="") as file:
        return [(int(row["score"]), int(row["clues_respected"]), row["board_edges"]) for row in csv.DictReader(file)]
