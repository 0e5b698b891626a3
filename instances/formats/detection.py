"""Texts whose format is not named: read as the strict format that they look like, else in any dialect."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from instances.formats import clues, lists
from instances.formats.base import Document, NearError, NeedsPuzzleError, Source
from instances.formats.lines import rows_of
from instances.formats.pieces import NoRimError
from instances.formats.registry import FORMATS, by_content
from instances.formats.shapes import picture_in
from instances.formats.sources import holds_url
from instances.verify import verify
from lns_support.errors import InputError

_NO_FRAME = ("do not fit a board", "expected corner pieces")  # errors of strict formats that a missing frame may cause
_LETTERS = re.compile(r"(?<![A-Za-z=])[a-w]{36,16384}(?![A-Za-z])")  # of a board, without its URL


def read_by_evidence(source: Source) -> Document:
    """Read a text whose format is not named: as the strict format that it looks like, else in any dialect.

    Raises InputError: that of the strict format if the text looks like one, or that of a dialect that recognises it.
    """
    if not holds_url(source.text):  # a table of boards, say
        source = replace(source, text=_LETTERS.sub(_as_url, source.text))
    text, strict = source.text, None
    own = holds_url(text) or lists.has_clues(text) or '"placements"' in text or '"schema"' in text
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
            if used or isinstance(refusal, NeedsPuzzleError):
                refusals.append(refusal)
        else:
            if used:
                return document
    raise _most_telling(source, strict_error, refusals)


def _most_telling(source: Source, strict_error: InputError | None, refusals: list[InputError]) -> InputError:
    """The error with the most to say about a text: ``strict_error`` of the strict format that it looks like, or one."""
    if clues.is_cell_types(source.text):
        if source.puzzle is not None:
            return refusals[-1]
        return InputError("a list of cell types and clues; expected pieces with it (--puzzle INSTANCE)")
    if source.puzzle is None and clues.looks_like(source.text):
        return InputError(
            "these look like clues (piece, place, turn); expected a puzzle or a board: give them beside their "
            "puzzle, as --clues FILE"
        )
    kinds = (NeedsPuzzleError, NearError, InputError)  # the more telling first; that no rim is found tells least
    ranked = sorted(refusals, key=lambda each: next(at for at, kind in enumerate(kinds) if isinstance(each, kind)))
    near = [each for each in ranked if isinstance(each, NearError)]
    telling = [each for each in near if not isinstance(each, NoRimError)]
    if telling or strict_error is None:
        return (telling or near or refusals)[0]
    if near and any(row.line == strict_error.line and not row.only_numbers for row in rows_of(source.text)):
        return near[0]  # the strict format has no letters
    if near and any(part in strict_error.message for part in _NO_FRAME):
        rules = "or the rules of a puzzle without frame by name (--puzzle-format pieces:unframed or pieces:tetravex)"
        return InputError(f"{strict_error.message}; {rules}", line=strict_error.line)
    return strict_error


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
        if here is None and isinstance(error, NearError):
            raise
        return document
    assert found.puzzle is not None and found.board is not None
    if here is None:
        return found
    there = verify(found.puzzle, found.board)
    # A few rules may be broken by the board itself; on a few cells some of the many conventions is legal by chance.
    wrong = here.cells >= 9 and len(here.violations) > 5 + 0.05 * here.cells
    return found if wrong and not there.violations and there.score > here.score else document
