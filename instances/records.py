"""Values that draw themselves in notebooks, and results that are tables: a dict for each row, or a DataFrame."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar


class RichDisplay:
    """Base class of values that draw themselves in Jupyter and IPython.

    The drawing code, which imports these classes, is imported at the first picture, as a search needs none.
    """

    def _repr_html_(self) -> str:
        return str(import_module("lns.instances.draw.svg").html_of(self))


class Records:
    """Base class of results that are tables.

    The drawing code is imported at the first table in a notebook, since a search needs no tables.
    """

    columns: ClassVar[str] = ""  # names of the attributes that are the row of a one-row result

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each row, from column to value; None is an unknown value."""
        return [{name: getattr(self, name) for name in self.columns.split()}]

    def to_frame(self) -> Any:
        """Return the records as a pandas DataFrame; this package does not depend on pandas.

        Returns
        -------
        pandas.DataFrame or list of dict
            The list of `records` if pandas is not installed.
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
