"""`--stats`: where the work of a run went, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lns.api.result import Result


def facts(result: Result) -> dict[str, Any]:
    """By part and by island, over all sessions of the run."""
    from lns.runs.breakdown import parts

    done = result.statistics
    return {
        "work": done.node_equivalents,
        "unit": done.unit,
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
            }
            for part in parts(result.history, done.node_equivalents_by_part())
        ],
        "tails": {"prefixes": done.prefixes, "nodes": done.tail_nodes},
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
    """For people. Boards are those in the log; edges: by how many new bests were better.

    Work is told in nodes of the construction, or what takes as long, unlike that of the closing lines.
    """
    layout = "{:<12} {:>10} {:>7} {:>8} {:>6} {:>6} {:>10}"
    lines = [layout.format("part", f"~M {stats['unit']}", "share", "boards", "bests", "edges", "a 1e9")]
    for part in stats["parts"]:
        work, share, gain = "-", "-", "-"
        if part["work"]:
            work, share, gain = f"{part['work'] / 1e6:,.1f}", f"{part['share']:.1%}", f"{part['edges_per_1e9']:,.3g}"
        lines.append(layout.format(part["name"], work, share, part["boards"], part["bests"], part["edges"], gain))
    tails = stats["tails"]
    if tails["nodes"]:
        lines.append(f"exact tails   {tails['prefixes']:,} prefixes, {tails['nodes'] / 1e6:,.1f} M nodes of construct")
    lines.append(f"islands       {', '.join(str(island['score']) for island in stats['islands'])} at best")
    return "\n".join(lines)
