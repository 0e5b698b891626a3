"""Read and write the file formats of edge-matching puzzles.

Reading
    `load_puzzle` and `load_board` return a puzzle or a board; `read_puzzle`, `read_board` and `read` return a
    `Document`, which also has notes on what was detected. `parse` reads a text instead of a file. The format is
    detected from the content unless the caller names it.
Writing
    `write` makes a file, `render` returns a file's text, `viewer_url` and `url_if_any` return a URL that shows a board
    in an online viewer, `best_json` returns the content of a ``best.json``, and `atomic_write` writes any other text.
Sources
    `shipped_instances` lists the instances of the package, `is_url` tells a URL from the name of a file, and
    `source_name` returns the name of a source for messages.

`FORMATS` has every format by name. These carry a puzzle: ``benoist`` (size, colours, hints and pieces), ``quads`` (size
and four colours for each piece), ``e2pieces`` (the four colours only; ``e2pieces:ORDER`` names the order of the sides),
``csv16``, ``json``, ``pieces``, ``meta`` and ``tetravex``. These carry a board: ``url`` (``url:MOTIFS_ORDER`` names the
order of the letters), ``solution``, ``best``, ``cells``, ``clues``, ``meta-board``, ``tetravex-board`` and ``picture``.

``pieces``, ``cells`` and ``clues`` read any dialect, that is, the layouts and conventions of other programs, which they
infer from the text. The strict formats have one fixed definition each. A text whose format is not named is read in the
strict format that it looks like; if that fails, usually as a dialect.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from lns.instances import eternity2
from lns.instances.board import Board
from lns.instances.errors import InputError, named
from lns.instances.files import atomic_write, write_output
from lns.instances.formats import base, cells, lists, own_json, pieces, viewer
from lns.instances.formats.base import Document, Format, Source, Target, is_url, shipped_instances, source_name
from lns.instances.formats.own_json import best_json, read_link
from lns.instances.formats.shapes import picture_in, rows_of
from lns.instances.formats.viewer import url_if_any, viewer_url
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.text import printable, quoted
from lns.instances.verify import verify

__all__ = ["CLUE_WORDS", "FORMATS", "HELD", "Document", "atomic_write", "best_json", "is_url", "load_board"]
__all__ += ["load_puzzle", "parse", "read", "read_board", "read_puzzle", "render", "shipped_instances", "source_name"]
__all__ += ["url_if_any", "viewer_url", "with_clues", "write"]

FORMATS: dict[str, Format] = {  # in the order in which `looks_like` is tried on a text
    form.name: form
    for form in (
        *(own_json.BEST, own_json.JSON, viewer.FORMAT, lists.CSV16),
        *(lists.BENOIST, lists.SOLUTION, lists.QUADS, lists.E2PIECES),
        *(pieces.FORMAT, cells.FORMAT, cells.CLUES),
        *(lists.META, lists.META_BOARD, lists.TETRAVEX, lists.TETRAVEX_BOARD, lists.PICTURE),
    )
}
HELD = "held"
"""The word that asks for a puzzle's own clues or, if it has none, for the official clues that lie on its board."""
CLUE_WORDS = ("official", "starter", "none", HELD)
_CHOICE = "(--clues official, starter, none or a file names others)"
_NO_FRAME = ("do not fit a board", "expected corner pieces")  # words of errors that a puzzle without frame may cause
_RULE = re.compile(r'"(clues|holes|framed|turns|mates|rim|copies)"\s*:')  # a field of this program's JSON
_LETTERS = re.compile(r"(?<![A-Za-z=])[a-w]{36,16384}(?![A-Za-z])")  # letters of a board, not in a viewer URL


def read(
    source: str, *, puzzle: Puzzle | None = None, format: str | None = None, number: int | None = None
) -> Document:
    """Read a puzzle or a board from a file, a viewer URL, a link of ``lns web`` or the name of a shipped instance.

    A file is preferred to a shipped instance of the same name. ``format`` names the format and, after a colon, its
    option; by default the content decides. ``puzzle`` is the puzzle of the board in the source. Without ``puzzle``, a
    full board in a viewer URL defines its own puzzle, and the puzzle of a ``best.json`` is the instance that it names
    if the hash agrees, or else the one that its viewer URL defines. ``number``, counted from 1, chooses one of several
    boards.

    The notes of the document say what was detected, such as the pieces of Eternity II, and how many official clues a
    board of these pieces respects. Raises InputError, which names the source and, if known, the line.
    """
    source = os.fspath(source)
    if is_url(source):
        where, format = source_name(source), format or "url"
        given = Source(source, puzzle, "puzzle", _find_puzzle, number)
    else:
        path = base.file_of(source)
        where = printable(str(path))
        given = Source(base.text_of(path, source), puzzle, base.name_of(path), _find_puzzle, number, path.parent)
    with named(where):
        return _document(given, format)


def parse(
    text: str,
    *,
    puzzle: Puzzle | None = None,
    format: str | None = None,
    name: str = "puzzle",
    number: int | None = None,
    find_puzzle: Callable[[str], Puzzle] | None = None,
) -> Document:
    """Read the text of a puzzle or a board, as `read` reads a file; ``name`` is used for a puzzle without a name.

    ``find_puzzle`` loads the instance that a board names, or raises InputError. The default loads shipped instances
    and files.
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
    """Return the document with notes on Eternity II, or on a turn after which the board respects more clues."""
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
        if turns := held.index(max(held)):  # more clues lie on the board after a rotation
            found = f"{held[0]} of {len(puzzle.clues)} clues lie on the board, {held[turns]} after a turn"
            notes.append(f"{found} of {90 * turns} degrees (`lns convert --turn {90 * turns}`)")
    return replace(document, notes=(*document.notes, *(note for note in notes if note not in document.notes)))


def _find_puzzle(source: str) -> Puzzle:
    """Load the instance that a file names. Raises InputError for a ``best.json``, since two could name each other."""
    if not is_url(source):
        path = base.file_of(source)
        if FORMATS["best"].looks_like(base.text_of(path, source)):
            raise InputError("this is a board; expected the instance", str(path))
    return load_puzzle(source, clues=HELD)


# -- choosing a format by name, extension or content ------------------------------------------------------------------


def by_name(name: str) -> tuple[Format, str | None]:
    """Return the format and the option (or None) that a name such as 'e2pieces:udlr' states, or raise InputError."""
    head, colon, option = name.partition(":")
    if head not in FORMATS:
        raise InputError(f"unknown format {quoted(name)}; expected one of {', '.join(FORMATS)}")
    if colon and FORMATS[head].option is None:
        raise InputError(f"format {head} has no option; found {quoted(name)}")
    return FORMATS[head], option if colon else None


def by_extension(path: str, puzzle: Puzzle, has_board: bool) -> Format:
    """Choose the format of a file to write by the extension of its name. Raises InputError for an unknown extension."""
    formats = {".json": "best" if has_board else "json", ".csv": "csv16", ".url": "url"}
    formats |= {".solution.txt": "solution", ".solution": "solution"}
    formats |= {".txt": "benoist" if puzzle.width == puzzle.height else "quads"}
    for extension, form in formats.items():
        if path.lower().endswith(extension):
            return FORMATS[form]
    said = "the name does not say the format; expected .txt, .solution.txt, .json, .csv or .url"
    raise InputError(f"{said}, or a format named: {', '.join(FORMATS)}")


def read_by_evidence(source: Source) -> Document:
    """Read a text, whose format was not named, in the strict format that it looks like; if that fails, as a dialect.

    If both fail, raises the InputError of the strict format, or that of a dialect reader if it is more specific.
    Viewer URLs and formats that only this program writes are not tried as dialects, which would leave out their rules.
    """
    if not source.text.strip():
        raise InputError("the file is empty; expected a puzzle or a board")
    if not base.holds_url(source.text):  # the letters of a board may stand without their viewer URL
        source = replace(source, text=_LETTERS.sub(_as_url, source.text))
    text = source.text
    own = base.holds_url(text) or lists.has_clues(text) or '"placements"' in text or '"schema"' in text
    own |= _RULE.search(text) is not None and all(name in text for name in ('"width"', '"height"', '"pieces"'))
    strict = next((each for each in FORMATS.values() if each.looks_like(text)), own_json.JSON if own else None)
    if strict is None:
        return _in_any_dialect(source, None)
    try:
        document = strict.read(source)
    except InputError as error:
        if own:  # no dialect reader can read viewer URLs, ``quads`` with clues or this program's JSON
            raise
        return _in_any_dialect(source, error)
    if source.puzzle is not None and document.format in ("quads", "e2pieces", "solution"):
        return _board_by_evidence(source, source.puzzle, document)
    return document


def _as_url(word: re.Match[str]) -> str:
    square = math.isqrt(len(word[0])) ** 2 == len(word[0])
    return f"#puzzle=board&board_edges={word[0]}" if square else word[0]


def _in_any_dialect(source: Source, strict: InputError | None) -> Document:
    """Read a text as a dialect; ``strict`` is the error of the strict format that was tried before, if any.

    Raises the most specific error of the dialect readers, or ``strict`` if none of these is specific.
    """
    # Without a known puzzle, a text that a strict format refused is read as a board only if it is a picture: otherwise
    # pieces whose neighbours all match by chance would be taken for a full board without frame.
    only_pieces = source.puzzle is None and strict is not None and picture_in(source.text) is None
    refusals = []
    for name in ("pieces", "cells") if source.puzzle is None else ("cells", "clues"):
        used = name == "pieces" or not only_pieces
        try:
            document = FORMATS[name].read(source)
            if used:
                return document
        except InputError as refusal:
            refusals += [refusal] * (used or isinstance(refusal, base.NeedsPuzzleError))
    best = max(refusals, key=lambda each: each.telling)
    if strict is None or not isinstance(best, base.NoRimError):
        raise best if strict is None or best.telling else strict
    if any(row.line == strict.line and not row.only_numbers for row in rows_of(source.text)):
        raise best  # the line of the error has letters, so the text is not in the strict format
    rules = "; or the rules of a puzzle without frame by name (--puzzle-format pieces:unframed or pieces:tetravex)"
    more = rules * any(part in strict.message for part in _NO_FRAME)
    raise InputError(strict.message + more, line=strict.line)


def _board_by_evidence(source: Source, puzzle: Puzzle, document: Document) -> Document:
    """Read ``source`` as a dialect if ``document`` has no board or many faults on it; return the better document."""
    here = None if document.board is None else verify(puzzle, document.board)
    # A few broken rules do not show a wrong convention; on few cells another one may be legal by mere chance.
    if here is not None and (here.cells < 9 or len(here.violations) <= 5 + 0.05 * here.cells):
        return document
    try:
        found = FORMATS["cells"].read(source)
    except InputError as error:
        if here is None and isinstance(error, base.NearError):
            raise
        return document
    there = None if here is None or found.board is None else verify(puzzle, found.board)
    return document if here and there and (there.violations or there.score <= here.score) else found


# -- reading puzzles and their clues -----------------------------------------------------------------------------------


def load_puzzle(source: str, format: str | None = None, clues: str | None = None) -> Puzzle:
    """Return the puzzle that `read_puzzle` reads; parameters and errors are the same."""
    return _defined(read_puzzle(source, format, clues), source)


def read_puzzle(source: str, format: str | None = None, clues: str | None = None) -> Document:
    """Read a puzzle, with notes on what was detected.

    ``clues`` names the clues to use, as ``source`` of `with_clues` does; None keeps the puzzle's own. The ``puzzle`` of
    the document is not None. Raises InputError if the source defines no puzzle.
    """
    document = read(source, format=format)
    _defined(document, source)
    return document if clues is None else with_clues(document, clues)


def with_clues(document: Document, source: str) -> Document:
    """Return the document with other clues in its puzzle, and without its board.

    ``source`` is a file or viewer URL with clues or a partial board, or one of `CLUE_WORDS`: ``"official"`` for the
    official clues of Eternity II, ``"starter"`` for its starter clue alone, ``"none"``, or ``"held"`` for the puzzle's
    own clues or, if it has none, the official clues that lie on its board. Notes say which clues the puzzle now has and
    that its board is left out. Raises InputError if the source holds no clues of the puzzle, or if official clues or
    the starter clue are wanted and the puzzle is not Eternity II.
    """
    puzzle, board = document.puzzle, document.board
    assert puzzle is not None
    if source == HELD and board is None:
        return document
    chosen, notes = (_with_named_clues if source in CLUE_WORDS else _with_clues_of)(puzzle, board, source)
    if board is not None:
        checked = verify(chosen.with_clues([]), board)
        taken = f"only the pieces and clues are taken from this board ({checked.score} of {checked.max_score})"
        notes.append(f"{taken}; `lns solve --start` begins with a board")
    return replace(document, puzzle=chosen, board=None, notes=(*document.notes, *notes))


def _with_clues_of(puzzle: Puzzle, board: Board | None, source: str) -> tuple[Puzzle, list[str]]:
    """Return the puzzle with the pieces that ``source``, a file or URL, places as its only clues; and notes."""
    bare, format = puzzle.with_clues([]), None
    if not is_url(source):
        text = base.text_of(base.file_of(source), source)
        format = "clues" if cells.clues_in(text) else None
    found = read_board(source, bare, format)
    assert found.board is not None
    lying = [Clue(cell, *pair) for cell, pair in enumerate(found.board.without_blanks(bare).pairs()) if pair]
    if broken := verify(bare, found.board).violations:
        raise InputError(f"these clues break a rule: {broken[0]}", source_name(source))
    return bare.with_clues(lying), [f"clues: {note}" for note in found.notes] or [f"clues: {len(lying)}"]


def _with_named_clues(puzzle: Puzzle, board: Board | None, word: str) -> tuple[Puzzle, list[str]]:
    """Return the puzzle with the clues that ``word``, one of the `CLUE_WORDS`, names; and a note on these clues."""
    named = eternity2.named_clues(puzzle)
    if not named["official"] and word in ("official", "starter"):
        alone = f"is not known to be Eternity II, which alone has {word} clues"
        raise InputError(f"{puzzle.name} {alone}; expected none, or a file")
    held = puzzle.clues or (eternity2.held_clues(puzzle, board) if board is not None else ())
    chosen = puzzle.with_clues(held if word == HELD else named[word])
    words = {"official": f"the {eternity2.CLUES} official ones", "starter": "the starter clue"}
    note = f"clues: {words.get(name := eternity2.name_of_clues(chosen), name)}"
    if word == HELD:
        note += (" of the puzzle" if puzzle.clues else " that the board holds") * bool(chosen.clues) + f" {_CHOICE}"
    return chosen, [note]


def _defined(document: Document, source: str) -> Puzzle:
    if document.puzzle is None:
        notes = [*document.notes, "expected the puzzle with it (--puzzle INSTANCE)"]
        raise InputError("; ".join(notes), source_name(source))
    return document.puzzle


# -- reading boards ----------------------------------------------------------------------------------------------------


def load_board(source: str, puzzle: Puzzle | None = None, format: str | None = None) -> tuple[Puzzle, Board]:
    """Return the puzzle and board that `read_board` reads; parameters and errors are the same."""
    document = read_board(source, puzzle, format)
    assert document.puzzle is not None and document.board is not None
    return document.puzzle, document.board


def read_board(
    source: str, puzzle: Puzzle | None = None, format: str | None = None, number: int | None = None
) -> Document:
    """Read a board, with notes on what was detected; the parameters are those of `read`.

    Neither ``puzzle`` nor ``board`` of the document is None. Unless the source holds or names the puzzle, ``puzzle``
    must be given for pieces named by index and for partial boards. Raises InputError if no board or puzzle is found.
    """
    document = read(source, puzzle=puzzle, format=format, number=number)
    framed = _defined(document, source).framed
    if document.board is None and format is None and puzzle is None and not is_url(source):
        with suppress(InputError):  # what was read as a list of pieces may be a full board, which defines its puzzle
            laid = read(source, format="cells", number=number)
            if laid.puzzle is not None and laid.board is not None and laid.puzzle.framed == framed:
                found = verify(laid.puzzle, laid.board)
                if not found.violations and found.score >= 0.5 * found.max_score:  # a list in random order scores less
                    return laid
    if document.board is None:
        raise InputError(f"this is a puzzle (format {document.format}); expected a board", source_name(source))
    return document


# -- writing puzzles and boards ----------------------------------------------------------------------------------------


def write(
    path: str | os.PathLike[str],
    format: str | None,
    puzzle: Puzzle,
    board: Board | None,
    *,
    instance: str | None = None,
) -> None:
    """Write the text that `render` returns to a file, atomically. Replaces an existing file; follows a symbolic link.

    Drops the notes of `render`. Raises InputError as `render` does, and OSError if the file cannot be written.
    """
    text, _ = render(format, puzzle, board, path=os.fspath(path), instance=instance)
    write_output(path, text)


def render(
    format: str | None, puzzle: Puzzle, board: Board | None, *, path: str | None = None, instance: str | None = None
) -> tuple[str, tuple[str, ...]]:
    """Return a puzzle or board as the text of a file, and notes on what the format cannot carry.

    Without ``format`` the extension of ``path`` decides on the format; without ``board`` the text is that of the
    puzzle. ``instance`` is the name that a ``best.json`` states for the puzzle, by default the puzzle's own. Raises
    InputError if the format is unknown or cannot carry the puzzle or board.
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
        if form.holds == "puzzle" and puzzle.rules and not form.rules:
            rules = " and ".join(puzzle.rules)
            raise InputError(f"format {form.name} cannot say that a puzzle has {rules}; expected json")
        if form.square and puzzle.width != puzzle.height:
            shape = f"{puzzle.width} x {puzzle.height}"
            raise InputError(f"a board of {shape}; {form.name} carries only squares (quads and json carry it)")
        if form.holds == "puzzle" and board is not None:
            target.notes.append(f"format {form.name} carries no board: only the puzzle is written")
        if puzzle.clues and not form.clues:
            target.notes.append(f"{form.name} carries no clues: {len(puzzle.clues)} left out")
        return form.write(target), tuple(target.notes)
    except InputError as error:
        raise (error if path is None else error.at(path)) from None


# -- help texts --------------------------------------------------------------------------------------------------------

DIALECTS = {  # a description of each dialect that is detected, by a typical line
    "1 0 5 9 0": "pieces: id, four sides in any order; comments after #, //, c",
    "1,0,0,5,9,0": "pieces: id, type, four sides; other separators too",
    "- 1 braa": "pieces: letters, after a number or bare",
    "12=0-5-9-0": "pieces: INI, as the editor FPS writes them",
    "[0, 5, 9, 0],": "pieces: lists of Python, JavaScript, JSON",
    '{"rows":4,"cols":4,"tiles":[...]}': "pieces: JSON of other programs, with placed tiles",
    "0,R/T,G/B,B/T,W/T": "pieces: halves that meet, also A and a, +3 and -3, red head and red tail",
    "ntiles 256": "a header of a count, one size, two sizes, or bounded signed w h",
    "8594 @1590 6966": "Tetravex: words of four digits, up left right down; @ is pinned",
    "12/3 200/0": "board: piece/turn of each cell; also 12(3), 12:3, [ 12(3]",
    "12 3": "board: piece and turn, a line for each cell",
    "4 0 2": "board: x, y and turn of each piece, in the order of the pieces",
    "12 4 0 2": "board: piece, column, row and turn",
    "$12N:.:7E;": "board: piece and compass letter of each cell",
    "abdc _bba": "board: four letters for each cell",
    "0 5 9 0": "board: four colours for each cell, rows from top or bottom",
    "139 8 7 2": "clues: piece, row, column (or x, y), turn",
    "8,7 139 2": "clues: row, column, piece, turn; sections that agree are one",
    "139=I8-Rot0": "clues: row letter, column, anticlockwise turns",
    "0,1,-650,2": "clues: a list of cell types; -(piece + 256 turns) is a clue",
    "…board_edges=abdc…": "board: viewer URL in prose, markdown, HTML or JSON; several in a file",
}
_SMALL = Puzzle(np.array([[0, 1, 2, 0], [0, 3, 1, 0], [2, 3, 0, 0], [3, 0, 0, 3]]), 2, 2, name="small")
_DIGITS = np.array([[6, 10, 5, 9], [2, 2, 10, 10], [5, 5, 7, 8], [10, 7, 9, 5]])
_TETRAVEX = Puzzle(_DIGITS, 2, 2, framed=False, turns=False)


def overview(holds: str) -> str:
    """Return help on the formats that hold ``holds``, 'puzzle' or 'board': lines with name, option and description."""
    forms = [form for form in FORMATS.values() if form.holds == holds]
    lines = {form.name + f"[:{form.option}]" * bool(form.option): form.about for form in forms}
    width = max(map(len, lines))
    return "\n".join(f"  {name:<{width}}  {about}" for name, about in lines.items())


def facts() -> dict[str, list[dict[str, str | None]]]:
    """Return all formats and all dialects that are detected, each with an example, as values for JSON."""
    names = ("name", "option", "holds", "about")
    formats = [{name: getattr(form, name) for name in names} | {"example": _example(form)} for form in FORMATS.values()]
    return {"formats": formats, "dialects": [{"example": line, "about": about} for line, about in DIALECTS.items()]}


def examples() -> str:
    """Return the text of ``lns convert --list``: each format with what it holds and an example, then the dialects."""
    blocks = [
        f"{form.name}{f':{form.option}' * bool(form.option)}\n"
        f"  {form.holds}, read and written: {form.about}\n  e.g. {_example(form)}"
        for form in FORMATS.values()
    ]
    dialects = "\n".join(f"  {example:<34} {about}" for example, about in DIALECTS.items())
    return "\n".join([*blocks, "", "read by evidence, as pieces, cells or clues:", dialects])


def _example(form: Format) -> str:
    """Return the first four lines of a small puzzle or board in a format, joined to one line and shortened."""
    puzzle, turns = (_TETRAVEX, (0, 0, 0, 0)) if "tetravex" in form.name else (_SMALL, (0, 1, 0, 3))
    board = Board.from_pairs(list(enumerate(turns)), 2, 2)
    lines = form.write(Target(puzzle, board if form.holds == "board" else None, "small.json")).splitlines()
    return printable((" " if form.name == "json" else " / ").join(lines[:4]), 99)
