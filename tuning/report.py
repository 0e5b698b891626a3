"""The results of a study: a summary for the terminal, and one HTML page without scripts or external resources."""

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
from lns_support.text import escape_controls, printable
from tuning import validate
from tuning.charts import Point, bars, scatter
from tuning.plan import JOURNAL_FILE, MAX_COMMAND, MIN_HELD_OUT_PAIRS
from tuning.space import Variable, values_of
from tuning.study import FINISHED, Study, trial_value
from tuning.validate import Conclusion, Verdict

MIN_TRIALS = 20  # for the importance of parameters


@dataclass(frozen=True)
class Agreement:
    """Spearman's rank correlation between short and long runs over the first trials.

    Only these have long runs whatever their short runs showed; later trials have them because their short runs were
    good, so their correlation would be biased.

    Parameters
    ----------
    trials : int
        Number of trials.
    correlation : float
        NaN with fewer than four trials or without differences between them.
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
    """The rank correlation between short and long runs of the study."""
    values = [(trial.user_attrs["short"], trial.user_attrs["long"]) for trial in _calibration_trials(study)]
    if len(values) < 4 or len({short for short, _ in values}) == 1 or len({long for _, long in values}) == 1:
        return Agreement(len(values), float("nan"))
    short, long = zip(*values, strict=True)
    return Agreement(len(values), float(spearmanr(short, long).statistic))


def importance(study: Study) -> dict[str, float]:
    """Importance of each parameter for reaching the best tenth of the short runs (PED-ANOVA), as shares of 1.

    Short runs are used because all trials have some, bad trials too. Empty with fewer than `MIN_TRIALS` trials.
    """
    trials = _trials_with_runs(study)
    if len(trials) < MIN_TRIALS:
        return {}
    copy = optuna.create_study(direction="maximize")
    for trial in trials:
        copy.add_trial(
            optuna.trial.create_trial(
                params=trial.params, distributions=trial.distributions, value=_short(study, trial)
            )
        )
    names = [
        variable.name for variable in study.space if len({trial.params.get(variable.name) for trial in trials}) > 1
    ]
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    shares = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # where the best tenth is small
        for name in names:  # one at a time: a conditional parameter is evaluated on the trials that have it
            share = optuna.importance.get_param_importances(copy, evaluator=evaluator, params=[name], normalize=False)
            shares[name] = float(share[name])
    total = sum(shares.values()) or 1.0
    return {name: value / total for name, value in sorted(shares.items(), key=lambda item: -item[1])}


def summary(study: Study, conclusion: Conclusion, overhead: float | None) -> list[str]:
    """Lines for the terminal.

    Parameters
    ----------
    study : Study
        The study.
    conclusion : Conclusion
        Result of the validation.
    overhead : float or None
        Fraction of the workers' time outside of runs; None to leave it out.
    """
    completed, finished = _completed(study), study.trials(*FINISHED)
    lines = [
        f"study         {study.path}: {study.plan.subject}, {study.plan.nodes:,} nodes a run, {study.plan.pairs} pairs"
    ]
    lines.append(f"trials        {len(finished)} finished, {len(completed)} of them promoted to long runs")
    if running := [trial for trial in study.trials(TrialState.RUNNING) if "holder" in trial.user_attrs]:
        hosts = sorted({printable(Holder(**trial.user_attrs["holder"]).host, 60) for trial in running})
        lines.append(f"running       {len(running)} more, in processes on {', '.join(hosts)}; `--trials` counts them")
    if completed:
        best = max(completed, key=trial_value)
        lines.append(f"best trained  {trial_value(best):+.2f} edges expected over the defaults (trial {best.number})")
    lines.append(f"agreement     {agreement(study)}")
    if shares := importance(study):
        lines.append("importance    " + ", ".join(f"{name} {share:.0%}" for name, share in list(shares.items())[:6]))
    lines += [f"held out      {verdict}" for verdict in conclusion.verdicts]
    if conclusion.winner is None:
        lines.append(f"not better    {why_not(study, conclusion)}")
    else:
        where = validate.written_best(study, conclusion) or f"to be written by `lns tune --study {quoted(study.path)}`"
        lines.append(f"better        trial {conclusion.winner.trial}: {where}")
    if overhead is not None:
        lines.append(f"overhead      {overhead:.1%} of the workers' time was outside of runs")
    return lines


def quoted(path: Path) -> str:
    """``path`` quoted for a shell."""
    return shlex.quote(str(path))


def why_not(study: Study, conclusion: Conclusion) -> str:
    """Why nothing is called better than the defaults, as one sentence."""
    command = f"continue with `lns tune --study {quoted(study.path)}`"
    if conclusion.pending:
        return f"{conclusion.pending} runs of the validation are missing: {command}"
    if not conclusion.verdicts and any(trial_value(trial) > 0 for trial in _completed(study)):
        return f"trials that beat the defaults in training are not validated yet: {command}"
    if not conclusion.verdicts:
        return "no trial beat the defaults in training, so there was nothing to validate"
    if study.plan.held_out < MIN_HELD_OUT_PAIRS:
        return f"{study.plan.held_out} held-out pairs prove nothing; at least {MIN_HELD_OUT_PAIRS} are needed"
    return (
        f"none of {len(conclusion.verdicts)} candidates beat the defaults on held-out pairs with p < {validate.ALPHA}"
    )


def html_page(study: Study, conclusion: Conclusion, made: str) -> str:
    """The HTML page.

    Parameters
    ----------
    study : Study
        The study.
    conclusion : Conclusion
        Result of the validation.
    made : str
        When and by which version the page is made, for its last line.
    """
    plan = study.plan
    lines = "".join(f"<p>{escape(line)}</p>" for line in summary(study, conclusion, None)[1:])
    sections = [
        ("History", _history(study)),
        ("Importance of parameters, by the best tenth of the short runs", _importance(study)),
        ("Held-out pairs, candidate less defaults", "".join(_paired(study, v) for v in conclusion.verdicts)),
        ("Short and long runs", _agreement(study)),
        ("Slices: each parameter, short runs (orange: the defaults)", _slices(study)),
        ("Best trials", _best(study)),
        ("Commands", f"<pre>{escape(_commands(study, conclusion))}</pre>"),
    ]
    title = f"lns tune: {plan.subject}"
    head = (
        f'<h1>{escape(title)}</h1>\n<p class="soft">{escape(plan.engine)} engine, {plan.nodes:,} nodes a long run, '
        f"{plan.short:,} a short run, {plan.pairs} training and {plan.held_out} held-out pairs, seed {plan.seed}; "
        f"objective: {escape(plan.objective)}</p>\n{lines}"
    )
    return escape_controls(frame.page(title, head, sections, made))


def _completed(study: Study) -> list[FrozenTrial]:
    return study.trials(TrialState.COMPLETE)


def _calibration_trials(study: Study) -> list[FrozenTrial]:
    """The first trials, which have short and long runs in any case."""
    return [trial for trial in study.trials(*FINISHED) if "long" in trial.user_attrs]


def _trials_with_runs(study: Study) -> list[FrozenTrial]:
    """Finished trials with at least one run: the journal's steps begin with the first short run."""
    return [trial for trial in study.trials(*FINISHED) if trial.intermediate_values]


def _short(study: Study, trial: FrozenTrial) -> float:
    """Mean difference to the defaults over the short runs that the trial had."""
    values = [value for step, value in trial.intermediate_values.items() if step < study.plan.pairs]
    return sum(values) / len(values)


def _floor(study: Study) -> float:
    """Lower limit of the charts; worse trials are drawn there, as some are so bad that all others would look alike."""
    return min(-1.0, float(np.quantile([_short(study, trial) for trial in _trials_with_runs(study)] or [0.0], 0.25)))


def _label(study: Study, trial: FrozenTrial) -> str:
    origin = trial.user_attrs.get("origin", "")
    if trial.state == TrialState.COMPLETE:
        value = f"{trial_value(trial):+.2f}"
    else:
        value = f"pruned, {_short(study, trial):+.2f} in short runs"
    return f"trial {trial.number}{f' (from {origin})' if origin else ''}: {value}; " + ", ".join(
        f"{name} {_number(value)}" for name, value in trial.params.items()
    )


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)


def _history(study: Study) -> str:
    points: list[Point] = []
    stairs: list[tuple[float, float]] = []
    for trial in study.trials(*FINISHED):
        if trial.state == TrialState.COMPLETE:
            points.append(Point(trial.number, trial_value(trial), _label(study, trial)))
            if not stairs or trial_value(trial) > stairs[-1][1]:
                stairs.append((trial.number, trial_value(trial)))
        elif trial.intermediate_values:
            points.append(Point(trial.number, max(_short(study, trial), _floor(study)), _label(study, trial), "faint"))
    chart = scatter("edges expected over the defaults, by trial", points, stairs=stairs)
    note = "edges expected over the defaults, by trial; faint: pruned trials, mean of their short runs"
    return f"<figure>{chart}<figcaption>{note}</figcaption></figure>" if chart else ""


def _importance(study: Study) -> str:
    shares = importance(study)
    return bars("importance", shares) if shares else f"<p>This needs {MIN_TRIALS} trials.</p>"


def _paired(study: Study, verdict: Verdict) -> str:
    ordered = sorted(zip(verdict.differences, study.held_out, strict=True), key=lambda item: item[0])
    points = [Point(i, value, f"{pair.label}: {value:+.2f}") for i, (value, pair) in enumerate(ordered)]
    chart = scatter("differences", points, size=(720, 200))
    return f"<figure>{chart}<figcaption>{escape(str(verdict))}</figcaption></figure>"


def _agreement(study: Study) -> str:
    calibration = _calibration_trials(study)
    points = [
        Point(trial.user_attrs["short"], trial.user_attrs["long"], _label(study, trial), "mark")
        for trial in calibration
    ]
    points += [
        Point(trial.user_attrs["short"], trial_value(trial), _label(study, trial))
        for trial in _completed(study)
        if trial not in calibration
    ]
    if len(points) < 2:
        return ""
    note = f"{agreement(study)} (orange); horizontal: mean difference in short runs, vertical: in long runs"
    return f"<figure>{scatter('long against short runs', points)}<figcaption>{escape(note)}</figcaption></figure>"


def _slices(study: Study) -> str:
    defaults = values_of(study.base, study.space)
    slices = "".join(_slice(study, variable, defaults.get(variable.name)) for variable in study.space)
    return f'<div class="tiles">{slices}</div>'


def _slice(study: Study, variable: Variable, default: float | None) -> str:
    trials = [trial for trial in _trials_with_runs(study) if variable.name in trial.params]
    floor = _floor(study)
    points = [
        Point(trial.params[variable.name], max(_short(study, trial), floor), _label(study, trial)) for trial in trials
    ]
    if default is not None:
        points.append(Point(default, 0.0, f"default: {_number(default)}", "mark"))
    chart = scatter(variable.name, points, log=variable.log, size=(360, 200))
    caption = f"<figcaption>{escape(variable.name)}: {escape(variable.doc)}</figcaption>"
    return f"<figure>{chart}{caption}</figure>" if chart else ""


def _best(study: Study) -> str:
    best = sorted(_completed(study), key=trial_value, reverse=True)[:8]
    defaults = values_of(study.base, study.space)
    if not best:
        return ""
    heads = ["trial", *(str(trial.number) for trial in best), "defaults"]
    rows = [["long", *(f"{trial_value(t):+.2f}" for t in best), "0"]]
    rows.append(["short", *(f"{t.user_attrs['short']:+.2f}" for t in best), "0"])
    rows += [
        [v.name, *(_number(t.params.get(v.name, "-")) for t in best), _number(defaults.get(v.name, "-"))]
        for v in study.space
    ]
    return frame.table(heads, rows, words=True)


def _commands(study: Study, conclusion: Conclusion) -> str:
    best, engine = validate.written_best(study, conclusion), study.plan.engine
    engine = "" if engine == "auto" else f" --engine {engine}"
    return "\n".join(
        [
            f"{printable(study.plan.command, MAX_COMMAND)}    # began this study",
            f"lns tune --study {quoted(study.path)} --time 1h    # continues it",
            f"lns solve INSTANCE{engine} --params {quoted(best) if best else 'FILE'}",
            f"optuna-dashboard {quoted(study.path / JOURNAL_FILE)}    # .venv/bin/pip install -e '.[dashboard]'",
            "",
            "# the parameters that candidates are compared with",
            parameters.to_toml(study.base),
        ]
    )
