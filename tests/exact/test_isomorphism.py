"""Sets of pieces up to a renaming of colours (Jolivet 2008, 5.1)."""

import itertools
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lns.cli.main import main
from lns.instances.errors import InputError
from lns.instances.formats import write
from lns.instances.generate import like_e2
from lns.instances.piece_set import PieceList, Quad, find_renaming, graph_of_pieces, pieces_of_graph
from lns.instances.puzzle import Puzzle, canonical, rotate

networkx = pytest.importorskip("networkx")


def renaming_of(first: Sequence[Quad], second: Sequence[Quad], **options: Any) -> dict[int, int] | None:
    return find_renaming(PieceList(first), PieceList(second), **options)


def renamed_and_shuffled(quads: list[list[int]], seed: int) -> list[list[int]]:
    """Colours renamed (grey kept), pieces shuffled and turned."""
    random = np.random.default_rng(seed)
    colours = sorted({c for quad in quads for c in quad} - {0})
    names = dict(zip(colours, (random.permutation(len(colours)) + 1).tolist(), strict=True)) | {0: 0}
    turned = [list(rotate([names[c] for c in quad], int(random.integers(4)))) for quad in quads]
    return [turned[i] for i in random.permutation(len(turned))]


@pytest.mark.parametrize("turns", [True, False])
@pytest.mark.parametrize("keep_grey", [True, False])
def test_against_all_renamings(turns: bool, keep_grey: bool) -> None:
    """A renaming takes mates to mates and rim to rim, and keeps the copies; grey may be renamed or not."""
    random, found = np.random.default_rng(2), Counter[bool]()
    least = int(keep_grey)  # of the colours that may be renamed
    every = [[*range(least), *to] for to in itertools.permutations(range(least, 5))]
    for seed in range(160):
        quads = random.integers(0, 5, (3, 4)).tolist()
        order, pairs = (random.permutation(4) + 1).tolist(), int(random.integers(3))
        mates = [(order[2 * at], order[2 * at + 1]) for at in range(pairs)]
        rim, copies = int(random.integers(5)) * (keep_grey and seed % 3 > 0), random.integers(0, 3, 3).tolist()
        names = every[random.integers(len(every))]
        other = [[names[colour] for colour in quad] for quad in quads]
        renamed = [(names[one], names[two]) for one, two in mates]
        one = PieceList(quads, copies, mates, rim, turns)
        match seed % 5:
            case 1:
                renamed = [(one, names[order[3]]) for one, _ in renamed[:1]]
            case 2:
                copies = [*copies[1:], copies[0]]
            case 3:
                other[0][0] = int(random.integers(5))
        rim = int(random.integers(5)) * keep_grey if seed % 5 == 4 else names[rim] * keep_grey
        shown = [(rotate(quad, int(random.integers(4)) * turns), copies[at]) for at, quad in enumerate(other)]
        two = PieceList(*zip(*shown[::-1], strict=True), renamed, rim, turns)  # type: ignore[arg-type]
        renaming = find_renaming(one, two, keep_grey=keep_grey)
        exists = any(is_renaming(one, two, to, turns=turns) for to in every)
        assert (renaming is not None) == exists, seed
        if renaming is not None:
            assert is_renaming(one, two, [renaming.get(colour, 0) for colour in range(5)], turns=turns), seed
        found[renaming is None] += 1
    assert min(found.values()) > 40, found
    assert renaming_of([[0, 1, 1, 1]], [[2, 1, 1, 1]]) is None
    assert renaming_of([[0, 1, 1, 1]], [[2, 1, 1, 1]], keep_grey=False) == {0: 2, 1: 1}


def is_renaming(one: PieceList, two: PieceList, to: Sequence[int], *, turns: bool) -> bool:
    looks = canonical if turns else tuple
    pieces, expected = (
        Counter(
            (looks([names[colour] for colour in quad]), most) for quad, most in zip(of.quads, of.copies, strict=True)
        )
        for of, names in ((one, to), (two, range(5)))
    )
    mate, other = ({a: b for pair in each.mates for a, b in (pair, pair[::-1])} for each in (one, two))
    used = {colour for quad in one.quads for colour in quad} | {one.rim} - {0}
    mates = all(to[mate.get(colour, colour)] == other.get(to[colour], to[colour]) for colour in used)
    rims = to[one.rim] == two.rim if one.rim else not two.rim
    return rims and mates and pieces == expected


def test_the_command_tries_the_mirror_image(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    puzzle = like_e2(5, 5, seed=3).puzzle
    other = renamed_and_shuffled([[a, d, c, b] for a, b, c, d in puzzle.pieces.tolist()], 1)
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    write(first, None, puzzle, None)
    second.write_text(json.dumps({"schema": 1, "width": 5, "height": 5, "pieces": other}))
    assert main(["exact", "isomorphic", str(first), str(second), "--json"]) == 1  # as pieces they differ
    answer = json.loads(capsys.readouterr().out)
    assert (answer["isomorphic"], answer["mirrored"]) == (False, True)
    moved = dict(map(tuple, answer["moved_pieces"]))
    for number, quad in enumerate(puzzle.pieces.tolist(), start=1):
        up, right, down, left = (answer["renaming"][str(colour)] for colour in quad)
        assert canonical([up, left, down, right]) == canonical(other[moved.get(number, number) - 1])
    assert main(["exact", "isomorphic", str(first), str(second)]) == 1
    assert "are mirror images" in capsys.readouterr().out
    assert main(["exact", "isomorphic", str(first), str(first), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mirrored"] is False


def test_graphs_as_pieces() -> None:
    """Two graphs are isomorphic just when their pieces are."""
    graphs = [networkx.gnp_random_graph(6, 0.5, seed=seed) for seed in range(8)]
    graphs += [networkx.relabel_nodes(graph, dict(enumerate([3, 1, 5, 0, 2, 4]))) for graph in graphs[:3]]
    adjacency = [{str(node): [str(other) for other in graph[node]] for node in sorted(graph)} for graph in graphs]
    pieces = [pieces_of_graph(each) for each in adjacency]
    for a, b in itertools.combinations(range(len(graphs)), 2):
        assert (renaming_of(pieces[a], pieces[b]) is not None) == networkx.is_isomorphic(graphs[a], graphs[b])


def test_a_graph_is_read_back_from_its_rotated_pieces() -> None:
    adjacency = {"a": ["b", "c"], "b": ["a"], "c": ["a"], "alone": []}
    pieces = [rotate(piece, at % 4) for at, piece in enumerate(pieces_of_graph(adjacency))]
    assert graph_of_pieces(reversed(pieces)) == {2: [4, 3], 3: [2], 4: [2], 5: []}
    for wrong in ((2, 3, 4, 5), (0, 1, 2, 3), (0, 2, 0, 1)):
        with pytest.raises(InputError, match="encodes no node of a graph"):
            graph_of_pieces([wrong])


def test_the_largest_board_is_decided_by_refinement_alone() -> None:
    refinements = []
    quads = like_e2(64, 64, seed=1).puzzle.pieces.tolist()
    other = renamed_and_shuffled(quads, 1)
    renaming = renaming_of(quads, other, check=lambda: refinements.append(1))
    assert renaming is not None and len(renaming) == 91 and len(refinements) == 1
    assert Counter(canonical([renaming[c] for c in quad]) for quad in quads) == Counter(map(canonical, other))
    at = next(i for i in range(1, len(other)) if set(other[i]).isdisjoint(other[0]))
    other[0][0], other[at][0] = other[at][0], other[0][0]  # each colour as often as before
    assert renaming_of(quads, other) is None


@pytest.mark.parametrize("side", [4, 64])
def test_the_time_of_the_command_ends_it(side: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Colours that may all be exchanged: refined labels leave many renamings, and nodes must be tried."""
    quads = [[1 + side * row + column] * 4 for row in range(side) for column in range(side)]
    puzzle = Puzzle(np.array(quads), side, side, framed=False)
    write(tmp_path / "p.json", None, puzzle, None)
    command = ["exact", "isomorphic", str(tmp_path / "p.json"), str(tmp_path / "p.json"), "--time", "1"]
    began = time.monotonic()
    status = main(command)
    assert time.monotonic() - began < 20.0  # the machine may be busy
    assert status == (0 if side == 4 else 2)
    assert side == 4 or "undecided after 1 s" in capsys.readouterr().err


def test_pieces_that_may_not_be_turned_are_compared_unturned(tmp_path: Path) -> None:
    for name, first in (("a", [1, 2, 3, 4]), ("b", [2, 3, 4, 1])):
        puzzle = Puzzle(np.array([first, [5, 4, 6, 2]]), 2, 1, framed=False, turns=False)
        write(tmp_path / f"{name}.json", None, puzzle, None)
    a, b = str(tmp_path / "a.json"), str(tmp_path / "b.json")
    assert main(["exact", "isomorphic", a, a]) == 0
    assert main(["exact", "isomorphic", a, b]) == 1  # the same if they were turned
