"""Texts whose format is not named: read as the strict format that they look like, else in any dialect."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from instances.formats import clues as clue_lines
from instances.formats import lists
from instances.formats.base import Document, NearError, NeedsPuzzleError, Source
from instances.formats.pieces import NoRimError
from instances.formats.registry import FORMATS, by_content
from instances.formats.sources import holds_url
from instances.formats.text import picture_in, rows_of
from instances.verify import verify
from lns_support.errors import InputError

_NO_FRAME = ("do not fit a board", "expected corner pieces")  # errors of strict formats that a missing frame may cause


def read_by_evidence(source: Source) -> Document:
    """Read a text whose format is not named: as the strict format that it looks like, else in any dialect.

    Raises InputError: that of the strict format if the text looks like one, or that of a dialect that recognises it.
    """
    source = replace(source, text=_bare_letters(source.text))
    strict = None
    try:
        strict = by_content(source.text)
        document = strict.read(source)
    except InputError as error:
        if not _is_open(source.text):
            raise
        return _in_any_dialect(source, None if strict is None else error, error)
    if source.puzzle is not None and document.format in ("quads", "e2pieces", "solution"):
        return _board_by_evidence(source, document)
    return document


def _in_any_dialect(source: Source, strict_error: InputError | None, error: InputError) -> Document:
    """Read a text that no strict format reads. Raises the error with the most to say about the text."""
    readers = ("cells", "clues") if source.puzzle is not None else ("pieces", "cells")
    # Rows of numbers: that they match side by side is no reason to drop their frame.
    only_pieces = source.puzzle is None and strict_error is not None and picture_in(source.text) is None
    refusals = []
    for name in readers:
        try:
            document = FORMATS[name].read(source)
            if name == "pieces" or not only_pieces:
                return document
        except InputError as refusal:
            if name == "pieces" or not only_pieces or isinstance(refusal, NeedsPuzzleError):
                refusals.append(refusal)
    if source.puzzle is None:
        if clue_lines.is_cell_types(source.text):
            raise InputError("a list of cell types and clues; expected pieces with it (--puzzle INSTANCE)")
        if clue_lines.looks_like(source.text):
            raise InputError(
                "these look like clues (piece, place, turn); expected a puzzle or a board: give them beside their "
                "puzzle, as --clues FILE"
            )
    elif clue_lines.is_cell_types(source.text):
        raise refusals[-1]
    near = [each for each in refusals if isinstance(each, NearError)]
    for kind in (NeedsPuzzleError, NearError):
        for each in near:
            if isinstance(each, kind) and not isinstance(each, NoRimError):
                raise each
    if strict_error is None:
        raise (near or refusals)[0]
    if near and any(row.line == strict_error.line and not row.only_numbers for row in rows_of(source.text)):
        raise near[0]  # the strict format has no letters
    if near and any(part in strict_error.message for part in _NO_FRAME):
        rules = "or the rules of a puzzle without frame by name (--puzzle-format pieces:unframed or pieces:tetravex)"
        raise InputError(f"{strict_error.message}; {rules}", line=strict_error.line)
    raise strict_error


def _board_by_evidence(source: Source, document: Document) -> Document:
    """The board of a known puzzle in a text that a strict format reads, in another convention if that is more legal."""
    if (
        document.board is not None
        and document.puzzle is not None
        and not verify(document.puzzle, document.board).violations
    ):
        return document
    try:
        found = FORMATS["cells"].read(source)
    except InputError as error:
        if document.board is None and isinstance(error, NearError):
            raise
        return document
    assert found.puzzle is not None and found.board is not None
    if document.board is None:
        return found
    here, there = (verify(found.puzzle, board) for board in (document.board, found.board))
    # A few rules may be broken by the board itself; on a few cells some of the many conventions is legal by chance.
    wrong = here.cells >= 9 and len(here.violations) > 5 + 0.05 * here.cells
    better = wrong and not there.violations and there.score > here.score
    return found if better else document


def _is_open(text: str) -> bool:
    """Whether a text that no strict format reads may be of another dialect; URLs and our own JSON may not."""
    own = holds_url(text) or lists.has_clues(text)
    return bool(text.strip()) and not own and '"placements"' not in text and '"schema"' not in text


def _bare_letters(text: str) -> str:
    """A text with boards of viewer letters alone, such as a table of boards, as URLs; any other text as it is."""
    if holds_url(text):
        return text
    return re.sub(
        r"(?<![A-Za-z=])[a-w]{36,16384}(?![A-Za-z])",
        lambda word: (
            f"#puzzle=board&board_edges={word[0]}" if math.isqrt(len(word[0])) ** 2 == len(word[0]) else word[0]
        ),
        text,
    )
