"""Isomorphism of sets of pieces: equality up to a renaming of colours (Jolivet 2008, 5.1).

Invariants are compared first; then the paper's reduction to graph isomorphism is decided: by refined
labels where they leave one renaming, which they do on nearly all puzzles, else by networkx.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exact.building import Check, unlimited
from instances.puzzle import GREY, canonical, rotate
from lns_support.errors import InputError
from lns_support.optional_deps import require

if TYPE_CHECKING:
    import networkx

Quad = Sequence[int]


def find_renaming(
    first: Iterable[Quad], second: Iterable[Quad], *, keep_grey: bool = True, check: Check = unlimited
) -> dict[int, int] | None:
    """A renaming of colours that turns one set of pieces into another; pieces may be rotated.

    Parameters
    ----------
    first, second : iterable of 4 int
        Multisets of pieces: colours up, right, down, left.
    keep_grey : bool
        Grey (0) is not renamed.
    check : callable
        Called between the steps, hundreds of times a second or more while nodes of the graphs are tried. What it
        raises ends the search.

    Returns
    -------
    dict of int to int, or None
        New colour by colour of ``first``; None if the sets are not isomorphic.

    Raises
    ------
    InputError
        If networkx is not installed.

    References
    ----------
    Jolivet 2008, section 5.1 and figure 8.
    """
    first_quads, second_quads = ([tuple(map(int, quad)) for quad in quads] for quads in (first, second))
    if invariants(first_quads, keep_grey=keep_grey) != invariants(second_quads, keep_grey=keep_grey):
        return None
    require("graph", "isomorphism of sets of pieces")
    from networkx.algorithms.isomorphism import DiGraphMatcher

    first_graph = graph_of(first_quads, keep_grey=keep_grey)
    second_graph = graph_of(second_quads, keep_grey=keep_grey)
    if not _refine(first_graph, second_graph, check):
        return None
    forced = _forced_renaming(first_graph, second_graph)
    if forced is not None:
        return forced if _renames(forced, first_quads, second_quads) else None

    def labels_match(a: dict[str, Any], b: dict[str, Any]) -> bool:
        check()
        return bool(a["label"] == b["label"])

    matcher = DiGraphMatcher(first_graph, second_graph, node_match=labels_match)
    if not matcher.is_isomorphic():
        return None
    renaming = {a[1]: b[1] for a, b in matcher.mapping.items() if a[0] == "colour"}
    if not _renames(renaming, first_quads, second_quads):
        raise RuntimeError("the renaming found does not turn one set of pieces into the other")
    return renaming


def _forced_renaming(left: networkx.DiGraph[Any], right: networkx.DiGraph[Any]) -> dict[int, int] | None:
    """The only renaming that refined labels leave; None if two colours have the same label."""
    of_label: list[dict[Any, int]] = []
    for graph in (left, right):
        colours = {node[1]: label for node, label in graph.nodes(data="label") if node[0] == "colour"}
        of_label.append({label: colour for colour, label in colours.items()})
        if len(of_label[-1]) < len(colours):
            return None
    return {colour: of_label[1][label] for label, colour in of_label[0].items()}


def _renames(renaming: dict[int, int], first: Sequence[Quad], second: Sequence[Quad]) -> bool:
    """Whether a renaming turns one set of pieces into the other."""
    renamed = Counter(canonical([renaming[colour] for colour in quad]) for quad in first)
    return renamed == Counter(map(canonical, second))


def invariants(quads: Sequence[Quad], *, keep_grey: bool = True) -> tuple[Any, ...]:
    """Properties that no renaming changes: patterns of equal sides, and for each colour its positions in the pieces."""
    patterns = Counter(pattern(quad, keep_grey=keep_grey) for quad in quads)
    of_colour: dict[int, Counter[tuple[Any, ...]]] = {}
    for quad in quads:
        for colour in set(quad):
            around = min(
                tuple((side == colour, keep_grey and side == GREY) for side in rotate(quad, turn)) for turn in range(4)
            )
            own = (around, pattern(quad, keep_grey=keep_grey))
            of_colour.setdefault(colour, Counter())[own] += 1
    return (
        len(quads),
        sorted(patterns.items()),
        sorted((keep_grey and colour == GREY, sorted(count.items())) for colour, count in of_colour.items()),
    )


def pattern(quad: Quad, *, keep_grey: bool = True) -> tuple[int, ...]:
    """The pattern of equal sides of a piece, up to rotation: (1, 2, 1, 2) for alternating colours; 0 is grey."""
    patterns = []
    for turn in range(4):
        turned = rotate(quad, turn)
        numbers: dict[int, int] = {GREY: 0} if keep_grey else {}
        patterns.append(tuple(numbers.setdefault(colour, len(numbers) + (not keep_grey)) for colour in turned))
    return min(patterns)


def graph_of(quads: Sequence[Quad], *, keep_grey: bool = True) -> networkx.DiGraph[Any]:
    """The graph of a set of pieces (figure 8): each piece is a directed square whose corners point to their colours.

    The squares are directed because pieces cannot be turned over. A node of its own identifies each piece.
    """
    import networkx

    graph: networkx.DiGraph[Any] = networkx.DiGraph()
    for colour in sorted({int(colour) for quad in quads for colour in quad}):
        graph.add_node(("colour", colour), label="grey" if keep_grey and colour == GREY else "colour")
    for piece, quad in enumerate(quads):
        graph.add_node(("piece", piece), label="piece")
        for side, colour in enumerate(quad):
            graph.add_node(("side", piece, side), label="side")
            graph.add_edge(("piece", piece), ("side", piece, side))
            graph.add_edge(("side", piece, side), ("side", piece, (side + 1) % 4))
            graph.add_edge(("side", piece, side), ("colour", int(colour)))
    return graph


def _refine(left: networkx.DiGraph[Any], right: networkx.DiGraph[Any], check: Check) -> bool:
    """Colour refinement of both graphs: nodes with different neighbourhoods get different labels.

    False if the labels do not occur equally often. Afterwards the search for the isomorphism has few nodes to try.
    """
    count = -1
    while True:
        check()
        number: dict[Any, int] = {}
        refined = [
            {
                node: (
                    graph.nodes[node]["label"],
                    tuple(sorted(str(graph.nodes[other]["label"]) for other in graph.successors(node))),
                    tuple(sorted(str(graph.nodes[other]["label"]) for other in graph.predecessors(node))),
                )
                for node in graph
            }
            for graph in (left, right)
        ]
        for graph, labels in zip((left, right), refined, strict=True):
            for node, label in labels.items():
                graph.nodes[node]["label"] = number.setdefault(label, len(number))
        counts = [Counter(label for _, label in graph.nodes(data="label")) for graph in (left, right)]
        if counts[0] != counts[1]:
            return False
        if len(number) == count:
            return True
        count = len(number)


MARK, FILLER, FIRST_NODE = 0, 1, 2


def pieces_of_graph(adjacency: Mapping[str, Iterable[str]]) -> list[tuple[int, int, int, int]]:
    """The inverse reduction (figure 7): an undirected graph as pieces; its nodes are the colours from 2, in order.

    A piece is (MARK, node, neighbour, FILLER), and a node without neighbours has FILLER in their place. With two
    neighbours on a piece, as in the paper, the answer depends on their order and on which are paired, so each piece
    here names one. Two graphs are isomorphic just when `find_renaming` finds a renaming of their pieces with
    ``keep_grey``, which keeps MARK.

    Parameters
    ----------
    adjacency : mapping of str to iterable of str
        The neighbours of each node.

    Returns
    -------
    list of (int, int, int, int)
    """
    number = {node: index for index, node in enumerate(adjacency, FIRST_NODE)}
    pieces = []
    for node, neighbours in adjacency.items():
        around = [number[other] for other in neighbours]
        pieces += [(MARK, number[node], other, FILLER) for other in around or [FILLER]]
    return pieces


def graph_of_pieces(pieces: Iterable[Quad]) -> dict[int, list[int]]:
    """Decode pieces of `pieces_of_graph`: the neighbours of each node, by colour. The pieces may be rotated.

    Raises
    ------
    InputError
        If a piece is not of that form, or a node has a neighbour that does not name it.
    """
    neighbours: dict[int, list[int]] = {}
    for piece in pieces:
        quad = tuple(map(int, piece))
        turned = [turn for turn in (rotate(quad, k) for k in range(4)) if turn[0] == MARK and turn[3] == FILLER]
        if quad.count(MARK) != 1 or not turned or turned[0][1] < FIRST_NODE:
            raise InputError(f"the piece {quad} encodes no node of a graph; expected mark 0, node, neighbour, filler 1")
        _, node, other, _ = turned[0]
        neighbours.setdefault(node, [])
        if other >= FIRST_NODE:
            neighbours[node].append(other)
    for node, others in neighbours.items():
        for other in others:
            if node not in neighbours.get(other, ()):
                raise InputError(f"node {node} has the neighbour {other}, which does not name it; expected both pieces")
    return neighbours
