"""Graphs as sets of pieces, and back (Jolivet 2008, figure 7).

Two graphs are isomorphic just when `lns.instances.piece_set.find_renaming` finds a renaming of their pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lns.instances.errors import InputError
from lns.instances.puzzle import rotate

Quad = Sequence[int]
MARK, FILLER, FIRST_NODE = 0, 1, 2


def pieces_of_graph(adjacency: Mapping[str, Iterable[str]]) -> list[tuple[int, int, int, int]]:
    """The inverse reduction (figure 7): an undirected graph as pieces; its nodes are the colours from 2, in order.

    A piece is (MARK, node, neighbour, FILLER), and a node without neighbours has FILLER in their place. With two
    neighbours on a piece, as in the paper, the answer depends on their order and on which are paired, so each piece
    here names one. Two graphs are isomorphic just when `find_renaming` finds a renaming of their pieces with
    ``keep_grey``, which keeps MARK. ``adjacency`` has the neighbours of each node.
    """
    number = {node: index for index, node in enumerate(adjacency, FIRST_NODE)}
    pieces = []
    for node, neighbours in adjacency.items():
        around = [number[other] for other in neighbours]
        pieces += [(MARK, number[node], other, FILLER) for other in around or [FILLER]]
    return pieces


def graph_of_pieces(pieces: Iterable[Quad]) -> dict[int, list[int]]:
    """Decode pieces of `pieces_of_graph`: the neighbours of each node, by colour. The pieces may be rotated.

    Raises InputError if a piece is not of that form, or a node has a neighbour that does not name it.
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
