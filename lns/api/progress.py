"""How a search shows where it is: a line or bar on a terminal, a bar in a notebook, or nothing."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Protocol, runtime_checkable

from lns.instances.errors import InputError
from lns.terminal.progress import LiveLine

CHOICES = ("auto", "terminal", "notebook", "none")


@runtime_checkable
class ProgressView(Protocol):
    """What shows the progress of a search; a context manager around it."""

    def __enter__(self) -> ProgressView: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...

    def show(self, line: str, elapsed: float) -> None:
        """Show ``line``; ``elapsed``: seconds of search."""
        ...


class NotebookProgress:
    """A bar of ``tqdm.auto`` over the seconds of the search."""

    def __init__(self, seconds: float | None) -> None:
        self._total = round(seconds) if seconds else None
        self._bar: Any = None

    def __enter__(self) -> NotebookProgress:
        from tqdm.auto import tqdm

        self._bar = tqdm(total=self._total, unit="s", leave=False)
        self._bar.set_description_str("loading or compiling the kernels")
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def show(self, line: str, elapsed: float) -> None:
        self._bar.set_description_str(line, refresh=False)
        self._bar.n = min(round(elapsed), self._total or round(elapsed))
        self._bar.refresh()


def progress_view(choice: str | bool | ProgressView | None, seconds: float | None, *, kernels: int = 0) -> ProgressView:
    """The view that ``choice`` names; InputError for an unknown name.

    ``seconds``: expected length, if known; ``kernels``: about how many a first run compiles.
    """
    name = "auto" if choice is True else choice or "none"
    if not isinstance(name, str):
        return name
    if name not in CHOICES:
        raise InputError(f"unknown progress '{name}'; expected one of {', '.join(CHOICES)}, None or an object")
    if name == "auto":
        name = "notebook" if _in_notebook() else "terminal" if sys.stderr.isatty() else "none"
    if name == "notebook":
        return NotebookProgress(seconds)
    return LiveLine(seconds, quiet=name == "none", kernels=kernels)


def _in_notebook() -> bool:
    """Whether the program runs in a Jupyter kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")
