"""Base classes of values with a picture in notebooks, and of results that are tables: lists of dicts, or DataFrames."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar


class RichDisplay:
    """Base class of values that draw themselves in Jupyter and IPython.

    The drawing code, which imports this module itself, is imported only when the first picture is drawn.
    """

    def _repr_html_(self) -> str:
        return str(import_module("lns.instances.draw.svg").html_of(self))


class Records:
    """Base class of results that can be read as tables.

    The code that makes HTML tables is imported only when a notebook first shows a table.
    """

    columns: ClassVar[str] = ""  # for a result of one row: names of the attributes in that row, separated by spaces

    def records(self) -> list[dict[str, Any]]:
        """Return the rows, each as a dict from column name to value; None stands for an unknown value."""
        return [{name: getattr(self, name) for name in self.columns.split()}]

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame, or as a list of dicts if pandas, which is optional, is not installed.

        Returns
        -------
        pandas.DataFrame or list of dict
            The result of `records` if pandas is not installed.
        """
        records = self.records()
        try:
            from pandas import DataFrame, Series
        except ImportError:
            return records
        values = {name: [row.get(name) for row in records] for name in (records[0] if records else ())}
        return DataFrame({name: Series(of, dtype=object if None in of else None) for name, of in values.items()})

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: a picture of the board, if the result has one, and the table."""
        table = import_module("lns.instances.draw.page").table
        records, board = self.records(), getattr(self, "board", None)
        drawn = "" if board is None else board._repr_html_()
        heads, rows = [*records[0]] if records else [], [[*map(_cell, row.values())] for row in records]
        return f"{drawn}{table(heads, rows)}"


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
