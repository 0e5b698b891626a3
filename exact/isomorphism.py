"""Are two sets of pieces equal up to a renaming of colours? (Jolivet 2008, seed 003, 5.1)

Cheap invariants first; then the seed's reduction to graph isomorphism, decided by networkx. Grey is not renamed unless
asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from instances.puzzle import GREY, canonical, rotate
from lns_support.optional_deps import require

if TYPE_CHECKING:
    import networkx

Quad = Sequence[int]


def find_renaming(first: Iterable[Quad], second: Iterable[Quad], *, keep_grey: bool = True) -> dict[int, int] | None:
    """Colour -> colour such that ``first`` renamed is ``second``, pieces turned freely; None when there is none.

    Both are multisets of quads (up, right, down, left). With ``keep_grey`` 0 becomes 0. Raises InputError without
    networkx.
    """
    one, two = [tuple(map(int, quad)) for quad in first], [tuple(map(int, quad)) for quad in second]
    if invariants(one, keep_grey=keep_grey) != invariants(two, keep_grey=keep_grey):
        return None
    require("graph", "isomorphism of sets of pieces")
    from networkx.algorithms.isomorphism import DiGraphMatcher, categorical_node_match

    left, right = graph_of(one, keep_grey=keep_grey), graph_of(two, keep_grey=keep_grey)
    if not _refine(left, right):
        return None
    matcher = DiGraphMatcher(left, right, node_match=categorical_node_match("kind", None))
    if not matcher.is_isomorphic():
        return None
    found = {a[1]: b[1] for a, b in matcher.mapping.items() if a[0] == "colour"}
    renamed = Counter(canonical([found[colour] for colour in quad]) for quad in one)
    if renamed != Counter(map(canonical, two)):
        raise RuntimeError("the renaming found does not turn one set of pieces into the other")
    return found


def invariants(quads: Sequence[Quad], *, keep_grey: bool = True) -> tuple[Any, ...]:
    """What no renaming changes: patterns of equal sides, and for each colour how it lies in its pieces."""
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
    """Which sides of a piece are equal, up to rotation: (1, 2, 1, 2) for two colours that alternate, 0 = grey."""
    seen = []
    for turn in range(4):
        turned = rotate(quad, turn)
        numbers: dict[int, int] = {GREY: 0} if keep_grey else {}
        seen.append(tuple(numbers.setdefault(colour, len(numbers) + (not keep_grey)) for colour in turned))
    return min(seen)


def graph_of(quads: Sequence[Quad], *, keep_grey: bool = True) -> networkx.DiGraph[Any]:
    """The seed's figure 8: each piece a directed square whose four corners point to their colours.

    Directed cycles keep pieces from being turned over. A piece also has a node of its own, which keeps equal pieces
    apart.
    """
    import networkx

    graph: networkx.DiGraph[Any] = networkx.DiGraph()
    for colour in sorted({int(colour) for quad in quads for colour in quad}):
        graph.add_node(("colour", colour), kind="grey" if keep_grey and colour == GREY else "colour")
    for piece, quad in enumerate(quads):
        graph.add_node(("piece", piece), kind="piece")
        for side, colour in enumerate(quad):
            graph.add_node(("side", piece, side), kind="side")
            graph.add_edge(("piece", piece), ("side", piece, side))
            graph.add_edge(("side", piece, side), ("side", piece, (side + 1) % 4))
            graph.add_edge(("side", piece, side), ("colour", int(colour)))
    return graph


def _refine(left: networkx.DiGraph[Any], right: networkx.DiGraph[Any]) -> bool:
    """Colour refinement of both graphs at once: nodes that differ in what surrounds them get different kinds.

    False when the kinds do not occur equally often. It leaves the search for the isomorphism next to nothing to try.
    """
    kinds = -1
    while True:
        number: dict[Any, int] = {}
        refined = [
            {
                node: (
                    graph.nodes[node]["kind"],
                    tuple(sorted(str(graph.nodes[other]["kind"]) for other in graph.successors(node))),
                    tuple(sorted(str(graph.nodes[other]["kind"]) for other in graph.predecessors(node))),
                )
                for node in graph
            }
            for graph in (left, right)
        ]
        for graph, labels in zip((left, right), refined, strict=True):
            for node, label in labels.items():
                graph.nodes[node]["kind"] = number.setdefault(label, len(number))
        counts = [Counter(kind for _, kind in graph.nodes(data="kind")) for graph in (left, right)]
        if counts[0] != counts[1]:
            return False
        if len(number) == kinds:
            return True
        kinds = len(number)
