"""Results and state of a search: boards, statistics, and the state that is saved in checkpoints."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns import node_equivalents
from lns.instances.board import Board
from lns.instances.puzzle import IntArray, Puzzle
from lns.instances.verify import verify

State = dict[str, npt.NDArray[np.generic]]
"""State of an engine as arrays by name, as it is saved in checkpoints and sent between processes.

Names, dtypes and shapes are the same as in the state of a new engine, but arrays that are empty in a new engine may
have any length along the first axis. ``restore`` does not check the arrays: checkpoints are protected by a digest.
"""


def pack(state: State) -> bytes:
    """Return a state as the content of a compressed ``.npz`` file; equal states give equal bytes.

    When packed, the large tables of a search shrink to about a hundredth of their size.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in state.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, np.asarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def unpack(data: bytes) -> State:
    """Return the state that `pack` packed."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return dict(arrays)


def joined(parts: dict[str, State]) -> State:
    """Return one state that holds the states of several parts of an engine; `component` extracts a part again."""
    return {f"{part}.{name}": value for part, state in parts.items() for name, value in state.items()}


def component(state: State, part: str) -> State:
    """Return the state of the part named ``part`` from a state made by `joined`."""
    start = f"{part}."
    return {name.removeprefix(start): value for name, value in state.items() if name.startswith(start)}


class Saved:
    """Base of classes whose state is the attributes named in `SAVED`: numbers, flags and arrays of constant shape."""

    SAVED: tuple[str, ...] = ()

    def state(self) -> State:
        """Return copies of the saved attributes, from which a new object of the class can continue."""
        return {name: np.array(getattr(self, name)) for name in self.SAVED}

    def restore(self, state: State) -> None:
        """Set the saved attributes to those in ``state``."""
        for name in self.SAVED:
            before = getattr(self, name)
            if isinstance(before, np.ndarray):
                before[...] = state[name]
            else:
                setattr(self, name, type(before)(state[name].item()))


class FoundBoard(NamedTuple):
    """A full legal board that a search found."""

    board: Board
    score: int  # number of matched inner edges
    origin: str  # the part of the engine that made it, such as "construct", "tabu" or the name of an operator


def verified_board(puzzle: Puzzle, board: Board, origin: str, said: int | None = None) -> FoundBoard:
    """Return the board with the score that `verify` counts; ``origin`` names the part of the engine that made it.

    Raises
    ------
    AssertionError
        The board is not full, breaks a rule or has another score than ``said``: the part that made it has an error.
    """
    verdict = verify(puzzle, board)
    if not verdict.complete:
        raise AssertionError(f"{origin} returned an illegal board: {'; '.join(verdict.problems) or 'not full'}")
    if said not in (None, verdict.score):
        raise AssertionError(f"{origin} returned score {said} for a board of score {verdict.score}")
    return FoundBoard(board, verdict.score, origin)


def saved_board(puzzle: Puzzle, placements: npt.NDArray[np.generic]) -> Board | None:
    """Return the board with these ``placements``, int (cells,), from a saved state; None if their length is 0."""
    return Board(placements.astype(np.int32), puzzle.width, puzzle.height) if len(placements) else None


def saved_placements(board: Board | None) -> IntArray:
    """Return the placements of a board for `saved_board`; an array of length 0 if ``board`` is None."""
    return np.zeros(0, dtype=np.int32) if board is None else board.placements


@dataclass
class Statistics:
    """Counts of the work that a search has done. Statistics of several islands are added with ``+``.

    Attributes
    ----------
    nodes : int
        Placements of the constructor.
    prefixes : int
        Prefixes of the constructor that reached the exact tail.
    tail_nodes : int
        Placements of the exact tails of the constructor.
    beam_nodes : int
        Children examined by beams, and placements of the beams' exact tails.
    beam_prefixes : int
        Prefixes of beams that reached the exact tail.
    arms : int
        Arms (quota configurations) for which populations measured the numbers of children of prefixes.
    colour_sets : int
        Sets of favoured colours whose quota profile was computed; a set counts once for each view.
    boards : int
        Full boards found that reached the wanted score or ``search_floor``, or beat all earlier boards.
    moves : int
        Tabu moves evaluated.
    card_nodes, card_lanes : int
        Placements on a graphics card, which cost no node equivalents, and the number of lanes that made them.
    card_turns, card_capacity : int
        Turns of lanes (`lns.gpu.lanes`) that had work, and all turns of lanes, both summed over lanes and launches.
    operators : dict of str to int
        For each operator that frees a part of a board: its work, converted into placements in fixed cell orders.
    new_boards, found_later : dict of str to int
        For each operator, how many boards it found first that had the wanted score or beat the board that it changed,
        and how many of these boards the construction found later.
    failures : dict of str to int
        For each operator, and for "gpu" (the card): number of islands on which it failed and was switched off.
    certificate : dict of str to (int, int, int)
        For each shape of windows around the damage of the best boards: the score of the boards, the number of windows
        that are proven to have no better refill, and the number of all windows.
    """

    nodes: int = 0
    prefixes: int = 0
    tail_nodes: int = 0
    beam_nodes: int = 0
    beam_prefixes: int = 0
    arms: int = 0
    colour_sets: int = 0
    boards: int = 0
    moves: int = 0
    card_nodes: int = 0
    card_lanes: int = 0
    card_turns: int = 0
    card_capacity: int = 0
    operators: dict[str, int] = field(default_factory=dict)
    new_boards: dict[str, int] = field(default_factory=dict)
    found_later: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    certificate: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    def __add__(self, other: Statistics) -> Statistics:
        total = Statistics(**{name: getattr(self, name) + getattr(other, name) for name in _COUNTERS})
        for name in _BY_OPERATOR:
            counts = Counter(getattr(self, name))
            counts.update(getattr(other, name))
            setattr(total, name, dict(counts))
        for shape in self.certificate | other.certificate:
            one, two = (of.certificate.get(shape, (-1, 0, 0)) for of in (self, other))
            both = (one[0], one[1] + two[1], one[2] + two[2])
            total.certificate[shape] = both if one[0] == two[0] else max(one, two)
        return total

    @property
    def placements(self) -> int:
        """Number of placements of all parts of the engine but the card; if there are none, of tabu moves evaluated."""
        return self._placed or self.moves

    @property
    def unit(self) -> str:
        """Unit of `placements`: "nodes" or "moves"."""
        return "nodes" if self._placed or not self.moves else "moves"

    @property
    def _placed(self) -> int:
        return self.nodes + self.tail_nodes + self.beam_nodes + sum(self.operators.values())

    def node_equivalents_by_part(self) -> dict[str, int]:
        """Return the cost of each part of the engine in node equivalents, by the part's name (origin of its boards).

        One node equivalent takes as long as one placement of the constructor. Parts that cost nothing are left out.
        """
        parts = {
            "construct": self.nodes + node_equivalents.exact_tails(self.prefixes, self.tail_nodes),
            "beam": self.beam_nodes * node_equivalents.BEAM_CHILD + node_equivalents.exact_tails(self.beam_prefixes, 0),
            "tabu": self.moves * node_equivalents.TABU_MOVE,
        }
        for name, nodes in self.operators.items():
            parts[name] = parts.get(name, 0) + nodes * node_equivalents.REGION_NODE
        return {name: int(nodes) for name, nodes in parts.items() if nodes}

    @property
    def node_equivalents(self) -> int:
        """Cost of all parts of the engine together, in node equivalents."""
        return sum(self.node_equivalents_by_part().values())

    def counts(self) -> dict[str, int]:
        """Return, by name, the counts that are single numbers, and those in `operators` as "operator NAME"."""
        own = {name: int(getattr(self, name)) for name in _COUNTERS}
        return own | {f"operator {name}": nodes for name, nodes in self.operators.items()}

    def summary(self, seconds: float) -> str:
        """Return one line on the work done in ``seconds`` seconds of search."""
        parts = (
            (self.nodes / 1e6, "M nodes"),
            (self.beam_nodes / 1e6, "M nodes of beams"),
            (self.prefixes + self.beam_prefixes, "prefixes finished exactly"),
            (sum(self.operators.values()) / 1e6, "M nodes in regions"),
            (self.moves / 1e6, "M tabu moves evaluated"),
        )
        made = [f"{count:,.0f} {what}" for count, what in parts if count]
        return ", ".join(filter(None, [*made, self.rate(seconds), self.card_in_words(seconds)]))

    def card_in_words(self, seconds: float) -> str:
        """Return the work of the graphics card in ``seconds`` seconds as text; "" if it did none."""
        if not self.card_nodes:
            return ""
        share = self.card_turns / max(1, self.card_capacity)
        rate = self.card_nodes / max(seconds, 1e-9) / 1e6
        return f"card {rate:,.1f} M nodes/s by {self.card_lanes:,} lanes, {share:.0%} of them at work"

    def certificate_of(self, score: int) -> dict[str, dict[str, int]]:
        """Return, by shape, how many windows are around the damage of boards of ``score``, and how many are proven."""
        return {
            shape: {"proven": proven, "windows": windows}
            for shape, (best, proven, windows) in self.certificate.items()
            if best == score
        }

    def certificate_in_words(self, score: int) -> str:
        """Say, by shape, how many windows around the damage of boards of ``score`` are unproven; "" without windows."""
        parts = []
        for shape, of in self.certificate_of(score).items():
            left = of["windows"] - of["proven"]
            parts.append(f"{left} of {of['windows']} windows of {shape} are open" if left else f"none of {shape}")
        return f"refills around the damage that are better: {', '.join(parts)}" if parts else ""

    def rate(self, seconds: float) -> str:
        """Return as text how many placements or moves all workers made per second, in ``seconds`` of search."""
        return f"{self.placements / max(seconds, 1e-9) / 1e6:.1f} M {self.unit}/s"


_BY_OPERATOR = ("operators", "new_boards", "found_later", "failures")
_COUNTERS = tuple(spec.name for spec in fields(Statistics) if spec.name not in (*_BY_OPERATOR, "certificate"))
