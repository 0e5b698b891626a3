"""`count`, `compare`, `cnf` and `decode`: exact solvers, and a puzzle as a formula for SAT solvers."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from lns.api.files import PuzzleSource, load_puzzle
from lns.exact.colorpairs.options import ColorPairsOptions
from lns.exact.compare import ComparisonRow, is_known, table
from lns.exact.compare import compare as run_solvers
from lns.exact.execution import Request
from lns.exact.outcome import Outcome
from lns.exact.registry import all_solvers, find_solver
from lns.exact.sat.clauses import read_answer
from lns.exact.sat.encodings import Encoding, encode
from lns.exact.solvers import count as count_solutions
from lns.instances import formats
from lns.instances.arguments import checked
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.files import atomic_file, behind_links, open_to_read
from lns.instances.puzzle import Puzzle
from lns.instances.records import Records
from lns.instances.text import count_of
from lns.instances.verify import Verification, verify


@checked
def count(
    puzzle: PuzzleSource,
    solver: str = "colorpairs",
    *,
    time: float | None = None,
    nodes: int | None = None,
    options: ColorPairsOptions | None = None,
    fix_corner: bool = False,
) -> Outcome:
    """Count the perfect solutions of a puzzle with an exact solver.

    Parameters
    ----------
    puzzle : Puzzle, str or path-like
        Puzzle, or what `load_puzzle` reads.
    solver : str
        Name of an exact solver; ``lns exact solvers`` lists them.
    time : float, optional
        Time limit in seconds.
    nodes : int, optional
        Node limit, as the solver counts nodes. Unlike a time limit, it gives the same answer on every machine.
    options : ColorPairsOptions, optional
        Which parts of the solver ColorPairs are switched on.
    fix_corner : bool
        Whether rotated copies of a solution count once.

    Returns
    -------
    Outcome
        ``solutions``, ``status``, ``nodes``, ``seconds``, ``board`` (the first solution). The count is exact if the
        status is ``solved`` or ``infeasible``, and a lower bound otherwise.

    Raises
    ------
    InputError
        Unknown solver, missing package, or a puzzle that the solver cannot take.
    """
    known = load_puzzle(puzzle)
    found = count_solutions(known, solver, seconds=time, nodes=nodes, options=options, fix_corner=fix_corner)
    return found if found.board is None else replace(found, board=found.board.of(known))


@dataclass(frozen=True)
class SolverRun(ComparisonRow):
    """One run of a solver on an instance, as a row of a `Comparison`. Fields that are not known are None."""

    solutions: Any = None
    nodes: Any = None
    seconds: Any = None
    megabytes: Any = None


@dataclass(frozen=True)
class Comparison(Records):
    """A comparison of solvers on instances: one row for each run of a solver on an instance."""

    rows: tuple[SolverRun, ...]
    interrupted: bool = False  # whether Ctrl-C ended the comparison, so that ``rows`` has only the runs finished before

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each run; fields that are not known are None."""
        return [asdict(row) for row in self.rows]

    def summary(self) -> str:
        """Return the rows as an aligned text table."""
        return table(self.rows)


@checked
def compare(
    puzzles: PuzzleSource | Iterable[PuzzleSource] | Mapping[str, PuzzleSource],
    solvers: str | Iterable[str] = ("colorpairs", "rowscan"),
    *,
    count: bool = False,
    time: float | None = 60.0,
    memory: int | None = None,
    fix_corner: bool = False,
    sat_solver: str | None = None,
    seed: int = 0,
    output: str | os.PathLike[str] | None = None,
    on_row: Callable[[SolverRun], object] | None = None,
) -> Comparison:
    """Run several exact solvers on several puzzles.

    Parameters
    ----------
    puzzles : Puzzle, str, path-like, or iterable of them, or dict
        Puzzles, or what `load_puzzle` reads; a dict gives them names for the table.
    solvers : str or iterable of str
        Names of exact solvers; ``"all"`` for all. `lns exact solvers` lists them.
    count : bool
        Whether all solutions are counted; by default the first one is searched for.
    time : float, optional
        Time limit of each search in seconds, without compilation.
    memory : int, optional
        Memory limit of each run in bytes.
    fix_corner, sat_solver, seed
        Whether rotated copies count once; name of a SAT solver in python-sat; random seed of local searches.
    output : str or path-like, optional
        CSV file to which a row for each run is appended; runs that are already in it are not repeated.
    on_row : callable, optional
        Called with each row (a `SolverRun`) as it is made.

    Returns
    -------
    Comparison
        ``to_frame()`` and ``summary()`` return the table.

    Raises
    ------
    InputError
        Unknown solver, or ``output`` is no table of such rows. If a solver refuses a puzzle, the run's row says so.
    OSError
        The file cannot be written.

    Notes
    -----
    To compare runs of `lns.solve`, use `lns.status`, or the command `lns compare`.
    """
    names = [solvers] if isinstance(solvers, str) else [*solvers]
    names = [*all_solvers()] if names == ["all"] else names
    for name in names:
        find_solver(name)
    if isinstance(puzzles, Mapping):
        named = [*puzzles.items()]
    else:
        each = [puzzles] if isinstance(puzzles, Puzzle | str | os.PathLike) else puzzles
        named = [(one.name if isinstance(one, Puzzle) else os.fspath(one), one) for one in each]
    known = [(name, load_puzzle(source)) for name, source in named]
    request = Request(count, None, time, memory=memory, sat_solver=sat_solver, seed=seed, fix_corner=fix_corner)
    rows: list[SolverRun] = []
    try:
        for row in run_solvers(known, names, request, None if output is None else Path(output)):
            numbers = ("solutions", "nodes", "seconds", "megabytes")
            unknown = {name: None for name in numbers if not is_known(getattr(row, name))}
            rows.append(SolverRun(**vars(row) | unknown))
            if on_row is not None:
                on_row(rows[-1])
    except KeyboardInterrupt:
        return Comparison(tuple(rows), interrupted=True)
    return Comparison(tuple(rows))


@dataclass(frozen=True)
class Formula(Records):
    """A puzzle as a formula in conjunctive normal form, whose models are the perfect boards."""

    puzzle: Puzzle
    encoding: str
    variables: int  # number of variables; they are numbered from 1
    clauses: int
    families: dict[str, int]  # number of clauses by kind; a kind is named by what its clauses state
    _made: Encoding = field(repr=False, compare=False)

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each kind of clauses: its name and the number of clauses."""
        return [{"family": name, "clauses": count} for name, count in self.families.items()]

    def summary(self) -> str:
        """Return the number of variables, and the number of clauses in all and by kind, in a few lines."""
        sizes = f"{count_of(self.variables, 'variable')}, {count_of(self.clauses, 'clause')}"
        families = (f"  {count:>12,}  {name}" for name, count in self.families.items())
        return "\n".join([f"{self.encoding} of {self.puzzle.name}: {sizes}", *families])

    def write(self, file: IO[str]) -> None:
        """Write the formula to ``file`` in the format DIMACS CNF; comments at the head explain the variables."""
        self._made.write(file)

    def __str__(self) -> str:
        text = io.StringIO()
        self.write(text)
        return text.getvalue()


@dataclass(frozen=True)
class Decoded(Records):
    """The answer of a SAT solver as a verified board, which a notebook draws."""

    status: str  # "solved", "infeasible", or "not a solution" (the answer is cut off, or of another formula)
    puzzle: Puzzle
    board: Board | None = None  # None if the solver says that there is no solution
    verification: Verification | None = None  # result of `verify` for the board

    def records(self) -> list[dict[str, Any]]:
        """Return the fields of `lns exact decode --json` as one dict."""
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
        One of the four by Bailleux 2025 (with suffix ``-pairs``, at-most-one constraints are written pair by pair), or
        ``"triangles"`` by Cuvillier & Szymkowiak 2010.
    output : str or path-like, optional
        File to write in the format DIMACS CNF.

    Returns
    -------
    Formula
        The formula and its sizes; ``str(formula)`` is the text of the file.

    Raises
    ------
    InputError
        Unknown encoding, or one that cannot express the puzzle.
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
        File with the solver's output or minisat's result, the text itself, or the literals of the model.
    puzzle : Puzzle, str or path-like
        The puzzle of the formula.
    encoding : str
        The encoding of the formula, as for `cnf`.

    Returns
    -------
    Decoded
        The ``board``, its verification, and the ``status``.

    Raises
    ------
    InputError
        The source holds no answer, or an answer to another formula.
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
    """Return the text of a SAT solver's answer, given as text or as a file, and the name of its source in messages.

    A file may have any size; pipes and devices are refused.
    """
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
