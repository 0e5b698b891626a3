"""What the measurements of regions share: collections of published boards, and a region re-solved with its time."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from exact.region.options import RegionOptions
from exact.region.resolve import resolve
from exact.region.result import RegionResult, RegionStatus
from exact.region.windows import window
from instances.board import Board
from instances.formats import load_board
from instances.puzzle import Puzzle
from instances.verify import verify
from lns_support.errors import InputError
from lns_support.files import read_text
from lns_support.text import quoted


def measuring_parser(name: str, description: str | None) -> ArgumentParser:
    """The parser of a program about the boards of a collection."""
    parser = ArgumentParser(prog=f"python -m exact.measurements.{name}", description=description)
    parser.add_argument(
        "boards", metavar="BOARDS", type=Path, help="CSV file with the columns score and board_edges, or a boards.jsonl"
    )
    parser.add_argument("--puzzle", metavar="INSTANCE", required=True)
    return parser


def exit_status(program: Callable[[Namespace], None], args: Namespace) -> int:
    """Run a program: 0, 2 after bad input, which is printed in one sentence, 130 after Ctrl-C."""
    try:
        program(args)
    except (InputError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def timed(
    puzzle: Puzzle,
    board: Board,
    cells: list[int],
    options: RegionOptions,
    *,
    nodes: int | None = None,
    seconds: float | None = None,
    target: int | None = None,
) -> tuple[RegionResult, float]:
    """Re-solve a region; the result and CPU seconds. Raises KeyboardInterrupt if interrupted."""
    cpu = time.process_time()
    result = resolve(puzzle, board, cells, target=target, nodes=nodes, seconds=seconds, options=options)
    if result.status is RegionStatus.INTERRUPTED:
        raise KeyboardInterrupt
    return result, time.process_time() - cpu


def windows(puzzle: Puzzle, board: Board, shape: str) -> Iterator[tuple[int, list[int]]]:
    """All windows of a shape, HxW, with the number of mismatches that each holds or touches.

    Raises
    ------
    InputError
        If the shape is not HxW or does not fit the board.
    """
    match = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3})", shape)
    height, width = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (0 < height <= puzzle.height and 0 < width <= puzzle.width):
        raise InputError(f"unknown shape '{shape}'; expected HxW on a board of {puzzle.height}x{puzzle.width}")
    pairs = np.array(verify(puzzle, board).mismatches, dtype=np.int64).reshape(-1, 2)
    rows, columns = np.divmod(pairs, puzzle.width)
    for row in range(puzzle.height - height + 1):
        for column in range(puzzle.width - width + 1):
            inside = (rows >= row) & (rows < row + height) & (columns >= column) & (columns < column + width)
            yield int(inside.any(axis=1).sum()), window(puzzle, height, width, row, column)


def read_boards(path: Path, puzzle: Puzzle) -> list[tuple[int, Board]]:
    """Read a collection of boards.

    Parameters
    ----------
    path : Path
        CSV file with the columns ``score`` and ``board_edges`` (the letters of a viewer URL), or the ``boards.jsonl``
        of a run directory.
    puzzle : Puzzle

    Returns
    -------
    list of (int, Board)
        Score, as published, and board.

    Raises
    ------
    InputError
        If a column is missing, there is no row, or a row has no board of the puzzle.
    """
    boards = []
    if path.suffix == ".jsonl":
        for number, text in enumerate(read_text(path).splitlines(), 1):
            try:
                entry = json.loads(text)
                oriented = np.array(entry["oriented"], dtype=np.int32)
                boards.append((int(entry["score"]), Board(oriented, puzzle.width, puzzle.height)))
            except (ValueError, KeyError, TypeError, OverflowError) as error:
                raise InputError(f"{quoted(str(path))}: line {number}: {error}; expected a board of a run") from None
        return boards
    for number, line in numbered_rows(path, ("score", "board_edges")):
        url = f"#puzzle=published&board_w={puzzle.width}&board_h={puzzle.height}&board_edges={line['board_edges']}"
        try:
            boards.append((int(line["score"]), load_board(url, puzzle)[1]))
        except InputError as error:
            raise InputError(error.message, path, number) from None
        except ValueError:
            raise InputError(f"score is {quoted(line['score'])}; expected a number", path, number) from None
    if not boards:
        raise InputError("the file has no row with a board; expected 1 or more", path)
    return boards


def numbered_rows(path: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file with the numbers of their lines, from 1.

    Parameters
    ----------
    path : Path
    columns : sequence of str
        Columns that the file must have; it may have more.

    Raises
    ------
    InputError
        If a column is missing, a line is too short or the file is not valid CSV.
    """
    reader = csv.DictReader(io.StringIO(read_text(path)), strict=True)
    lines: list[tuple[int, dict[str, str]]] = []
    try:
        missing = [column for column in columns if column not in (reader.fieldnames or ())]
        if missing:
            raise InputError(f"there is no column '{missing[0]}'; expected {', '.join(columns)}", path, 1)
        for line in reader:
            if None in line.values():
                raise InputError(f"the line is too short; expected {', '.join(columns)}", path, reader.line_num)
            lines.append((reader.line_num, line))
    except csv.Error as error:
        raise InputError(f"the file is not valid CSV: {error}", path) from None
    return lines
