"""Random files in the dialects of the field: ``python -m tests.fuzz_formats [ROUNDS [GUESSES [MUTATIONS [SEED]]]]``.

Round trips: a random puzzle and board through every writer that can carry them, read back by name and by content.
Guesses: the same in dialects of other programs, with nothing named; what is read must be what was written, or the
reader must ask. Mutations: damaged copies of the public files in ../shared, or of files of our own where it is absent;
reading must end in a puzzle, a board or one `InputError`, within bounds of time and memory. Lines: one line deleted or
damaged must change what is read, be said in a note or be refused.
"""

import os
import random
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.files import read_text
from lns.instances.formats import FORMATS, load_puzzle, parse, read, read_board, read_puzzle, render, with_clues
from lns.instances.formats.base import Document
from lns.instances.formats.orders import CLOCKWISE, in_order
from lns.instances.generate import other_rules
from lns.instances.puzzle import Clue, Puzzle, canonical
from lns.instances.symmetry import View, puzzle_in_view, rotate_board
from lns.instances.verify import verify
from tests.instances.hostile_files import TEXTS
from tests.instances.small_puzzles import of_any_rules, planted
from tests.instances.test_index import BOARDS, PUZZLES, case, puzzle_of
from tests.shared_data import SHARED

_BY_EVIDENCE = ("cells", "meta-board", "tetravex-board", "picture")  # boards whose convention is found if not named
MAX_SECONDS = 20.0  # of processor time, of one read
MAX_MEMORY = 300 * 2**20
# `str.isdigit` calls a superscript a digit, `int` does not
WORDS = "0|-1|99999999999|4096 4096|1e9|{|[|#|aaaa|\0|$|@|board_edges=|\ufeff|-|null|²|٣|①|1²".encode().split(b"|")
# sentences on what a format leaves out, in the notes of the writer and of the reader
_TOLD = ("left out", "as the clues turn them", "renumbered", "written turned", "is possible too", "names the form")
_TOLD += ("is the other way",)
# -- round trips -------------------------------------------------------------------------------------------------------


def round_trip(seed: int) -> int:
    """Write and read one puzzle and one board in all formats; how many trips. Raises AssertionError for a wrong one."""
    chance = random.Random(seed)
    width, height = chance.randint(2, 9), chance.randint(2, 9)
    height = width if chance.random() < 0.6 else height
    puzzle, solution = of_any_rules(seed, 81, 0.6)
    grey, kind = not puzzle.pieces[: puzzle.piece_count].any(axis=1).all(), chance.random()  # looks like an empty cell
    if kind < 0.2:
        puzzle, solution = other_rules("tetravex", width, height, chance.randint(2, 12), seed)
    elif kind < 0.6 or grey or 1 in (puzzle.width, puzzle.height):  # no text shows the order of the sides of a strip
        puzzle, solution = planted(seed, width, height, chance.randint(2, 24))
    puzzle = puzzle.with_clues(_some_clues(puzzle, solution, chance))
    board = _worse(puzzle, solution, chance, empty=chance.random() < 0.3)
    trips = 0
    for name, option in [(each, option) for each in FORMATS for option in _options(each, chance)]:
        holds_board = FORMATS[name].holds == "board"
        try:
            text, notes = render(name + option, puzzle, board if holds_board else None)
        except InputError:
            continue
        trips += 1
        few = name in ("meta-board", "cells") and puzzle.cells < 9  # may be a legal text of another kind
        for named in (name + option, None)[: 1 if few else 2]:
            try:
                again = parse(text, puzzle=puzzle if holds_board else None, format=named, name="planted")
            except InputError as error:
                assert _may_ask(name, option, named, str(error)), (seed, name, option)
                continue
            if again.board is not None and holds_board:
                turned = named is None and name in _BY_EVIDENCE and puzzle.turns and width == height
                boards = [rotate_board(again.board, turns) for turns in range(4 if turned else 1)]
                assert any(_same_board(puzzle, each, board) for each in boards), (seed, name, option)
            else:
                assert not holds_board and again.puzzle is not None
                told = any(words in note for note in (*notes, *again.notes) for words in _TOLD)
                shown = again.puzzle.with_clues([])
                assert again.puzzle == puzzle or told or _same_pieces(shown, puzzle), (seed, name, option, named)
    return trips


def _may_ask(name: str, option: str, named: str | None, error: str) -> bool:
    """Whether a reader may ask for the convention of a text that a writer made."""
    if FORMATS[name].holds == "puzzle":  # for the order of the sides
        return (named is None and bool(option)) or name == "e2pieces"
    asked = "expected one of them" in error or "by name as" in error
    return asked and (named is None or name == "cells") and name in _BY_EVIDENCE


def _options(name: str, chance: random.Random) -> list[str]:
    order, turns = ":" + "".join(chance.sample(CLOCKWISE, 4)), chance.randrange(4)
    options = {each: [order] for each in ("e2pieces", "quads", "benoist", "pieces")}
    options |= {"url": [":jef", ":jblackwood"], "csv16": [":xyr"], "meta-board": [":urdl"]}
    options |= {"cells": [":base0", f":ccw,bottom,turn{turns}"]}
    return ["", *options.get(name, ())]


def _some_clues(puzzle: Puzzle, solution: Board, chance: random.Random) -> list[Clue]:
    cells = sorted({*range(puzzle.cells)} - {*puzzle.holes})
    cells = chance.sample(cells, min(len(cells), chance.choice([0, 0, 1, 3])))
    return [Clue(cell, *divmod(int(solution.placements[cell]), 4)) for cell in cells]


def _worse(puzzle: Puzzle, solution: Board, chance: random.Random, *, empty: bool) -> Board:
    """The solution with a few inner pieces exchanged, or with cells empty; clues stay."""
    placements = solution.placements.copy()
    kept = {clue.cell for clue in puzzle.clues} | {*puzzle.holes}
    inner = [c for c in range(puzzle.cells) if not any(puzzle.rim_sides(c)) and c not in kept]
    for _ in range(chance.randint(0, len(inner) // 8)):
        a, b = chance.sample(inner, 2) if len(inner) > 1 else (inner[0], inner[0])
        placements[[a, b]] = placements[[b, a]]
    if empty:
        for cell in range(puzzle.cells):
            if chance.random() < 0.4 and cell not in kept:
                placements[cell] = -1
    return Board(placements, puzzle.width, puzzle.height)


def _same_board(puzzle: Puzzle, one: Board, two: Board) -> bool:
    """Whether two boards show the same colours; identical pieces may have exchanged numbers."""
    return np.array_equal(one.colours(puzzle), two.colours(puzzle))


def _same_pieces(one: Puzzle, two: Puzzle) -> bool:
    """Whether two puzzles have the same pieces number by number, up to turns of pieces and one reflection of all."""
    if {one.width, one.height} != {two.width, two.height}:
        return False
    forms = list(map(canonical, two.pieces.tolist()))
    mirrored = puzzle_in_view(one.with_clues([]), View(0, mirrored=True))
    return any(list(map(canonical, each.pieces.tolist())) == forms for each in (one, mirrored))


# -- guesses -----------------------------------------------------------------------------------------------------------


def guess(seed: int) -> str:
    """Write one file in a random dialect and read it without a hint: 'right', 'asked' or 'wrong ...'."""
    chance = random.Random(seed)
    width = chance.choice([4, 5, 6, 6, 7, 8, 10, 12, 16])
    height = width if chance.random() < 0.6 else chance.choice([4, 5, 6, 7, 8])
    puzzle, solution = planted(seed, width, height, chance.randint(4, 22))
    of_pieces = chance.random() < 0.5
    if of_pieces:
        name, text = _piece_dialect(puzzle, chance)
    else:
        board = _worse(puzzle, solution, chance, empty=chance.random() < 0.3)
        name, text = _board_dialect(puzzle, board, chance)
    try:
        found = parse(text, puzzle=None if of_pieces else puzzle, name="planted")
    except InputError as error:
        return f"asked {name}: {error}"
    if of_pieces:
        right = found.puzzle is not None and _same_pieces(found.puzzle, puzzle)
    else:
        assert found.board is not None
        turns = range(4) if width == height else (0, 2)
        right = any(_same_board(puzzle, rotate_board(found.board, turn), board) for turn in turns)
    return "right" if right else f"wrong {name}"


def _piece_dialect(puzzle: Puzzle, chance: random.Random) -> tuple[str, str]:
    order = chance.choice(["urdl", "urdl", "udlr", "ulrd", "dlur", "lurd", "ludr", "rudl"])
    border = chance.choice([0, 0, 0, 0, 65535, int(puzzle.pieces.max()) + 1])
    quads = [[border if c == 0 else c for c in quad] for quad in in_order(puzzle.pieces.tolist(), order)]
    style = chance.choice(["plain", "id", "csv", "idtype", "python", "ini", "letters", "comment"])
    if style == "letters" and (border or puzzle.pieces.max() > 25):
        style = "plain"
    first = chance.choice([0, 1])
    kinds = [2 - min(2, list(quad).count(0)) for quad in puzzle.pieces.tolist()]
    write: dict[str, Callable[[int, list[int]], str]] = {
        "plain": lambda _, q: "  ".join(map(str, q)),
        "id": lambda i, q: f"{i + first} " + " ".join(map(str, q)),
        "csv": lambda _, q: ",".join(map(str, q)),
        "idtype": lambda i, q: f"{i + first},{kinds[i]}," + ",".join(map(str, q)),
        "python": lambda _, q: f"  {q},",
        "ini": lambda i, q: f"{i + 1}=" + "-".join(map(str, q)),
        "letters": lambda i, q: f"- {i + 1} " + "".join(chr(97 + c) for c in q),
        "comment": lambda i, q: " ".join(map(str, q)) + f"  # piece {i}",
    }
    lines = list(map(write[style], range(len(quads)), quads))
    head = chance.choice(["none", "wh", "comment", "hints"])
    size = f"{puzzle.width} {puzzle.height}"
    above = {"wh": [size], "comment": [f"# size: {size.replace(' ', 'x')}"], "hints": ["0"]}.get(head, [])
    if head in ("wh", "hints") and style in ("python", "ini", "letters"):
        above = []
    ending = chance.choice(["\n", "\r\n", "\n\n"])
    return f"pieces {style} {order} {head} border {border}", ending.join([*above, *lines]).replace("\r", "") + "\n"


def _board_dialect(puzzle: Puzzle, board: Board, chance: random.Random) -> tuple[str, str]:
    full, width = None not in board.pairs(), puzzle.width
    base, sense = chance.choice([0, 1]) if full else 1, chance.choice(["cw", "cw", "ccw"])
    end, turn = chance.choice(["top", "top", "bottom"]), chance.choice([0, 0, 0, 1, 2, 3])
    convention = f"cells:base{base},{end},{sense},turn{turn}"
    slash = render(convention, puzzle, board)[0]
    cells = [[*map(int, word.split("/"))] for word in slash.split()]
    shown = board.colours(puzzle).clip(0).reshape(puzzle.height, -1, 4)[:: 1 if end == "top" else -1].tolist()
    letters = [["".join("_abcdefghijklmnopqrstuvwxyz"[c and c + 1] for c in quad) for quad in row] for row in shown]
    styles = {
        "slash": slash,
        "edges": "".join(" ".join(map(str, quad)) + "\n" for row in shown for quad in row),
        "letters": "".join(" ".join(row) + "\n" for row in letters),
        "compass": ":".join(f"{piece}{'NESW'[turns]}" if full or piece else "." for piece, turns in cells),
    }
    styles["compass"] = f"${styles['compass']};\n"
    if full:
        placed = sorted((piece, at % width, at // width, turns) for at, (piece, turns) in enumerate(cells))
        styles["list"] = "".join(f"{piece} {turns}\n" for piece, turns in cells)
        styles["table"] = "".join(" ".join(map(str, row)) + "\n" for row in placed)
        styles["by piece"] = "".join(" ".join(map(str, row[1:])) + "\n" for row in placed)
    style = chance.choice([*styles])
    return f"board {style} {convention} {width}x{puzzle.height}", styles[style]


# -- mutations ---------------------------------------------------------------------------------------------------------


def originals() -> list[bytes]:
    """The public files, or files of our own where they are not there."""
    files = [path for folder in ("cases", "instances") for path in sorted((SHARED / folder).glob("*"))]
    if files:
        return [path.read_bytes() for path in files if path.is_file() and path.stat().st_size < 100_000]
    return [text.encode() for text in TEXTS.values()]


def mutated(data: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """A copy with one to four faults."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.randint(1, 40))
        lines, start, other = data.split(b"\n"), data[:at], chance.choice(others)
        line, long = chance.randrange(len(lines)), chance.choice([100, 20_000])
        old, new = chance.choice([b" ", b"\n", b",", b"a", b"0"]), chance.choice([b"", b"\t", b";", b"1"])
        faulty = [
            start + bytes([chance.randrange(256)]) + data[at + 1 :],
            start + data[end:],
            start + data[at:end] * chance.choice([2, 3, 50]) + data[end:],
            start,
            start + chance.choice(WORDS) + data[end:],
            start + chance.choice([b" ", b"\n", b"(", b"1,", b"a", b"["]) * long + data[at:],
            start + other[chance.randrange(len(other) + 1) :],
            data.replace(old, new),
            b"\n".join(lines[:line] + lines[line + 1 :]),
            b"\n".join(lines[: line + 1] + lines[line:]),
            b"\n".join(chance.sample(lines, len(lines))),
        ]
        data = chance.choice(faulty)[:400_000]
    return data


def mutation(data: bytes, path: Path, puzzle: Puzzle) -> str:
    """Read one damaged file in every way; 'read' or 'refused'. Raises whatever is no InputError."""
    path.write_bytes(data)
    outcome = "refused"
    readings: tuple[Callable[[str], Document], ...] = (
        *(read, partial(read_board, puzzle=puzzle), partial(read_puzzle, format="pieces")),
        partial(with_clues, Document("", puzzle, None)),
    )
    for reading in readings:
        began = time.process_time()
        try:
            document = reading(str(path))
            outcome = "read"
            if document.puzzle is not None and document.board is not None:
                verify(document.puzzle, document.board)
        except InputError as error:
            assert len(str(error)) < 3000, str(error)[:200]
        seconds = time.process_time() - began
        assert seconds < MAX_SECONDS, f"{seconds:.0f} s"
    return outcome


# -- no line vanishes --------------------------------------------------------------------------------------------------


def vanished(seed: int) -> str:
    """Delete or damage one line of a public file or of a random dialect: '' if the reader notices, else what vanished.

    The result must be another one, a note must name the line as left out, or the file must be refused.
    """
    chance = random.Random(seed)
    text, puzzle = _some_text(chance)
    lines, before = text.split("\n"), _outcome(text, puzzle)
    at = chance.randrange(len(lines))
    code = re.sub(r"(?<!\S)(#|//).*|^\s*[;%c]\s.*", "", lines[at])
    if before is None or "only the first" in str(before[-1]) or not re.search(r"\w", code):
        return ""
    digits = [place for place, letter in enumerate(code) if letter.isdigit()]
    if ("board_edges" in text and not digits) or chance.random() < 0.5:
        changed = lines[:at] + lines[at + 1 :]
    elif "board_edges" in lines[at]:  # what stands around the letters may change
        return ""
    else:
        place = chance.choice(digits or [place for place, letter in enumerate(code) if letter.isalnum()])
        letter = chance.choice([other for other in ("1235678" if digits else "xyz") if other != code[place]])
        changed = [*lines[:at], code[:place] + letter + lines[at][place + 1 :], *lines[at + 1 :]]
    after = _outcome("\n".join(changed), puzzle)
    if after is None or after != before or at + 1 in _named_lines(before[-1]):
        return ""
    key = re.match(r'\s*"(\w+)"', code)  # of JSON
    if key and re.search(rf"left out: [^;]*\b{key[1]}\b[^;]* of the JSON", str(before[-1])):
        return ""
    return f"line {at + 1}, {lines[at][:60]!r}, of {text[:60]!r}"


def _some_text(chance: random.Random) -> tuple[str, Puzzle | None]:
    """A public file, with its puzzle where it needs one, or a file of our own."""
    if (SHARED / "cases").is_dir() and chance.random() < 0.5:
        name, mate = chance.choice([row[1:3] if row in BOARDS else (row[1], None) for row in (*PUZZLES, *BOARDS)])
        return read_text(Path(case(name))), puzzle_of(mate)
    size = chance.choice([4, 5, 6, 8])
    puzzle, solution = planted(chance.randrange(10**6), size, chance.choice([size, 4, 7]), chance.randint(4, 22))
    if chance.random() < 0.5:
        return _piece_dialect(puzzle, chance)[1], None
    return _board_dialect(puzzle, _worse(puzzle, solution, chance, empty=chance.random() < 0.3), chance)[1], puzzle


def _outcome(text: str, puzzle: Puzzle | None) -> tuple[object, ...] | None:
    """What is read, as values to compare, with the notes as the last; None if it is refused, or its puzzle missing."""
    try:
        found = parse(text, puzzle=puzzle)
    except InputError:
        return None
    if found.puzzle is None:
        return None
    board = None if found.board is None else found.board.placements.tolist()
    return found.puzzle, found.puzzle.clues, board, "; ".join(found.notes)


def _named_lines(notes: object) -> set[int]:
    named = re.findall("left out: lines? ([0-9, -]+)", str(notes))
    spans = [span.split("-") for lines in named for span in lines.split(", ")]
    return {line for span in spans for line in range(int(span[0]), int(span[-1]) + 1)}


# -- the report --------------------------------------------------------------------------------------------------------


def main(rounds: int, guesses: int, mutations: int, seed: int) -> int:
    """Run all four and print their figures; the number of wrong readings."""
    first = seed * 1_000_003
    trips = sum(map(round_trip, range(first, first + rounds)))
    print(f"{rounds} puzzles and boards, {trips} round trips: all equal, or told what is left out", flush=True)
    outcomes = {number: guess(number) for number in range(first, first + guesses)}
    told = Counter(outcome.partition(" ")[0] for outcome in outcomes.values())
    asked = Counter(re.sub("[0-9]+", "N", text)[:110] for text in outcomes.values() if text.startswith("asked"))
    wrong = [f"  seed {number}: {text}" for number, text in outcomes.items() if text.startswith("wrong")]
    wrong += [f"  seed {number}: {what}" for number in range(seed, seed + mutations) if (what := vanished(number))]
    print(*(f"  {count} {outcome}" for outcome, count in asked.most_common(12)), *wrong[:20], sep="\n")
    print(f"{guesses} random dialects: {told['right']} right, {told['asked']} asked, {told['wrong']} wrong")
    print(f"{mutations} lines deleted or damaged: {len(wrong) - told['wrong']} vanish", flush=True)
    files, chance, puzzle = originals(), random.Random(seed), load_puzzle("like-e2-16x16")
    path = Path(tempfile.gettempdir()) / f"lns-damaged-{os.getpid()}.txt"  # is left there if it cannot be read
    ended = Counter(mutation(mutated(chance.choice(files), files, chance), path, puzzle) for _ in range(mutations))
    path.unlink(missing_ok=True)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{mutations} damaged files: {ended['read']} read, {ended['refused']} refused; {memory / 2**20:.0f} MB")
    assert memory < MAX_MEMORY
    return len(wrong)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]] + [1000, 10_000, 100_000, 1][len(sys.argv) - 1 :]
    sys.exit(main(*numbers) > 0)
