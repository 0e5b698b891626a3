"""How a run is shown: the HTML page of `lns report` and its charts, all text escaped, and the text of `lns watch`."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Sequence
from html import escape
from itertools import zip_longest

from lns.instances.draw import svg, terminal
from lns.instances.draw.page import chart, page, standalone, table
from lns.instances.draw.terminal import Colour
from lns.instances.formats.viewer import url_if_any
from lns.instances.text import count_of, printable
from lns.runs.board_log import LoggedBoard
from lns.runs.files import format_duration, local_time, time_ago
from lns.runs.history import Improvement, RunHistory, parts
from lns.runs.run_summary import RunSummary

SHOWN_EDGES = 24  # the axis of scores begins at most so far below the best one
SHOWN_BARS = 40  # of the highest scores
CURVE_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")  # Okabe & Ito, and a grey
_WIDTH, _HEIGHT = 520, 230  # small, so that text can be read where a phone shows the chart at 400 pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 504, 14, 190  # where the axes begin and end
_TIME_MARKS = (  # the later rows only where there is room
    (0.1, 1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400),
    (0.2, 2, 30, 120, 1800, 2 * 3600, 12 * 3600, 2 * 86400, 14 * 86400, 90 * 86400),
    (0.5, 5, 20, 300, 1200, 4 * 3600, 4 * 86400, 180 * 86400),
)
_TIMES = ((" d", 86400), (" h", 3600), (" min", 60), (" s", 1))
_COUNTS = (("M", 10**6), ("k", 10**3), ("", 1))
_MIN_TEXT_WIDTH = 31  # columns of the text beside a board
_BAR_ENDS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def render(
    run: RunSummary, best_boards: Sequence[LoggedBoard], parameters: str, made: str, *, refresh_s: float | None = None
) -> str:
    """The page of a run as HTML, with the ``best_boards``, the best first, and the text of params.toml.

    ``made``: when and by which version; a browser loads the page again after ``refresh_s`` seconds, if they are given.
    """
    title = f"{run.puzzle.name}: {run.score if run.best else 'no board'} of {run.puzzle.max_score}"
    sections = [
        ("Score over time", scores_over_time([("", run.history)])),
        ("Boards in the log, by score", histogram(run.history.counts)),
        ("Parts of the search", _parts(run)),
        ("Best boards", _best_boards(run, best_boards)),
        ("Sessions", _sessions(run)),
        ("Run", _run(run)),
        ("Parameters", f"<pre>{escape(parameters)}</pre>"),
    ]
    return page(title, _head(run), sections, made, refresh_s=refresh_s)


# -- charts ----------------------------------------------------------------------------------------------------------


def curve_colour(number: int) -> str:
    """Colour of a curve, which tells it from six others."""
    return CURVE_COLOURS[number % len(CURVE_COLOURS)]


def scores_over_time(runs: Sequence[tuple[str, RunHistory]]) -> str:
    """Best scores of runs, each with a name, over time, on one pair of axes, as SVG; "" without improvements.

    The axis of time is logarithmic; that of scores begins at most `SHOWN_EDGES` below the best score.
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

    drawn = [_across(y(score), str(score)) for score in _round_marks(low, high)]
    for mark in _time_marks(first, end, x):
        drawn.append(f'<path class="grid" d="M{x(mark):.1f} {_TOP}V{_BOTTOM}"/>')
        drawn.append(_below(x(mark), _in_units(mark, _TIMES)))
    drawn.append(_below((_LEFT + _RIGHT) / 2, "time of search, logarithmic", _HEIGHT - 6))
    for number, ((name, _), entries) in enumerate(zip(runs, shown, strict=True)):
        colour = curve_colour(number) if len(runs) > 1 else "var(--mark)"
        drawn += _staircase(name, [(x(one.elapsed_s), y(one.score), one) for one in entries], x(ends[number]), colour)
    return chart("score over time", _WIDTH, _HEIGHT, drawn)


def chart_of(history: RunHistory) -> str:
    """The best score over time, for a notebook."""
    return standalone(scores_over_time([("", history)]))


def _staircase(name: str, points: Sequence[tuple[float, float, Improvement]], end: float, colour: str) -> list[str]:
    """Line and points of one run; each point has its place and what is there."""
    if not points:
        return []
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y, _ in points[1:])
    drawn = [f'<path class="line" d="{path}H{end:.1f}" style="stroke:{colour}"/>']
    for x, y, entry in points:
        label = f"{f'{name}: ' if name else ''}{entry.score} at {format_duration(entry.elapsed_s)} ({entry.origin})"
        drawn.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" style="fill:{colour}"><title>{escape(f"{label}, {entry.at}")}'
            "</title></circle>"
        )
    return drawn


def histogram(counts: dict[int, int]) -> str:
    """Numbers of logged boards by score, with a logarithmic axis of numbers, as SVG; "" without boards.

    Only the `SHOWN_BARS` highest scores are shown, from the lowest with a board on.
    """
    if not counts:
        return ""
    highest, largest = max(counts), max(counts.values())
    scores = list(range(min(score for score in counts if score > highest - SHOWN_BARS), highest + 1))
    pitch = min(64.0, (_RIGHT - _LEFT) / len(scores))

    def y(count: float) -> float:
        return _BOTTOM - math.log1p(count) / math.log1p(largest) * (_BOTTOM - 2 * _TOP)

    drawn = [_across(y(mark), _in_units(mark, _COUNTS)) for mark in (10**power for power in range(len(str(largest))))]
    for index, score in enumerate(scores):
        count, left = counts.get(score, 0), _LEFT + index * pitch
        if count:
            drawn.append(
                f'<rect x="{left + 1:.1f}" y="{y(count):.1f}" width="{pitch - 2:.1f}" '
                f'height="{_BOTTOM - y(count):.1f}"><title>{count_of(count, "board")} of {score}</title></rect>'
            )
        if count and pitch >= 30:
            drawn.append(_below(left + pitch / 2, _in_units(count, _COUNTS), y(count) - 4))
        if pitch >= 30 or (highest - score) % 5 == 0:
            drawn.append(_below(left + pitch / 2, str(score)))
    drawn.append(f'<path class="axis" d="M{_LEFT} {_BOTTOM}H{_RIGHT}"/>')
    drawn.append(_below((_LEFT + _RIGHT) / 2, "score", _HEIGHT - 6))
    drawn.append(f'<text x="4" y="{_TOP - 2}">boards, logarithmic</text>')
    return chart("boards by score", _WIDTH, _HEIGHT, drawn)


def _across(y: float, text: str) -> str:
    """A line of the grid and its text on the left."""
    return (
        f'<path class="grid" d="M{_LEFT} {y:.1f}H{_RIGHT}"/>'
        f'<text class="right" x="{_LEFT - 8}" y="{y + 4:.1f}">{text}</text>'
    )


def _below(x: float, text: str, y: float = _HEIGHT - 24) -> str:
    """A text around ``x``, by default below the axis."""
    return f'<text class="middle" x="{x:.1f}" y="{y:.1f}">{text}</text>'


def _time_marks(first: float, end: float, x: Callable[[float], float]) -> list[float]:
    """The marks of the axis of time whose texts do not touch; the roundest ones come first."""
    kept: list[float] = []
    for mark in (mark for row in _TIME_MARKS for mark in row):
        if first <= mark <= end and all(abs(x(mark) - x(other)) >= 44 for other in kept):
            kept.append(mark)
    return kept


def _round_marks(low: int, high: int) -> list[int]:
    """At most ten round numbers from low to high; high is among them, and none is too close to it."""
    step = next(step for base in (1, 10, 100, 1000) for step in (base, 2 * base, 5 * base) if (high - low) / step <= 9)
    return [*(score for score in range(-(-low // step) * step, high, step) if high - score >= step / 2), high]


def _in_units(value: float, units: Sequence[tuple[str, int]]) -> str:
    """A number in the largest unit that it reaches."""
    unit, size = next((pair for pair in units if value >= pair[1]), units[-1])
    return f"{value / size:.3g}{unit}"


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


def _parts(run: RunSummary) -> str:
    columns = {
        "node equivalents": ("node_equivalents", "{:,}"), "share": ("share", "{:.1%}"), "boards": ("boards", "{:,}"),
        "new bests": ("bests", "{:,}"), "edges gained": ("edges", "{:,}"), "edges per 1e9": ("edges_per_1e9", "{:.3g}"),
        "boards per 1e9": ("boards_per_1e9", "{:.3g}"),
    }  # fmt: skip
    rows = []
    for part in parts(run.history, run.heartbeat.statistics):
        values = [(getattr(part, name), form) for name, form in columns.values()]
        rows.append([part.name, *(form.format(value) if value else "" for value, form in values)])
    return table(["part", *columns], rows)


def _best_boards(run: RunSummary, best_boards: Sequence[LoggedBoard]) -> str:
    figures = []
    for entry in best_boards:
        caption = f"{entry.score} at {format_duration(entry.elapsed_s)}, {entry.origin}"
        if distance := entry.board.distance(best_boards[0].board):
            caption += f", {count_of(distance, 'cell')} unlike the first"
        url = url_if_any(run.puzzle, entry.board)
        link = f'<br><a href="{escape(url)}">in the viewer</a>' if url else ""
        before, _, rest = svg.render(run.puzzle, entry.board).partition("<title>")  # else a tooltip on every cell
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
    settings = run.settings
    rows = [
        ["instance", printable(settings.instance)],
        ["seed", str(settings.seed)],
        ["engine", settings.engine],
        ["target", str(settings.target) if settings.target >= 0 else "none"],
        *([["pinned cells", str(len(settings.pins))]] if settings.pins else []),
        ["boards logged from", "best score less one" if settings.min_score < 0 else str(settings.min_score)],
        ["run id", settings.run],
        ["created", settings.created_at],
        *([name, f"{count:,}"] for name, count in run.heartbeat.statistics.counts().items() if count),
    ]
    return table(["", ""], rows, words=True)


# -- text of `lns watch` ---------------------------------------------------------------------------------------------


def frame(
    run: RunSummary, best_boards: Sequence[LoggedBoard], width: int, height: int, colour: Colour, signs: bool
) -> list[str]:
    """The state of a run and its best boards, the best first, in at most ``height`` lines of ``width`` columns.

    ``signs``: whether the terminal can show block characters.
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
        ["score over time", *_chart_lines(run.history, min(width, 100), 4 if height >= 20 else 2, signs)],
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


def _chart_lines(history: RunHistory, width: int, tall: int, signs: bool) -> list[str]:
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


def _drawn_board(run: RunSummary, width: int, height: int, colour: Colour) -> list[str]:
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
