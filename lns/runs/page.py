"""The HTML page of `lns report`."""

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


def render(run: RunSummary, elites: Sequence[LoggedBoard], parameters: str, made: str) -> str:
    """Render the page of a run.

    Parameters
    ----------
    run : RunSummary
        Summary of the run.
    elites : sequence of LoggedBoard
        Boards to draw, the best first.
    parameters : str
        Text of params.toml.
    made : str
        When and by which version the page was made.

    Returns
    -------
    str
        HTML text.
    """
    title = f"{run.puzzle.name}: {run.score if run.best else 'no board'} of {run.puzzle.max_score}"
    sections = [
        ("Score over time", charts.score_over_time(run.history.improvements, run.history.elapsed_s)),
        ("Boards in the log, by score", charts.histogram(run.history.counts)),
        ("Parts of the search", _parts(run)),
        ("Best boards", _elites(run, elites)),
        ("Sessions", _sessions(run)),
        ("Run", _run(run)),
        ("Parameters", f"<pre>{escape(parameters)}</pre>"),
    ]
    return page(title, _head(run), sections, made)


def _head(run: RunSummary) -> str:
    history = run.history
    state = run.state if run.state == "running" or not run.why else f"{run.state}: {run.why}"
    words = [state, f"{format_duration(history.elapsed_s)} of search", f"{format_duration(history.remaining_s)} left"]
    if run.best_at:
        words.append(f"best since {run.best_at}")
    score = str(run.score) if run.best else "no board yet"
    notes = "".join(f"<p>{escape(note)}</p>" for note in run.notes)
    return (
        f"<h1>{escape(run.puzzle.name)}</h1>\n"
        f'<p class="soft">{run.puzzle.width} x {run.puzzle.height}, {run.puzzle.renumbered().colours} colours, '
        f"{len(run.puzzle.clues)} clues, sha256 {run.puzzle.sha256[:16]}…</p>\n"
        f'<p class="big">{score} <small class="soft">of {run.puzzle.max_score}</small></p>\n'
        f"<p>{escape(', '.join(words))}</p>{notes}"
    )


def _parts(run: RunSummary) -> str:
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
        for part in parts(run.history, run.heartbeat.node_equivalents_by_part)
    ]
    unit = "nodes or moves"
    heads = ["part", unit, "share", "boards", "new bests", "edges gained", "edges per 1e9", "boards per 1e9"]
    return table(heads, rows)


def _elites(run: RunSummary, elites: Sequence[LoggedBoard]) -> str:
    figures = []
    for entry in elites:
        caption = f"{entry.score} at {format_duration(entry.elapsed_s)}, {entry.origin}"
        distance = entry.board.distance(elites[0].board)
        if distance:
            caption += f", {distance} cells differ from the first"
        url = url_if_any(run.puzzle, entry.board)
        link = f'<br><a href="{escape(url)}">in the viewer</a>' if url else ""
        figures.append(
            f"<figure>{_scalable(svg.render(run.puzzle, entry.board))}"
            f"<figcaption>{escape(caption)}{link}</figcaption></figure>"
        )
    return f'<div class="tiles">{"".join(figures)}</div>' if figures else ""


def _scalable(picture: str) -> str:
    """The picture without its title, which would be a tooltip on every cell."""
    before, _, rest = picture.partition("<title>")
    return before + rest.partition("</title>")[2]


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
        ["instance", settings.instance],
        ["seed", str(settings.seed)],
        ["engine", settings.engine],
        ["target", str(settings.target) if settings.target >= 0 else "none"],
        ["pinned cells", str(len(settings.pins))],
        ["boards logged from", "best score less one" if settings.min_score < 0 else str(settings.min_score)],
        ["run id", settings.run],
        ["created", settings.created_at],
        *([name, f"{count:,}"] for name, count in run.heartbeat.statistics.counts().items()),
    ]
    return table(["", ""], rows, words=True)
