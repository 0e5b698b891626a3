"""The page of `lns report`: one HTML file without scripts and without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from instances.draw import svg
from instances.formats.viewer import url_if_any
from lns.runs import charts
from lns.runs.files import clock
from lns.runs.journal import Entry
from lns.runs.overview import Overview
from lns.runs.parts import parts

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5d6b7a; --paper: #fff; --rule: #d9e0e7; --mark: #1769aa }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ee; --soft: #9aa7b4; --paper: #14191f; --rule: #333d47; --mark: #6db6f2 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1.05rem; margin: 2.2rem 0 .5rem; border-bottom: 1px solid var(--rule); padding-bottom: .2rem }
.lead { color: var(--soft); margin: .2rem 0 0 }
.big { font-size: 2.6rem; font-weight: 600; line-height: 1.1; margin: 1rem 0 0 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--rule); font-weight: normal }
th { color: var(--soft) }
th:first-child, td:first-child, .words td, .words th { text-align: left }
.wide { overflow-x: auto }
.elites { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1.2rem }
.elites svg { width: 100%; height: auto; display: block; margin-bottom: .3rem }
figure { margin: 0 } figcaption { color: var(--soft) } a { color: var(--mark) }
.chart { width: 100%; height: auto; font: 12px system-ui, sans-serif }
.chart text { fill: var(--soft) } .chart .middle { text-anchor: middle } .chart .right { text-anchor: end }
.chart .grid { stroke: var(--rule); fill: none } .chart .axis { stroke: var(--soft) }
.chart .line { stroke: var(--mark); stroke-width: 2; fill: none } .chart circle, .chart rect { fill: var(--mark) }
pre { overflow-x: auto; font-size: 12.5px; border: 1px solid var(--rule); padding: .7rem }
"""


def render(one: Overview, elites: Sequence[Entry], parameters: str, made: str) -> str:
    """The page. ``parameters``: text of params.toml; ``made``: when and by which version the page was made."""
    title = f"{one.puzzle.name}: {one.score if one.best else 'no board'} of {one.puzzle.max_score}"
    sections = [
        _section("Score over time", charts.score_over_time(one.account.improvements, one.account.elapsed_s)),
        _section("Boards in the log, by score", charts.histogram(one.account.counts)),
        _section("Operators", _operators(one)),
        _section("Best boards", _elites(one, elites)),
        _section("Sessions", _sessions(one)),
        _section("Run", _run(one)),
        _section("Parameters", f"<pre>{escape(parameters)}</pre>"),
    ]
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{_head(one)}\n"
        + "\n".join(filter(None, sections))
        + f'\n<p class="lead">{escape(made)}</p>\n</body>\n</html>\n'
    )


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>\n{content}</section>" if content else ""


def _head(one: Overview) -> str:
    account = one.account
    state = one.state if one.state == "running" or not one.why else f"{one.state}: {one.why}"
    words = [state, f"{clock(account.elapsed_s)} of search", f"{clock(account.left_s)} left"]
    if one.best_at:
        words.append(f"best since {one.best_at}")
    score = str(one.score) if one.best else "no board yet"
    notes = "".join(f"<p>{escape(note)}</p>" for note in one.notes)
    return (
        f"<h1>{escape(one.puzzle.name)}</h1>\n"
        f'<p class="lead">{one.puzzle.width} x {one.puzzle.height}, {one.puzzle.colours} colours, '
        f"{len(one.puzzle.clues)} clues, sha256 {one.puzzle.sha256[:16]}…</p>\n"
        f'<p class="big">{score} <small class="lead">of {one.puzzle.max_score}</small></p>\n'
        f"<p>{escape(', '.join(words))}</p>{notes}"
    )


def _operators(one: Overview) -> str:
    rows = [
        [
            part.name,
            f"{part.work:,}" if part.work else "",
            f"{part.share:.1%}" if part.work else "",
            f"{part.boards:,}",
            f"{part.bests:,}",
            f"{part.edges:,}",
            "" if part.edges_per_1e9 is None else f"{part.edges_per_1e9:.3g}",
            "" if part.boards_per_1e9 is None else f"{part.boards_per_1e9:.3g}",
        ]
        for part in parts(one.account, one.beat.efforts)
    ]
    unit = "nodes or moves"
    heads = ["operator", unit, "share", "boards", "new bests", "edges gained", "edges per 1e9", "boards per 1e9"]
    return _table(heads, rows) if rows else ""


def _elites(one: Overview, elites: Sequence[Entry]) -> str:
    figures = []
    for entry in elites:
        caption = f"{entry.score} at {clock(entry.elapsed_s)}, {entry.origin}"
        apart = entry.board.apart(elites[0].board)
        if apart:
            caption += f", {apart} cells off the first"
        url = url_if_any(one.puzzle, entry.board)
        link = f'<br><a href="{escape(url)}">in the viewer</a>' if url else ""
        figures.append(
            f"<figure>{_scalable(svg.render(one.puzzle, entry.board))}"
            f"<figcaption>{escape(caption)}{link}</figcaption></figure>"
        )
    return f'<div class="elites">{"".join(figures)}</div>' if figures else ""


def _scalable(picture: str) -> str:
    """Without its own title, which would be the same tooltip everywhere."""
    before, _, rest = picture.partition("<title>")
    return before + rest.partition("</title>")[2]


def _sessions(one: Overview) -> str:
    heads = ["began", "ended", "search", "workers", "machine", "version"]
    rows = [
        [entry.started_at, entry.ended or "-", clock(entry.seconds), str(entry.workers),
         f"{entry.host}, {entry.machine}", entry.version]
        for entry in one.account.sessions
    ]  # fmt: skip
    return _table(heads, rows, words=True) if rows else ""


def _run(one: Overview) -> str:
    settings = one.settings
    rows = [
        ["instance", settings.instance],
        ["seed", str(settings.seed)],
        ["engine", settings.engine],
        ["target", str(settings.target) if settings.target >= 0 else "none"],
        ["pinned cells", str(len(settings.pins))],
        ["boards logged from", "best less one" if settings.log_from < 0 else str(settings.log_from)],
        ["run id", settings.run],
        ["created", settings.created_at],
        *([name, f"{count:,}"] for name, count in one.beat.statistics.items()),
    ]
    return _table(["", ""], rows, words=True)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, words: bool = False) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    top = f"<tr>{head}</tr>" if any(heads) else ""
    return f'<div class="wide"><table class="{"words" if words else ""}">{top}{body}</table></div>'
