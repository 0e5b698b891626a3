"""Tables as text. On a narrow terminal a table is broken into blocks of columns, so that no text is cut off."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_width: ContextVar[int | None] = ContextVar("width of a table", default=None)


@contextmanager
def table_width(width: int | None) -> Iterator[None]:
    """Limit the lines of tables made in this context to ``width`` characters, if possible; None is no limit."""
    token = _width.set(width)
    try:
        yield
    finally:
        _width.reset(token)


def aligned(lines: Sequence[Sequence[str]], *, left: Collection[int] = (0,), repeated: int = 1) -> str:
    """Return a table as aligned text; the columns with the indices ``left`` are flush left, the others flush right.

    Under `table_width`, a wider table is broken into blocks of columns, one below the other, with blank lines between.
    Each block begins with the first ``repeated`` columns. A column that is too wide even for an otherwise empty block
    gets a block of its own, which is wider than the limit.
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    flush = [str.ljust if at in left else str.rjust for at in range(len(widths))]
    padded = [[pad(cell, width) for pad, cell, width in zip(flush, line, widths, strict=True)] for line in lines]
    return _blocks(
        lambda columns: ["  ".join(line[at] for at in columns).rstrip() for line in padded], len(widths), repeated
    )


def markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, broken into blocks as by `aligned`."""
    rows = [header, ["---"] * len(header), *lines]
    return _blocks(lambda columns: [f"| {' | '.join(row[at] for at in columns)} |" for row in rows], len(header), 1)


def _blocks(text: Callable[[Sequence[int]], list[str]], columns: int, repeated: int) -> str:
    """Return a table in as few blocks as `table_width` allows; ``text`` returns the lines of the given columns."""
    limit = _width.get()
    first = list(range(repeated))
    blocks = [[*first]]
    for column in range(repeated, columns):
        longer = [*blocks[-1], column]
        if limit is None or blocks[-1] == first or max(map(len, text(longer))) <= limit:
            blocks[-1] = longer
        else:
            blocks.append([*first, column])
    return "\n\n".join("\n".join(text(block)) for block in blocks)
