"""The page of `lns report`."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from instances.draw import svg
from instances.draw.page import page, table
from instances.formats.viewer import url_if_any
from lns.runs import charts
from lns.runs.board_log import LoggedBoard
from lns.runs.breakdown import parts
from lns.runs.files import format_duration
from lns.runs.run_summary import RunSummary


def render(one: RunSummary, elites: Sequence[LoggedBoard], parameters: str, made: str) -> str:
    """The page. ``parameters``: text of params.toml; ``made``: when and by which version the page was made."""
    title = f"{one.puzzle.name}: {one.score if one.best else 'no board'} of {one.puzzle.max_score}"
    sections = [
        ("Score over time", charts.score_over_time(one.history.improvements, one.history.elapsed_s)),
        ("Boards in the log, by score", charts.histogram(one.history.counts)),
        ("Operators", _operators(one)),
        ("Best boards", _elites(one, elites)),
        ("Sessions", _sessions(one)),
        ("Run", _run(one)),
        ("Parameters", f"<pre>{escape(parameters)}</pre>"),
    ]
    return page(title, _head(one), sections, made)


def _head(one: RunSummary) -> str:
    history = one.history
    state = one.state if one.state == "running" or not one.why else f"{one.state}: {one.why}"
    words = [state, f"{format_duration(history.elapsed_s)} of search", f"{format_duration(history.remaining_s)} left"]
    if one.best_at:
        words.append(f"best since {one.best_at}")
    score = str(one.score) if one.best else "no board yet"
    notes = "".join(f"<p>{escape(note)}</p>" for note in one.notes)
    return (
        f"<h1>{escape(one.puzzle.name)}</h1>\n"
        f'<p class="soft">{one.puzzle.width} x {one.puzzle.height}, {one.puzzle.renumbered().colours} colours, '
        f"{len(one.puzzle.clues)} clues, sha256 {one.puzzle.sha256[:16]}…</p>\n"
        f'<p class="big">{score} <small class="soft">of {one.puzzle.max_score}</small></p>\n'
        f"<p>{escape(', '.join(words))}</p>{notes}"
    )


def _operators(one: RunSummary) -> str:
    rows = [
        [
            part.name,
            f"{part.node_equivalents:,}" if part.node_equivalents else "",
            f"{part.share:.1%}" if part.node_equivalents else "",
            f"{part.boards:,}",
            f"{part.bests:,}",
            f"{part.edges:,}",
            "" if part.edges_per_1e9 is None else f"{part.edges_per_1e9:.3g}",
            "" if part.boards_per_1e9 is None else f"{part.boards_per_1e9:.3g}",
        ]
        for part in parts(one.history, one.heartbeat.node_equivalents_by_part)
    ]
    unit = "nodes or moves"
    heads = ["operator", unit, "share", "boards", "new bests", "edges gained", "edges per 1e9", "boards per 1e9"]
    return table(heads, rows)


def _elites(one: RunSummary, elites: Sequence[LoggedBoard]) -> str:
    figures = []
    for entry in elites:
        caption = f"{entry.score} at {format_duration(entry.elapsed_s)}, {entry.origin}"
        distance = entry.board.distance(elites[0].board)
        if distance:
            caption += f", {distance} cells off the first"
        url = url_if_any(one.puzzle, entry.board)
        link = f'<br><a href="{escape(url)}">in the viewer</a>' if url else ""
        figures.append(
            f"<figure>{_scalable(svg.render(one.puzzle, entry.board))}"
            f"<figcaption>{escape(caption)}{link}</figcaption></figure>"
        )
    return f'<div class="tiles">{"".join(figures)}</div>' if figures else ""


def _scalable(picture: str) -> str:
    """Without its own title, which would be the same tooltip everywhere."""
    before, _, rest = picture.partition("<title>")
    return before + rest.partition("</title>")[2]


def _sessions(one: RunSummary) -> str:
    heads = ["began", "ended", "search", "workers", "machine", "version"]
    rows = [
        [entry.started_at, entry.ended or "-", format_duration(entry.seconds), str(entry.workers),
         f"{entry.host}, {entry.machine}", entry.version]
        for entry in one.history.sessions
    ]  # fmt: skip
    return table(heads, rows, words=True)


def _run(one: RunSummary) -> str:
    settings = one.settings
    rows = [
        ["instance", settings.instance],
        ["seed", str(settings.seed)],
        ["engine", settings.engine],
        ["target", str(settings.target) if settings.target >= 0 else "none"],
        ["pinned cells", str(len(settings.pins))],
        ["boards logged from", "best less one" if settings.min_score < 0 else str(settings.min_score)],
        ["run id", settings.run],
        ["created", settings.created_at],
        *([name, f"{count:,}"] for name, count in one.heartbeat.statistics.items()),
    ]
    return table(["", ""], rows, words=True)
