"""What the measurements of regions share: their command line, collections of boards, and a region with its time."""

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
from typing import Any

import numpy as np

from lns.exact.region.options import ORDERS, PARTS, RegionOptions, options_without, parse_parts
from lns.exact.region.resolve import RegionResult, RegionStatus, resolve
from lns.exact.region.windows import window
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.files import read_text
from lns.instances.formats import load_board, load_puzzle
from lns.instances.puzzle import Puzzle
from lns.instances.text import quoted
from lns.instances.verify import verify

Flags = dict[str, dict[str, Any]]
"""Options of a program: flag -> arguments of ``add_argument``."""
FROM_SCORE: dict[str, Any] = {"type": int, "default": 0, "help": "only boards of this score or more"}


def measure(
    program: Callable[[Puzzle, Namespace], None],
    description: str | None,
    options: Flags,
    argv: Sequence[str] | None,
    order: str | None = None,
) -> int:
    """Run a program about the boards of a collection.

    Parameters
    ----------
    program : callable
        Called with the puzzle and the values of the options.
    description : str
        The text of its help.
    options : Flags
        Its own options.
    argv : sequence of str or None
        The words of the command line.
    order : str, optional
        Default of ``--order``; without it there is neither ``--order`` nor ``--without``.

    Returns
    -------
    int
        Exit status: 0, 2 after bad input, which is printed in one sentence, 130 after Ctrl-C.
    """
    spec = sys.modules[program.__module__].__spec__  # of __main__ too: it is run by its name
    parser = ArgumentParser(prog=f"python -m {spec.name if spec else '...'}", description=description)
    boards = "CSV file with the columns score and board_edges, or a boards.jsonl"
    parser.add_argument("boards", metavar="BOARDS", type=Path, help=boards)
    parser.add_argument("--puzzle", metavar="INSTANCE", required=True)
    if order is not None:
        parser.add_argument("--order", choices=ORDERS, default=order, help=f"in which cells are decided ({order})")
        parser.add_argument("--without", metavar="PART,PART", default="", help=f"switch off: {', '.join(PARTS)}")
    for flag, arguments in options.items():
        parser.add_argument(flag, **arguments)
    args = parser.parse_args(argv)
    for name, least in (("every", 1), ("nodes", 1), ("seconds", sys.float_info.min)):
        value = getattr(args, name, None)
        if value is not None and not value >= least:
            parser.error(f"--{name} is {value:g}; expected {'1 or more' if least == 1 else 'more than 0'}")
    try:
        program(load_puzzle(args.puzzle), args)
    except (InputError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def options_of(args: Namespace) -> RegionOptions:
    """The options of the search that ``--order`` and ``--without`` name."""
    return options_without(args.order, parse_parts(args.without))


def timed(
    puzzle: Puzzle, board: Board, cells: list[int], options: RegionOptions, **limits: Any
) -> tuple[RegionResult, float]:
    """Re-solve a region; the result and CPU seconds. Raises KeyboardInterrupt if interrupted."""
    cpu = time.process_time()
    result = resolve(puzzle, board, cells, options=options, **limits)
    if result.status is RegionStatus.INTERRUPTED:
        raise KeyboardInterrupt
    return result, time.process_time() - cpu


def windows(puzzle: Puzzle, board: Board, shape: str) -> Iterator[tuple[int, list[int]]]:
    """All windows of a shape, HxW, with the number of mismatches that each holds or touches.

    Raises InputError if the shape is not HxW or does not fit the board.
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
    reader = csv.DictReader(io.StringIO(read_text(path)), strict=True)
    columns = "score, board_edges"
    try:
        if missing := [column for column in columns.split(", ") if column not in (reader.fieldnames or ())]:
            raise InputError(f"there is no column '{missing[0]}'; expected {columns}", path, 1)
        for line in reader:
            if None in line.values():
                raise InputError(f"the line is too short; expected {columns}", path, reader.line_num)
            url = f"#puzzle=published&board_w={puzzle.width}&board_h={puzzle.height}&board_edges={line['board_edges']}"
            boards.append((int(line["score"]), load_board(url, puzzle)[1]))
    except csv.Error as error:
        raise InputError(f"the file is not valid CSV: {error}", path) from None
    except InputError as error:
        raise InputError(error.message, path, error.line or reader.line_num) from None
    except ValueError:
        raise InputError(f"score is {quoted(line['score'])}; expected a number", path, reader.line_num) from None
    if not boards:
        raise InputError("the file has no row with a board; expected 1 or more", path)
    return boards
