"""Values that draw themselves in notebooks, and results that are tables: a dict for each row, or a DataFrame."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar


class RichDisplay:
    """Base class of values that draw themselves in Jupyter and IPython.

    The code that draws imports them; it is loaded at the first picture, since a search needs none.
    """

    def _repr_html_(self) -> str:
        return str(import_module("lns.instances.draw.svg").html_of(self))


class Records:
    """Base class of results that are tables.

    The code that draws is loaded at the first table in a notebook, since a search needs none.
    """

    columns: ClassVar[str] = ""  # attributes of a result that is one row

    def records(self) -> list[dict[str, Any]]:
        """A dict for each row, by column; None is what is not known."""
        return [{name: getattr(self, name) for name in self.columns.split()}]

    def to_frame(self) -> Any:
        """The records as a DataFrame of pandas, which is no dependency of this package.

        Returns
        -------
        pandas.DataFrame or list of dict
            The `records` themselves if pandas is not installed.
        """
        records = self.records()
        try:
            from pandas import DataFrame, Series
        except ImportError:
            return records
        values = {name: [row.get(name) for row in records] for name in (records[0] if records else ())}
        return DataFrame({name: Series(of, dtype=object if None in of else None) for name, of in values.items()})

    def _repr_html_(self) -> str:
        """In notebooks: the board, if there is one, and the table."""
        table = import_module("lns.instances.draw.page").table
        records, board = self.records(), getattr(self, "board", None)
        drawn = "" if board is None else board._repr_html_()
        heads, rows = [*records[0]] if records else [], [[*map(_cell, row.values())] for row in records]
        return f"{drawn}{table(heads, rows)}"


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
