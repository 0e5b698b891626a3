"""`lns exact pieces`, `isomorphic`, `graph`, `triples` and `design`: sets of pieces, and problems that they encode."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import TYPE_CHECKING

from lns.instances.errors import InputError
from lns.instances.files import read_text, write_output
from lns.instances.formats import load_board, load_puzzle, render, shipped_instances
from lns.instances.generate import numbers_of, triples_of
from lns.instances.pairing import describe
from lns.instances.piece_set import FIRST_NODE, PieceList, find_renaming, graph_of_pieces, pieces_of_graph, ranked
from lns.instances.puzzle import GREY
from lns.instances.text import count_of, quoted
from lns.instances.verify import verify
from lns.terminal import options as opt
from lns.terminal import output as out
from lns.terminal.progress import live_line

if TYPE_CHECKING:
    from lns.exact.paper.design import Design

MAX_DIGITS = 9  # most digits of a colour in a file of pieces
TREES, MOST_NODES = 1000, 100_000_000  # defaults of --trees and --nodes
_SHOWN = 20  # most pieces that `isomorphic` lists


@opt.command(
    opt.value("puzzle", "PUZZLE", None, "a puzzle file, or the name of a shipped instance"), opt.JSON,
    epilog="Pairs are of colours of inner pieces: beside each other, clockwise, and opposite each other. A block is "
    "2x2 pieces that match; each turn of it counts. Blocks are counted on boards of even width and height without "
    "holes, by what they lie at.",
)  # fmt: skip
def pieces(args: argparse.Namespace) -> int:
    from lns.exact.blocks import Blocks

    puzzle = load_puzzle(args.puzzle).with_clues([])
    inner = puzzle.pieces[(puzzle.pieces != GREY).all(axis=1)].tolist()
    colours = sorted({colour for quad in inner for colour in quad})
    beside = {(quad[side - 1], quad[side]) for quad in inner for side in range(4)}
    across = {(min(pair), max(pair)) for quad in inner for pair in (quad[::2], quad[1::2])}
    absent = {
        "beside": [pair for pair in product(colours, repeat=2) if pair not in beside],
        "opposite": [pair for pair in combinations_with_replacement(colours, 2) if pair not in across],
    }
    lines = describe(puzzle).splitlines()
    for name, pairs in absent.items():
        shown = ", ".join(f"{a}-{b}" for a, b in pairs)
        lines.append(f"pairs       {name}: {len(pairs)} on no inner piece{': ' * bool(pairs)}{shown}")
    blocks: Counter[str] | None = None
    if puzzle.width % 2 == puzzle.height % 2 == len(puzzle.holes) == 0:
        blocks, nowhere = Counter(), "inside" if puzzle.framed or puzzle.rim else "anywhere"
        for (required, _), number in Blocks(puzzle).by_class.items():
            outer = sum(side is not None for sides in required for side in sides)
            blocks[{0: nowhere, 2: "edges"}.get(outer, "corners")] += number
        lines.append("2x2 blocks  " + ", ".join(f"{number:,} {place}" for place, number in blocks.items()))
    out.print_answer(args, {"absent_pairs": absent, "blocks": blocks}, lines)
    return out.DONE


@opt.command(
    opt.value("first", "A", None, "a puzzle file, or the name of a shipped instance"),
    opt.value("second", "B", None, "the puzzle to compare with (default: all shipped instances)", nargs="?"),
    opt.flag("--rename-grey", "allow the border colour, grey, to be renamed too"),
    opt.TIME.but("give up after S seconds, or like 10m (default 60)", default=60.0),
    opt.JSON.but("print one JSON object with the renaming to stdout"),
    epilog="Only the pieces are compared, in any order; if they differ, also with those of B in a mirror. Mates are "
    "renamed to mates, the rim's colour to that of the other rim, and pieces have as many copies. "
    "Exit status: 0 equal, 1 not equal (or equal in a mirror), 2 bad input or undecided in time.",
)  # fmt: skip
def isomorphic(args: argparse.Namespace) -> int:
    deadline = time.monotonic() + args.time

    def check() -> None:
        if time.monotonic() >= deadline:
            raise InputError(f"undecided after {args.time:g} s; expected more time (--time)", args.first)

    puzzle, renaming = load_puzzle(args.first), None
    first = PieceList.of(puzzle)
    names = list(shipped_instances()) if args.second is None else [args.second]
    with live_line(args.time, quiet=args.json) as line:
        for mirrored, name in product((False, True), names):
            other = load_puzzle(name)
            if other.turns != puzzle.turns:
                continue  # sets differ if pieces may be turned in one of them only
            second = PieceList.of(other, mirrored=mirrored)
            line.begin(f"comparing with {name}{' in a mirror' * mirrored}")
            keep_grey = not args.rename_grey
            renaming = find_renaming(first, second, keep_grey=keep_grey, check=check)
            if renaming is not None:
                break
    if renaming is None:
        no = f"{args.first} and {args.second} are different sets of pieces under every renaming of colours"
        if args.second is None:
            no = f"{args.first} is none of the {len(names)} shipped instances, up to a renaming of colours"
        out.print_answer(args, {"isomorphic": False, "mirrored": False, "with": args.second, "renaming": None}, [no])
        return out.ANSWER_IS_NO
    moved = _moved_pieces(first, second, renaming)
    colours = sorted(renaming.items())
    facts = {"isomorphic": not mirrored, "mirrored": mirrored, "with": name}
    facts |= {"renaming": {str(a): b for a, b in colours}, "moved_pieces": moved}
    mirror = "mirror images: with left and right exchanged they are " * mirrored
    shown = ", ".join(f"{a} -> {b}" for a, b in moved[:_SHOWN]) + ", ..." * (len(moved) > _SHOWN)
    lines = [
        f"{args.first} and {name} are {mirror}the same pieces up to this renaming of colours:",
        "  " + ", ".join(f"{a} -> {b}" for a, b in colours),
        f"pieces by number, from 1: {shown or 'all the same'}",
    ]
    out.print_answer(args, facts, lines)
    return out.ANSWER_IS_NO if mirrored else out.DONE


def _moved_pieces(first: PieceList, second: PieceList, renaming: dict[int, int]) -> list[tuple[int, int]]:
    """Return both numbers, from 1, of each piece numbered differently in the two sets.

    Of duplicate pieces as many as possible keep their number.
    """
    numbers: dict[tuple[int, ...], list[int]] = {}
    same = {colour: colour for quad in second.quads for colour in quad}
    for number, form in enumerate(ranked(second, same), start=1):
        numbers.setdefault(form, []).append(number)
    moving = []
    for number, form in enumerate(ranked(first, renaming), start=1):
        if number in numbers[form]:
            numbers[form].remove(number)
        else:
            moving.append((number, form))
    return [(number, numbers[form].pop(0)) for number, form in moving]


@opt.command(
    opt.value("first", "A", Path, "a graph: a line for each edge, two names of nodes"),
    opt.value("second", "B", Path, "a second graph, to be compared with A", nargs="?"),
    opt.OUTPUT.but("write the pieces of A to FILE, four colours a line"),
    opt.flag("--pieces", "A holds such pieces: print the edges of their graph"), opt.FORCE, opt.JSON,
    epilog="A line with one name is a node without edges; # begins a comment. With B the pieces of both graphs are "
    "compared up to a renaming of colours, which is an isomorphism of the graphs.\n"
    "Exit status: 0 done or isomorphic, 1 not isomorphic, 2 bad input.",
)  # fmt: skip
def graph(args: argparse.Namespace) -> int:
    if args.pieces and (args.second is not None or args.output is not None):
        unused = "second file" if args.second is not None else "-o"
        raise InputError(f"--pieces prints the graph of one file of pieces; expected no {unused} with it")
    opt.check_files(args.force, args.output)
    if args.pieces:
        read = _graph_of_pieces(args.first)
        edges = [[node, other] for node, others in sorted(read.items()) for other in sorted(others) if node <= other]
        alone = [str(node) for node in sorted(read) if not read[node]]
        out.print_answer(args, {"nodes": sorted(read), "edges": edges}, [*(f"{a} {b}" for a, b in edges), *alone])
        return out.DONE
    first = _read_graph(args.first)
    pieces = pieces_of_graph(first)
    lines = [" ".join(map(str, piece)) for piece in pieces]
    if args.output is not None:
        write_output(args.output, "".join(f"{line}\n" for line in lines))
        lines = [f"{args.output}: {count_of(len(pieces), 'piece')} of {count_of(len(first), 'node')}"]
    if args.second is None:
        out.print_answer(args, {"nodes": list(first), "pieces": [list(piece) for piece in pieces]}, lines)
        return out.DONE
    second = _read_graph(args.second)
    renaming = find_renaming(PieceList(pieces), PieceList(pieces_of_graph(second)))
    names, answer = None, [f"{args.first} and {args.second} are not isomorphic"]
    if renaming is not None:
        others = list(second)
        names = {node: others[renaming[number] - FIRST_NODE] for number, node in enumerate(first, FIRST_NODE)}
        pairs = ", ".join(f"{a} -> {b}" for a, b in names.items())
        answer = [f"{args.first} and {args.second} are isomorphic:", f"  {pairs}"]
    out.print_answer(args, {"isomorphic": names is not None, "nodes": names}, answer)
    return out.ANSWER_IS_NO if names is None else out.DONE


def _words_of_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Return an iterator of line number, from 1, and words of each line, without comments and empty lines."""
    lines = enumerate(read_text(path).splitlines(), 1)
    return ((number, words) for number, line in lines if (words := line.partition("#")[0].split()))


def _read_graph(path: Path) -> dict[str, list[str]]:
    graph: dict[str, list[str]] = {}
    for number, words in _words_of_lines(path):
        if len(words) > 2 or (len(words) == 2 and words[0] == words[1]):
            shown = quoted(" ".join(words))
            raise InputError(f"{shown}; expected two different nodes, or one alone", path, number)
        for word in words:
            graph.setdefault(word, [])
        if len(words) == 2 and words[1] not in graph[words[0]]:
            graph[words[0]].append(words[1])
            graph[words[1]].append(words[0])
    return graph


def _graph_of_pieces(path: Path) -> dict[int, list[int]]:
    """Return the graph that a file of pieces encodes. Raises InputError that names the file and, if known, the line."""
    line: int | None = None

    def pieces() -> Iterator[tuple[int, ...]]:
        nonlocal line
        for line, words in _words_of_lines(path):  # noqa: B007
            if len(words) != 4 or not all(word.isdecimal() and len(word) <= MAX_DIGITS for word in words):
                raise InputError(f"{quoted(' '.join(words))}; expected the four colours of a piece")
            yield tuple(map(int, words))
        line = None

    try:
        return graph_of_pieces(pieces())
    except InputError as error:
        raise error.at(path, line) from None


@opt.command(
    opt.value("puzzle", "PUZZLE", None, "a puzzle of `lns generate --from-3-partition`"),
    opt.value("board", "BOARD", None, "a perfect board of it, such as from `lns exact solve -o`"), opt.JSON,
    epilog="Each row of bars on the board is a triple; all triples have the same sum.",
)  # fmt: skip
def triples(args: argparse.Namespace) -> int:
    puzzle = load_puzzle(args.puzzle)
    _, board = load_board(args.board, puzzle)
    result = verify(puzzle, board)
    if not result.valid or not result.full or result.score != puzzle.max_score:
        raise InputError("the board is not perfect, so it shows no partition; expected a solution", args.board)
    found = triples_of(puzzle, board, numbers_of(puzzle))
    lines = (" + ".join(map(str, triple)) + f" = {sum(triple)}" for triple in found)
    out.print_answer(args, {"sum": sum(found[0]), "triples": [list(triple) for triple in found]}, lines)
    return out.DONE


@opt.command(
    opt.value("goal", "GOAL", None, "hard (most nodes for each solution) or single (one solution)"),
    opt.value("--width", "W", opt.positive_number, "number of columns", required=True),
    opt.value("--height", "H", opt.positive_number, "number of rows (default: --width)"),
    opt.value("--colours", "K", opt.positive_number, "number of colours", required=True),
    opt.value("--trees", "N", opt.positive_number, f"boards to try (default {TREES})"),
    opt.NODES.but(f"drop larger trees (default {MOST_NODES // 10**6} million)"),
    opt.value("--seed", "S", opt.whole_number, "random seed (default 0)"),
    opt.value("--joints", "TEXT", None, "start from this board, as printed by an earlier search"),
    opt.flag("--every", "try all colourings of a small board (goal single)"),
    opt.OUTPUT.but("write the best puzzle to FILE, as json"), opt.FORCE,
    epilog="""\
The search recolours a few joints of a board at random and keeps what is not worse. Trees are those of the zig-zag, as
in the paper: one corner fixed, identical pieces told apart, the empty board a node. Each better puzzle is printed, with
the colours of its joints as digits; --joints goes on from them, and with --trees 1 only looks at their puzzle.

  lns exact design hard --width 8 --colours 10 --trees 1000 -o hard.json
  lns exact design single --width 5 --colours 4 --trees 5000 -o single.json
  lns exact design single --width 3 --colours 2 --every          all colourings: is there any?

Exit status: 0 found, 1 the goal 'single' was not reached, 2 bad input, 130 interrupted.""",
)  # fmt: skip
def design(args: argparse.Namespace) -> int:
    from lns.exact.paper.design import GOALS, improve, joints_of

    if args.goal not in GOALS:
        raise InputError(f"unknown goal '{args.goal}'; expected {' or '.join(GOALS)}")
    opt.check_files(args.force, args.output)
    height = args.width if args.height is None else args.height
    if args.every:
        return _try_every(args, height)
    trees, nodes = args.trees or TREES, args.nodes or MOST_NODES
    start = None if args.joints is None else joints_of(args.joints)
    best, status = None, out.DONE
    try:
        for best in improve(
            args.width, height, args.colours, args.goal, trees=trees, nodes=nodes, seed=args.seed or 0, start=start
        ):
            out.print_text(_line(best))
    except KeyboardInterrupt:
        status = out.INTERRUPTED
    if best is None:
        out.print_text(f"no tree of {count_of(trees, 'board')} ended within {count_of(nodes, 'node')}")
        return status or out.ANSWER_IS_NO
    _write(args, best)
    return out.ANSWER_IS_NO if status == out.DONE and args.goal == "single" and best.solutions > 1 else status


def _try_every(args: argparse.Namespace, height: int) -> int:
    from lns.exact.paper.design import every_single, joint_count

    total = args.colours ** joint_count(args.width, height)
    if args.goal != "single":
        raise InputError("--every proves what has a single solution; expected the goal single")
    if any(value is not None for value in (args.joints, args.trees, args.nodes, args.seed)):
        raise InputError("--every tries all colourings; expected no --joints, --trees, --nodes or --seed")
    if total > 1 << 24:
        raise InputError(f"{total:,} colourings of a board of {args.width} x {height}; expected at most {1 << 24:,}")
    number, first = every_single(args.width, height, args.colours)
    out.print_text(
        f"{number:,} of {total:,} colourings of {args.width} x {height} have a single solution up to rotation"
    )
    if first is None:
        return out.ANSWER_IS_NO
    out.print_text(_line(first))
    _write(args, first)
    return out.DONE


def _line(design: Design) -> str:
    tree = f"{count_of(design.nodes, 'node')}, {count_of(design.solutions, 'solution')}"
    return f"{tree}, difficulty {design.difficulty:,.0f}: {design.text}"


def _write(args: argparse.Namespace, best: Design) -> None:
    from lns.exact.paper.design import planted

    if args.output is not None:
        puzzle = planted(best.width, best.height, best.joints).puzzle
        write_output(args.output, render("json", puzzle, None, path=args.output)[0])
        out.print_text(f"written     {args.output}")
