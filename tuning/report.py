"""What a study found, for the terminal and as one HTML page without scripts and without anything from elsewhere."""

from __future__ import annotations

import shlex
import warnings
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.trial import FrozenTrial, TrialState
from scipy.stats import spearmanr

from instances.draw import page as frame
from lns import params as parameters
from lns.runs.lock import Holder
from tuning import validate
from tuning.charts import Point, bars, scatter
from tuning.plan import JOURNAL, LEAST_PAIRS
from tuning.space import Variable, values_of
from tuning.study import FINISHED, Study, value_of
from tuning.validate import Conclusion, Verdict

LEAST = 20  # trials that importance is read off


@dataclass(frozen=True)
class Agreement:
    """Spearman's rank correlation between short and long budgets over ``trials``; NaN below four of them.

    Over the first trials alone, which have both whatever they showed: others went on since their short runs were good.
    """

    trials: int
    correlation: float

    def __str__(self) -> str:
        if np.isnan(self.correlation):
            return (
                f"short and long runs: too few or too equal for a rank correlation over the first {self.trials} trials"
            )
        return f"short and long runs: rank correlation {self.correlation:.2f} over the first {self.trials} trials"


def agreement(study: Study) -> Agreement:
    both = [(trial.user_attrs["short"], trial.user_attrs["long"]) for trial in _both(study)]
    if len(both) < 4 or len({a for a, _ in both}) == 1 or len({b for _, b in both}) == 1:
        return Agreement(len(both), float("nan"))
    short, long = zip(*both, strict=True)
    return Agreement(len(both), float(spearmanr(short, long).statistic))


def importance(study: Study) -> dict[str, float]:
    """Share of each parameter in reaching the best tenth of the short runs (PED-ANOVA); {} with too few trials.

    The short runs, since all trials have some, the bad ones too.
    """
    known = _tried(study)
    if len(known) < LEAST:
        return {}
    copy = optuna.create_study(direction="maximize")
    for trial in known:
        copy.add_trial(
            optuna.trial.create_trial(
                params=trial.params, distributions=trial.distributions, value=_short(study, trial)
            )
        )
    names = [one.name for one in study.space if len({trial.params.get(one.name) for trial in known}) > 1]
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # where the best tenth is small
        for name in names:  # one by one: a conditional parameter is judged over the trials that have it
            share = optuna.importance.get_param_importances(copy, evaluator=evaluator, params=[name], normalize=False)
            found[name] = float(share[name])
    total = sum(found.values()) or 1.0
    return {name: value / total for name, value in sorted(found.items(), key=lambda item: -item[1])}


def summary(study: Study, found: Conclusion, overhead: float | None) -> list[str]:
    """The closing lines on the terminal."""
    whole, finished = _whole(study), study.trials(*FINISHED)
    lines = [
        f"study         {study.path}: {study.plan.subject}, {study.plan.nodes:,} nodes a run, {len(study.pairs)} pairs"
    ]
    lines.append(f"trials        {len(finished)} finished, {len(whole)} of them good enough for the long budget")
    if others := [trial for trial in study.trials(TrialState.RUNNING) if "holder" in trial.user_attrs]:
        hosts = sorted({Holder(**trial.user_attrs["holder"]).host for trial in others})
        lines.append(f"under way     {len(others)} more, of processes on {', '.join(hosts)}; `--trials` counts them")
    if whole:
        best = max(whole, key=value_of)
        lines.append(f"best trained  {value_of(best):+.2f} edges expected over the defaults (trial {best.number})")
    lines.append(f"agreement     {agreement(study)}")
    if shares := importance(study):
        lines.append("importance    " + ", ".join(f"{name} {share:.0%}" for name, share in list(shares.items())[:6]))
    lines += [f"held out      {verdict}" for verdict in found.verdicts]
    if found.winner is None:
        lines.append(f"not better    {why_not(study, found)}")
    else:
        where = validate.best_file(study, found) or f"to be written by `lns tune --study {quoted(study.path)}`"
        lines.append(f"better        trial {found.winner.trial}: {where}")
    if overhead is not None:
        lines.append(f"overhead      {overhead:.1%} of the workers' time was outside of runs")
    return lines


def quoted(path: Path) -> str:
    """As a shell takes it."""
    return shlex.quote(str(path))


def why_not(study: Study, found: Conclusion) -> str:
    again = f"go on with `lns tune --study {quoted(study.path)}`"
    if found.pending:
        return f"{found.pending} runs of the validation are still to be made: {again}"
    if not found.verdicts and any(value_of(trial) > 0 for trial in _whole(study)):
        return f"what beat the defaults in training was not validated yet: {again}"
    if not found.verdicts:
        return "no trial beat the defaults in training: there was nothing to validate"
    if len(study.held_out) < LEAST_PAIRS:
        return f"{len(study.held_out)} held-out pairs prove nothing; at least {LEAST_PAIRS} are needed"
    return f"none of {len(found.verdicts)} candidates beat the defaults on held-out pairs with p < {validate.ALPHA}"


def page(study: Study, found: Conclusion, made: str) -> str:
    """The HTML page. ``made``: when and by which version it was made."""
    plan = study.plan
    lines = "".join(f"<p>{escape(line)}</p>" for line in summary(study, found, None)[1:])
    sections = [
        ("History", _history(study)),
        ("Importance of parameters, by the best tenth of the short runs", _importance(study)),
        ("Held-out pairs, candidate less defaults", "".join(_paired(study, one) for one in found.verdicts)),
        ("Short and long budgets", _agreement(study)),
        ("Slices: each parameter, short runs (orange: the defaults)", _slices(study)),
        ("Best trials", _best(study)),
        ("Commands", f"<pre>{escape(_commands(study, found))}</pre>"),
    ]
    title = f"lns tune: {plan.subject}"
    head = (
        f'<h1>{escape(title)}</h1>\n<p class="soft">{plan.engine} engine, {plan.nodes:,} nodes a long run, '
        f"{plan.short:,} a short one, {plan.pairs} training and {plan.held_out} held-out pairs, seed {plan.seed}; "
        f"objective: {escape(plan.objective)}</p>\n{lines}"
    )
    return frame.page(title, head, sections, made)


def _whole(study: Study) -> list[FrozenTrial]:
    return study.trials(TrialState.COMPLETE)


def _both(study: Study) -> list[FrozenTrial]:
    """The first trials, which have short and long runs whatever they showed."""
    return [trial for trial in study.trials(*FINISHED) if "long" in trial.user_attrs]


def _tried(study: Study) -> list[FrozenTrial]:
    """Finished trials with at least one run."""
    return [trial for trial in study.trials(*FINISHED) if trial.intermediate_values]


def _short(study: Study, trial: FrozenTrial) -> float:
    """Mean difference to the defaults in the short runs that a trial had."""
    values = [value for step, value in trial.intermediate_values.items() if step < study.plan.pairs]
    return sum(values) / len(values)


def _floor(study: Study) -> float:
    """Where charts end below: the worst trials are far off, and would flatten the rest. They are drawn at this edge."""
    return min(-1.0, float(np.quantile([_short(study, trial) for trial in _tried(study)] or [0.0], 0.25)))


def _words(study: Study, trial: FrozenTrial) -> str:
    origin = trial.user_attrs.get("origin", "")
    if trial.state == TrialState.COMPLETE:
        value = f"{value_of(trial):+.2f}"
    else:
        value = f"given up, {_short(study, trial):+.2f} in short runs"
    return f"trial {trial.number}{f' ({origin})' if origin else ''}: {value}; " + ", ".join(
        f"{name} {_number(value)}" for name, value in trial.params.items()
    )


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)


def _history(study: Study) -> str:
    points: list[Point] = []
    stairs: list[tuple[float, float]] = []
    for trial in study.trials(*FINISHED):
        if trial.state == TrialState.COMPLETE:
            points.append(Point(trial.number, value_of(trial), _words(study, trial)))
            if not stairs or value_of(trial) > stairs[-1][1]:
                stairs.append((trial.number, value_of(trial)))
        elif trial.intermediate_values:
            points.append(Point(trial.number, max(_short(study, trial), _floor(study)), _words(study, trial), "faint"))
    chart = scatter("edges expected over the defaults, by trial", points, stairs=stairs)
    note = "edges expected over the defaults, by trial; faint: given up, mean of the short runs it had"
    return f"<figure>{chart}<figcaption>{note}</figcaption></figure>" if chart else ""


def _importance(study: Study) -> str:
    shares = importance(study)
    return bars("importance", shares) if shares else f"<p>Needs {LEAST} trials.</p>"


def _paired(study: Study, verdict: Verdict) -> str:
    ordered = sorted(zip(verdict.differences, study.held_out, strict=True), key=lambda item: item[0])
    points = [Point(i, value, f"{pair.label}: {value:+.2f}") for i, (value, pair) in enumerate(ordered)]
    chart = scatter("differences", points, size=(720, 200))
    return f"<figure>{chart}<figcaption>{escape(str(verdict))}</figcaption></figure>"


def _agreement(study: Study) -> str:
    first = _both(study)
    points = [
        Point(trial.user_attrs["short"], trial.user_attrs["long"], _words(study, trial), "mark") for trial in first
    ]
    points += [
        Point(trial.user_attrs["short"], value_of(trial), _words(study, trial))
        for trial in _whole(study)
        if trial not in first
    ]
    if len(points) < 2:
        return ""
    note = f"{agreement(study)} (orange); across: mean difference in short runs, up: in long ones"
    return f"<figure>{scatter('long against short', points)}<figcaption>{escape(note)}</figcaption></figure>"


def _slices(study: Study) -> str:
    defaults = values_of(study.base, study.space)
    slices = "".join(_slice(study, variable, defaults.get(variable.name)) for variable in study.space)
    return f'<div class="tiles">{slices}</div>'


def _slice(study: Study, variable: Variable, default: float | None) -> str:
    having = [trial for trial in _tried(study) if variable.name in trial.params]
    floor = _floor(study)
    points = [
        Point(trial.params[variable.name], max(_short(study, trial), floor), _words(study, trial)) for trial in having
    ]
    if default is not None:
        points.append(Point(default, 0.0, f"default: {_number(default)}", "mark"))
    chart = scatter(variable.name, points, log=variable.log, size=(360, 200))
    caption = f"<figcaption>{escape(variable.name)}: {escape(variable.doc)}</figcaption>"
    return f"<figure>{chart}{caption}</figure>" if chart else ""


def _best(study: Study) -> str:
    best = sorted(_whole(study), key=value_of, reverse=True)[:8]
    defaults = values_of(study.base, study.space)
    if not best:
        return ""
    heads = ["trial", *(str(trial.number) for trial in best), "defaults"]
    rows = [["long", *(f"{value_of(t):+.2f}" for t in best), "0"]]
    rows.append(["short", *(f"{t.user_attrs['short']:+.2f}" for t in best), "0"])
    rows += [
        [v.name, *(_number(t.params.get(v.name, "-")) for t in best), _number(defaults.get(v.name, "-"))]
        for v in study.space
    ]
    return frame.table(heads, rows, words=True)


def _commands(study: Study, found: Conclusion) -> str:
    best, engine = validate.best_file(study, found), study.plan.engine
    engine = "" if engine == "auto" else f" --engine {engine}"
    return "\n".join(
        [
            f"{study.plan.command}    # begun",
            f"lns tune --study {quoted(study.path)} --time 1h    # go on",
            f"lns solve INSTANCE{engine} --params {quoted(best) if best else 'FILE'}",
            f"optuna-dashboard {quoted(study.path / JOURNAL)}    # .venv/bin/pip install -e '.[dashboard]'",
            "",
            "# the parameters that candidates are compared with",
            parameters.to_toml(study.base),
        ]
    )
