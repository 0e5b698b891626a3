"""`lns exact graph` and `lns exact triples`: the reductions of Jolivet 2008 (sections 3 and 5.1), there and back."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from lns.terminal.options import check_files
from lns.terminal.output import print_text
from lns_support.text import count_of, quoted

MAX_DIGITS = 9  # of a colour
Adjacency = dict[str, list[str]]


def add_graph_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", type=Path, metavar="A", help="a graph: a line for each edge, two names of nodes")
    parser.add_argument("second", type=Path, nargs="?", metavar="B", help="a second graph, to be compared with A")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the pieces of A to FILE, four colours a line")
    parser.add_argument("--pieces", action="store_true", help="A holds such pieces: print the edges of their graph")
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    parser.add_argument("--json", action="store_true", help="print one JSON object to stdout")
    parser.epilog = (
        "A line with one name is a node without edges; # begins a comment. With B the pieces of both graphs are\n"
        "compared up to a renaming of colours, which is an isomorphism of the graphs.\n"
        "Exit status: 0 done or isomorphic, 1 not isomorphic, 2 bad input."
    )


def run_graph(args: argparse.Namespace) -> int:
    from exact.isomorphism import FIRST_NODE, pieces_of_graph
    from instances.piece_set import find_renaming
    from lns.terminal.output import ANSWER_IS_NO, DONE, print_json
    from lns_support.errors import InputError
    from lns_support.files import write_output

    if args.pieces and (args.second is not None or args.output is not None):
        unused = "second file" if args.second is not None else "-o"
        raise InputError(f"--pieces prints the graph of one file of pieces; expected no {unused} with it")
    check_files(args.force, args.output)
    if args.pieces:
        read = _graph_of_pieces(args.first)
        edges = [[node, other] for node, others in sorted(read.items()) for other in sorted(others) if node <= other]
        if args.json:
            print_json({"nodes": sorted(read), "edges": edges})
        else:
            print_text(
                *(f"{a} {b}" for a, b in edges), *(str(node) for node in sorted(read) if not read[node]), sep="\n"
            )
        return DONE
    first = _read_graph(args.first)
    pieces = pieces_of_graph(first)
    text = "".join(" ".join(map(str, piece)) + "\n" for piece in pieces)
    if args.output is not None:
        write_output(args.output, text)
    if args.second is None:
        if args.json:
            print_json({"nodes": list(first), "pieces": [list(piece) for piece in pieces]})
        elif args.output is None:
            print_text(text, end="")
        else:
            print_text(f"{args.output}: {count_of(len(pieces), 'piece')} of {count_of(len(first), 'node')}")
        return DONE
    second = _read_graph(args.second)
    renaming = find_renaming(pieces, pieces_of_graph(second))
    names = None
    if renaming is not None:
        others = list(second)
        names = {node: others[renaming[number] - FIRST_NODE] for number, node in enumerate(first, FIRST_NODE)}
    if args.json:
        print_json({"isomorphic": names is not None, "nodes": names})
    elif names is None:
        print_text(f"{args.first} and {args.second} are not isomorphic")
    else:
        print_text(f"{args.first} and {args.second} are isomorphic:")
        print_text("  " + ", ".join(f"{a} -> {b}" for a, b in names.items()))
    return ANSWER_IS_NO if names is None else DONE


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """The words of each line of a file, with the line's number; empty lines and comments left out."""
    from lns_support.files import read_text

    text = read_text(path)
    lines = ((number, line.partition("#")[0].split()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, words) for number, words in lines if words]


def _read_graph(path: Path) -> Adjacency:
    from lns_support.errors import InputError

    graph: Adjacency = {}
    for number, words in _lines(path):
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
    """The graph that a file of pieces encodes. Raises InputError that names the file, and the line if there is one."""
    from exact.isomorphism import graph_of_pieces
    from lns_support.errors import InputError

    line: int | None = None

    def pieces() -> Iterator[tuple[int, ...]]:
        nonlocal line
        for line, piece in _read_pieces(path):  # noqa: B007
            yield piece
        line = None

    try:
        return graph_of_pieces(pieces())
    except InputError as error:
        raise error.at(path, line) from None


def _read_pieces(path: Path) -> list[tuple[int, tuple[int, ...]]]:
    """The pieces of a file, with their lines."""
    from lns_support.errors import InputError

    pieces = []
    for number, words in _lines(path):
        if len(words) != 4 or not all(word.isdecimal() and len(word) <= MAX_DIGITS for word in words):
            shown = quoted(" ".join(words))
            raise InputError(f"{shown}; expected the four colours of a piece", path, number)
        pieces.append((number, tuple(int(word) for word in words)))
    return pieces


def add_triples_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("puzzle", metavar="PUZZLE", help="a puzzle of `lns generate --from-3-partition`")
    parser.add_argument("board", metavar="BOARD", help="a perfect board of it, such as from `lns exact solve -o`")
    parser.add_argument("--json", action="store_true", help="print one JSON object to stdout")
    parser.epilog = "Each row of bars on the board is a triple; all triples have the same sum."


def run_triples(args: argparse.Namespace) -> int:
    from instances.formats import load_board, load_puzzle
    from instances.generate.three_partition import numbers_of, triples_of
    from instances.verify import verify
    from lns.terminal.output import DONE, print_json
    from lns_support.errors import InputError

    puzzle = load_puzzle(args.puzzle)
    _, board = load_board(args.board, puzzle)
    result = verify(puzzle, board)
    if not result.valid or not result.full or result.score != puzzle.max_score:
        raise InputError("the board is not perfect, so it shows no partition; expected a solution", args.board)
    triples = triples_of(puzzle, board, numbers_of(puzzle))
    if args.json:
        print_json({"sum": sum(triples[0]), "triples": [list(triple) for triple in triples]})
    else:
        print_text(*(" + ".join(map(str, triple)) + f" = {sum(triple)}" for triple in triples), sep="\n")
    return DONE
