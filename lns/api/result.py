"""The progress view of a running search, and its result: best board, history and statistics."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from lns.engine import Statistics
from lns.exact.optional_deps import require
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import write
from lns.instances.pairing import pairing
from lns.instances.puzzle import Puzzle
from lns.instances.records import Records
from lns.instances.text import count_of
from lns.rounds import Island
from lns.runs.files import origin_in_words
from lns.runs.history import Improvement, RunHistory
from lns.terminal.progress import LiveLine

if TYPE_CHECKING:
    from matplotlib.axes import Axes


CHOICES = ("auto", "terminal", "notebook", "none")


@runtime_checkable
class ProgressView(AbstractContextManager[Any], Protocol):
    """Protocol of objects that show the progress of a search, which runs inside their context."""

    def show(self, line: str, elapsed: float) -> None:
        """Show ``line`` after ``elapsed`` seconds of search."""
        ...


def progress_view(choice: str | bool | ProgressView | None, seconds: float | None, *, kernels: int = 0) -> ProgressView:
    """Return the progress view that ``choice`` is or names. Raises InputError for an unknown name.

    ``seconds`` is the time limit, if any; ``kernels`` is about the number of kernels that a first run compiles.
    """
    name = "auto" if choice is True else choice or "none"
    if not isinstance(name, str):
        return name
    if name not in CHOICES:
        raise InputError(f"unknown progress '{name}'; expected one of {', '.join(CHOICES)}, None or an object")
    if name == "auto":
        ipython = sys.modules.get("IPython")
        in_notebook = ipython is not None and hasattr(ipython.get_ipython(), "kernel")
        name = "notebook" if in_notebook else "terminal" if sys.stderr.isatty() else "none"
    return LiveLine(seconds, quiet=name == "none", kernels=kernels, in_notebook=name == "notebook")


@dataclass(frozen=True)
class Result(Records):
    """Best board of a search, with its history and statistics over all sessions of the run.

    Attributes
    ----------
    puzzle : Puzzle
        The puzzle that was given.
    board : Board or None
        Best board, verified; ``None`` if the search ended before the first one.
    score : int
        Matched inner edges of ``board``; -1 without a board.
    why : str
        Why the search ended: ``"time over"``, ``"target reached"``, ``"steps made"``, ``"interrupted"``, ...
    statistics : Statistics
        Counts of the work done, summed over the islands.
    elapsed_s : float
        Seconds of search, without the compilation of kernels.
    history : RunHistory
        Improvements, boards by score, sessions; ``history.to_frame()`` is a table of the improvements.
    islands : dict of int to Island
        Each island by its number: its best score, steps and statistics, without its state.
    record : dict
        Fields of ``best.json``; empty without a board.
    seed : int
        Random seed of the run.
    target : int or None
        Score at which the search was to end, if one was given.
    run_dir : str or None
        Run directory, if there is one.
    write_errors : list of str
        Files that could not be written; their content is in this object.
    """

    puzzle: Puzzle
    board: Board | None
    score: int
    why: str
    statistics: Statistics
    elapsed_s: float
    history: RunHistory
    islands: dict[int, Island]
    record: dict[str, Any]
    seed: int
    run_dir: str | None = None
    target: int | None = None
    write_errors: list[str] = field(default_factory=list)

    @property
    def max_score(self) -> int:
        """Number of inner edges: the score of a perfect board."""
        return self.puzzle.max_score

    @property
    def solved(self) -> bool:
        """Whether every inner edge of the best board matches."""
        return self.score == self.max_score

    @property
    def score_in_words(self) -> str:
        """The score, the number of inner edges and that of mismatches, such as ``"466 of 480, 14 mismatches"``."""
        if self.board is None:
            return f"no full board yet, of {self.max_score} inner edges"
        wrong = self.max_score - self.score
        meaning = "solved: every inner edge matches" if not wrong else count_of(wrong, "mismatch", "mismatches")
        if wrong and self.score == pairing(self.puzzle).best_possible:
            meaning += ": no board has fewer"
        return f"{self.score} of {self.max_score}, {meaning}"

    @property
    def url(self) -> str:
        """URL of the board for the viewer e2.bucas.name; empty without a board, or for too many colours."""
        return str(self.record.get("url", ""))

    @property
    def improvements(self) -> list[Improvement]:
        """Each new best: its score, seconds of search until then, and the part of the engine that made the board."""
        return list(self.history.improvements)

    def records(self) -> list[dict[str, Any]]:
        """Return one dict; ``nodes`` counts placements of all engine parts, or moves if only tabu search ran."""
        found = {"puzzle": self.puzzle.name, "score": self.score, "max_score": self.max_score, "why": self.why}
        return [found | {"seed": self.seed, "elapsed_s": self.elapsed_s, "nodes": self.statistics.placements}]

    def save(self, path: str | os.PathLike[str], *, format: str | None = None) -> None:
        """Write the best board to a file, by default in the extension's format. Raises InputError without a board."""
        if self.board is None:
            raise InputError("the search found no board; expected a longer search")
        write(path, format, self.puzzle, self.board)

    def summary(self) -> str:
        """Return a few lines: score, why the search ended, the work done, and when the last new bests were found."""
        lines = [
            f"puzzle        {self.puzzle.name}, {self.puzzle.width} x {self.puzzle.height}",
            f"best score    {self.score_in_words}",
            f"ended         {self.why}, after {self.elapsed_s:.1f} s of search, seed {self.seed}",
            f"search        {self.statistics.summary(self.elapsed_s)}",
        ]
        if certificate := self.statistics.certificate_in_words(self.score):
            lines.append(f"certificate   {certificate}")
        if last := self.improvements[-3:]:
            said = (f"{one.score} after {one.elapsed_s:.1f} s ({origin_in_words(one.origin)})" for one in last)
            lines.append(f"last bests    {', '.join(said)}")
        if self.run_dir is not None:
            lines.append(f"run directory {self.run_dir}")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the best score over time.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw into; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes, with seconds of search (logarithmic) against matched edges.

        Raises
        ------
        InputError
            Matplotlib, of the extra ``plot``, is not installed.
        """
        require("plot", "Result.plot")
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots()[1]
        times = [max(one.elapsed_s, 0.1) for one in self.improvements]
        scores = [one.score for one in self.improvements]
        if times:
            ax.step([*times, max(self.elapsed_s, times[-1])], [*scores, scores[-1]], where="post")
        ax.set_xscale("log")
        ax.set_xlabel("search (s)")
        ax.set_ylabel(f"matched edges, of {self.max_score}")
        ax.set_title(self.puzzle.name)
        return ax

    def __repr__(self) -> str:
        return f"Result({self.puzzle.name!r}, score {self.score} of {self.max_score}, {self.why})"

    def _repr_html_(self) -> str:
        from html import escape

        drawn = "" if self.board is None else self.board.of(self.puzzle)._repr_html_()
        return f"{drawn}<pre>{escape(self.summary())}</pre>"
