"""What several tests of the command line need."""

import json
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from lns.cli.main import main
from lns.instances.board import Board
from lns.instances.formats import write
from lns.params import to_toml
from tests.instances.small_puzzles import exchanged, planted
from tests.lns.run_parts import QUICK

PUZZLE, SOLUTION = planted(8, 7, 6, 6, clues=2)


def inner(cells: Iterable[int]) -> list[int]:
    """Those of these cells of `PUZZLE` that have no clue."""
    return [cell for cell in cells if cell not in {clue.cell for clue in PUZZLE.clues}]


def swapped() -> Board:
    """The solution of `PUZZLE` with two inner pieces that are no clues exchanged."""
    return exchanged(SOLUTION, *inner((8, 9, 10, 15, 16, 17))[:2])


def begun() -> Board:
    """The solution of `PUZZLE` with the inner pieces of lower rows exchanged, and one cell of the last row empty."""
    placements, lower = SOLUTION.placements.copy(), inner((*range(22, 27), *range(29, 34)))
    placements[lower] = np.roll(placements[lower], 3)
    placements[41] = -1
    return Board(placements, 7, 6)


@pytest.fixture
def params(tmp_path: Path) -> str:
    """The file quick.toml of parameters with which a step takes a moment."""
    path = tmp_path / "quick.toml"
    path.write_text(to_toml(QUICK))
    return str(path)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new folder, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def boards(here: Path) -> None:
    """`PUZZLE` in p.json; b.url and best.json, nearly solved, and part.json, begun."""
    write("p.json", None, PUZZLE, None)
    for name, board in (("b.url", swapped()), ("best.json", swapped()), ("part.json", begun())):
        write(name, None, PUZZLE, board)


class Said(NamedTuple):
    """What a command printed."""

    out: str
    err: str


class Typed:
    """Command lines as they are typed behind `lns`, run in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, command: str | Sequence[str], status: int = 0) -> Said:
        """Run a command, which ends with this status."""
        self._capsys.readouterr()
        words = shlex.split(command) if isinstance(command, str) else command
        assert main(words) == status, self._capsys.readouterr()
        return Said(*self._capsys.readouterr())

    def facts(self, command: str | Sequence[str], status: int = 0) -> dict[str, Any]:
        """What a command says with ``--json``."""
        words = shlex.split(command) if isinstance(command, str) else [*command]
        found: dict[str, Any] = json.loads(self([*words, "--json"], status).out, parse_constant=pytest.fail)  # no NaN
        return found

    def refused(self, command: str | Sequence[str]) -> str:
        """The one sentence with which a command refuses its input."""
        said = self(command, 2)
        assert said.out == "" and said.err.startswith("lns: ") and said.err.count("\n") == 1, said
        return said.err


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str]) -> Typed:
    return Typed(capsys)
