"""The skeleton, tables and charts of reports (HTML files without scripts or external resources), and maps.

A map, as text or SVG, shows a value for each position of a grid: for example which windows are proven optimal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from lns.instances.draw.palette import BACKGROUND, EMPTY, Rgb, hex_code

# value in a grid -> (letter on a map as text, colour on a map as SVG, meaning in words)
Legend = dict[str, tuple[str, Rgb, str]]

_CELL = 24
_MARGIN = 40
_LINE = 22

CHART_STYLE = """
.chart { width: 100%; max-width: 44rem; height: auto; display: block; font: 12px system-ui, sans-serif }
.chart text { fill: var(--soft) } .chart .middle { text-anchor: middle } .chart .right { text-anchor: end }
.chart .grid { stroke: var(--rule) } .chart .axis { stroke: var(--soft) } .chart path { fill: none }
.chart .line { stroke: var(--mark); stroke-width: 2 } .chart circle, .chart rect { fill: var(--mark) }
"""
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5d6b7a; --paper: #fff; --rule: #d9e0e7; --mark: #1769aa }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ee; --soft: #9aa7b4; --paper: #14191f; --rule: #333d47; --mark: #6db6f2 } }
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
pre { font-size: 12.5px; border: 1px solid var(--rule); padding: .7rem }
"""


def page(
    title: str, head: str, sections: Iterable[tuple[str, str]], footer: str, *, refresh_s: float | None = None
) -> str:
    """Return a report as a whole HTML document.

    ``head`` is HTML above the sections. A section is a title as plain text and its content as HTML; a section without
    content is left out. ``footer`` is plain text: which program made the page, and when. ``refresh_s`` is the number of
    seconds after which a browser loads the page again; by default it does not.
    """
    body = "\n".join(f"<section><h2>{escape(name)}</h2>\n{content}</section>" for name, content in sections if content)
    refresh = "" if refresh_s is None else f'<meta http-equiv="refresh" content="{max(1, round(refresh_s))}">\n'
    document = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"{refresh}<title>{escape(title)}</title>\n<style>{_STYLE}{CHART_STYLE}</style>\n</head>\n<body>\n{head}\n{body}\n"
        f'<p class="soft">{escape(footer)}</p>\n</body>\n</html>\n'
    )
    return document.encode("utf-8", "backslashreplace").decode()  # escapes lone surrogates, from damaged files


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, words: bool = False) -> str:
    """Return an HTML table of plain texts, without a row of heads if all heads are empty; "" if there are no rows.

    The first column is aligned to the left, and the other columns, which hold numbers, to the right; with ``words`` all
    columns are aligned to the left.
    """
    if not rows:
        return ""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    top = f"<tr>{head}</tr>" if any(heads) else ""
    return f'<div class="wide"><table class="{"words" if words else ""}">{top}{body}</table></div>'


def chart(title: str, wide: int, high: int, parts: Iterable[str]) -> str:
    """Return the ``<svg>`` element of a chart on a `page`; the title is plain text, the parts are SVG elements.

    ``wide`` and ``high`` are the size of the chart in the units of the parts. CHART_STYLE scales and styles the chart.
    """
    return (
        f'<svg class="chart" viewBox="0 0 {wide} {high}" role="img" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def standalone(drawn: str) -> str:
    """Return the HTML of a chart for a notebook, in the style of a `page`; ``drawn`` is the `chart`."""
    colours = "--soft: #5d6b7a; --rule: #d9e0e7; --mark: #1769aa"
    return f'<div style="{colours}"><style>{CHART_STYLE}</style>{drawn}</div>'


def terminal_map(grid: Sequence[Sequence[str]], legend: Legend) -> str:
    """Return a map as text: a letter for each position, rows and columns numbered from 0, then the legend.

    ``grid`` has a value for each position, by row and column; "" for a position without a value.
    """
    width = max((len(row) for row in grid), default=0)
    lines = ["     " + "".join(f"{column % 10} " for column in range(width))]
    for number, row in enumerate(grid):
        lines.append(f"{number:>4} " + "".join(f"{legend[value][0] if value else ' '} " for value in row))
    return "\n".join(line.rstrip() for line in [*lines, *_counts(grid, legend)])


def svg_map(grid: Sequence[Sequence[str]], legend: Legend, title: str) -> str:
    """Return a map as a whole SVG document with a plain-text title; grid and legend are as in `terminal_map`."""
    rows, columns = len(grid), max((len(row) for row in grid), default=0)
    below = _MARGIN + rows * _CELL
    width, height = max(_MARGIN + columns * _CELL + 12, 420), below + 12 + _LINE * (len(legend) + 1)

    def box(x: int, y: int, side: int, colour: Rgb) -> str:
        return f'<rect x="{x}" y="{y}" width="{side}" height="{side}" fill="#{hex_code(colour)}"/>'

    def label(x: float, y: float, number: int) -> str:
        return f'<text x="{x:g}" y="{y:g}" text-anchor="middle">{number}</text>'

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f'<rect width="{width}" height="{height}" fill="#{hex_code(BACKGROUND)}"/>',
        '<g font-family="sans-serif" font-size="12" fill="#FFFFFF">',
        f'<text x="8" y="16">{escape(title, quote=False)}</text>',
        *(label(_MARGIN + (column + 0.5) * _CELL, _MARGIN - 6, column) for column in range(columns)),
    ]
    for number, row in enumerate(grid):
        top, colours = _MARGIN + number * _CELL, (legend[value][1] if value else EMPTY for value in row)
        out.append(label(_MARGIN - 14, top + 0.7 * _CELL, number))
        out += [box(_MARGIN + column * _CELL, top, _CELL - 1, colour) for column, colour in enumerate(colours)]
    for number, (text, (_, colour, _)) in enumerate(zip(_counts(grid, legend), legend.values(), strict=True), start=1):
        y = below + number * _LINE
        out += [box(8, y - 11, 14, colour), f'<text x="28" y="{y}">{escape(text.strip(), quote=False)}</text>']
    return "\n".join([*out, "</g>", "</svg>", ""])


def _counts(grid: Sequence[Sequence[str]], legend: Legend) -> list[str]:
    """Return a line for each value of the legend: letter, meaning, and number of positions with that value."""
    values = [value for row in grid for value in row]
    return [f"  {letter}  {text}: {values.count(value)}" for value, (letter, _, text) in legend.items()]
