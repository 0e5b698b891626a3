"""The notebooks of the documentation run, cell by cell, and what they show can be drawn."""

from __future__ import annotations

import ast

import pytest

from tests.docs import pages


@pytest.mark.slow
def test_the_study_runs_cell_by_cell(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Jupyter: the last expression of a cell is what the cell shows."""
    pytest.importorskip("pysat", reason="the study solves a formula by python-sat")
    monkeypatch.chdir(str(tmp_path))
    space: dict[str, object] = {"__name__": "__main__"}
    shown = []
    for number, source in enumerate(pages.cells(pages.ROOT / "docs" / "how-to" / "research.ipynb")):
        cell = ast.parse(source)
        last = cell.body.pop() if isinstance(cell.body[-1], ast.Expr) else None
        exec(compile(cell, f"cell {number}", "exec"), space)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), space)
            draw = getattr(value, "_repr_html_", None)
            shown.append(repr(value) if draw is None else draw())
    assert sum("<svg" in one for one in shown) == 3, "a puzzle, a curve, a board"
    assert any("rowscan" in one for one in shown) and "solved" in "".join(shown)
