"""The text of `lns watch`: the state of a run, sized for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from instances.draw import terminal
from instances.draw.terminal import Colour
from lns.runs.board_log import LoggedBoard
from lns.runs.breakdown import parts
from lns.runs.files import format_duration, local_time, time_ago
from lns.runs.history import Improvement
from lns.runs.run_summary import RunSummary
from lns_support.text import count_of, printable

_MIN_TEXT_WIDTH = 31  # columns of the text beside a board
_BAR_ENDS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def frame(
    run: RunSummary, best_boards: Sequence[LoggedBoard], width: int, height: int, colour: Colour, signs: bool
) -> list[str]:
    """Render the state of a run for a terminal.

    Parameters
    ----------
    run : RunSummary
        Summary of the run.
    best_boards : sequence of LoggedBoard
        Best boards, the best first.
    width, height : int
        Columns and lines of the terminal.
    colour : Colour
        Colours that the terminal can show.
    signs : bool
        Whether it can show block characters.

    Returns
    -------
    list of str
        At most ``height`` lines of at most ``width`` columns.
    """
    headlines = [printable(line, width * height) for line in headline(run)]
    head = [part for line in headlines for part in textwrap.wrap(line, width)][: height // 3]
    rest = height - len(head) - 1
    board = _board(run, width, rest, colour)
    beside = max((_length(line) for line in board), default=0)
    if width - beside - 2 >= _MIN_TEXT_WIDTH or not board:
        text = _text_lines(run, best_boards, width - beside - 2 * bool(board), rest, signs)
        lines = [
            f"{_padded(left, beside)}  {right}".rstrip() if board else right for left, right in _paired(board, text)
        ]
    else:
        text = _text_lines(run, best_boards, width, rest, signs)
        lines = [*text, "", *board]
    return [*head, "", *lines][:height]


def headline(run: RunSummary) -> list[str]:
    """Two lines: name, score, state and rate; time, and what could not be read or written."""
    history, puzzle = run.history, run.puzzle
    first = [f"{run.name}: {run.score if run.best else 'no board'} of {puzzle.max_score}", run.state_in_words]
    if run.state == "running" and not run.starting:
        first += [
            f"{run.heartbeat.rate / 1e6:.1f} M {run.heartbeat.unit}/s",
            "workers elsewhere" if run.workers is None else count_of(run.workers, "worker"),
        ]
    second = [f"{format_duration(history.elapsed_s)} of search", history.remaining_in_words]
    if run.best_at:
        second.append(f"best found {local_time(run.best_at)}, {time_ago(run.best_at)}")
    second += [f"cannot write {name}" for name in run.heartbeat.write_errors]
    return [", ".join(first), ", ".join([*second, *run.notes])]


def _text_lines(run: RunSummary, best_boards: Sequence[LoggedBoard], width: int, height: int, signs: bool) -> list[str]:
    tall = 4 if height >= 20 else 2
    sections = [
        ["score over time", *_chart(run.history.improvements, run.history.elapsed_s, min(width, 100), tall, signs)],
        ["boards in the log", *_histogram(run, width, 5, signs)],
        ["parts        boards  bests  cost", *_parts(run)],
        ["best boards: score, found after, cells unlike", *_best_boards(best_boards)],
    ]
    lines: list[str] = []
    for section in sections:
        if len(section) > 1 and len(lines) + bool(lines) + 2 <= height:
            lines += [*([""] if lines else []), *(_cut(line, width) for line in section)]
    return lines


def _chart(improvements: Sequence[Improvement], elapsed_s: float, width: int, tall: int, signs: bool) -> list[str]:
    """Best score over time as ``tall`` lines of text; the highest and the lowest score stand on the left."""
    if not improvements:
        return []
    scores = [entry.score for entry in improvements]
    columns = max(8, width - 5)
    end = max(elapsed_s, improvements[-1].elapsed_s, 1e-3)
    best_by_column = [
        max((entry.score for entry in improvements if entry.elapsed_s <= end * (x + 1) / columns), default=None)
        for x in range(columns)
    ]
    high = scores[-1]
    low = max(scores[0], high - 8) - 1
    lines = []
    for row in reversed(range(tall)):
        line = ""
        for score in best_by_column:
            share = 0.0 if score is None else max(0.0, (score - low) / (high - low)) * tall - row
            eighths = min(8, max(0, round(share * 8)))
            line += _EIGHTHS[eighths] if signs else ("#" if eighths >= 4 else " ")
        lines.append(f"{high if row == tall - 1 else low + 1 if row == 0 else '':>4} {line}")
    return [*lines, f"     0{format_duration(end):>{max(1, columns - 1)}}"]


def _histogram(run: RunSummary, width: int, most: int, signs: bool) -> list[str]:
    counts = sorted(run.history.counts.items(), reverse=True)[:most]
    top = max((count for _, count in counts), default=1)
    longest = max(4, min(40, width - 16))
    return [f"{score:>4} {_bar(longest * count / top, signs)} {count:,}" for score, count in counts]


def _bar(length: float, signs: bool) -> str:
    """A bar of ``length`` columns, to an eighth of a column where block characters can be shown."""
    if not signs:
        return "#" * round(length)
    whole, eighths = divmod(max(1, round(8 * length)), 8)
    return "█" * whole + _BAR_ENDS[eighths]


def _parts(run: RunSummary) -> list[str]:
    """The most expensive parts: boards in the log, new bests, share of the cost."""
    return [
        f"{printable(part.name)[:11]:<11}{part.boards:>8,}{part.bests:>7,} {part.share:>5.0%}"
        for part in parts(run.history, run.heartbeat.node_equivalents_by_part)[:6]
    ]


def _best_boards(best_boards: Sequence[LoggedBoard]) -> list[str]:
    return [
        f"{entry.score:>4}  {format_duration(entry.elapsed_s):>12}  {entry.board.distance(best_boards[0].board):>5}"
        for entry in best_boards
    ]


def _board(run: RunSummary, width: int, height: int, colour: Colour) -> list[str]:
    """The best board in the largest size that leaves room for the text; [] if none fits."""
    if run.best is None:
        return []
    across = run.puzzle.width
    sizes = [side * across - 1 for side in range(9, 1, -1)] + [across]
    beside = [columns for columns in sizes if columns <= width - _MIN_TEXT_WIDTH - 2]
    for columns in beside or [columns for columns in sizes if columns <= width]:
        lines = terminal.render(run.puzzle, run.best.board, colour=colour, width=columns).splitlines()
        if len(lines) <= height and max(map(_length, lines)) <= width:
            return lines
    return []


def _paired(left: Sequence[str], right: Sequence[str]) -> list[tuple[str, str]]:
    lines = max(len(left), len(right))
    return [(left[i] if i < len(left) else "", right[i] if i < len(right) else "") for i in range(lines)]


def _length(line: str) -> int:
    return len(_ESCAPE.sub("", line))


def _padded(line: str, width: int) -> str:
    return line + " " * (width - _length(line))


def _cut(line: str, width: int) -> str:
    line = printable(line, width)
    return line if len(line) <= width else line[: max(0, width - 1)] + "…"
