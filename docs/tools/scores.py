"""The table of today's scores in docs/ladder.md, made from runs/ladder.csv: `python -m docs.tools.scores` writes it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE, ROWS = ROOT / "docs" / "ladder.md", ROOT / "runs" / "ladder.csv"
BEGIN, END = "<!-- scores: python -m docs.tools.scores -->\n", "<!-- end of scores -->\n"
NAMES = {
    "eternity2_clue1": "Eternity II, starter clue",
    "eternity2_clue5": "Eternity II, five clues",
    "eternity2": "Eternity II, no clue",
}
TIMES = {60: "60 s", 120: "2 min", 600: "10 min", 1200: "20 min", 3600: "60 min"}


def table(rows: list[dict[str, str]]) -> str:
    """The table: of each instance, time and number of workers the row with most seeds of the last day.

    Parameters
    ----------
    rows : list of dict
        Rows of `lns benchmark --table`, in order. Those of other engines and of unusual times are left out.
    """
    newest: dict[tuple[str, int, int], dict[str, str]] = {}
    for row in rows:
        key = row["instance"], int(row["seconds"]), int(row["workers"])
        if "engine" in row["note"] or key[1] not in TIMES:
            continue
        old = newest.get(key)
        if old is None or (row["date"], int(row["seeds"])) >= (old["date"], int(old["seeds"])):
            newest[key] = row
    lines = [
        "| instance | of | time, workers | median | worst to best | seeds | median after | M nodes/s | commit |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (instance, seconds, workers), row in sorted(newest.items()):
        commit = re.search(r"commit (\w+)", row["note"])
        cells = [
            NAMES.get(instance, instance), row["of"], f"{TIMES[seconds]}, {workers}", f"**{row['median']}**",
            row["best"] if row["best"] == row["worst"] else f"{row['worst']} to {row['best']}", row["seeds"],
            f"{float(row['time_to_median_s']):.0f} s", f"{int(row['nodes_per_s']) / 1e6:.0f}",
            commit[1] if commit else row["date"],
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def updated(page: str) -> str:
    """The text of the page with the table of today."""
    with ROWS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    before, rest = page.split(BEGIN)
    return before + BEGIN + table(rows) + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text()))
