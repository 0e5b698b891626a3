"""`--stats`: how many nodes each part of the engine used, and what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lns.api.result import Result


def facts(result: Result) -> dict[str, Any]:
    """Figures by part and by island, over all sessions of the run, for the JSON output."""
    from lns.runs.history import parts

    statistics = result.statistics
    return {
        "work": statistics.node_equivalents,
        "unit": "node equivalents",
        "parts": [
            {
                "name": part.name,
                "work": part.node_equivalents,
                "share": round(part.share, 6),
                "boards": part.boards,
                "bests": part.bests,
                "edges": part.edges,
                "edges_per_1e9": part.edges_per_1e9,
                "boards_per_1e9": part.boards_per_1e9,
                "new_boards": part.new_boards,
                "found_later": part.found_later,
                "failures": part.failures,
            }
            for part in parts(result.history, statistics)
        ],
        "tails": {"prefixes": statistics.prefixes, "nodes": statistics.tail_nodes},
        "islands": [
            {
                "island": island.number,
                "score": island.best_score,
                "steps": island.steps,
                "work": island.statistics.node_equivalents,
            }
            for _, island in sorted(result.islands.items())
        ],
    }


def table(stats: dict[str, Any]) -> str:
    """The figures as a table.

    The columns are node equivalents (in millions: "~M nodes"), their share, boards in the log, new best boards,
    edges by which these were better, edges per 1e9 node equivalents, new boards of the wanted score, and how many of
    these the construction found later.
    """
    layout = "{:<22} {:>10} {:>7} {:>8} {:>6} {:>6} {:>10} {:>6} {:>6}"
    lines = [layout.format("part", "~M nodes", "share", "boards", "bests", "edges", "a 1e9", "new", "later")]
    for part in stats["parts"]:
        work, share, gain = "-", "-", "-"
        if part["work"]:
            work, share, gain = f"{part['work'] / 1e6:,.1f}", f"{part['share']:.1%}", f"{part['edges_per_1e9']:,.3g}"
        counts = part["boards"], part["bests"], part["edges"], gain, part["new_boards"], part["found_later"]
        off = "  switched off: it failed" if part["failures"] else ""
        lines.append(layout.format(part["name"], work, share, *counts) + off)
    tails = stats["tails"]
    if tails["nodes"]:
        lines.append(f"exact tails   {tails['prefixes']:,} prefixes, {tails['nodes'] / 1e6:,.1f} M nodes of their own")
    lines.append(f"islands       {', '.join(str(island['score']) for island in stats['islands'])} at best")
    return "\n".join(lines)
