"""Notebooks that are executed when the documentation is built, and shown as pages of it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import nbclient
import nbformat
from traitlets.config import Config

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300  # for a cell; the first one that searches may compile kernels
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@cache
def as_markdown(path: Path, *, execute: bool) -> str:
    """The notebook as Markdown, with what its cells print and draw if they are executed.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell raises an error.
    """
    notebook = nbformat.read(path, as_version=4)
    if execute:
        resources = {"metadata": {"path": str(ROOT)}}  # where this process is too, as the names of ipc are relative
        config = Config({"KernelManager": {"transport": "ipc"}})  # no network port
        nbclient.NotebookClient(notebook, timeout=SECONDS, resources=resources, config=config).execute()
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        elif cell.cell_type == "code":
            parts.append(f"```python\n{cell.source}\n```")
            parts += [shown for output in cell.outputs if (shown := _shown(output))]
    return "\n\n".join(parts) + "\n"


def _shown(output: Any) -> str:
    """An output of a cell as HTML; what widgets and the error stream show is left out."""
    if output.output_type == "stream":
        return _text(output.text) if output.name == "stdout" else ""
    data = output.get("data", {})
    if "application/vnd.jupyter.widget-view+json" in data:
        return ""
    for kind in ("text/html", "image/svg+xml"):
        if kind in data:
            return _block(re.sub(r"\n\s*\n", "\n", data[kind]))
    if "image/png" in data:
        return _block(f'<img alt="output" src="data:image/png;base64,{data["image/png"].strip()}">')
    return _text(data.get("text/plain", ""))


def _text(text: str) -> str:
    escaped = _COLOURS.sub("", text).rstrip().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _block(f"<pre>{escaped}</pre>") if escaped else ""


def _block(html: str) -> str:
    return f'<div class="nb-output">\n{html}\n</div>'
