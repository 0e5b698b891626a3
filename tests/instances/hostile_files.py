"""Hundreds of malformed files and URLs, each with what its error message must say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from instances.formats import best_json, render, viewer_url
from instances.formats.registry import FORMATS
from instances.generate import tetravex
from instances.puzzle import Clue, Puzzle
from tests.instances.small_puzzles import planted

PUZZLE, BOARD = planted(8, 5, 5, 6, clues=2)
BARE = PUZZLE.with_clues([])
URL = viewer_url(PUZZLE, BOARD)
BEST = best_json(PUZZLE, BOARD, instance="p.json", seed=1, elapsed_s=2.5)
UNUSED = ("max_score", "seed", "elapsed_s", "set_sha256", "numbering")  # fields that say nothing of the board
HOLDS_BOARD = [name for name, format in FORMATS.items() if format.holds == "board"]
TETRAVEX = tetravex(5, 5, 8, seed=8)


def text_in(name: str) -> str:
    """The puzzle or its board in a format; a Tetravex for the formats that carry no other puzzle."""
    puzzle, board = (TETRAVEX.puzzle, TETRAVEX.solution) if "tetravex" in name else (PUZZLE, BOARD)
    return render(name, puzzle, board if name in HOLDS_BOARD else None)[0]


SAID_TWICE = ("solution", "cells", "clues", "meta-board")  # the same board twice is one board, unless a line differs
TEXTS = {name: text_in(name) for name in FORMATS}


@dataclass(frozen=True)
class Case:
    """One source: the bytes of a file, or a function that makes another source in a folder and returns its name.

    The error message must name ``line``, if that is given, and contain ``says``.
    """

    name: str
    content: bytes | Callable[[Path], str]
    board: bool = False
    line: int | None = None
    says: str = "expected"


def cases() -> Iterator[Case]:
    for name, text in TEXTS.items():
        yield from undecodable_files(name, text)
    for name in ("benoist", "quads", "e2pieces", "csv16", "solution"):
        yield from broken_lines(name, TEXTS[name])
    yield from broken_headers()
    yield from broken_clues()
    yield from shapes()
    yield from broken_json("json", json.loads(TEXTS["json"]))
    yield from broken_json("best", {name: value for name, value in BEST.items() if name not in UNUSED})
    yield from broken_best()
    yield from broken_urls()


def undecodable_files(name: str, text: str) -> Iterator[Case]:
    board = name in HOLDS_BOARD
    data = text.encode()
    half = len(data) // 2
    yield Case(f"{name}-nul", data[:half] + b"\0" + data[half:], board, data.count(b"\n", 0, half) + 1, "NUL")
    yield Case(f"{name}-utf16-cut", text.encode("utf-16") + b"x", board, says="UTF-16")
    yield Case(f"{name}-utf16-without-mark", text.encode("utf-16-le"), board, 1, "NUL")
    yield Case(f"{name}-latin1", data[:half] + b"\xe9" + data[half:], board, says="0xe9 is not UTF-8")
    yield Case(f"{name}-empty", b"", board, says="the file is empty")
    yield Case(f"{name}-blank", b"\r\n \t\n\n", board, says="the file is empty")
    yield Case(f"{name}-gzip", b"\x1f\x8b\x08\x00" + data, board)
    other_size = name == "tetravex"  # any number of rows is one
    if not other_size and (
        name != "e2pieces" or int(len(text.splitlines()) ** 0.5) ** 2 != len(text.splitlines()) // 2
    ):
        yield Case(f"{name}-cut-in-half", data[:half].rpartition(b"\n")[0] + b"\n" or data[:half], board)
    if name not in (
        "best",
        "quads",
        "pieces",
        "clues",
        "meta",
        "picture",
    ):  # the url of a best.json is then read; others stay as they are
        yield Case(f"{name}-first-byte-lost", data[1:] if name != "url" else data.replace(b"e", b"E"), board)
    if not other_size:
        again = data[: data.rstrip().rindex(b"\n") + 1] if name in SAID_TWICE else data
        yield Case(f"{name}-twice", data + again if name != "url" else data.replace(b"board_edges=", b"x="), board)


def broken_lines(name: str, text: str) -> Iterator[Case]:
    """One malformed line, in the middle or at the end; the message names the line."""
    board = name in HOLDS_BOARD
    rows = text.splitlines()
    mark = "," if name == "csv16" else " "
    words = {
        "negative": "-1",
        "huge": "99999999999999",
        "beyond-int-limit": "9" * 5000,
        "fraction": "1.5",
        "word": "piece",
        "exponent": "1e3",
        "arabic-digits": "٣",
        "underscore": "1_0",
        "hex": "0x1",
        "escape": "\x1b[31m",
        "not-a-number": "nan",
    }
    for at in (len(rows) // 2, len(rows) - 1):
        for kind, word in words.items():
            cells = rows[at].split(mark)
            malformed = [*rows[:at], mark.join([word, *cells[1:]]), *rows[at + 1 :]]
            yield Case(f"{name}-{kind}-in-line-{at + 1}", "\n".join(malformed).encode(), board, at + 1)
        for kind, row in {
            "an entry less": rows[at].rpartition(mark)[0] if name != "csv16" else mark.join(rows[at].split(mark)[:3]),
            "an entry more": rows[at] + mark + "1" if name != "csv16" else mark.join(rows[at].split(mark)[:5]),
        }.items():
            malformed = [*rows[:at], row, *rows[at + 1 :]]
            yield Case(f"{name}-{kind}-in-line-{at + 1}", "\n".join(malformed).encode(), board, at + 1)
    yield Case(f"{name}-a-line-less", "\n".join(rows[:-1]).encode(), board)
    yield Case(f"{name}-a-line-more", (text + rows[-1] + "\n").encode(), board)
    yield Case(f"{name}-prose-at-the-end", (text + "that is all\n").encode(), board)


def broken_headers() -> Iterator[Case]:
    rows = TEXTS["benoist"].splitlines()
    for at, what in enumerate(("size", "colours", "hints")):
        for word in ("-1", "0", "x", "1.0", "4000000000", "9" * 6000, "5 5"):
            if (what, word) in (("size", "x"), ("hints", "0")):
                continue
            yield Case(f"benoist-{what}-{word[:6]}", "\n".join([*rows[:at], word, *rows[at + 1 :]]).encode())
    yield Case("benoist-fewer-hints-than-said", "\n".join([*rows[:2], "3", *rows[3:]]).encode())
    yield Case("benoist-more-hints-than-said", "\n".join([*rows[:2], "1", *rows[3:]]).encode())
    yield Case("benoist-only-size", b"5\n", line=1, says="the file ends here")
    quads = TEXTS["quads"].splitlines()[1:]
    for header in ("5 4", "0 0", "0 5", "-5 -5", "5 0", "300 300", "99999999999999999999 1", "5 x", "4 6", "64 65"):
        yield Case(f"quads-header-{header[:12]}", "\n".join([header, *quads]).encode())
    words = TEXTS["csv16"].splitlines()
    for header in ("0", "-5", "4", "6", "300", "5.0", "1" * 40):
        yield Case(f"csv16-size-{header[:6]}", "\n".join([header, *words[1:]]).encode())
    yield Case("csv16-letters-in-a-word", TEXTS["csv16"].replace("0000000000000001", "000000000000000b", 1).encode())
    yield Case("csv16-huge-colour", TEXTS["csv16"].replace("0000000000000001", "1111111111111110").encode())
    yield Case("csv16-hint-2", re.sub(r",1,(\d,\d)\n", r",2,\1\n", TEXTS["csv16"]).encode())
    yield Case(
        "csv16-hint-off-the-board", re.sub(r",1,\d,\d\n", ",1,5,5\n", TEXTS["csv16"]).encode(), says="x of the hint"
    )


def broken_clues() -> Iterator[Case]:
    """Impossible hints in the text of Benoist; the message names the line of the hint."""
    inner = next(c for c, quad in enumerate(BOARD.colours(BARE).tolist()) if 0 not in quad)
    (piece, turns), (corner, corner_turns) = (divmod(int(BOARD.placements[cell]), 4) for cell in (inner, 0))
    row, column = divmod(inner, 5)
    right = f"{row + 1} {column + 1} {piece + 1} {turns + 1}"
    rows = render("benoist", BARE, None)[0].splitlines()
    for name, hints, line in [
        ("duplicate", [right, right], 5),
        ("two-pieces-on-a-cell", [right, right.rpartition(" ")[0] + f" {(turns + 1) % 4 + 1}"], 5),
        ("a-piece-on-two-cells", [right, f"{5 - row} {5 - column} {piece + 1} 1"], 5)
        if (row, column) != (2, 2)
        else ("a-piece-on-two-cells", [right, f"2 2 {piece + 1} 1"], 5),
        ("corner-in-the-middle", [f"3 3 {corner + 1} 1"], 4),
        ("inner-piece-in-the-corner", [f"1 1 {piece + 1} 1"], 4),
        ("corner-turned-wrong", [f"1 1 {corner + 1} {(corner_turns + 1) % 4 + 1}"], 4),
        ("row-0", [f"0 1 {piece + 1} 1"], 4),
        ("column-6", [f"1 6 {piece + 1} 1"], 4),
        ("piece-26", ["3 3 26 1"], 4),
        ("rotation-5", [f"3 3 {piece + 1} 5"], 4),
        ("rotation-0", [f"3 3 {piece + 1} 0"], 4),
        ("good-then-bad", [right, f"1 1 {corner + 1} 9"], 5),
    ]:
        text = "\n".join([*rows[:2], str(len(hints)), *hints, *rows[3:]])
        yield Case(f"clue-{name}", text.encode(), line=line)
    for name, clue in [
        ("cell", [25, 0, 0]),
        ("piece", [12, 25, 0]),
        ("turn", [12, 0, 4]),
        ("short", [1, 2]),
        ("null", None),
    ]:
        yield Case(f"json-clue-{name}", json.dumps(json.loads(TEXTS["json"]) | {"clues": [clue]}).encode())
    twice = [[inner, piece, turns]] * 2
    yield Case("json-clue-twice", json.dumps(json.loads(TEXTS["json"]) | {"clues": twice}).encode(), says="two clues")
    two = Puzzle(np.array([[0, 1, 2, 0]] * 4), 2, 2, (Clue(0, 0, 0),))
    rows = render("benoist", two, None)[0].splitlines()
    clash = "\n".join([*rows[:2], "2", rows[3], "1 2 2 2", *rows[4:]])
    yield Case("clue-does-not-match-its-neighbour", clash.encode(), line=5, says="do not match")


MISFITS = {"1x1-with-colours", "1x1-corner", "1x4-of-inner-pieces", "4x1-all-ends", "2x2-of-inner-pieces"} | {
    "all-grey",
    "five-corners",
}


def shapes() -> Iterator[Case]:
    for name, text in {
        "1x1-with-colours": "1\n4\n0\n1 2 3 4\n",
        "1x1-corner": "1 1\n0 0 1 1\n",
        "1x4-of-inner-pieces": "1 4\n" + "1 1 1 1\n" * 4,
        "4x1-all-ends": "4 1\n" + "0 0 1 0\n" * 4,
        "2x2-of-inner-pieces": "2\n1\n0\n" + "1 1 1 1\n" * 4,
        "0x0": "0 0\n",
        "0": "0\n0\n0\n",
        "300": "300\n5\n0\n" + "1 1 1 1\n" * 100,
        "300x300": "300 300\n" + "1 1 1 1\n" * 90000,
        "all-grey": "3\n1\n0\n" + "0 0 0 0\n" * 9,
        "five-corners": "3\n2\n0\n" + "0 0 1 1\n" * 5 + "0 1 1 1\n" * 3 + "1 1 1 1\n",
        "e2-without-square": "0 0 1 1\n" * 7,
        "e2-no-corner-order": "0 0 1 1\n0 1 0 1\n0 1 1 0\n0 0 1 1\n",
        "e2-4225-lines": "1 1 1 1\n" * 4225,
        "poem": "Two roads diverged in a yellow wood\n",
        "html": "<!DOCTYPE html><html></html>\n",
        "blank-lines-then-more": "5\n" + "\n" * 50_000 + "5\n",
        "many-blank-lines": "\n" * 100_000 + "x\n",
    }.items():
        yield Case(f"shape-{name}", text.encode(), says="expected" if name not in MISFITS else "where the board needs")


def broken_json(name: str, good: dict[str, Any]) -> Iterator[Case]:
    """Each field missing, and with a value of each wrong type."""
    board = name in HOLDS_BOARD
    optional = {"json": {"name", "clues"}, "best": set[str]()}[name]
    wrong: list[Any] = [None, True, -1, 1.5, 10**30, "\x1b[2J", [], {}, [[[[]]]], "x" * 300_000]
    allowed = {
        ("best", "instance"): ("\x1b[2J",),
        ("json", "name"): ("\x1b[2J",),
        ("json", "clues"): ([],),
    }
    for field, value in good.items():
        if field not in optional and (name, field) != ("json", "schema"):
            yield Case(
                f"{name}-without-{field}", json.dumps({k: v for k, v in good.items() if k != field}).encode(), board
            )
        for index, bad in enumerate(wrong):
            if bad not in allowed.get((name, field), ()) and bad != value:
                yield Case(f"{name}-{field}-{index}", json.dumps(good | {field: bad}).encode(), board)
    text = json.dumps(good)
    yield Case(f"{name}-deep", b'{"placements":' * 50_000, board, says="expected")
    yield Case(f"{name}-deep-lists", b'{"placements":' + b"[" * 100_000, board, says="expected")
    yield Case(f"{name}-long-number", re.sub(r'"width": \d+', '"width": ' + "9" * 5000, text).encode(), board)
    yield Case(f"{name}-nan", re.sub(r'"width": \d+', '"width": NaN', text).encode(), board)
    yield Case(f"{name}-infinity", re.sub(r'"height": \d+', '"height": Infinity', text).encode(), board)
    yield Case(f"{name}-trailing-comma", text.replace("}", ",}").encode(), board)
    yield Case(f"{name}-300x300", json.dumps(good | {"width": 300, "height": 300}).encode(), board, says="90000 cells")


def broken_best() -> Iterator[Case]:
    for index, entry in enumerate(
        ([25, 0], [0, 4], [-1, 0], [0], [0, 0, 0], "0", 3, [0.0, 0], [True, 0], [None, None])
    ):
        placements = [*BEST["placements"][:7], entry, *BEST["placements"][8:]]
        yield Case(f"best-cell-{index}", json.dumps(BEST | {"placements": placements}).encode(), True, says="cell 7")
    yield Case("best-other-shape", json.dumps(BEST | {"width": 1, "height": 25}).encode(), True)
    yield Case("best-score-too-high", json.dumps(BEST | {"score": 41}).encode(), True)
    yield Case("best-url-of-another-kind", json.dumps(BEST | {"url": "file:///etc/passwd"}).encode(), True)
    other = best_json(*planted(9, 5, 5, 6), instance="p.json", seed=1, elapsed_s=1)
    yield Case("best-of-another-puzzle", json.dumps(other).encode(), True, says="expected a board of")


def broken_urls() -> Iterator[Case]:
    edges = re.search(r"board_edges=([a-z]+)", URL)
    assert edges
    for name, url in {
        "short": URL.replace(edges[1], edges[1][:-1]),
        "long": URL.replace(edges[1], edges[1] + "aaaa"),
        "none": URL.replace(edges[1], ""),
        "upper-case": URL.replace(edges[1], edges[1].upper()),
        "digits": URL.replace(edges[1], "1" * 100),
        "no-pieces-of-it": URL.replace(edges[1], "abac" * 25),
        "unicode": URL.replace(edges[1], "é" * 100),
        "percent-nonsense": URL.replace(edges[1], "%zz" * 40),
        "percent-nul": URL.replace(edges[1], "%00" * 100),
        "width-0": URL.replace("board_w=5", "board_w=0"),
        "width-huge": URL.replace("board_w=5", "board_w=" + "9" * 5000),
        "width-empty": URL.replace("board_w=5", "board_w="),
        "width-negative": URL.replace("board_w=5", "board_w=-5"),
        "height-word": URL.replace("board_h=5", "board_h=five"),
        "300x300": URL.replace("board_w=5&board_h=5", "board_w=300&board_h=300"),
        "other-shape": URL.replace("board_w=5&board_h=5", "board_w=25&board_h=1"),
        "edges-twice": URL + "&board_edges=abcd",
        "no-parameters": "https://e2.bucas.name/",
        "empty-cell-with-a-piece": URL.replace(edges[1], "aaaa" + edges[1][4:]),
    }.items():
        yield Case(f"url-{name}-as-file", url.encode(), True)
        yield Case(f"url-{name}-as-argument", lambda _, url=url: url, True)  # type: ignore[misc]
