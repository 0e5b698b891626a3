"""Steps of a search as JSON, and as one HTML file that plays them without a server."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from exact.polyominoes.grid import Grid
from exact.sat.steps import Painting
from exact.trace import Step, Trace
from instances.draw import svg
from instances.draw.palette import CLUE, GREY, MISMATCH, PALETTE, hex_code
from instances.puzzle import Puzzle
from lns.web.polyominoes import grid_to_json
from lns.web.wire import puzzle_to_json

_STATIC = Path(__file__).parent / "static"
_OF_BOARDS = ("elements.js", "model.js", "draw.js", "player.js", "steps_view.js")
_OF_GRIDS = ("elements.js", "draw.js", "player.js", "grid_view.js")
_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|class|function|let) )", re.MULTILINE)


def colours() -> dict[str, Any]:
    """What the scripts need to draw: the palette and the patterns."""
    return {
        "palette": ["#" + hex_code(colour) for colour in PALETTE],
        "grey": "#" + hex_code(GREY),
        "mismatch": "#" + hex_code(MISMATCH),
        "clue": "#" + hex_code(CLUE),
        "patterns": [list(pattern) for pattern in svg.PATTERNS],
    }


def trace_to_json(trace: Trace) -> dict[str, Any]:
    """The steps as lists.

    With the view "pieces" [depth, cell, oriented, outcome, depth after, why], of a SAT solver, with the view
    "triangles", [depth, decided, outcome, [[cell, side, colour, depth], ...], [[cell, piece, depth], ...], why].
    """
    sat = any(isinstance(step, Painting) for step in trace.steps)
    return {
        "solver": trace.solver,
        "status": str(trace.status),
        "view": "triangles" if sat else "pieces",
        "steps": [_painting(step) if isinstance(step, Painting) else _node(step) for step in trace.steps],
    }


def _node(step: Step) -> list[Any]:
    return [step.depth, step.cell, step.oriented, step.outcome, step.depth_after, step.why]


def _painting(step: Painting) -> list[Any]:
    return [step.depth, step.decided, step.outcome, step.triangles, step.pieces, step.why]


def page(puzzle: Puzzle, trace: Trace) -> str:
    """One HTML file with scripts, styles and the steps of a search in it."""
    data = {"puzzle": puzzle_to_json(puzzle), "trace": trace_to_json(trace)}
    title = f"{puzzle.name}: {trace.solver} step by step"
    return _page(title, _OF_BOARDS, data, "watchSteps(new Puzzle(given.puzzle), given.trace);")


def grid_page(name: str, grid: Grid, trace: dict[str, Any]) -> str:
    """The same for a grid of polyominoes; ``trace`` as `lns.web.polyominoes.record` returns it."""
    data = {"grid": grid_to_json(grid), "trace": trace}
    return _page(f"{name} step by step", _OF_GRIDS, data, "watchGrid(given.grid, given.trace);")


def _page(title: str, scripts: Sequence[str], data: dict[str, Any], start: str) -> str:
    text = json.dumps(data | {"colours": colours()})
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    script = "\n".join(_plain((_STATIC / name).read_text(encoding="utf-8")) for name in scripts)
    style = (_STATIC / "style.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
<div class="two"><section class="panel" aria-label="Board"><div id="place"></div></section>
<section id="player" class="panel"></section></div>
</main>
<script type="application/json" id="data">{text}</script>
<script type="module">
{script}
const given = JSON.parse(document.getElementById("data").textContent);
useColours(given.colours);
{start}
</script>
</body>
</html>
"""


def _plain(script: str) -> str:
    """A module without its imports and exports."""
    return _EXPORT.sub("", _IMPORT.sub("", script))
