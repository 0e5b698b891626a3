"""Hundreds of malformed files and URLs, each with what its error message must say."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lns.instances.formats import FORMATS, best_json, render, viewer_url
from lns.instances.generate import other_rules
from lns.instances.puzzle import Clue, Puzzle
from tests.instances.small_puzzles import planted

PUZZLE, BOARD = planted(8, 5, 5, 6, clues=2)
BARE = PUZZLE.with_clues([])
URL = viewer_url(PUZZLE, BOARD)
BEST = best_json(PUZZLE, BOARD, instance="p.json", seed=1, elapsed_s=2.5)
UNUSED = ("max_score", "seed", "elapsed_s", "set_sha256", "numbering")  # fields that say nothing of the board
RULES = {"holes": [], "framed": True, "turns": True, "mates": [], "rim": 0, "copies": []}  # the usual ones
HOLDS_BOARD = [name for name, format in FORMATS.items() if format.holds == "board"]
TETRAVEX = other_rules("tetravex", 5, 5, 8, seed=8)


def text_in(name: str) -> str:
    """The puzzle or its board in a format; a Tetravex for the formats that carry no other puzzle."""
    puzzle, board = (TETRAVEX.puzzle, TETRAVEX.solution) if "tetravex" in name else (PUZZLE, BOARD)
    return render(name, puzzle, board if name in HOLDS_BOARD else None)[0]


TEXTS = {name: text_in(name) for name in FORMATS}


@dataclass(frozen=True)
class Case:
    """One source: the bytes of a file, or a URL. The error must name ``line``, if any, and contain ``says``."""

    name: str
    content: bytes | str
    board: bool = False
    line: int | None = None
    says: str = "expected"


def cases() -> Iterator[Case]:
    for name in ("json", "solution", "url"):
        yield from undecodable_files(name, TEXTS[name])
    for name, text in TEXTS.items():
        yield from cut_files(name, text)
    for name in ("benoist", "quads", "e2pieces", "csv16", "solution"):
        yield from broken_lines(name, TEXTS[name])
    yield from broken_pictures()
    yield from broken_headers()
    yield from broken_clues()
    yield from shapes()
    yield from broken_json("json", json.loads(TEXTS["json"]) | RULES)
    yield from broken_json("best", {name: value for name, value in BEST.items() if name not in UNUSED})
    yield from broken_best()
    yield from broken_urls()


def undecodable_files(name: str, text: str) -> Iterator[Case]:
    board, data = name in HOLDS_BOARD, text.encode()
    half = len(data) // 2
    yield Case(f"{name}-nul", data[:half] + b"\0" + data[half:], board, data.count(b"\n", 0, half) + 1, "NUL")
    yield Case(f"{name}-utf16-cut", text.encode("utf-16") + b"x", board, says="UTF-16")
    yield Case(f"{name}-utf16-without-mark", text.encode("utf-16-le"), board, 1, "NUL")
    yield Case(f"{name}-latin1", data[:half] + b"\xe9" + data[half:], board, says="0xe9 is not UTF-8")
    yield Case(f"{name}-empty", b"", board, says="the file is empty")
    yield Case(f"{name}-blank", b"\r\n \t\n\n", board, says="the file is empty")
    yield Case(f"{name}-gzip", b"\x1f\x8b\x08\x00" + data, board)


def cut_files(name: str, text: str) -> Iterator[Case]:
    board, data, half = name in HOLDS_BOARD, text.encode(), len(text.encode()) // 2
    if name != "tetravex":  # any number of rows is one
        yield Case(f"{name}-cut-in-half", data[:half].rpartition(b"\n")[0] + b"\n" or data[:half], board)
        again = data[: data.rstrip().rindex(b"\n") + 1] if name == "clues" else data  # which may be said twice
        yield Case(f"{name}-twice", data + again if name != "url" else data.replace(b"board_edges=", b"x="), board)
    if name not in ("best", "quads", "pieces", "clues", "meta", "picture"):  # these are read in another way
        yield Case(f"{name}-first-byte-lost", data[1:] if name != "url" else data.replace(b"e", b"E"), board)


def broken_lines(name: str, text: str) -> Iterator[Case]:
    """One malformed line, in the middle or at the end; the message names the line."""
    board, rows, mark = name in HOLDS_BOARD, text.splitlines(), "," if name == "csv16" else " "
    words = ["-1", "99999999999999", "1.5", "piece", "٣", "1_0", "\x1b[31m", "9" * 5000]
    for at in (len(rows) // 2, len(rows) - 1):
        cells = rows[at].split(mark)
        changed = {word[:20]: mark.join([word, *cells[1:]]) for word in words}
        changed["an entry less"] = mark.join(cells[: 3 if name == "csv16" else -1])
        changed["an entry more"] = mark.join(cells[:5]) if name == "csv16" else rows[at] + " 1"
        for kind, row in changed.items():
            malformed = "\n".join([*rows[:at], row, *rows[at + 1 :]])
            yield Case(f"{name}-{kind!a}-in-line-{at + 1}", malformed.encode(), board, at + 1)
    yield Case(f"{name}-a-line-less", "\n".join(rows[:-1]).encode(), board)
    yield Case(f"{name}-a-line-more", (text + rows[-1] + "\n").encode(), board)
    yield Case(f"{name}-prose-at-the-end", (text + "that is all\n").encode(), board)


def broken_pictures() -> Iterator[Case]:
    rows = TEXTS["picture"].splitlines()
    for at in (7, 14):
        shorter = [*rows[:at], rows[at][:-5], *rows[at + 1 :]]
        yield Case(f"picture-shorter-line-{at + 1}", "\n".join(shorter).encode(), True, at + 1, "expected as above")
    for count in (7, 8):
        yield Case(f"picture-{count}-lines", "\n".join(rows[:count]).encode(), True, count, "within a row")


def broken_headers() -> Iterator[Case]:
    heads = {
        "benoist": ["-1", "0", "x", "1.0", "4000000000", "9" * 6000, "5 5"],
        "quads": ["5 4", "0 0", "0 5", "-5 -5", "300 300", "99999999999999999999 1", "5 x", "4 6", "64 65"],
        "csv16": ["0", "-5", "4", "6", "300", "5.0", "1" * 40],
    }
    for name, words in heads.items():
        rows = TEXTS[name].splitlines()
        for at in range(3 if name == "benoist" else 1):
            for word in words:
                if (name, at, word) not in (("benoist", 0, "x"), ("benoist", 2, "0")):
                    text = "\n".join([*rows[:at], word, *rows[at + 1 :]])
                    yield Case(f"{name}-line-{at + 1}-{word[:12]}", text.encode())
    rows, words16 = TEXTS["benoist"].splitlines(), TEXTS["csv16"]
    yield Case("benoist-fewer-hints-than-said", "\n".join([*rows[:2], "3", *rows[3:]]).encode())
    yield Case("benoist-more-hints-than-said", "\n".join([*rows[:2], "1", *rows[3:]]).encode())
    yield Case("benoist-only-size", b"5\n", line=1, says="the file ends here")
    yield Case("csv16-letters-in-a-word", words16.replace("0000000000000001", "000000000000000b", 1).encode())
    yield Case("csv16-huge-colour", words16.replace("0000000000000001", "1111111111111110").encode())
    yield Case("csv16-hint-2", re.sub(r",1,(\d,\d)\n", r",2,\1\n", words16).encode())
    yield Case("csv16-hint-off-the-board", re.sub(r",1,\d,\d\n", ",1,5,5\n", words16).encode(), says="x of the hint")


def broken_clues() -> Iterator[Case]:
    """Impossible hints and clues in the text of Benoist and in quads; the message names the line."""
    inner = next(c for c, quad in enumerate(BOARD.colours(BARE).tolist()) if 0 not in quad)
    piece, turns = divmod(int(BOARD.placements[inner]), 4)
    row, column = divmod(inner, 5)
    right = f"{row + 1} {column + 1} {piece + 1} {turns + 1}"
    rows = render("benoist", BARE, None)[0].splitlines()
    for name, *hints in [
        ("duplicate", right, right),
        ("a-piece-on-two-cells", right, f"{5 - row} {6 - column} {piece + 1} 1"),
        ("inner-piece-in-the-corner", right, f"1 1 {piece + 1} 1"),
        ("row-0", f"0 1 {piece + 1} 1"),
        ("column-6", f"1 6 {piece + 1} 1"),
        ("piece-26", "3 3 26 1"),
        ("rotation-5", f"3 3 {piece + 1} 5"),
        ("rotation-0", f"3 3 {piece + 1} 0"),
    ]:
        for form, head in (("hint", [*rows[:2], str(len(hints))]), ("clue", [f"5 5 clues {len(hints)}"])):
            text = "\n".join([*head, *hints, *rows[3:]])
            yield Case(f"{form}-{name}", text.encode(), line=len(head) + len(hints))
    fields, one = json.loads(TEXTS["json"]), [inner, piece, turns]
    for clues in ([[25, 0, 0]], [[12, 25, 0]], [[12, 0, 4]], [[1, 2]], [None], [one, one]):
        says = "two clues" if len(clues) > 1 else "expected"
        yield Case(f"json-clue-{clues}", json.dumps(fields | {"clues": clues}).encode(), says=says)
    rows = render("benoist", Puzzle(np.array([[0, 1, 2, 0]] * 4), 2, 2, (Clue(0, 0, 0),)), None)[0].splitlines()
    clash = "\n".join([*rows[:2], "2", rows[3], "1 2 2 2", *rows[4:]])
    yield Case("clue-does-not-match-its-neighbour", clash.encode(), line=5, says="do not match")


def shapes() -> Iterator[Case]:
    misfits = {
        "1x1-with-colours": "1\n4\n0\n1 2 3 4\n",
        "1x4-of-inner-pieces": "1 4\n" + "1 1 1 1\n" * 4,
        "4x1-all-ends": "4 1\n" + "0 0 1 0\n" * 4,
        "all-grey": "3\n1\n0\n" + "0 0 0 0\n" * 9,
        "five-corners": "3\n2\n0\n" + "0 0 1 1\n" * 5 + "0 1 1 1\n" * 3 + "1 1 1 1\n",
    }
    others = {
        "0x0": "0 0\n",
        "0": "0\n0\n0\n",
        "300": "300\n5\n0\n" + "1 1 1 1\n" * 100,
        "300x300": "300 300\n" + "1 1 1 1\n" * 90000,
        "e2-without-square": "0 0 1 1\n" * 7,
        "e2-no-corner-order": "0 0 1 1\n0 1 0 1\n0 1 1 0\n0 0 1 1\n",
        "e2-4225-lines": "1 1 1 1\n" * 4225,
        "poem": "Two roads diverged in a yellow wood\n",
        "html": "<!DOCTYPE html><html></html>\n",
        "many-blank-lines": "\n" * 100_000 + "x\n",
    }
    for name, text in (misfits | others).items():
        yield Case(f"shape-{name}", text.encode(), says="where the board needs" if name in misfits else "expected")


def broken_json(name: str, good: dict[str, Any]) -> Iterator[Case]:
    """Each field missing, and with a value of each wrong type."""
    board, text = name in HOLDS_BOARD, json.dumps(good)
    wrong: list[Any] = [None, True, -1, 1.5, 10**30, "\x1b[2J", [], {}, [[[[]]]], "x" * 300_000]
    allowed = {("best", "instance"): ("\x1b[2J",), ("json", "name"): ("\x1b[2J",), ("json", "clues"): ([],)}
    for field, value in good.items():
        if name == "best" or field not in ("schema", "name", "clues", *RULES):
            without = {key: other for key, other in good.items() if key != field}
            yield Case(f"{name}-without-{field}", json.dumps(without).encode(), board)
        for index, bad in enumerate(wrong):
            if bad not in allowed.get((name, field), ()) and bad != value:
                yield Case(f"{name}-{field}-{index}", json.dumps(good | {field: bad}).encode(), board)
    yield Case(f"{name}-deep", b'{"placements":' * 50_000, board, says="expected")
    yield Case(f"{name}-deep-lists", b'{"placements":' + b"[" * 100_000, board, says="expected")
    yield Case(f"{name}-trailing-comma", text.replace("}", ",}").encode(), board)
    for number in ("9" * 5000, "NaN", "Infinity"):
        yield Case(f"{name}-{number[:9]}", re.sub(r'"width": \d+', f'"width": {number}', text).encode(), board)
    large = json.dumps(good | {"width": 300, "height": 300}).encode()
    yield Case(f"{name}-300x300", large, board, says="expected 1 to 4096 cells")


def broken_best() -> Iterator[Case]:
    entries: tuple[Any, ...] = ([25, 0], [0, 4], [-1, 0], [0], [0, 0, 0], "0", 3, [0.0, 0], [True, 0], [None, None])
    for index, entry in enumerate(entries):
        placements = [*BEST["placements"][:7], entry, *BEST["placements"][8:]]
        yield Case(f"best-cell-{index}", json.dumps(BEST | {"placements": placements}).encode(), True, says="cell 7")
    for fields in ({"width": 1, "height": 25}, {"score": 41}, {"url": "file:///etc/passwd"}):
        yield Case(f"best-{fields}", json.dumps(BEST | fields).encode(), True)
    other = best_json(*planted(9, 5, 5, 6), instance="p.json", seed=1, elapsed_s=1)
    yield Case("best-of-another-puzzle", json.dumps(other).encode(), True, says="expected a board of")


def broken_urls() -> Iterator[Case]:
    edges = URL.partition("board_edges=")[2].partition("&")[0]
    for name, old, new, says in (
        ("short", edges, edges[:-1], "board_edges has 99 letters; expected 100"),
        ("none", edges, "", "has no board_edges"),
        ("upper-case", edges, edges[:12] + "aBca" + edges[16:], "has 'B' on row 0, column 3 (cell 3, from 0)"),
        ("no-pieces-of-it", edges, "abac" * 25, "no piece of"),
        ("unicode", edges, "é" * 100, "expected letters from a to z"),
        ("percent-nonsense", edges, "%zz" * 40, "board_edges has 120 letters"),
        ("percent-nul", edges, "%00" * 100, "expected letters from a to z"),
        ("width-0", "board_w=5", "board_w=0", "board_w is '0'; expected"),
        ("width-huge", "board_w=5", "board_w=" + "9" * 5000, "board_w is '999"),
        ("height-word", "board_h=5", "board_h=five", "board_h is 'five'; expected"),
        ("300x300", "board_w=5&board_h=5", "board_w=300&board_h=300", "expected 1 to 4096 cells"),
        ("other-shape", "board_w=5&board_h=5", "board_w=25&board_h=1", "expected 5 x 5 as in"),
        ("edges-twice", "board_w", "board_edges=abcd&board_w", "'board_edges' is given twice"),
        ("no-edges", URL, "https://e2.bucas.name/#board_edges=", "has no board_edges"),
        ("empty-cell-with-a-piece", edges, "aaaa" + edges[4:], "is empty in board_edges and holds piece"),
    ):
        url = URL.replace(old, new)
        yield Case(f"url-{name}-as-file", url.encode(), True, says=says)
        yield Case(f"url-{name}-as-argument", url, True, says=says)
    yield Case("url-no-parameters", "https://e2.bucas.name/", True, says="no viewer URL here")
    yield Case("url-of-no-puzzle", URL.replace(edges, "abcd" + edges[4:]), says="do not fit a board of 5 x 5")
