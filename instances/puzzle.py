"""The puzzle (pieces, board shape, clues and rules): an immutable value that is checked once, when it is made.

In the whole project, the colours of a piece are listed in the order up, right, down, left; a rotation is a number of
clockwise quarter turns; an oriented piece is ``piece * 4 + rotation``; a cell is ``row * width + column``; pieces, rows
and columns count from 0. Colour 0 is grey: the colour of the frame, and of all sides towards a hole.

A hole is a cell that is no part of the board. Inside the program it has a *blank* piece, grey on all sides, which never
moves; blanks are numbered after the other pieces. So arrays with an entry for each cell have ``width * height``
entries, and so have arrays with an entry for each piece, unless pieces have copies.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from lns.instances.arguments import checked_class
from lns.instances.errors import InputError
from lns.instances.layout import Layout, Sides
from lns.instances.records import RichDisplay
from lns.instances.text import count_of

UP, RIGHT, DOWN, LEFT = range(4)
GREY = 0
_RULES = ("holes", "framed", "turns", "mates", "rim", "copies")
MAX_CELLS = 4096
MAX_COLOUR = 4096

IntArray = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]
_Scalar = TypeVar("_Scalar", bound=np.generic)


@checked_class
@dataclass(frozen=True, order=True)
class Clue:
    """A piece that must lie on a given cell in a given rotation.

    Parameters
    ----------
    cell : int
        Where the piece must lie, ``row * width + column``.
    piece : int
        The piece, counted from 0.
    rotation : int
        Clockwise quarter turns of the piece, 0 to 3.
    """

    cell: int
    piece: int
    rotation: int

    @property
    def oriented(self) -> int:
        """The oriented piece, ``piece * 4 + rotation``."""
        return self.piece * 4 + self.rotation


def rotate(quad: Sequence[int], rotation: int) -> tuple[int, int, int, int]:
    """Return the colours up, right, down, left of a piece after ``rotation`` quarter turns, clockwise if positive."""
    first = -rotation % 4
    up, right, down, left = (*map(int, quad), *map(int, quad))[first : first + 4]
    return up, right, down, left


def canonical(quad: Sequence[int]) -> tuple[int, int, int, int]:
    """Return the smallest of the four tuples of sides that the rotations of a piece give.

    Two pieces, or two patterns of grey sides, give the same tuple if and only if one is a rotation of the other.
    """
    up, right, down, left = map(int, quad)
    return min((up, right, down, left), (right, down, left, up), (down, left, up, right), (left, up, right, down))


@checked_class
@dataclass(frozen=True, eq=False, repr=False)
class Puzzle(Layout, RichDisplay):
    """An immutable edge-matching puzzle on a rectangular board, which may have holes.

    Two puzzles are equal if they have the same shape, pieces, clues and rules; names do not count.

    Parameters
    ----------
    pieces : array_like of int, shape (width * height - holes, 4)
        Colours up, right, down, left of each piece; 0 is grey. Stored as a read-only int32 array whose last rows are
        the blanks of the holes; the blanks may be given too.
    width, height : int
        Number of columns and rows.
    clues : tuple of Clue, optional
        Pieces that must lie on given cells. Stored in order of cells.
    name : str, optional
        What messages and pictures call the puzzle.
    holes : tuple of int, optional
        Cells that are no part of the board; all sides towards a hole are grey. Stored in ascending order.
    framed : bool, optional
        Whether the sides along the outer edge of the board are grey. If False, none of these sides is; see ``rim``.
    turns : bool, optional
        Whether pieces may be turned; False for Tetravex.
    mates : tuple of (int, int), optional
        Pairs of colours that match each other and not themselves, as the halves of a picture do in Scramble Squares.
        A colour without a mate matches itself. Stored in ascending order, the smaller of two mates first.
    rim : int, optional
        The colour of all sides along the outer edge of a board without frame; inner sides may have it too, as in
        MacMahon's squares. 0 if the sides along the outer edge may have any colour but grey.
    copies : tuple of int, optional
        How often each piece may lie on the board, 0 for any number, as for Wang tiles; () for once each. If pieces may
        be left over, they must all differ, and the board has no holes. If no piece can be left over, as there are as
        many copies as cells that are no holes, each copy becomes a piece of its own: `pieces` lists all copies, the
        clues of a piece name the copies in turn, and `copies` is ().
    names : tuple of str, optional
        The names of colours 0, 1, ... in the text that the puzzle was read from; () if it had numbers. Not compared.

    Raises
    ------
    InputError
        If the shape is not from 1 to 4096 cells, the number of pieces is not the number of cells, a colour is out of
        range or has two mates, the grey sides of the pieces do not fit the board, a framed board has a rim colour,
        the copies are too few or of identical pieces, or the clues contradict each other or the board.
    """

    pieces: IntArray
    width: int
    height: int
    clues: tuple[Clue, ...] = ()
    name: str = "puzzle"
    holes: tuple[int, ...] = ()
    framed: bool = True
    turns: bool = True
    mates: tuple[tuple[int, int], ...] = ()
    rim: int = GREY
    copies: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        fields = vars(self)  # a dict through which the frozen attributes can be set
        check_shape(self.width, self.height)
        fields["holes"] = tuple(sorted(map(int, self.holes)))
        self._check_holes()
        pieces = np.asarray(self.pieces)
        if pieces.ndim != 2 or pieces.shape[1] != 4:
            raise InputError(f"pieces have shape {pieces.shape}; expected (cells, 4)")
        if self.copies:
            pieces = self._with_copies(pieces)
        if self.holes and len(pieces) == self.piece_count:
            pieces = np.concatenate([pieces, np.full((len(self.holes), 4), GREY, dtype=pieces.dtype)])
        if len(pieces) != self.piece_count + len(self.holes) or pieces[self.piece_count :].any():
            board = f"a board of {self.width} x {self.height}" + f" with {len(self.holes)} holes" * bool(self.holes)
            raise InputError(f"{len(pieces)} pieces for {board}; expected {self.piece_count}")
        if pieces.min() < 0 or pieces.max() > MAX_COLOUR:
            raise _bad_piece(pieces, (pieces < 0) | (pieces > MAX_COLOUR), f"expected numbers from 0 to {MAX_COLOUR}")
        fields["pieces"] = read_only(np.array(pieces, dtype=np.int32, order="C"))
        fields["clues"] = tuple(sorted(self.clues))
        fields["mates"] = tuple(sorted((min(pair), max(pair)) for pair in self.mates))
        self._check_mates()
        self._check_rim()
        self._check_different()
        self._check_clues()

    # -- sizes, rules and colours ---------------------------------------------------------------------------------

    @property
    def piece_count(self) -> int:
        """Number of pieces without the blanks; without `copies` it is the number of cells that are no holes."""
        return len(self.copies) or self.cells - len(self.holes)

    @cached_property
    def limits(self) -> IntArray:
        """How often each piece, blanks included, may lie on a board at most (read-only int32); `cells` if unlimited."""
        most = [min(copies or self.cells, self.cells) for copies in self.copies] or [1] * self.cells
        return read_only(np.array(most, dtype=np.int32))

    @property
    def printable_name(self) -> str:
        """The name, which may come from a pasted URL, with every character that cannot be printed replaced by '?'."""
        return "".join(c if c.isprintable() else "?" for c in self.name)

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the rules that Eternity II does not have: any of holes, no frame, no turns, mates, rim, copies."""
        return tuple({"framed": "no frame", "turns": "no turns"}.get(name, name) for name in self.unusual_fields())

    @property
    def shape_and_rules(self) -> str:
        """Width, height and `rules` in words, such as '4 x 3' or '5 x 5, 12 holes, no turns'."""
        counted = {
            "holes": count_of(len(self.holes), "hole"),
            "mates": count_of(len(self.mates), "pair") + " of mates",
            "rim": f"rim of colour {self.rim}",
            "copies": "copies" if any(self.copies) else "any number of each piece",
        }
        words = (counted.get(rule, rule) for rule in self.rules)
        return ", ".join([f"{self.width} x {self.height}", *words])

    @cached_property
    def colours(self) -> int:
        """Largest colour in use: on a side, as the mate of a colour on a side, or as `rim`; 0 if all sides are grey."""
        return max(int(self.oriented.max()), self.rim)

    @cached_property
    def mate(self) -> IntArray:
        """The colour that each colour matches: read-only int32, by colour, up to the largest on a side or in a rule."""
        mate = np.arange(max(int(self.pieces.max()), *(pair[1] for pair in self.mates), self.rim) + 1, dtype=np.int32)
        for one, other in self.mates:
            mate[[one, other]] = other, one
        return read_only(mate)

    @cached_property
    def turned(self) -> IntArray:
        """Colours up, right, down, left of each oriented piece: read-only int32 array (pieces * 4, 4)."""
        return read_only(np.stack([np.roll(self.pieces, turns, axis=1) for turns in range(4)], axis=1).reshape(-1, 4))

    @cached_property
    def oriented(self) -> IntArray:
        """An array like `turned`, but with colours such that facing sides match if they have the same colour here.

        Right and lower sides have the mates of their colours here, left and upper sides their own colours. So a search
        that compares only facing sides need not know of mates.
        """
        if not self.mates:
            return self.turned
        oriented = self.turned.copy()
        oriented[:, [RIGHT, DOWN]] = self.mate[oriented[:, [RIGHT, DOWN]]]
        return read_only(oriented)

    @cached_property
    def usable(self) -> BoolArray:
        """Whether each oriented piece may be placed, bool (pieces * 4,); without `turns` only unturned ones may."""
        return read_only(np.tile([True, self.turns, self.turns, self.turns], len(self.pieces)))

    @cached_property
    def fixed(self) -> tuple[Clue, ...]:
        """All pieces that never move, each as a clue: those of the clues and the blanks of holes, in order of cells."""
        blanks = (Clue(cell, self.piece_count + number, 0) for number, cell in enumerate(self.holes))
        return tuple(sorted((*self.clues, *blanks)))

    def required_sides(self, cell: int) -> tuple[int | None, ...]:
        """Return the colour that each side (up, right, down, left) of ``cell`` must have; None if none is prescribed.

        Sides towards a hole must be grey; sides on the outer edge grey with a frame, else of the colour `rim` if not 0.
        """
        sides = zip(self.rim_sides(cell), self.grey_sides(cell), strict=True)
        return tuple(GREY if grey else self.rim or None if outer else None for outer, grey in sides)

    def fits(self, cell: int) -> BoolArray:
        """Return whether ``cell`` allows each oriented piece, as a read-only bool array of shape (pieces * 4,).

        An allowed piece has the `required_sides` of the cell, no other grey side, and no forbidden rotation.
        """
        grey, required = self.grey_sides(cell), self.required_sides(cell)
        if (grey, required) not in self._fits:
            colours = np.array([-1 if colour is None else colour for colour in required])
            fitting = ((self.turned == GREY) == grey) & ((colours < 0) | (self.turned == colours))
            self._fits[grey, required] = read_only(fitting.all(axis=1) & self.usable)
        return self._fits[grey, required]

    @cached_property
    def _fits(self) -> dict[tuple[Sides, tuple[int | None, ...]], BoolArray]:
        return {}  # results of `fits`, shared by all cells with the same requirements

    # -- hash, equality and variants -----------------------------------------------------------------------------

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of shape, pieces in file order, clues in order of cells, and rules, as 64 hexadecimal digits."""
        form: dict[str, Any] = {
            "width": self.width,
            "height": self.height,
            "pieces": self.pieces[: self.piece_count].tolist(),
            "clues": [[clue.cell, clue.piece, clue.rotation] for clue in self.clues],
            **self.unusual_fields(),
        }
        return digest(form)

    def unusual_fields(self) -> dict[str, Any]:
        """Return those of the fields holes, framed, turns, mates, rim, copies that are unlike Eternity II, by name."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in _RULES}
        fields |= {name: [*fields[name]] for name in ("holes", "copies")} | {"mates": [*map(list, self.mates)]}
        return {name: value for name, value in fields.items() if bool(value) == (name not in ("framed", "turns"))}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Puzzle) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def with_clues(self, clues: Iterable[Clue]) -> Puzzle:
        """Return the same puzzle with other clues. Raises InputError if these contradict each other or the board."""
        return replace(self, clues=tuple(clues))

    def renumbered(self) -> Puzzle:
        """Return the same puzzle with its colours numbered from 1 without gaps, in the same order.

        In solvers, tables with a row for each colour then have no empty rows. Both puzzles have the same boards.
        """
        used = np.append(self.pieces, [GREY, self.rim])
        used = np.unique(np.append(used, self.mate[used]))
        if used[-1] == len(used) - 1 and not any(other > used[-1] for _, other in self.mates):
            return self
        number = {int(colour): index for index, colour in enumerate(used)}
        return replace(
            self,
            pieces=np.searchsorted(used, self.pieces).astype(np.int32),
            mates=tuple((number[one], number[other]) for one, other in self.mates if one in number),
            rim=number[self.rim],
            names=tuple(self.names[colour] for colour in used if colour < len(self.names)),
        )

    def __repr__(self) -> str:
        counts = count_of(self.colours, "colour"), count_of(len(self.clues), "clue")
        return f"Puzzle({', '.join([repr(self.name), f'{self.width}x{self.height}', *counts, *self.rules])})"

    # -- checks of a new puzzle -----------------------------------------------------------------------------------

    def _check_holes(self) -> None:
        """Raise InputError if a hole is off the board or named twice, or if every cell is a hole."""
        for before, cell in zip((-1, *self.holes), self.holes, strict=False):
            if not 0 <= cell < self.cells:
                raise InputError(f"a hole names cell {cell}; expected 0 to {self.cells - 1}")
            if cell == before:
                raise InputError(f"two holes name {self.cell_label(cell)}; expected each once")
        if len(self.holes) == self.cells:
            raise InputError("every cell of the board is a hole; expected 1 cell or more")

    def _check_mates(self) -> None:
        """Raise InputError if a mate or `rim` is no colour, a colour has two mates, or a frame has a rim colour."""
        for colour, times in Counter(colour for pair in self.mates for colour in pair).items():
            if not 1 <= colour <= MAX_COLOUR:
                raise InputError(f"mates name colour {colour}; expected 1 to {MAX_COLOUR}")
            if times > 1:
                raise InputError(f"mates name colour {colour} twice; expected each colour once, in pairs")
        if not 0 <= self.rim <= MAX_COLOUR:
            raise InputError(f"the rim has colour {self.rim}; expected 0 to {MAX_COLOUR}")
        if self.rim and self.framed:
            raise InputError(f"a board with a frame has a rim of colour {self.rim}; expected 0, or no frame")

    def _with_copies(self, pieces: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the pieces and store `copies`; if no copy can be left over, each copy becomes a piece of its own.

        Clues then name these copies, and `copies` is (). Raises InputError for bad `copies`.
        """
        copies = tuple(int(number) for number in self.copies)
        if len(copies) != len(pieces):
            raise InputError(f"{len(copies)} numbers of copies for {len(pieces)} pieces; expected one for each")
        if len(copies) >= MAX_CELLS:
            raise InputError(f"{len(copies)} pieces with copies; expected fewer than {MAX_CELLS}")
        if wrong := [number for number in copies if not 0 <= number <= MAX_CELLS]:
            raise InputError(f"a number of copies is {wrong[0]}; expected 0 (any number) to {MAX_CELLS}")
        if 0 in copies or sum(copies) != self.cells - len(self.holes):
            if self.holes:
                raise InputError("a board has holes and pieces that may be left over; expected copies or holes")
            vars(self)["copies"] = copies
            return pieces
        free = [iter(range(end - number, end)) for end, number in zip(np.cumsum(copies).tolist(), copies, strict=True)]
        clues = []
        for clue in sorted(self.clues):
            if not 0 <= clue.piece < len(copies):
                raise InputError(f"a clue names piece {clue.piece + 1}; expected 1 to {len(copies)}")
            if (named := next(free[clue.piece], None)) is None:
                raise InputError(f"more clues place piece {clue.piece + 1} (from 1) than it has copies")
            clues.append(replace(clue, piece=named))
        vars(self).update(clues=tuple(clues), copies=())
        return np.repeat(pieces, copies, axis=0)

    def _check_different(self) -> None:
        """Raise InputError if the puzzle has `copies` and two identical pieces, up to rotation if that is allowed."""
        kind, first = canonical if self.turns else tuple, dict[tuple[int, ...], int]()
        for piece, quad in enumerate(self.pieces.tolist() if self.copies else ()):
            if (before := first.setdefault(kind(quad), piece)) != piece:
                raise InputError(f"pieces {before + 1} and {piece + 1} are the same; expected one with more copies")

    def _check_rim(self) -> None:
        """Raise InputError unless as many pieces have each pattern of grey sides as there are cells that need it.

        Patterns are compared up to rotation if pieces may be turned. Pieces with copies may outnumber the cells.
        """
        grey = self.pieces[: self.piece_count] == GREY
        if not self.framed and not self.holes and grey.any():
            expected = "expected colours from 1 in a puzzle without frame, where no side is grey (0)"
            raise _bad_piece(self.pieces, grey, expected)
        kind, present = canonical if self.turns else tuple, Counter[tuple[int, ...]]()
        needed = Counter[tuple[int, ...]](kind(self.grey_sides(cell)) for cell in range(self.cells))
        needed[(True,) * 4] -= len(self.holes)
        for sides, most in zip(grey.tolist(), self.limits.tolist(), strict=False):
            present[kind(sides)] += most
        present = present & needed if self.copies else present
        if wrong := sorted(sides for sides in needed | present if needed[sides] != present[sides]):
            parts = (
                f"{present[sides]} {_pattern_name(sides, self.turns)} where the board needs {needed[sides]}"
                for sides in wrong
            )
            raise InputError(f"the pieces do not fit a board of {self.width} x {self.height}: {', '.join(parts)}")

    def _check_clues(self) -> None:
        """Raise InputError for an impossible clue, a cell or piece with too many clues, or clues that mismatch."""
        laid: dict[int, Clue] = {}
        used: Counter[int] = Counter()
        for clue in self.clues:
            self._check_clue(clue)
            if clue.cell in laid:
                raise InputError(f"two clues for {self.cell_label(clue.cell)}; expected one clue a cell")
            if used[clue.piece] == self.limits[clue.piece]:
                piece = f"piece {clue.piece + 1} (from 1)"
                if self.copies:
                    raise InputError(f"more clues place {piece} than it has copies")
                raise InputError(f"two clues place {piece}; expected each piece once")
            laid[clue.cell] = clue
            used[clue.piece] += 1
        for clue in self.clues:  # clues on neighbouring cells must match
            for side, other in self.neighbours(clue.cell):
                at, there = (clue.oriented, side), (laid.get(other, clue).oriented, side ^ 2)
                if side in (RIGHT, DOWN) and other in laid and self.oriented[at] != self.oriented[there]:
                    raise InputError(
                        f"the clues on {self.cell_label(clue.cell)} and {self.cell_label(other)} do not match: "
                        f"colour {self.turned[at]} is next to colour {self.turned[there]}"
                    )

    def _check_clue(self, clue: Clue) -> None:
        """Raise InputError if a clue is impossible by itself, whatever the other clues are."""
        if not 0 <= clue.cell < self.cells:
            raise InputError(f"a clue names cell {clue.cell}; expected 0 to {self.cells - 1}")
        if clue.cell in self.holes:
            raise InputError(f"a clue names {self.cell_label(clue.cell)}, a hole; expected a cell of the board")
        if not 0 <= clue.piece < self.piece_count:
            raise InputError(f"a clue names piece {clue.piece + 1}; expected 1 to {self.piece_count}")
        if not 0 <= clue.rotation < (4 if self.turns else 1):
            expected = "1 to 4" if self.turns or not 0 <= clue.rotation < 4 else "1, as pieces are not turned"
            raise InputError(f"a clue has rotation {clue.rotation + 1}; expected {expected}")
        if not self.fits(clue.cell)[clue.oriented]:
            where = "grey (0) exactly on the rim" if self.framed else "grey (0) only towards a hole"
            where += f", and colour {self.rim} on the rim" if self.rim else ""
            sides = " ".join(map(str, self.turned[clue.oriented].tolist()))
            raise InputError(
                f"the clue on {self.cell_label(clue.cell)} places piece {clue.piece + 1} (from 1) with the sides "
                f"{sides} (up right down left); expected {where}"
            )


def check_shape(width: int, height: int, line: int | None = None) -> None:
    """Raise InputError if a board of this shape has no cells or too many; called before arrays are allocated."""
    if width < 1 or height < 1 or width * height > MAX_CELLS:
        raise InputError(f"a board of {width} x {height} (width x height); expected 1 to {MAX_CELLS} cells", line=line)


def refuse_copies(puzzle: Puzzle, what: str) -> None:
    """Raise InputError if a puzzle's pieces have copies; the message says that ``what`` takes no such puzzle."""
    if puzzle.copies:
        raise InputError(f"{what} takes no puzzle whose pieces have copies; expected `lns exact solve` or `count`")


def read_only(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array


def digest(form: dict[str, Any]) -> str:
    """Return the SHA-256 of a dict, written as JSON, as 64 hexadecimal digits."""
    return hashlib.sha256(json.dumps(form, separators=(",", ":"), sort_keys=True).encode()).hexdigest()


def _bad_piece(pieces: npt.NDArray[Any], wrong: npt.NDArray[np.bool_], expected: str) -> InputError:
    """Return an InputError about the first piece with a side that is ``wrong``; the message ends with ``expected``."""
    bad = int(np.argwhere(wrong)[0][0])
    return InputError(f"piece {bad + 1} has the colours {' '.join(map(str, pieces[bad].tolist()))}; {expected}")


def _pattern_name(pattern: Sequence[int], turns: bool) -> str:
    if turns or not any(pattern):
        return _GREY_NAMES[canonical(pattern)]
    sides = (name for name, grey in zip(("up", "right", "down", "left"), pattern, strict=True) if grey)
    return f"pieces that are grey {', '.join(sides)} only"


_GREY_NAMES: dict[tuple[int, int, int, int], str] = {
    (False, False, False, False): "inner pieces",
    (False, False, False, True): "edge pieces (one grey side)",
    (False, False, True, True): "corner pieces (two adjacent grey sides)",
    (False, True, False, True): "pieces with two opposite grey sides",
    (False, True, True, True): "pieces with three grey sides",
    (True, True, True, True): "pieces with four grey sides",
}
