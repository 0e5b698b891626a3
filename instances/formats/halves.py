"""Pieces whose sides are halves of pictures: find such pieces in a text, and replace each side by a number.

Matching halves are ``+3`` and ``-3``, ``R+`` and ``R-``, ``A`` and ``a``, ``R/T`` and ``R/B``, ``red head`` and ``red
tail``. A piece may stand on a line of its own, perhaps after an id or below names of columns, or be a word of four
letters or a list in brackets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lns.instances.errors import InputError
from lns.instances.formats.base import NearError
from lns.instances.formats.shapes import MAX_LINES, code_and_comment, is_bounded_header, refuse_other_sides
from lns.instances.text import quoted

_ENTRY = r"""(?:"[^"\n]{1,40}"|'[^'\n]{1,40}'|[-+]?\w{1,20}(?:[/_-]\w{1,20}|[-+])?)"""
_GAP = r"\s{0,40}"
_BRACKETED = re.compile(rf"[\[({{]{_GAP}({_ENTRY}(?:[,;]{_GAP}{_ENTRY}){{3}}){_GAP},?{_GAP}[\])}}]")
_QUOTED_WORD = re.compile(r"""(["'])([A-Za-z_]{4})\1""")
_SEPARATORS = ",;|\t="
_AROUND = " '\"[](){}"
_NUMBER = re.compile(r"[-+]?[0-9]{1,20}")
_LETTER = re.compile("[A-Za-z_]")
_WORD = re.compile(r"0|[A-Za-z_]\w{0,19}")
_PARTS = re.compile(r"(\w{1,20}?)(?:[ /_-]+(?=\w)|(?=[-+]))(\w{1,20}|[-+])")
_BY_NAME = "--puzzle-format pieces:"
_FEWEST = 3  # fewest pieces whose sides are taken as halves without an option that says so
_NAMED = 5  # most sides that a note names

_Split = dict[str, tuple[str, str] | None]  # (picture, half) by the text of a side; None for a side that is no half


class Halves(NamedTuple):
    """A text of pieces in which each side is replaced by a number."""

    text: str
    mates: tuple[tuple[int, int], ...]
    numbers: dict[str, int]  # the number that replaces a side, by the text of the side
    note: str


class _Group(NamedTuple):
    """The four sides of a piece as written, and the offsets in the text at which these begin and end."""

    start: int
    end: int
    sides: list[str]


def find_halves(text: str, mates: bool | None) -> Halves | None:
    """Return the text with each side replaced by a number if the sides look like halves; None for another text.

    The halves of a picture match each other, but equal sides match if more pictures lack a half than have both halves;
    ``mates`` (True: halves match) overrides this. Raises InputError for pieces of three or six sides, for mixed kinds
    of sides, for numbers of which few have both signs, or if ``mates`` is True but no side is a half.
    """
    for groups in _groups(text):
        [(kind, count)] = Counter(_kind(group.sides) for group in groups).most_common(1) or [(None, 0)]
        pieces = [group for group in groups if _kind(group.sides) == kind]
        if kind and 2 * count > len(groups) and count >= (1 if mates else _FEWEST):
            seen = Counter(side for piece in pieces for side in piece.sides)
            names = kind == _PARTS and all(seen[side] == 1 for side in pieces[0].sides)  # the row names columns
            if names or is_bounded_header(pieces[0].sides, count - 1):
                del pieces[0]
            others = (group for group in groups if group.start > pieces[0].start and text[group.start - 1] not in "[({")
            odd = next((group for group in others if _kind(group.sides) not in (kind, None)), None)
            if split := _split(kind, sorted({side for piece in pieces for side in piece.sides}), mates):
                if odd:
                    said = f"sides {', '.join(odd.sides)} among such as {', '.join(pieces[0].sides)}; expected such"
                    raise NearError(said, line=text.count("\n", 0, odd.start) + 1)
                return _in_numbers(text, pieces, split, mates)
    if mates:
        raise InputError("no side is a half; expected such as +3 and -3, A and a, R/T and R/B")
    return None


def _groups(text: str) -> Iterator[list[_Group]]:
    """Yield a list of pieces for each layout: quoted words, brackets, and lines if most lines hold a piece."""
    yield [_Group(*found.span(), list(found[2])) for found in _QUOTED_WORD.finditer(text)]
    yield [
        _Group(*found.span(1), [side.strip("\"'") for side in re.findall(_ENTRY, found[1])])
        for found in _BRACKETED.finditer(text)
    ]
    if text.count("\n") > MAX_LINES:
        return
    groups, halved, start, lines = list[_Group](), list[tuple[int, list[str]]](), 0, 0
    for number, line in enumerate(text.split("\n"), start=1):
        code = code_and_comment(line)[0]
        pattern = rf"[^{_SEPARATORS}]+" if any(mark in code for mark in _SEPARATORS) else r"\S+"
        fields = {
            start + found.start() + found[0].rindex(core): core
            for found in re.finditer(pattern, code)
            if (core := found[0].rpartition(":")[2].strip(_AROUND))
        }
        lines, start, cores = lines + bool(fields), start + len(line) + 1, [*fields.values()]
        sided = [any(each.fullmatch(core) for each in (_NUMBER, _WORD, _PARTS)) for core in cores]
        width = [*sided[::-1], False].index(False)
        words = [core for core in cores if re.fullmatch("[A-Za-z_]{4}", core)]
        if len(words) == 1 and [core for core in cores if core.isalpha()] == words == cores[-1:]:
            groups.append(_Group(max(fields), max(fields) + 4, list(words[0])))
        elif width >= 4:
            groups.append(_Group([*fields][-4], max(fields) + len(cores[-1]), cores[-4:]))
        if any(map(_is_half, sides := cores[len(cores) - width :])):
            halved.append((number, sides))
    if 2 * len(halved) > lines > _FEWEST:
        refuse_other_sides(halved)
    yield groups if 2 * len(groups) > lines else []


def _is_half(side: str) -> bool:
    """Check whether the text of a side begins with a sign, or has two parts that are not both numbers."""
    parts = _PARTS.fullmatch(side)
    return side[0] in "+-" or (parts is not None and not (parts[1].isdecimal() and parts[2].isdecimal()))


def _kind(sides: Sequence[str]) -> re.Pattern[str] | None:
    """Return the pattern by which the sides of a piece may be halves; None if they cannot be halves."""
    kind = next((pattern for pattern in (_NUMBER, _LETTER) if all(map(pattern.fullmatch, sides))), None)
    return kind or (_PARTS if sum(map(_is_half, sides)) > 1 else None)


def _split(kind: re.Pattern[str], sides: Sequence[str], mates: bool | None) -> _Split | None:
    """Return (picture, half) for each side; None instead if no number has a sign, or if all letters have one case."""
    if kind is _NUMBER:
        value = {side: int(side) for side in sides}
        signed = any(side[0] in "+-" and value[side] for side in sides)
        return {side: (f"{abs(n):020}", "-" * (n < 0)) if n else None for side, n in value.items()} if signed else None
    if kind is _LETTER:
        both = len({side.islower() for side in sides if side != "_"}) == 2
        return {side: None if side == "_" else (side.lower(), "a" * side.islower()) for side in sides} if both else None
    parts = {side: _PARTS.fullmatch(side.lower()) for side in sides}
    for half in (2, 1):
        if len({found[half] for found in parts.values() if found}) == 2:
            return {side: found and (found[3 - half], found[half]) for side, found in parts.items()}
    if mates is False:
        return dict.fromkeys(parts)
    said = f"sides of two parts such as {quoted(sides[0])}; expected two halves of each picture, as R/T and R/B"
    raise NearError(f"{said} ({_BY_NAME}equal reads each side as a colour)")


def _in_numbers(text: str, pieces: Sequence[_Group], split: _Split, mates: bool | None) -> Halves:
    """Number the sides in a text: first those that are no halves (0 and _ before the others), then all halves."""
    halves = sorted({half for half in split.values() if half})
    pictures, values = Counter(picture for picture, _ in halves), sorted({value for _, value in halves})
    alone = sorted(side for side, half in split.items() if half and pictures[half[0]] == 1)
    shown = ", ".join(alone[:_NAMED]) + ", …" * (len(alone) > _NAMED)
    paired = 2 * len(halves) >= 3 * len(pictures) if mates is None else mates
    if paired:
        such = sorted(side for side, half in split.items() if half and half[0] == pictures.most_common(1)[0][0])
        note = f"sides are halves: {' meets '.join(such)}{f'; none meets {shown}' * bool(alone)}"
        note += f" ({_BY_NAME}equal: equal sides meet)"
        halves = [(picture, value) for picture in pictures for value in [*values, "~"][:2]]
    elif mates is None and (signed := [side for side in sorted(split) if side[0] in "+-"]):
        start = next(piece.start for piece in pieces if signed[0] in piece.sides)
        said = f"a number with a sign, {signed[0]}, and few with both; expected whole numbers from 0, or halves by name"
        raise NearError(f"{said} ({_BY_NAME}mates)", line=text.count("\n", 0, start) + 1)
    else:
        note = f"equal sides meet{f', as {shown} lack their halves' * (mates is None)} ({_BY_NAME}mates: halves meet)"
    plain = sorted((side for side, half in split.items() if not half), key=lambda side: (side not in ("0", "_"), side))
    number = {half: at for at, half in enumerate(halves, start=len(plain))}
    numbers = {side: at for at, side in enumerate(plain)} | {s: number[half] for s, half in split.items() if half}
    parts, end = [], 0
    for piece in pieces:
        sides = ", ".join(str(numbers[side]) for side in piece.sides) + "\n" * text.count("\n", piece.start, piece.end)
        parts += [text[end : piece.start], f"[{sides}]" if _QUOTED_WORD.match(text, piece.start) else sides]
        end = piece.end
    firsts = range(len(plain), len(plain) + len(halves), 2) if paired else ()
    return Halves("".join([*parts, text[end:]]), tuple((one, one + 1) for one in firsts), numbers, note)
