"""Display of a run: the HTML page of `lns report` with charts, and the text of `lns watch`. HTML text is escaped."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from html import escape
from itertools import pairwise, zip_longest

from lns.exact.text_table import aligned
from lns.instances.draw import svg, terminal
from lns.instances.draw.page import chart, page, table
from lns.instances.draw.terminal import Colour
from lns.instances.formats.viewer import url_if_any
from lns.instances.text import count_of, printable
from lns.params import to_toml
from lns.runs.board_log import LoggedBoard
from lns.runs.files import format_duration, local_time, origin_in_words, time_ago
from lns.runs.history import Improvement, RunHistory, part_table
from lns.runs.run_summary import RunSummary

SHOWN_EDGES = 24  # most edges below the best score at which the axis of scores begins
SHOWN_BARS = 40  # most scores that get a bar; these are the highest scores of logged boards
# six colours of the palette of Okabe & Ito, which colour-blind people can tell apart, and grey
CURVE_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
_WIDTH, _HEIGHT = 520, 230  # size of a chart in pixels; small, so that text is readable on a phone of 400 pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 504, 14, 190  # ends of a chart's axes, in pixels
_TIME_MARKS = (  # marks of the time axis; a later one is drawn only if earlier ones leave room
    "0.1 s", "1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "7 d", "30 d", "365 d",
    "0.2 s", "2 s", "30 s", "2 min", "30 min", "2 h", "12 h", "2 d", "14 d", "90 d",
    "0.5 s", "5 s", "20 s", "5 min", "20 min", "4 h", "4 d", "180 d",
)  # fmt: skip
_UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
_MIN_TEXT_WIDTH = 31  # fewest columns of a text beside a board
_EIGHTHS_ACROSS = ("", *"▏▎▍▌▋▊▉")
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def render(run: RunSummary, best_boards: Sequence[LoggedBoard], made: str, *, refresh_s: float | None = None) -> str:
    """Return the page of a run as HTML, with pictures of ``best_boards``, which are sorted, best first.

    ``made`` is the last line: version and date. A browser reloads the page every ``refresh_s`` seconds, if given.
    """
    title = f"{run.puzzle.name}: {run.score if run.best else 'no board'} of {run.puzzle.max_score}"
    logged = "\n".join(bars(run.history.counts, SHOWN_BARS, 60))
    heads, *rows = part_table(run.history, run.heartbeat.statistics)
    sections = [
        ("Score over time", scores_over_time([("", run.history)])),
        ("Boards in the log, by score", f"<pre>{logged}</pre>" * bool(logged)),
        ("Parts of the search", table(heads, rows)),
        ("Best boards", _best_boards(run, best_boards)),
        ("Sessions", _sessions(run)),
        ("Run", _run(run)),
        ("Parameters", f"<pre>{escape(to_toml(run.settings.parameters))}</pre>"),
    ]
    return page(title, _head(run), sections, made, refresh_s=refresh_s)


# -- charts ----------------------------------------------------------------------------------------------------------


def curve_colour(number: int) -> str:
    """Return the colour of the curve with index ``number``; the colours of seven successive curves differ."""
    return CURVE_COLOURS[number % len(CURVE_COLOURS)]


def scores_over_time(runs: Sequence[tuple[str, RunHistory]]) -> str:
    """Return a chart of best score over time as SVG, a curve for each run, given with its name; "" without boards.

    The time axis is logarithmic; the score axis begins at most `SHOWN_EDGES` below the best score of all runs.
    """
    runs = [(name, history) for name, history in runs if history.improvements]
    if not runs:
        return ""
    high = max(history.best_score for _, history in runs)
    shown = [[entry for entry in history if entry.score >= high - SHOWN_EDGES] for _, history in runs]
    low = min(*(entry.score for entries in shown for entry in entries), high - 1)
    first = max(0.1, min((entries[0].elapsed_s for entries in shown if entries), default=0.1))
    ends = [max(history.elapsed_s, history[-1].elapsed_s) for _, history in runs]
    end = max(*ends, first * 2)

    def x(seconds: float) -> float:
        return _LEFT + math.log(max(seconds, first) / first) / math.log(end / first) * (_RIGHT - _LEFT)

    def y(score: float) -> float:
        return _BOTTOM - (score - low) / (high - low) * (_BOTTOM - _TOP)

    drawn = []
    for score in _round_marks(low, high):
        drawn.append(f'<path class="grid" d="M{_LEFT} {y(score):.1f}H{_RIGHT}"/>')
        drawn.append(f'<text class="right" x="{_LEFT - 8}" y="{y(score) + 4:.1f}">{score}</text>')
    marked: list[float] = []
    for mark in _TIME_MARKS:
        units, _, unit = mark.partition(" ")
        seconds = float(units) * _UNITS[unit]
        if first <= seconds <= end and all(abs(x(seconds) - other) >= 44 for other in marked):
            marked.append(x(seconds))
            drawn.append(f'<path class="grid" d="M{marked[-1]:.1f} {_TOP}V{_BOTTOM}"/>')
            drawn.append(f'<text class="middle" x="{marked[-1]:.1f}" y="{_HEIGHT - 24}">{mark}</text>')
    middle = (_LEFT + _RIGHT) / 2
    drawn.append(f'<text class="middle" x="{middle}" y="{_HEIGHT - 6}">time of search, logarithmic</text>')
    for number, ((name, _), entries) in enumerate(zip(runs, shown, strict=True)):
        colour = curve_colour(number) if len(runs) > 1 else "var(--mark)"
        drawn += _staircase(name, [(x(one.elapsed_s), y(one.score), one) for one in entries], x(ends[number]), colour)
    return chart("score over time", _WIDTH, _HEIGHT, drawn)


def chart_lines(runs: Sequence[tuple[str, RunHistory]], width: int, tall: int) -> list[str]:
    """Return a chart of best score over time as text of ``width`` columns, a line for each of at most ``tall`` scores.

    A run comes with the character that draws its curve; ``*`` marks times at which several runs have the same score.
    """
    runs = [(sign, history) for sign, history in runs if history.improvements]
    if not runs:
        return []
    columns, best = max(8, width - 6), [max(entry.score for entry in history) for _, history in runs]
    high, low = max(best), max(min(best) - 4, max(best) - tall + 1)
    end = max(1.0, *(history.elapsed_s for _, history in runs))
    first = max(0.01, min(end / 10, *(entry.elapsed_s for _, history in runs for entry in history)))
    ends = [first * (end / first) ** (column / columns) for column in range(columns + 1)]
    grid = [[" "] * columns for _ in range(high - low + 1)]
    for sign, history in runs:
        for column, (begins_at, ends_at) in enumerate(pairwise(ends)):
            is_reached = history.elapsed_s >= begins_at or not column
            score = history.score_after(min(ends_at, history.elapsed_s)) if is_reached else None
            if score is not None and score >= low:
                grid[high - score][column] = sign if grid[high - score][column] == " " else "*"
    lines = [f"{high - row:>5} {''.join(cells)}".rstrip() for row, cells in enumerate(grid)]
    begin, last = format_duration(first) if first >= 1 else f"{first:.2g} s", format_duration(end)
    axis = f"{'':>5} {begin}{'time of search, logarithmic':^{max(1, columns - len(begin) - len(last))}}{last}"
    return [*lines, axis, *[f"{'':>6}* several runs"] * any("*" in cells for cells in grid)]


def _staircase(name: str, points: Sequence[tuple[float, float, Improvement]], end: float, colour: str) -> list[str]:
    """Return SVG elements: the stepped line of one run, and a dot for each of ``points`` (x, y, improvement)."""
    if not points:
        return []
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y, _ in points[1:])
    drawn = [f'<path class="line" d="{path}H{end:.1f}" style="stroke:{colour}"/>']
    for x, y, entry in points:
        label = f"{f'{name}: ' if name else ''}{_found(entry)}"
        drawn.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" style="fill:{colour}"><title>{escape(f"{label}, {entry.at}")}'
            "</title></circle>"
        )
    return drawn


def _round_marks(low: int, high: int) -> list[int]:
    """Return up to ten marks of an axis from ``low`` to ``high``: ``high``, and round numbers not too close to it."""
    step = next(step for base in (1, 10, 100, 1000) for step in (base, 2 * base, 5 * base) if (high - low) / step <= 9)
    return [*(score for score in range(-(-low // step) * step, high, step) if high - score >= step / 2), high]


def _found(entry: Improvement) -> str:
    return f"{entry.score} at {format_duration(entry.elapsed_s)}, {origin_in_words(entry.origin)}"


def bars(counts: dict[int, int], most: int, columns: int, *, signs: bool = True) -> list[str]:
    """Return a line for each of the ``most`` highest scores: score, bar of up to ``columns`` columns, number of boards.

    Bar lengths are logarithmic. ``signs`` says whether block characters can be shown; otherwise bars are of ``#``.
    """
    lines, longest = [], math.log1p(max(counts.values(), default=0))
    for score in sorted(counts, reverse=True)[:most]:
        whole, eighths = divmod(max(8, round(8 * columns * math.log1p(counts[score]) / longest)), 8)
        bar = "█" * whole + _EIGHTHS_ACROSS[eighths] if signs else "#" * whole
        lines.append(f"{score:>4} {bar} {counts[score]:,}")
    return lines


# -- sections of the page --------------------------------------------------------------------------------------------


def _head(run: RunSummary) -> str:
    history, puzzle = run.history, run.puzzle
    words = [run.state_in_words, f"{format_duration(history.elapsed_s)} of search", history.remaining_in_words]
    if run.best_at:
        words.append(f"best since {run.best_at.replace('T', ' ').removesuffix('Z')} UTC")
    facts = [
        f"{puzzle.width} x {puzzle.height}", count_of(puzzle.renumbered().colours, "colour"),
        count_of(len(puzzle.clues), "clue") if puzzle.clues else "no clues", f"sha256 {puzzle.sha256[:16]}…",
    ]  # fmt: skip
    notes = "".join(f"<p>{escape(note)}</p>" for note in run.notes)
    score = str(run.score) if run.best else "no board yet"
    return (
        f"<h1>{escape(puzzle.name)}</h1>\n"
        f'<p class="soft">{escape(", ".join(facts))}</p>\n'
        f'<p class="big">{score} <small class="soft">of {puzzle.max_score}</small></p>\n'
        f"<p>{escape(', '.join(words))}</p>{notes}"
    )


def _best_boards(run: RunSummary, best_boards: Sequence[LoggedBoard]) -> str:
    figures = []
    for entry in best_boards:
        caption = _found(entry)
        if distance := entry.board.distance(best_boards[0].board):
            caption += f", {count_of(distance, 'cell')} unlike the first"
        url = url_if_any(run.puzzle, entry.board)
        link = f'<br><a href="{escape(url)}">in the viewer</a>' if url else ""
        before, _, rest = svg.render(run.puzzle, entry.board).partition("<title>")  # without <title>, the tooltip
        picture = before + rest.partition("</title>")[2]
        figures.append(f"<figure>{picture}<figcaption>{escape(caption)}{link}</figcaption></figure>")
    if not figures:
        return ""
    others = f'<div class="tiles">{"".join(figures[1:])}</div>' if figures[1:] else ""
    return f'<div class="best">{figures[0]}</div>{others}'


def _sessions(run: RunSummary) -> str:
    heads = ["began", "ended", "search", "workers", "machine", "version"]
    rows = [
        [entry.started_at, entry.ended or "-", format_duration(entry.seconds), str(entry.workers),
         f"{entry.host}, {entry.machine}", entry.version]
        for entry in run.history.sessions
    ]  # fmt: skip
    return table(heads, rows, words=True)


def _run(run: RunSummary) -> str:
    settings, counts = run.settings, run.heartbeat.statistics.counts()
    facts = {
        "instance": printable(settings.instance), "seed": settings.seed, "engine": settings.engine,
        "target": settings.target if settings.target >= 0 else "none", "pinned cells": len(settings.pins) or "none",
        "boards logged from": "best score less one" if settings.min_score < 0 else settings.min_score,
        "run id": settings.run, "created": settings.created_at,
    }  # fmt: skip
    facts |= {name: f"{count:,}" for name, count in counts.items() if count}
    return table(["", ""], [[name, str(value)] for name, value in facts.items()], words=True)


# -- text that `lns watch` shows -------------------------------------------------------------------------------------


def frame(
    run: RunSummary, best_boards: Sequence[LoggedBoard], width: int, height: int, colour: Colour, signs: bool
) -> list[str]:
    """Return the state of a run and its best boards as text of at most ``height`` lines of ``width`` columns.

    ``best_boards`` are sorted, best first. ``signs`` says whether the terminal can show block characters.
    """
    head = [part for line in headline(run) for part in textwrap.wrap(printable(line, width * height), width)]
    head = head[: height // 3]
    rest = height - len(head) - 1
    board = _drawn_board(run, width, rest, colour)
    beside = max((_length(line) + 2 for line in board), default=0)
    if width - beside < _MIN_TEXT_WIDTH:
        lines = [*_text(run, best_boards, width, rest, signs), "", *board]
    else:
        text = _text(run, best_boards, width - beside, rest, signs)
        pairs = zip_longest(board, text, fillvalue="")
        lines = [f"{left}{' ' * (beside - _length(left))}{right}".rstrip() for left, right in pairs]
    return [*head, "", *lines][:height]


def headline(run: RunSummary) -> list[str]:
    """Return two lines: one with name, score, state and rate; one with times and files not read or written."""
    history, puzzle = run.history, run.puzzle
    first = [f"{run.name}: {run.score if run.best else 'no board'} of {puzzle.max_score}", run.state_in_words]
    if run.state == "running" and not run.starting:
        workers = "workers elsewhere" if run.workers is None else count_of(run.workers, "worker")
        first += [run.heartbeat.speed, workers]
    second = [f"{format_duration(history.elapsed_s)} of search", history.remaining_in_words]
    if run.best_at:
        second.append(f"best found {local_time(run.best_at)}, {time_ago(run.best_at)}")
    second += [f"cannot write {name}" for name in run.heartbeat.write_errors]
    return [", ".join(first), ", ".join([*second, *run.notes])]


def _text(run: RunSummary, best_boards: Sequence[LoggedBoard], width: int, height: int, signs: bool) -> list[str]:
    """Return the lines of those sections (charts and tables as text) that fit into ``height`` lines."""
    done = run.heartbeat.statistics
    sections = [
        ["score over time", *chart_lines([("█" if signs else "#", run.history)], min(width, 100), height // 4)],
        ["boards in the log", *bars(run.history.counts, 5, max(4, min(40, width - 16)), signs=signs)],
        aligned([[row[at] for at in (0, 3, 4, 2)] for row in part_table(run.history, done)[:7]]).splitlines(),
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


def _drawn_board(run: RunSummary, width: int, height: int, colour: Colour) -> list[str]:
    """Return lines that draw the best board as large as fits, beside the text or else below it; [] if no board fits."""
    beside = width - _MIN_TEXT_WIDTH - 2
    columns = beside if beside >= run.puzzle.width else width
    if run.best is None or run.puzzle.width > columns or run.puzzle.height > height:
        return []
    return terminal.render(run.puzzle, run.best.board, colour=colour, width=columns, height=height).splitlines()


def _length(line: str) -> int:
    return len(_ESCAPE.sub("", line))
