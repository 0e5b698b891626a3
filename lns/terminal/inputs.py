"""How the commands read puzzles and boards: options for what a file cannot say, and notes on what was noticed."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from lns.terminal.output import print_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from instances.formats import Document
    from instances.puzzle import Puzzle


def add_puzzle_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of INSTANCE, or of every INSTANCE: its format, and clues in a file of their own."""
    parser.add_argument(
        "--puzzle-format", metavar="F",
        help="format of INSTANCE, such as pieces:udlr,6x12 (default: recognised by its content; "
        "`lns convert --list` lists them)",
    )  # fmt: skip
    parser.add_argument(
        "--clues", metavar="FILE",
        help="clues of INSTANCE: official or starter (those of Eternity II), none, or a file or viewer URL with clues "
        "(default: its own; of a board that is searched anew, the official clues that it holds)",
    )  # fmt: skip


def add_board_options(parser: argparse.ArgumentParser, *, board: str = "BOARD", prefix: str = "") -> None:
    """Add the options of BOARD: its format, and which of several boards in one file is meant."""
    from lns.terminal.options import positive_number

    parser.add_argument(
        f"--{prefix}format", metavar="F",
        help=f"format of {board}, such as url:jef or cells:base0,ccw (default: recognised by its content)",
    )  # fmt: skip
    parser.add_argument(
        f"--{prefix}number", metavar="N", type=positive_number,
        help=f"which board of {board}, where it has several (default: the first)",
    )  # fmt: skip


def check_start_options(args: argparse.Namespace) -> None:
    """Raise InputError for an option of the start board without --start."""
    from lns_support.errors import InputError

    for option in ("start_format", "start_number"):
        if args.start is None and getattr(args, option) is not None:
            raise InputError(
                f"--{option.replace('_', '-')} is about the board of --start; expected --start BOARD with it"
            )


def read_puzzle(args: argparse.Namespace, source: str) -> Document:
    """The puzzle of INSTANCE as the options say, for a search; a board gives its pieces and the clues that it holds.

    Raises InputError as `instances.formats.read_puzzle` does.
    """
    from instances import formats

    return formats.read_puzzle(source, args.puzzle_format, args.clues or formats.HELD)


def read_puzzles(args: argparse.Namespace, sources: Sequence[str], *, quiet: bool = False) -> list[Puzzle]:
    """The puzzles of several INSTANCEs, each as the options say; notes go to stderr unless ``quiet``.

    Raises InputError as `read_puzzle` does.
    """
    puzzles = []
    for source in sources:
        document = read_puzzle(args, source)
        assert document.puzzle is not None
        if not quiet:
            print_notes(f"{source}: {note}" for note in document.notes)
        puzzles.append(document.puzzle)
    return puzzles


def puzzle_of_board(args: argparse.Namespace) -> tuple[Puzzle | None, tuple[str, ...]]:
    """The puzzle of --puzzle, None without it, and notes. Raises InputError for options without it."""
    from instances import formats
    from lns_support.errors import InputError

    if args.puzzle is not None:
        document = formats.read_puzzle(args.puzzle, args.puzzle_format, args.clues)
        return document.puzzle, tuple(f"puzzle: {note}" for note in document.notes)
    if args.clues is not None or args.puzzle_format is not None:
        option = "--puzzle-format" if args.clues is None else "--clues"
        raise InputError(f"{option} is about the puzzle of the board; expected --puzzle INSTANCE with it")
    return None, ()


def print_notes(notes: Iterable[str]) -> None:
    """Print what was noticed while reading, on stderr."""
    for note in notes:
        print_error(f"lns: {note}")
