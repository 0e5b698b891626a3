"""The one door to `../shared` (public data that the project may use but not ship): skips where it is absent."""

import csv
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"


def shared(*parts: str) -> Path:
    """Path of a shared file; skips the test, with the reason, where it is not there."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"public data not present: ../shared/{'/'.join(parts)}")
    return path


def published_boards() -> list[tuple[int, bool, str]]:
    """(score, whether the starter clue holds, board_edges) of the published Eternity II boards."""
    with shared("boards", "eternity2_boards.csv").open(newline="") as file:
        return [(int(row["score"]), row["clues_respected"] != "0", row["board_edges"]) for row in csv.DictReader(file)]
