"""Reading and writing the file formats of the field.

Reading
    `load_puzzle`, `load_board`; `read_puzzle`, `read_board` and `read` also return what was noticed while reading, as
    a `Document`; `parse` reads a text instead of a source. The format is detected from the content unless it is named.
Writing
    `write` to a file, `render` to text, `viewer_url` and `url_if_any` for the URL of an online viewer, `best_json` for
    the result file of the optimizer, `atomic_write` for any other text.
Sources
    `shipped_instances` lists the instances of the package, `is_url` tells a URL from the name of a file, and
    `source_name` is how messages name either.

`FORMATS` has every format by name. These carry a puzzle: ``benoist`` (text of Benoist), ``quads`` (header and quads),
``e2pieces`` (bare quads; ``e2pieces:ORDER`` names the order of the sides), ``csv16``, ``json``, ``pieces`` (any
dialect, by evidence), ``meta`` and ``tetravex``. These carry a board: ``url`` (``url:MOTIFS_ORDER`` names the order of
the letters), ``solution``, ``best``, ``cells`` (any dialect), ``clues``, ``meta-board``, ``tetravex-board`` and
``picture``.

A text whose format is not named is read as the strict format that it looks like, else in any dialect.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from lns.instances import eternity2
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.files import atomic_write, write_output
from lns.instances.formats import base, cells, lists
from lns.instances.formats.base import Document, Source, Target, is_url, shipped_instances, source_name
from lns.instances.formats.own_json import best_json, read_link
from lns.instances.formats.registry import FORMATS, by_content, by_extension, by_name
from lns.instances.formats.shapes import picture_in, rows_of
from lns.instances.formats.viewer import url_if_any, viewer_url
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.text import printable
from lns.instances.verify import verify

__all__ = ["CLUE_WORDS", "FORMATS", "HELD", "Document", "atomic_write", "best_json", "is_url", "load_board"]
__all__ += ["load_puzzle", "parse", "read", "read_board", "read_puzzle", "render", "shipped_instances", "source_name"]
__all__ += ["url_if_any", "viewer_url", "with_clues", "write"]

HELD = "held"
"""Word for the clues of a puzzle that is read for a search: its own; of a board, the official clues that it holds."""
CLUE_WORDS = ("official", "starter", "none", HELD)
_CHOICE = "(--clues official, starter, none or a file names others)"
_SAY_RULES = ("json", "pieces", "tetravex")  # formats of puzzles with holes, without frame or without turns
_NO_FRAME = ("do not fit a board", "expected corner pieces")  # errors of strict formats that a missing frame may cause
_LETTERS = re.compile(r"(?<![A-Za-z=])[a-w]{36,16384}(?![A-Za-z])")  # of a board, without its URL


def read(
    source: str, *, puzzle: Puzzle | None = None, format: str | None = None, number: int | None = None
) -> Document:
    """Read a puzzle or a board from a file, a viewer URL, a link of ``lns web`` or the name of a shipped instance.

    A file comes before a shipped instance of its name. ``format`` names the format, with its option after a colon; the
    content decides by default. ``puzzle`` is the puzzle of a board: without it a full URL defines its own, and a
    ``best.json`` finds its instance by name and hash, or else is defined by its url. ``number`` says which of several
    boards, from 1.

    The notes of the document say what was detected, what its puzzle is and which clues its board holds. Raises
    InputError, which names the source, and the line if there is one.
    """
    source = os.fspath(source)
    if is_url(source):
        where, format = source_name(source), format or "url"
        given = Source(source, puzzle, "puzzle", _find_puzzle, number)
    else:
        path = base.file_of(source)
        where = printable(str(path))
        given = Source(base.text_of(path, source), puzzle, base.name_of(path), _find_puzzle, number, path.parent)
    try:
        return _document(given, format)
    except InputError as error:
        raise error.at(where) from None


def parse(
    text: str,
    *,
    puzzle: Puzzle | None = None,
    format: str | None = None,
    name: str = "puzzle",
    number: int | None = None,
    find_puzzle: Callable[[str], Puzzle] | None = None,
) -> Document:
    """Read the text of a puzzle or a board, as `read` reads the content of a file; ``name`` names a puzzle.

    ``find_puzzle`` loads the puzzle that a board names, or raises InputError; by default from files too.
    """
    return _document(Source(text, puzzle, name, find_puzzle or _find_puzzle, number), format)


def _document(source: Source, format: str | None) -> Document:
    if format in (None, "url") and base.holds_link(source.text):
        document = read_link(source)
    elif format is None:
        document = read_by_evidence(source)
    else:
        form, option = by_name(format)
        document = form.read(replace(source, option=option))
    number, boards = source.number, document.boards
    if number is not None and not 1 <= number <= boards:
        held = "one board or puzzle" if boards == 1 else f"{boards} boards"
        raise InputError(f"there is no board {number}; expected a number up to {boards}, as this holds {held}")
    if boards > 1:
        chosen = "only the first is read" if number is None else f"number {number} is read"
        document = replace(document, notes=(f"the text has {boards} boards; {chosen}", *document.notes))
    return _with_facts(document, source.puzzle)


def _with_facts(document: Document, known: Puzzle | None) -> Document:
    """The document with notes: what its puzzle is, if the caller does not know it, and which clues its board holds."""
    puzzle, board = document.puzzle, document.board
    if puzzle is None:
        return document
    notes: list[str] = []
    if known is None and document.format != "best" and (recognised := eternity2.recognise(puzzle)) is not None:
        notes.append(recognised.sentence)
    shown = board
    if board is None and puzzle.clues and known is None:
        lying = {clue.cell: (clue.piece, clue.rotation) for clue in puzzle.clues}
        shown = Board.from_pairs(map(lying.get, range(puzzle.cells)), puzzle.width, puzzle.height)
    if shown is not None and (sentence := eternity2.clue_sentence(puzzle, shown)) is not None:
        notes.append(sentence)
    elif board is not None and puzzle.clues and puzzle.turns and puzzle.width == puzzle.height and not puzzle.holes:
        held = [len(cells) for cells in eternity2.clues_by_turn(puzzle, board, puzzle.clues)]
        if turns := held.index(max(held)):  # they fit better after a turn of the board
            found = (
                f"{held[0]} of {len(puzzle.clues)} clues lie on the board, {held[turns]} after a turn of {90 * turns}"
            )
            notes.append(f"{found} degrees (`lns convert --turn {90 * turns}`)")
    return replace(document, notes=(*document.notes, *(note for note in notes if note not in document.notes)))


def _find_puzzle(source: str) -> Puzzle:
    """Load the puzzle that a file names. Refuses a ``best.json``, so that two files cannot refer to each other."""
    if not is_url(source):
        path = base.file_of(source)
        if FORMATS["best"].looks_like(base.text_of(path, source)):
            raise InputError("this is a board; expected the instance", str(path))
    return load_puzzle(source, clues=HELD)


# -- a format that is not named ----------------------------------------------------------------------------------------


def read_by_evidence(source: Source) -> Document:
    """Read a text whose format is not named: as the strict format that it looks like, else in any dialect.

    Raises InputError: that of the strict format if the text looks like one, or that of a dialect that recognises it.
    """
    if not base.holds_url(source.text):  # a table of boards, say
        source = replace(source, text=_LETTERS.sub(_as_url, source.text))
    text, strict = source.text, None
    own = base.holds_url(text) or lists.has_clues(text) or '"placements"' in text or '"schema"' in text
    try:
        strict = by_content(text)
        document = strict.read(source)
    except InputError as error:
        if own or not text.strip():  # URLs and our own JSON are of no other dialect
            raise
        return _in_any_dialect(source, None if strict is None else error)
    if source.puzzle is not None and document.format in ("quads", "e2pieces", "solution"):
        return _board_by_evidence(source, document)
    return document


def _as_url(word: re.Match[str]) -> str:
    square = math.isqrt(len(word[0])) ** 2 == len(word[0])
    return f"#puzzle=board&board_edges={word[0]}" if square else word[0]


def _in_any_dialect(source: Source, strict_error: InputError | None) -> Document:
    """Read a text that no strict format reads. Raises the error with the most to say about the text."""
    # Rows of numbers: that they match side by side is no reason to drop their frame.
    only_pieces = source.puzzle is None and strict_error is not None and picture_in(source.text) is None
    refusals = []
    for name in ("pieces", "cells") if source.puzzle is None else ("cells", "clues"):
        used = name == "pieces" or not only_pieces
        try:
            document = FORMATS[name].read(source)
        except InputError as refusal:
            refusals += [refusal] * (used or isinstance(refusal, base.NeedsPuzzleError))
        else:
            if used:
                return document
    best = max(refusals, key=lambda each: each.telling)
    if strict_error is None or not isinstance(best, base.NoRimError):
        raise best if strict_error is None or best.telling else strict_error
    if any(row.line == strict_error.line and not row.only_numbers for row in rows_of(source.text)):
        raise best  # the strict format has no letters
    rules = "; or the rules of a puzzle without frame by name (--puzzle-format pieces:unframed or pieces:tetravex)"
    more = rules * any(part in strict_error.message for part in _NO_FRAME)
    raise InputError(strict_error.message + more, line=strict_error.line)


def _board_by_evidence(source: Source, document: Document) -> Document:
    """The board of a known puzzle in a text that a strict format reads, in another convention if that is more legal."""
    here = None
    if document.board is not None and document.puzzle is not None:
        here = verify(document.puzzle, document.board)
        if not here.violations:
            return document
    try:
        found = FORMATS["cells"].read(source)
    except InputError as error:
        if here is None and isinstance(error, base.NearError):
            raise
        return document
    assert found.puzzle is not None and found.board is not None
    if here is None:
        return found
    there = verify(found.puzzle, found.board)
    # A few rules may be broken by the board itself; on a few cells some of the many conventions is legal by chance.
    wrong = here.cells >= 9 and len(here.violations) > 5 + 0.05 * here.cells
    return found if wrong and not there.violations and there.score > here.score else document


# -- puzzles and their clues -------------------------------------------------------------------------------------------


def load_puzzle(source: str, format: str | None = None, clues: str | None = None) -> Puzzle:
    """Load a puzzle: that of `read_puzzle`, whose parameters and errors it has."""
    return _defined(read_puzzle(source, format, clues), source)


def read_puzzle(source: str, format: str | None = None, clues: str | None = None) -> Document:
    """Load a puzzle, with notes on what was noticed; ``clues`` are as for `with_clues`.

    The ``puzzle`` of the document is not None. Raises InputError if the source defines no puzzle.
    """
    document = read(source, format=format)
    _defined(document, source)
    return document if clues is None else with_clues(document, clues)


def with_clues(document: Document, source: str) -> Document:
    """The document of a puzzle with other clues in place of its own, and without its board.

    ``source`` is a file or viewer URL with clues, or with a partial board; or one of `CLUE_WORDS`: the official clues
    of Eternity II, its starter clue alone, none, or for ``"held"`` those of the puzzle, else the official ones that the
    board holds. The notes say which clues it has, and that a board is not used. Raises InputError if the source holds
    no clues of the puzzle, or the puzzle is not Eternity II, which alone has official clues.
    """
    puzzle, board = document.puzzle, document.board
    assert puzzle is not None
    if source == HELD and board is None:
        return document
    chosen, notes = (_with_named_clues if source in CLUE_WORDS else _with_clues_of)(puzzle, board, source)
    if board is not None:
        checked = verify(chosen.with_clues([]), board)
        notes.append(
            f"only the pieces and clues are taken from this board ({checked.score} of {checked.max_score}); "
            "`lns solve --start` begins with a board"
        )
    return replace(document, puzzle=chosen, board=None, notes=(*document.notes, *notes))


def _with_clues_of(puzzle: Puzzle, board: Board | None, source: str) -> tuple[Puzzle, list[str]]:
    """The puzzle with the clues, or the partial board, of a source in place of its own; and notes."""
    bare, format = puzzle.with_clues([]), None
    if not is_url(source):
        text = base.text_of(base.file_of(source), source)
        format = "clues" if cells.looks_like_clues(text) or cells.cell_types(text) is not None else None
    found = read_board(source, bare, format)
    assert found.board is not None
    lying = [Clue(cell, *pair) for cell, pair in enumerate(found.board.without_blanks(bare).pairs()) if pair]
    if broken := verify(bare, found.board).violations:
        raise InputError(f"these clues break a rule: {broken[0]}", source_name(source))
    return bare.with_clues(lying), [f"clues: {note}" for note in found.notes] or [f"clues: {len(lying)}"]


def _with_named_clues(puzzle: Puzzle, board: Board | None, word: str) -> tuple[Puzzle, list[str]]:
    """The puzzle with the clues that one of the `CLUE_WORDS` names, and a note."""
    official = eternity2.official_clues(puzzle)
    if not official and word in ("official", "starter"):
        raise InputError(
            f"{puzzle.name} is not known to be Eternity II, which alone has {word} clues; expected none, or a file"
        )
    starter = [clue for clue in official if clue.cell == eternity2.STARTER]
    held = puzzle.clues or (eternity2.held_clues(puzzle, board) if board is not None else ())
    chosen = puzzle.with_clues({"official": official, "starter": starter, "none": (), HELD: held}[word])
    name, words = (
        eternity2.name_of_clues(chosen),
        {"official": f"the {eternity2.CLUES} official ones", "starter": "the starter clue"},
    )
    note = f"clues: {words.get(name, name)}"
    if word == HELD:
        note += (" of the puzzle" if puzzle.clues else " that the board holds") * bool(chosen.clues) + f" {_CHOICE}"
    return chosen, [note]


def _defined(document: Document, source: str) -> Puzzle:
    if document.puzzle is None:
        notes = [*document.notes, "expected the puzzle with it (--puzzle INSTANCE)"]
        raise InputError("; ".join(notes), source_name(source))
    return document.puzzle


# -- boards ------------------------------------------------------------------------------------------------------------


def load_board(source: str, puzzle: Puzzle | None = None, format: str | None = None) -> tuple[Puzzle, Board]:
    """Load a board and its puzzle: those of `read_board`, whose parameters and errors it has."""
    document = read_board(source, puzzle, format)
    assert document.puzzle is not None and document.board is not None
    return document.puzzle, document.board


def read_board(
    source: str, puzzle: Puzzle | None = None, format: str | None = None, number: int | None = None
) -> Document:
    """Load a board with notes on what was noticed; the parameters are as for `read`.

    The ``puzzle`` and ``board`` of the document are not None: a solution list and a partial URL need the puzzle. Raises
    InputError if the source holds no board, or its puzzle is not known.
    """
    document = read(source, puzzle=puzzle, format=format, number=number)
    framed = _defined(document, source).framed
    if document.board is None and format is None and puzzle is None and not is_url(source):
        with suppress(InputError):  # a full board as quads defines its pieces
            laid = read(source, format="cells", number=number)
            if laid.puzzle is not None and laid.board is not None and laid.puzzle.framed == framed:
                found = verify(laid.puzzle, laid.board)
                if not found.violations and found.score >= 0.5 * found.max_score:  # as a solver would lay them
                    return laid
    if document.board is None:
        raise InputError(f"this is a puzzle (format {document.format}); expected a board", source_name(source))
    return document


# -- writing -----------------------------------------------------------------------------------------------------------


def write(
    path: str | os.PathLike[str],
    format: str | None,
    puzzle: Puzzle,
    board: Board | None,
    *,
    instance: str | None = None,
) -> None:
    """Write the text of `render` to a file, atomically. An existing file is replaced, a symbolic link followed.

    Raises InputError as `render` does, and OSError if the file cannot be written.
    """
    text, _ = render(format, puzzle, board, path=os.fspath(path), instance=instance)
    write_output(path, text)


def render(
    format: str | None, puzzle: Puzzle, board: Board | None, *, path: str | None = None, instance: str | None = None
) -> tuple[str, tuple[str, ...]]:
    """The text of a file, and sentences on what the format cannot carry.

    ``format`` None chooses it by the extension of ``path``; ``board`` None writes the puzzle; ``instance`` is how a
    ``best.json`` names the puzzle, by default its own name. Raises InputError if the format is unknown or cannot carry
    the puzzle or board.
    """
    try:
        if format is None:
            form, option = by_extension(path or "", puzzle, board is not None), None
        else:
            form, option = by_name(format)
        shown = None if board is None else board.without_blanks(puzzle)
        target = Target(puzzle, shown, puzzle.name if instance is None else instance, option)
        if form.holds == "board" and board is None:
            raise InputError(f"format {form.name} carries a board; found only a puzzle")
        if form.holds == "puzzle" and puzzle.rules and form.name not in _SAY_RULES:
            raise InputError(
                f"format {form.name} cannot say that a puzzle has {' and '.join(puzzle.rules)}; expected json"
            )
        if form.holds == "puzzle" and board is not None:
            target.notes.append(f"format {form.name} carries no board: only the puzzle is written")
        return form.write(target), tuple(target.notes)
    except InputError as error:
        raise (error if path is None else error.at(path)) from None
