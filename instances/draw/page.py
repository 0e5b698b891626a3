"""The frame of every report: one self-contained HTML file without scripts or external resources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5d6b7a; --paper: #fff; --rule: #d9e0e7; --mark: #1769aa;
  --other: #c2410c }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ee; --soft: #9aa7b4; --paper: #14191f; --rule: #333d47; --mark: #6db6f2; --other: #fb923c } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1.05rem; margin: 2.2rem 0 .5rem; border-bottom: 1px solid var(--rule); padding-bottom: .2rem }
p { margin: .3rem 0 } .soft, figcaption { color: var(--soft) }
.verdict { font-size: 1.15rem; border: 2px solid var(--mark); border-radius: 4px; padding: .7rem 1rem; margin: 1rem 0;
  overflow-wrap: anywhere }
.big { font-size: 2.6rem; font-weight: 600; line-height: 1.1; margin: 1rem 0 0 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--rule); font-weight: normal }
th { color: var(--soft) }
th:first-child, td:first-child, .words td, .words th { text-align: left }
.wide, pre { overflow-x: auto }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1.2rem }
.best { max-width: 36rem; margin-bottom: 1.2rem }
.best svg, .tiles svg { width: 100%; height: auto; display: block; margin-bottom: .3rem }
figure { margin: 0 } a { color: var(--mark) }
.chart { width: 100%; max-width: 44rem; height: auto; display: block; font: 12px system-ui, sans-serif }
.chart text { fill: var(--soft) } .chart .middle { text-anchor: middle } .chart .right { text-anchor: end }
.chart .grid { stroke: var(--rule) } .chart .axis { stroke: var(--soft) } .chart path { fill: none }
.chart .line { stroke: var(--mark); stroke-width: 2 } .chart circle, .chart rect { fill: var(--mark) }
.chart .faint { opacity: .35 } .chart .mark { fill: var(--other) }
pre { font-size: 12.5px; border: 1px solid var(--rule); padding: .7rem }
"""


def page(
    title: str, head: str, sections: Iterable[tuple[str, str]], footer: str, *, refresh_s: float | None = None
) -> str:
    """A report as a whole HTML document.

    ``head`` is HTML above the sections, each of which has a title as plain text and a content as HTML; a section
    without content is left out. ``footer`` is plain text: which program made the page, and when. ``refresh_s`` is the
    number of seconds after which a browser loads the page again; by default it stays as it is.
    """
    body = "\n".join(f"<section><h2>{escape(name)}</h2>\n{content}</section>" for name, content in sections if content)
    refresh = "" if refresh_s is None else f'<meta http-equiv="refresh" content="{max(1, round(refresh_s))}">\n'
    document = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"{refresh}<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{head}\n{body}\n"
        f'<p class="soft">{escape(footer)}</p>\n</body>\n</html>\n'
    )
    return document.encode("utf-8", "backslashreplace").decode()  # lone surrogates of damaged files cannot be written


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, words: bool = False) -> str:
    """An HTML table of plain texts; empty if there are no rows. The title row is left out if all heads are empty.

    Only the first column is aligned to the left, the others, which hold numbers, to the right; all are with ``words``.
    """
    if not rows:
        return ""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    top = f"<tr>{head}</tr>" if any(heads) else ""
    return f'<div class="wide"><table class="{"words" if words else ""}">{top}{body}</table></div>'


def chart(title: str, wide: int, high: int, parts: Iterable[str]) -> str:
    """An ``<svg>`` element for `page` of the parts of a chart, with its title as plain text.

    ``wide`` and ``high`` are in units of the drawing; the page scales it and knows the classes grid, axis, line, mark
    and faint.
    """
    return (
        f'<svg class="chart" viewBox="0 0 {wide} {high}" role="img" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
