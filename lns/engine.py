"""What all engines share: `Engine`, the boards that they return, and their statistics.

An engine searches in steps. Budgets are nodes, not seconds, so a search does not depend on the speed of the machine.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lns import node_equivalents
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.json_values import bounded_integer
from lns.instances.puzzle import IntArray, Puzzle
from lns.instances.text import printable, quoted
from lns.instances.verify import verify

State = dict[str, npt.NDArray[np.generic]]
"""State of an engine as flat arrays by name: the content of checkpoints, and what travels between processes.

Names, dtypes and shapes are those of a new engine's state, except that an array that is empty there may have any length
along its first axis. A state may come from an untrusted file: ``restore`` raises InputError for values that would make
a kernel fail.
"""

MAX_SAVED_COUNTER = 2**62  # what a session adds to a saved counter then still fits 64 bits
MAX_OPERATORS = 256
MAX_OPERATOR_NAME = 40


def saved_counters(saved: npt.ArrayLike) -> list[int]:
    """Counters of a saved state as Python integers; InputError if one is negative or above MAX_SAVED_COUNTER."""
    values = np.asarray(saved, dtype=np.int64).ravel()
    wrong = values[(values < 0) | (values > MAX_SAVED_COUNTER)]
    if len(wrong):
        raise InputError(f"checkpoint: counter {wrong[0]} out of range; expected 0 to 2**62")
    return [int(value) for value in values]


def saved_record(saved: npt.ArrayLike, shape: tuple[int, ...], what: str) -> npt.NDArray[np.float64]:
    """Costs and gains of a saved state, as a copy; ``what`` names them in messages.

    Raises
    ------
    InputError
        They have another shape, or a value is negative, not finite or above 1e18.
    """
    values = np.array(saved, dtype=np.float64)
    if values.shape != shape:
        raise InputError(f"checkpoint: {what} of shape {values.shape}; expected {shape}")
    if not ((values >= 0) & (values <= 1e18)).all():  # false for NaN too
        raise InputError(f"checkpoint: {what} out of range; expected 0 to 1e18")
    return values


class FoundBoard(NamedTuple):
    """A full legal board that a search found."""

    board: Board
    score: int  # matched inner edges
    origin: str  # the part of the engine that made it, such as "construct", "tabu" or the name of an operator


def verified_board(puzzle: Puzzle, board: Board, origin: str) -> FoundBoard:
    """The board with the score that the independent verifier counts; ``origin`` names what made it.

    Raises
    ------
    AssertionError
        The board is not full or breaks a rule: an error of the program.
    """
    verdict = verify(puzzle, board)
    if not verdict.complete:
        raise AssertionError(f"{origin} returned an illegal board: {'; '.join(verdict.problems) or 'not full'}")
    return FoundBoard(board, verdict.score, origin)


def check_found(puzzle: Puzzle, found_board: FoundBoard) -> None:
    """Verify a found board; AssertionError as by `verified_board`, or if it has another score than it says."""
    board, score, origin = found_board
    if (verified := verified_board(puzzle, board, origin).score) != score:
        raise AssertionError(f"{origin} returned score {score} for a board of score {verified}")


def legal_score(puzzle: Puzzle, board: Board) -> int:
    """The verified score of a saved board; InputError if it is not full or breaks a rule."""
    verdict = verify(puzzle, board)
    if not verdict.complete:
        raise InputError("checkpoint: a saved board is not full, breaks the rim or a clue, or has a piece twice")
    return verdict.score


def saved_board(
    puzzle: Puzzle, placements: npt.NDArray[np.generic], score: int | None = None
) -> tuple[Board | None, int]:
    """A board of a saved state, and its verified score; (None, -1) if there was none.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of the state.
    placements : array (cells,) or (0,)
        Placements of the board, of length 0 without a board.
    score : int, optional
        The score that the state says.

    Raises
    ------
    InputError
        The board is not full or breaks a rule, or has another score than ``score``.
    """
    board = Board(placements.astype(np.int32), puzzle.width, puzzle.height) if len(placements) else None
    verified = -1 if board is None else legal_score(puzzle, board)
    if score is not None and score != verified:
        raise InputError(f"checkpoint: saved score {score}, but the saved board scores {verified}")
    return board, verified


def saved_placements(board: Board | None) -> IntArray:
    """Placements of a board of a state, as `saved_board` reads them; of length 0 without a board."""
    return np.zeros(0, dtype=np.int32) if board is None else board.placements


@dataclass
class Statistics:
    """What a search did, counted in the kernels. Statistics of several islands are added with ``+``.

    Attributes
    ----------
    nodes : int
        Placements of the constructor.
    prefixes : int
        Prefixes of the constructor that reached the exact tail.
    tail_nodes : int
        Placements of those tails.
    beam_nodes : int
        Children examined by beams, and placements of their tails.
    beam_prefixes : int
        Prefixes of beams that reached the exact tail.
    arms : int
        Quota configurations whose pieces were measured by populations.
    colour_sets : int
        Sets of favoured colours whose quotas were computed, counted for each view.
    boards : int
        Full boards found.
    moves : int
        Tabu moves evaluated.
    operators : dict of str to int
        Placements of each operator that frees a part of a board, or their equivalent in time.
    new_boards, found_later : dict of str to int
        Boards that each operator found first, of the wanted score or better than what they were made from, and how
        many of them the construction found later.
    failures : dict of str to int
        Operators that were switched off because they failed, and on how many islands.
    certificate : dict of str to (int, int, int)
        Windows around the damage of the best boards by their shape: the score of the boards, how many windows are
        proven to have no better refill, and how many there are.
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
        """Placements of all parts; tabu moves evaluated if nothing was placed. The count behind `rate`."""
        return self._placed or self.moves

    @property
    def unit(self) -> str:
        """Unit of `placements`: "nodes" or "moves"."""
        return "nodes" if self._placed or not self.moves else "moves"

    @property
    def _placed(self) -> int:
        return self.nodes + self.tail_nodes + self.beam_nodes + sum(self.operators.values())

    def node_equivalents_by_part(self) -> dict[str, int]:
        """Cost of each part in node equivalents, by the name that its boards carry as their origin.

        One node equivalent takes as long as one placement of the constructor.
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
        """Cost of all parts together, in node equivalents."""
        return sum(self.node_equivalents_by_part().values())

    def counts(self) -> dict[str, int]:
        """All counters by name; those of operators as "operator NAME"."""
        own = {name: int(getattr(self, name)) for name in _COUNTERS}
        return own | {f"operator {name}": nodes for name, nodes in self.operators.items()}

    def to_json(self) -> dict[str, Any]:
        """The counters as a JSON object, for checkpoints and status.json."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: object) -> Statistics:
        """Read what `to_json` wrote; a counter that is absent is 0.

        Raises
        ------
        InputError
            ``values`` is no object, a counter is out of range, or there are too many operators.
        """
        values_ = values if isinstance(values, dict) else {"operators": None}
        counters: dict[str, Any] = {name: _count(values_.get(name, 0), name) for name in _COUNTERS}
        statistics = cls(**counters)
        for name in _BY_OPERATOR:
            counts = {operator: _count(count, name) for operator, count in _by_name(values_, name).items()}
            setattr(statistics, name, counts)
        for shape, counts in _by_name(values_, "certificate").items():
            if not isinstance(counts, list | tuple) or len(counts) != 3:
                raise InputError("'statistics': 'certificate': expected three counters for each shape")
            score, proven, windows = (_count(count, "certificate") for count in counts)
            statistics.certificate[shape] = score, proven, windows
        return statistics

    def summary(self, seconds: float) -> str:
        """One line on what was done in ``seconds`` seconds of search."""
        parts = (
            (self.nodes / 1e6, "M nodes"),
            (self.beam_nodes / 1e6, "M nodes of beams"),
            (self.prefixes + self.beam_prefixes, "prefixes finished exactly"),
            (sum(self.operators.values()) / 1e6, "M nodes in regions"),
            (self.moves / 1e6, "M tabu moves evaluated"),
        )
        return ", ".join([*(f"{count:,.0f} {what}" for count, what in parts if count), self.rate(seconds)])

    def certificate_of(self, score: int) -> dict[str, dict[str, int]]:
        """For JSON: how many windows around the damage of boards of this score are proven, by shape."""
        return {
            shape: {"proven": proven, "windows": windows}
            for shape, (best, proven, windows) in self.certificate.items()
            if best == score
        }

    def certificate_in_words(self, score: int) -> str:
        """What is proven of the windows around the damage of boards of this score; "" if nothing was asked."""
        parts = []
        for shape, of in self.certificate_of(score).items():
            left = of["windows"] - of["proven"]
            parts.append(f"{left} of {of['windows']} windows of {shape} are open" if left else f"none of {shape}")
        return f"refills around the damage that are better: {', '.join(parts)}" if parts else ""

    def rate(self, seconds: float) -> str:
        """Placements or moves a second, of all workers together, as text."""
        return f"{self.placements / max(seconds, 1e-9) / 1e6:.1f} M {self.unit}/s"


def _by_name(values: dict[str, Any], name: str) -> dict[str, Any]:
    """An object whose fields are named as operators or shapes."""
    found = values.get(name, {})
    if not isinstance(found, dict) or len(found) > MAX_OPERATORS:
        raise InputError(f"'statistics': expected an object of counters with at most {MAX_OPERATORS} {name}")
    for key in found:
        if len(key) > MAX_OPERATOR_NAME:
            raise InputError(f"'statistics': operator {quoted(key)}; expected at most {MAX_OPERATOR_NAME} letters")
    return {printable(key): value for key, value in found.items()}


def _count(value: object, name: str) -> int:
    return bounded_integer(value, 0, 2**63 - 1, f"'statistics': '{name}'")


_BY_OPERATOR = ("operators", "new_boards", "found_later", "failures")
_COUNTERS = tuple(spec.name for spec in fields(Statistics) if spec.name not in (*_BY_OPERATOR, "certificate"))


class Engine:
    """A search of one island: its best board, and the boards found since the last call of `pop_boards`.

    Every board that an engine returns has passed `verified_board`. The same seed and the same number of steps give the
    same boards, and an engine restored from a state continues exactly as the one that it was taken from.

    Parameters
    ----------
    origin : str
        `origin` before the first board, and after `restore`.

    Attributes
    ----------
    best : Board or None
        Best full legal board so far; None before the first.
    best_score : int
        Its score; -1 before the first board.
    origin : str
        The part that made it, or "elsewhere" for an injected one.
    boards : int
        Boards found so far.
    """

    def __init__(self, origin: str = "") -> None:
        self.best: Board | None = None
        self.best_score = -1
        self.origin = origin
        self.boards = 0
        self._found_boards: list[FoundBoard] = []

    @property
    def statistics(self) -> Statistics:
        """What was done so far."""
        raise NotImplementedError

    def step(self, target: int, *, wanted: int = 0) -> None:
        """Search a little: tens of milliseconds, or one beam, counted in nodes or moves.

        Parameters
        ----------
        target : int
            Score at which a tabu search stops; other engines look for ``wanted``.
        wanted : int
            The score that is looked for, as if a board of one edge less were known. 0: one edge more than the best.
        """
        raise NotImplementedError

    def state(self) -> State:
        """Everything that a new engine needs to continue this search."""
        raise NotImplementedError

    def restore(self, state: State) -> None:
        """Continue from a state. Raises InputError if it does not fit the puzzle or the parameters."""
        raise NotImplementedError

    def report(self, found_board: FoundBoard) -> None:
        """Count a board and keep it for `pop_boards`; it is the best one from now on if its score is the highest."""
        self.boards += 1
        self._found_boards.append(found_board)
        self.take_if_best(found_board)

    def take_if_best(self, found_board: FoundBoard) -> None:
        if found_board.score > self.best_score:
            self.best, self.best_score, self.origin = found_board

    def inject_incumbent(self, board: Board, score: int) -> None:
        """Take over a full legal board of a verified score that was found elsewhere, if it is better."""
        self.take_if_best(FoundBoard(board, score, "elsewhere"))

    def pop_boards(self) -> list[FoundBoard]:
        """The boards found since the last call, in the order of discovery; injected boards are not among them."""
        found_boards, self._found_boards = self._found_boards, []
        return found_boards
