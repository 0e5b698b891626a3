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
from lns_support.text import count_of, printable


def render(
    run: RunSummary, best_boards: Sequence[LoggedBoard], parameters: str, made: str, *, refresh_s: float | None = None
) -> str:
    """Render the page of a run.

    Parameters
    ----------
    run : RunSummary
        Summary of the run.
    best_boards : sequence of LoggedBoard
        Boards to draw, the best first.
    parameters : str
        Text of params.toml.
    made : str
        When and by which version the page was made.
    refresh_s : float, optional
        Seconds after which a browser loads the page again.

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
        ("Best boards", _best_boards(run, best_boards)),
        ("Sessions", _sessions(run)),
        ("Run", _run(run)),
        ("Parameters", f"<pre>{escape(parameters)}</pre>"),
    ]
    return page(title, _head(run), sections, made, refresh_s=refresh_s)


def _head(run: RunSummary) -> str:
    history = run.history
    words = [run.state_in_words, f"{format_duration(history.elapsed_s)} of search", history.remaining_in_words]
    if run.best_at:
        words.append(f"best since {run.best_at.replace('T', ' ').removesuffix('Z')} UTC")
    score = str(run.score) if run.best else "no board yet"
    puzzle = run.puzzle
    facts = [
        f"{puzzle.width} x {puzzle.height}", count_of(puzzle.renumbered().colours, "colour"),
        count_of(len(puzzle.clues), "clue") if puzzle.clues else "no clues", f"sha256 {puzzle.sha256[:16]}…",
    ]  # fmt: skip
    notes = "".join(f"<p>{escape(note)}</p>" for note in run.notes)
    return (
        f"<h1>{escape(run.puzzle.name)}</h1>\n"
        f'<p class="soft">{escape(", ".join(facts))}</p>\n'
        f'<p class="big">{score} <small class="soft">of {run.puzzle.max_score}</small></p>\n'
        f"<p>{escape(', '.join(words))}</p>{notes}"
    )


def _parts(run: RunSummary) -> str:
    rows = [
        [
            part.name,
            f"{part.node_equivalents:,}" if part.node_equivalents else "",
            f"{part.share:.1%}" if part.node_equivalents else "",
            f"{part.boards:,}" if part.boards else "",
            f"{part.bests:,}" if part.bests else "",
            f"{part.edges:,}" if part.edges else "",
            "" if not part.edges_per_1e9 else f"{part.edges_per_1e9:.3g}",
            "" if not part.boards_per_1e9 else f"{part.boards_per_1e9:.3g}",
        ]
        for part in parts(run.history, run.heartbeat.node_equivalents_by_part)
    ]
    heads = [
        "part",
        "node equivalents",
        "share",
        "boards",
        "new bests",
        "edges gained",
        "edges per 1e9",
        "boards per 1e9",
    ]
    return table(heads, rows)


def _best_boards(run: RunSummary, best_boards: Sequence[LoggedBoard]) -> str:
    figures = []
    for entry in best_boards:
        caption = f"{entry.score} at {format_duration(entry.elapsed_s)}, {entry.origin}"
        distance = entry.board.distance(best_boards[0].board)
        if distance:
            caption += f", {count_of(distance, 'cell')} unlike the first"
        url = url_if_any(run.puzzle, entry.board)
        link = f'<br><a href="{escape(url)}">in the viewer</a>' if url else ""
        figures.append(
            f"<figure>{_scalable(svg.render(run.puzzle, entry.board))}"
            f"<figcaption>{escape(caption)}{link}</figcaption></figure>"
        )
    if not figures:
        return ""
    others = f'<div class="tiles">{"".join(figures[1:])}</div>' if figures[1:] else ""
    return f'<div class="best">{figures[0]}</div>{others}'


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
        ["instance", printable(settings.instance)],
        ["seed", str(settings.seed)],
        ["engine", settings.engine],
        ["target", str(settings.target) if settings.target >= 0 else "none"],
        *([["pinned cells", str(len(settings.pins))]] if settings.pins else []),
        ["boards logged from", "best score less one" if settings.min_score < 0 else str(settings.min_score)],
        ["run id", settings.run],
        ["created", printable(settings.created_at, 40)],
        *([name, f"{count:,}"] for name, count in run.heartbeat.statistics.counts().items() if count),
    ]
    return table(["", ""], rows, words=True)
