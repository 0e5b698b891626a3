"""Clues in a file apart from the pieces: piece, place and turn of each, in the conventions in use.

These are read: ``piece row column turn`` and ``piece x y turn``, a line each; ``139=I8-Rot0`` (row letter, column,
anticlockwise turns); a list of cell types in which a negative number is a clue. Numbers count from 0 or 1 and turns run
either way, so candidate conventions are tried as for boards (`lns.instances.formats.cells`). Those that place official
clues of Eternity II come first, then those that count rows from the top and turns from the pieces as listed. If
several are left that place different pieces, the convention must be named: ``clues:base1,yx,from0,cw``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from lns.instances.errors import InputError
from lns.instances.eternity2 import held_clues
from lns.instances.formats.base import Document, Format, NearError, NeedsPuzzleError, Source, Target
from lns.instances.formats.cells import CONVENTION, number_rows
from lns.instances.formats.evidence import NEAR, Entry, Reading, by_place, by_turn
from lns.instances.formats.lines import Row, rows_of
from lns.instances.puzzle import Puzzle
from lns.instances.text import count_of, quoted

_EDITOR = re.compile(r"^[ \t]{0,20}([0-9]{1,4})[ \t]{0,20}=[ \t]{0,20}([A-Z])([0-9]{1,2})-Rot([0-3])", re.M)
_ORDERS = {  # of the coordinates, as comments name them
    "yx": re.compile(r"\brow\W+(?:and\W+)?col", re.I),
    "xy": re.compile(r"\b(?:col(?:umn)?\W+(?:and\W+)?row|x\W+y)\b", re.I),
}
_HEADER = "clues: piece from 1, row column from 0, clockwise turns"  # after their number
_HEADER_LINE = re.compile(rf"^# ([0-9]{{1,4}}) {_HEADER}$", re.M)
_OWN = {"base1", "yx", "from0", "top", "cw", "turn0", "turn-last"}
_ASKED = 4  # conventions that a question names
_ENOUGH = 6  # matched seams that tell conventions of clues apart


def looks_like(text: str) -> bool:
    """Whether a text may be clues without a puzzle, for messages: few rows of four numbers, the last a turn."""
    if _EDITOR.search(text):
        return True
    try:
        rows = list({row.numbers: None for row in rows_of(text) if row.only_numbers})  # sections may say the same
    except InputError:
        return False
    lines = [row for row in rows if len(row) == 4 and row[3] <= 4]
    if not lines or len(rows[0]) != 4 or len(rows) - (len(rows) > 8) > len(lines):
        return False
    distinct = max(
        min(len({row[piece] for row in lines}), len({row[at : at + 2] for row in lines}))
        for piece, at in ((0, 1), (2, 0))
    )
    return distinct >= len(lines) - (len(lines) > 8)


def read(source: Source) -> Document:
    """The clues as a partial board of the puzzle.

    Raises InputError if no convention makes the clues legal, or several do that place different pieces.
    """
    puzzle, text = source.puzzle, source.text
    if puzzle is None:
        raise NeedsPuzzleError("these are clues by the numbers of the pieces; expected the puzzle with them")
    said, stated = CONVENTION.search(text), _HEADER_LINE.search(text)
    wanted = source.words() or {*(said[1].split(",") if said else ())} or (_OWN if stated else set())
    number, readings, notes = _clue_readings(text, puzzle)
    count = count_of(number, "clue")
    if stated and int(stated[1]) != number:
        raise InputError(f"{count}; expected {stated[1]} as the first line says")
    named = [each for each in readings if wanted <= each.parts]
    legal = [each for each in named if each.rank[0] == 0]
    if not legal:
        raise _nearest_error(number, named) or InputError(
            f"no convention{' named so' * bool(wanted)} makes the {count} legal on {puzzle.name}; "
            "expected clues of this puzzle"
        )
    chosen = _likely(text, puzzle, legal)
    boards = {each.board.placements.tobytes() for each in chosen}
    if len(boards) > 1:
        names = " or ".join(f"{FORMAT.name}:{each.name}" for each in chosen[:_ASKED])
        raise NearError(
            f"{count}, which can be read in {len(boards)} ways, among them {names}; "
            f"expected one by name, as a first line '# {FORMAT.name}:{chosen[0].name}'"
        )
    first = f"{count}, read as {chosen[0].name} ('# {FORMAT.name}:...' as a first line names another convention)"
    return Document(FORMAT.name, puzzle, chosen[0].board, (first, *notes))


def _likely(text: str, puzzle: Puzzle, legal: Sequence[Reading]) -> Sequence[Reading]:
    """Those of the legal readings that match the most seams and place official clues, or else are as is usual."""
    most = max(each.found.score for each in legal)
    if most >= _ENOUGH:
        legal = [each for each in legal if each.found.score >= NEAR * most]
    official = [each for each in legal if len(held_clues(puzzle, each.board)) == each.board.placed > 0]
    plain = [each for each in legal if _is_plain(each)]
    order = next((order for order, words in _ORDERS.items() if words.search(text)), "")
    return official or [each for each in plain if order in each.parts] or plain or legal


def _is_plain(reading: Reading) -> bool:
    return {"top", "turn0"} <= reading.parts and "turn-first" not in reading.parts


def _nearest_error(count: int, readings: Sequence[Reading]) -> InputError | None:
    """What is wrong with the few lines that the nearest reading cannot take; None if no reading comes near."""
    nearest = min(readings, key=lambda each: (each.rank, not _is_plain(each)), default=None)
    if nearest is None or (not nearest.odd and len(nearest.found.violations) > max(1, count // 8)):
        return None
    if nearest.odd:
        line, sentence = nearest.odd[0]
    else:
        violations = nearest.found.violations
        sentence = next((each for each in violations if "twice" in each), violations[0])
        line = max(nearest.lines.get(cell, 0) for cell in nearest.found.faulty)
    return NearError(f"{count_of(count, 'clue')}, read as {nearest.name}: {sentence}", line=line or None)


def _clue_readings(text: str, puzzle: Puzzle) -> tuple[int, list[Reading], tuple[str, ...]]:
    """How many clues there are, their interpretations, and notes. Raises InputError for a text without clues."""
    if editor := list(_EDITOR.finditer(text)):
        where = [text.count("\n", 0, each.end()) + 1 for each in editor]
        table = [(int(each[1]), ord(each[2]) - ord("A") + 1, int(each[3]), -int(each[4]) % 4) for each in editor]
        own = _OWN - {"from0"} | {"from1"}
        return len(table), [each for each in by_place(puzzle, table, where) if own <= each.parts], ()
    if (types := _cell_types(text)) is not None and len(types) == puzzle.width**2 == puzzle.cells:
        if not (clues := [(cell, *divmod(-value, 256)) for cell, value in enumerate(types) if value < 0]):
            raise InputError("a list of cell types without a clue (no negative number); expected a clue")
        found: list[Reading] = []
        for base in (1, 0):
            entries = [Entry(0, cell, piece - base, turn) for cell, turn, piece in clues]
            found += by_turn(puzzle, entries, f"base{base},top")
        return len(clues), found, ()
    rows, notes = _clue_rows(text, puzzle)
    return len(rows), list(by_place(puzzle, [row.numbers for row in rows], [row.line for row in rows])), notes


def _clue_rows(text: str, puzzle: Puzzle) -> tuple[Sequence[Row], tuple[str, ...]]:
    """The rows of four numbers, once where sections between comments say the same, and notes.

    Raises InputError for another row, but for the number of the clues and a list of all the pieces that are not placed.
    """
    expected = "; expected a clue, piece row column turn, or a comment after #"
    rows, left = number_rows(text, expected, strict=True)
    every = [row for row in rows if len(row.numbers) == 4]
    if not every:
        raise InputError("no clues are recognised; expected lines 'piece row column turn', or 139=I8-Rot0")
    table, agreeing = _without_repeats(text, every)
    notes = left + agreeing
    unplaced = [{*range(1, puzzle.piece_count + 1)} - {each.numbers[at] for each in table} for at in (0, 2)]
    for row in (row for row in rows if len(row.numbers) != 4):
        head = row.line < every[0].line
        if head and row.numbers in ((len(table),), (puzzle.width,)):
            notes += (f"line {row.line}: {row.text}, {'clues' if row.numbers == (len(table),) else 'the size'}",)
        elif not head and set(row.numbers) in unplaced:
            notes += (f"line {row.line}: the {len(row.numbers)} pieces that are not placed",)
        else:
            said = f"{quoted(row.text)} among clues; expected four numbers, piece row column turn"
            raise InputError(said, line=row.line)
    return table, notes


def _without_repeats(text: str, table: list[Row]) -> tuple[Sequence[Row], tuple[str, ...]]:
    """The rows of the first section, and a note, if sections between comments say the same; else all rows.

    Raises InputError if sections say nearly the same.
    """
    comments = [row.line for row in rows_of(text) if not row.tokens]
    sections: dict[int, list[Row]] = {}
    for row in table:
        sections.setdefault(sum(line < row.line for line in comments), []).append(row)
    first, *others = sections.values()
    half = len(table) // 2
    if not others and {row.numbers for row in table[:half]} == {row.numbers for row in table[half:]}:
        first, others = table[:half], [table[half:]]
    contents = [{row.numbers for row in section} for section in (first, *others)]
    if sum(map(len, contents)) == len(set().union(*contents)):
        return table, ()
    for section, content in zip(others, contents[1:], strict=True):
        odd = next((row for row in section if row.numbers not in contents[0]), None)
        if odd is not None or len(content) < len(contents[0]):
            said, line = (f"{len(content)} rows", section[-1].line) if odd is None else (odd.text, odd.line)
            raise NearError(f"{quoted(said)} differs from the section above it; expected the same pieces", line=line)
    return first, (f"{len(contents)} sections that agree, {count_of(len(contents[0]), 'piece')} each",)


def _cell_types(text: str) -> list[int] | None:
    """The types of all cells: a size, so many border entries, a number for each cell; None for another text."""
    numbers = [] if re.search(r"[^0-9,\s-]", text) else [int(each) for each in re.findall(r"-?[0-9]{1,6}", text)]
    side = math.isqrt(len(numbers))
    return numbers[1 + side :] if side > 1 and numbers[0] == side and len(numbers) == 1 + side + side * side else None


def is_cell_types(text: str) -> bool:
    """Whether a text is a list of cell types of some square, for messages."""
    return _cell_types(text) is not None


# -- writing -----------------------------------------------------------------------------------------------------------


def write(target: Target) -> str:
    """``piece row column turn`` for each piece on the board, under a comment that names the convention."""
    if target.option:
        raise InputError(f"{FORMAT.name} are written in one convention, which they name; expected no option")
    lying = [
        (pair[0] + 1, *divmod(at, target.laid.width), pair[1]) for at, pair in enumerate(target.laid.pairs()) if pair
    ]
    return "\n".join([f"# {len(lying)} {_HEADER}", *(" ".join(map(str, line)) for line in lying)]) + "\n"


FORMAT = Format(
    "clues", "board", "clues apart from the pieces: piece row column turn",
    lambda text: _HEADER_LINE.match(text) is not None, read, write, "CONVENTION",
)  # fmt: skip
