"""Ablations: the main engine with one part off at a time, so that nothing stays that earns nothing."""

from __future__ import annotations

import statistics

from lns.params import Params, from_dict, to_dict
from tuning.benchmark import BenchmarkRun, boards_per_hour, median_score

BASELINE = "whole"
ABLATIONS: dict[str, dict[str, dict[str, float]]] = {
    "no beams": {"engine": {"beams": 0}},
    "no regions": {"windows": {"nodes": 0}},
    "no quota": {"construct": {"quota_scale": 0.0}},
    "no tail": {"construct": {"tail": 1}},  # the construction itself places all cells but the last
    "long tail": {"construct": {"tail": 14}},
    "row by row": {"construct": {"column_major_fraction": 0.0}},
    "breaks for the next score": {"construct": {"schedule_slack": 0}},
    "one shuffle": {"construct": {"restart_nodes": 10**12, "restart_nodes_without_prefix": 10**12}},
}
"""Name -> the parameters, by section, that turn a part off or make it plain."""


def variants(params: Params) -> dict[str, Params]:
    """``params`` as they are, and with each part off in turn; parts that they have off already are left out."""
    found = {BASELINE: params}
    for name, sections in ABLATIONS.items():
        values = to_dict(params)
        for section, changes in sections.items():
            values[section].update(changes)
        changed = from_dict(values)
        if changed != params:
            found[name] = changed
    return found


def table(runs: dict[str, list[BenchmarkRun]], workers: int, search_floor: int) -> list[str]:
    """Lines for people, a variant each: scores, time to the whole engine's median, boards per core-hour.

    Boards only where they were counted (``search_floor`` not 0). A time is that of the runs which got there.
    """
    goal = median_score(runs[BASELINE])
    head = f"{'variant':<25} {'median':>6} {'best':>5} {'worst':>5} {f's to {goal}':>10} {'runs':>5}"
    lines = [head + (f" {f'boards >= {search_floor} a core-hour':>28}" if search_floor else "")]
    for name, made in runs.items():
        scores = [one.score for one in made]
        times = [at for at in (one.seconds_to(goal) for one in made) if at is not None]
        when = f"{statistics.median(times):.1f}" if times else "-"
        line = f"{name:<25} {median_score(made):>6} {max(scores):>5} {min(scores):>5} {when:>10} {len(times):>5}"
        if search_floor:
            line += f" {boards_per_hour(made, workers, search_floor):>28,}"
        lines.append(line)
    return lines
