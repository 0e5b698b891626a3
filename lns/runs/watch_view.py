"""The text of `lns watch`: the state of a run, sized for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from itertools import zip_longest

from lns.instances.draw import terminal
from lns.instances.draw.terminal import Colour
from lns.instances.text import count_of, printable
from lns.runs.board_log import LoggedBoard
from lns.runs.files import format_duration, local_time, time_ago
from lns.runs.history import RunHistory, parts
from lns.runs.run_summary import RunSummary

_MIN_TEXT_WIDTH = 31  # columns of the text beside a board
_BAR_ENDS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def frame(
    run: RunSummary, best_boards: Sequence[LoggedBoard], width: int, height: int, colour: Colour, signs: bool
) -> list[str]:
    """The state of a run and its best boards, the best first, in at most ``height`` lines of ``width`` columns.

    ``signs``: whether the terminal can show block characters.
    """
    head = [part for line in headline(run) for part in textwrap.wrap(printable(line, width * height), width)]
    head = head[: height // 3]
    rest = height - len(head) - 1
    board = _board(run, width, rest, colour)
    beside = max((_length(line) + 2 for line in board), default=0)
    if width - beside < _MIN_TEXT_WIDTH:
        lines = [*_text(run, best_boards, width, rest, signs), "", *board]
    else:
        text = _text(run, best_boards, width - beside, rest, signs)
        pairs = zip_longest(board, text, fillvalue="")
        lines = [f"{left}{' ' * (beside - _length(left))}{right}".rstrip() for left, right in pairs]
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


def _text(run: RunSummary, best_boards: Sequence[LoggedBoard], width: int, height: int, signs: bool) -> list[str]:
    """The sections that fit."""
    counts = sorted(run.history.counts.items(), reverse=True)[:5]
    longest, top = max(4, min(40, width - 16)), max((count for _, count in counts), default=1)
    sections = [
        ["score over time", *_chart(run.history, min(width, 100), 4 if height >= 20 else 2, signs)],
        ["boards in the log",
         *(f"{score:>4} {_bar(longest * count / top, signs)} {count:,}" for score, count in counts)],
        ["parts        boards  bests  cost",
         *(f"{part.name[:11]:<11}{part.boards:>8,}{part.bests:>7,} {part.share:>5.0%}"
           for part in parts(run.history, run.heartbeat.statistics)[:6])],
        ["best boards: score, found after, cells unlike",
         *(f"{one.score:>4}  {format_duration(one.elapsed_s):>12}  {one.board.distance(best_boards[0].board):>5}"
           for one in best_boards)],
    ]  # fmt: skip
    lines: list[str] = []
    for section in sections:
        if len(section) > 1 and len(lines) + bool(lines) + 2 <= height:
            cut = (line if len(line) <= width else line[: max(0, width - 1)] + "…" for line in section)
            lines += [*([""] if lines else []), *cut]
    return lines


def _chart(history: RunHistory, width: int, tall: int, signs: bool) -> list[str]:
    """Best score over time as ``tall`` lines of text; the highest and the lowest score stand on the left."""
    found = history.improvements
    if not found:
        return []
    columns = max(8, width - 5)
    end = max(history.elapsed_s, found[-1].elapsed_s, 1e-3)
    high = history.best_score
    low = max(found[0].score, high - 8) - 1
    lines = [f"{high if row == tall - 1 else low + 1 if row == 0 else '':>4} " for row in range(tall)]
    for column in range(columns):
        score = max((entry.score for entry in found if entry.elapsed_s <= end * (column + 1) / columns), default=low)
        for row in range(tall):
            eighths = min(8, max(0, round(8 * (max(0.0, (score - low) / (high - low)) * tall - row))))
            lines[row] += _EIGHTHS[eighths] if signs else ("#" if eighths >= 4 else " ")
    return [*reversed(lines), f"     0{format_duration(end):>{max(1, columns - 1)}}"]


def _bar(length: float, signs: bool) -> str:
    """A bar of ``length`` columns, to an eighth of a column where block characters can be shown."""
    if not signs:
        return "#" * round(length)
    whole, eighths = divmod(max(1, round(8 * length)), 8)
    return "█" * whole + _BAR_ENDS[eighths]


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


def _length(line: str) -> int:
    return len(_ESCAPE.sub("", line))
