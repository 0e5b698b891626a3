"""`cnf` and `decode`: a puzzle as a formula for SAT solvers, and their answer as a board."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import IO, Any

from lns.api.files import PuzzleSource, load_puzzle
from lns.exact.sat.clauses import read_answer
from lns.exact.sat.encodings import Encoding, encode
from lns.instances import formats
from lns.instances.arguments import checked
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.files import atomic_file, behind_links, open_to_read
from lns.instances.puzzle import Puzzle
from lns.instances.records import Records
from lns.instances.text import count_of
from lns.instances.verify import Verification, verify


@dataclass(frozen=True)
class Formula(Records):
    """A puzzle as a formula in conjunctive normal form: its models are the perfect boards."""

    puzzle: Puzzle
    encoding: str
    variables: int  # numbered from 1
    clauses: int
    families: dict[str, int]  # number of clauses by what they say
    _made: Encoding = field(repr=False, compare=False)

    def records(self) -> list[dict[str, Any]]:
        """A dict for each family of clauses."""
        return [{"family": name, "clauses": count} for name, count in self.families.items()]

    def summary(self) -> str:
        """The sizes in a few lines."""
        sizes = f"{count_of(self.variables, 'variable')}, {count_of(self.clauses, 'clause')}"
        families = (f"  {count:>12,}  {name}" for name, count in self.families.items())
        return "\n".join([f"{self.encoding} of {self.puzzle.name}: {sizes}", *families])

    def write(self, file: IO[str]) -> None:
        """Write the formula as DIMACS CNF; comments at its head explain the variables."""
        self._made.write(file)

    def __str__(self) -> str:
        text = io.StringIO()
        self.write(text)
        return text.getvalue()


@dataclass(frozen=True)
class Decoded(Records):
    """The answer of a SAT solver as a board, verified. A notebook draws it."""

    status: str  # "solved", "infeasible", or "not a solution": of another formula, or cut off
    puzzle: Puzzle
    board: Board | None = None  # None if the solver says that there is no solution
    verification: Verification | None = None  # of the board

    def records(self) -> list[dict[str, Any]]:
        """The fields of `lns exact decode --json`, as one dict."""
        facts: dict[str, Any] = {"status": self.status, "valid": False, "score": None}
        placements, url = None, None
        if self.board is not None and (found := self.verification) is not None:
            facts |= {name: getattr(found, name) for name in ("valid", "score", "max_score", "problems")}
            placements = self.board.without_blanks(self.puzzle).pairs()
            url = formats.url_if_any(self.puzzle, self.board) if self.status == "solved" else None
        return [facts | {"placements": placements, "url": url}]


@checked
def cnf(puzzle: PuzzleSource, encoding: str = "half-3", output: str | os.PathLike[str] | None = None) -> Formula:
    """Write a puzzle as a formula for SAT solvers.

    Parameters
    ----------
    puzzle : Puzzle, str or path-like
        Puzzle, or what `load_puzzle` reads.
    encoding : {"full-4", "full-2", "half-3", "half-2", "triangles"}
        That of Bailleux 2025, or of Cuvillier & Szymkowiak 2010; with ``-pairs`` behind it, at-most-one constraints are
        written pair by pair.
    output : str or path-like, optional
        File to write in the format DIMACS CNF.

    Returns
    -------
    Formula
        Its sizes; ``str(formula)`` is the text of the file.

    Raises
    ------
    InputError
        Unknown encoding, or one that does not take the puzzle.
    OSError
        The file cannot be written.
    """
    known = load_puzzle(puzzle)
    made = encode(encoding, known)
    sizes = {name: count for name, count in made.sizes().items() if count}
    formula = Formula(known, made.name, made.variables, sum(sizes.values()), sizes, made)
    if output is not None:
        with atomic_file(behind_links(output), "ascii") as file:
            formula.write(file)
    return formula


@checked
def decode(answer: str | os.PathLike[str] | Iterable[int], puzzle: PuzzleSource, encoding: str = "half-3") -> Decoded:
    """Read a SAT solver's answer back as a board, and verify it.

    Parameters
    ----------
    answer : str, path-like or iterable of int
        A file with the output of the solver or the result of minisat, its text, or the true and negated variables.
    puzzle : Puzzle, str or path-like
        The puzzle of the formula.
    encoding : str
        The encoding of the formula, as for `cnf`.

    Returns
    -------
    Decoded
        ``board`` and ``status``.

    Raises
    ------
    InputError
        The file holds no answer, or one of another formula.
    """
    known = load_puzzle(puzzle)
    made = encode(encoding, known)
    source = "answer"
    if isinstance(answer, str | os.PathLike):
        text, source = _answer_text(os.fspath(answer))
        model = read_answer(text, source)
    else:
        model = [*map(int, answer)]
    if model is None:
        return Decoded("infeasible", known)
    unknown = next((abs(literal) for literal in model if not 0 < abs(literal) <= made.variables), None)
    if unknown is not None:
        raise InputError(
            f"variable {unknown} is of another formula; {made.name} of {known.name} has the variables "
            f"1 to {made.variables}",
            source,
        )
    board = made.board(model).of(known)
    found = verify(known, board)
    perfect = found.complete and found.score == known.max_score
    return Decoded("solved" if perfect else "not a solution", known, board, found)


def _answer_text(answer: str) -> tuple[str, str]:
    """The text of an answer, and its source. A file may be longer than a puzzle; devices are refused."""
    source = "answer" if "\n" in answer or answer.startswith(("s ", "v ")) else answer
    if source == answer:
        try:
            with open_to_read(source) as file:
                answer = (file.read() or b"").decode("latin-1")
        except OSError as error:
            raise InputError(error.strerror or str(error), source) from None
    if not answer.isascii():
        raise InputError("not a text of ASCII characters; expected a SAT solver's answer", source)
    return answer, source
