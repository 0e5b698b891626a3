"""Ablation: the main engine with one of its parts switched off at a time, to measure what each part contributes."""

from __future__ import annotations

import statistics

from lns.params import Params, from_dict, to_dict
from tuning.benchmark_run import BenchmarkRun, boards_per_hour, median_score

BASELINE = "whole"  # the engine with all its parts
ABLATIONS: dict[str, dict[str, dict[str, float]]] = {
    "no beams": {"engine": {"beams": 0}},
    "no blocks": {"neighbourhoods": {"blocks": 0}},
    "no bands": {"neighbourhoods": {"bands": 0}},
    "no last cells": {"neighbourhoods": {"last_sizes": 0}},
    "no certificate": {"neighbourhoods": {"certificate": 0.0}},
    "no quota": {"construct": {"quota_scale": 0.0}},
    "no tail": {"construct": {"tail": 1}},  # the construction itself places all cells but the last
    "long tail": {"construct": {"tail": 14}},
    "row by row": {"construct": {"column_major_fraction": 0.0}},
    "breaks for the next score": {"construct": {"schedule_slack": 0}},
    "no restarts": {"construct": {"restart_nodes": 10**12, "restart_nodes_without_prefix": 10**12}},
}
"""Name -> values, by section, that switch a part off or reduce it to its plain form."""


def variants(params: Params) -> dict[str, Params]:
    """The parameters of each variant by name: ``params`` as the baseline, then each ablation that changes them."""
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
    """Lines of a table with a row for each variant.

    Columns are the median, best and worst score; the median seconds to the baseline's median score, and the number of
    runs that reached it; and, if boards were counted, the distinct boards per core-hour.

    Parameters
    ----------
    runs : dict of str to list of BenchmarkRun
        The runs of each variant, `BASELINE` among them.
    workers : int
        Worker processes of a run.
    search_floor : int
        Score from which boards were counted, 0 if they were not.
    """
    goal = median_score(runs[BASELINE])
    head = f"{'variant':<25} {'median':>6} {'best':>5} {'worst':>5} {f's to {goal}':>10} {'runs':>5}"
    lines = [head + (f" {f'boards >= {search_floor} a core-hour':>28}" if search_floor else "")]
    for name, variant_runs in runs.items():
        scores, median = [run.score for run in variant_runs], median_score(variant_runs)
        times = [at for at in (run.seconds_to(goal) for run in variant_runs) if at is not None]
        seconds = f"{statistics.median(times):.1f}" if times else "-"
        line = f"{name:<25} {median:>6} {max(scores):>5} {min(scores):>5} {seconds:>10} {len(times):>5}"
        if search_floor:
            line += f" {boards_per_hour(variant_runs, workers, search_floor):>28,}"
        lines.append(line)
    return lines
