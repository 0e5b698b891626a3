"""Functions by which commands read puzzles and boards, and check in advance that a board can be written to a file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence

from lns.instances import formats
from lns.instances.board import Board
from lns.instances.errors import InputError, named
from lns.instances.formats import Document, by_extension
from lns.instances.formats.viewer import MOST_LETTERS
from lns.instances.puzzle import Puzzle
from lns.runs.directory import board_source
from lns.terminal.options import check_files
from lns.terminal.output import print_error


def read_puzzle(args: argparse.Namespace, source: str) -> tuple[Puzzle, tuple[str, ...]]:
    """Read the puzzle of INSTANCE for a search, as the options say; return the puzzle, and notes on the reading.

    Without --clues, the puzzle of a board that has no clues of its own gets the official clues that lie on that board.
    Raises InputError as `lns.instances.formats.read_puzzle` does.
    """
    document = formats.read_puzzle(source, args.puzzle_format, args.clues or formats.HELD)
    assert document.puzzle is not None
    return document.puzzle, document.notes


def read_puzzles(args: argparse.Namespace, sources: Sequence[str], *, quiet: bool = False) -> list[Puzzle]:
    """Read the puzzles of several INSTANCEs as the options say; print the notes on them to stderr unless ``quiet``."""
    puzzles = []
    for source in sources:
        puzzle, notes = read_puzzle(args, source)
        if not quiet:
            print_notes(f"{source}: {note}" for note in notes)
        puzzles.append(puzzle)
    return puzzles


def check_start_options(args: argparse.Namespace) -> None:
    """Raise InputError if options about the start board are given without --start."""
    for option in ("start_format", "start_number"):
        if args.start is None and getattr(args, option) is not None:
            raise InputError(
                f"--{option.replace('_', '-')} is about the board of --start; expected --start BOARD with it"
            )


def puzzle_of_board(args: argparse.Namespace) -> tuple[Puzzle | None, tuple[str, ...]]:
    """Return the puzzle that --puzzle names, or None without --puzzle; and notes on how the puzzle was read.

    Raises InputError for --puzzle-format or --clues without --puzzle.
    """
    if args.puzzle is not None:
        document = formats.read_puzzle(args.puzzle, args.puzzle_format, args.clues)
        return document.puzzle, tuple(f"puzzle: {note}" for note in document.notes)
    if args.clues is not None or args.puzzle_format is not None:
        option = "--puzzle-format" if args.clues is None else "--clues"
        raise InputError(f"{option} is about the puzzle of the board; expected --puzzle INSTANCE with it")
    return None, ()


def read_board(args: argparse.Namespace, *, searched: bool = False) -> tuple[Puzzle, Board, Document, list[str]]:
    """Read BOARD as the options say; return its puzzle, the board, the document that was read, and notes on both.

    For a search (``searched``) without --puzzle, the puzzle gets the clues of --clues; without --clues too, a puzzle
    that has no clues gets the official clues that lie on the board.
    """
    if searched and args.puzzle is None and args.puzzle_format is None:
        document = formats.read_board(board_source(args.board), None, args.format, args.number)
        chosen = formats.with_clues(document, args.clues or formats.HELD)
        assert chosen.puzzle is not None and document.board is not None
        return chosen.puzzle, document.board, document, [*chosen.notes[:-1]]
    known, notes = puzzle_of_board(args)
    document = formats.read_board(board_source(args.board), known, args.format, args.number)
    assert document.puzzle is not None and document.board is not None
    return document.puzzle, document.board, document, [*notes, *document.notes]


def print_notes(notes: Iterable[str]) -> None:
    """Print to stderr the notes on how a source was read."""
    for note in notes:
        print_error(f"lns: {note}")


def check_board_file(path: str | os.PathLike[str] | None, puzzle: Puzzle, force: bool) -> None:
    """Raise InputError if a board of ``puzzle`` could not be written to ``path``; called before a search."""
    if path is None:
        return
    check_files(force, path)
    with named(path):
        form = by_extension(os.fspath(path), puzzle, has_board=True)
    if form.holds == "puzzle":
        raise InputError(f"format {form.name} carries no board; expected .json, .solution.txt or .url", path)
    if form.name == "url" and int(puzzle.pieces.max()) > MOST_LETTERS:
        raise InputError(
            f"{puzzle.name} has more colours than URLs have letters; expected .json or .solution.txt", path
        )
