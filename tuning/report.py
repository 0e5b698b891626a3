"""The results of a study as one HTML page without scripts or external resources."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from optuna.trial import FrozenTrial, TrialState

from instances.draw import page as frame
from lns import params as parameters
from lns_support.text import escape_controls, printable
from tuning import validate
from tuning.charts import Point, bars, scatter
from tuning.plan import JOURNAL_FILE, MAX_COMMAND
from tuning.space import Variable, values_of
from tuning.study import FINISHED, Study, trial_value
from tuning.summary import (
    MIN_TRIALS,
    agreement,
    calibration_trials,
    completed_trials,
    facts,
    importance,
    quoted,
    short_value,
    trials_with_runs,
    verdict_text,
)
from tuning.validate import Conclusion, Verdict

OVER_DEFAULTS = "edges over the defaults"


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
    rows = [(label, text) for label, text in facts(study, conclusion, None) if label != "study"]
    verdict = f'<p class="verdict">{escape(verdict_text(study, conclusion))}</p>'
    sections = [
        ("History", _history(study)),
        ("Importance of parameters: which ones tell the best tenth of the trials from the others", _importance(study)),
        ("Held-out pairs: candidates against the defaults", "".join(map(_paired, conclusion.verdicts))),
        ("Do short runs predict long runs?", _agreement(study)),
        ("Trials by the value of each parameter (orange: the defaults)", _slices(study)),
        ("Best trials", _best(study)),
        ("Commands", f"<pre>{escape(_commands(study, conclusion))}</pre>"),
    ]
    title = f"lns tune: {plan.subject}"
    head = (
        f'<h1>{escape(title)}</h1>\n{verdict}\n<p class="soft">{escape(plan.engine)} engine, '
        f"{plan.nodes:,} nodes a long run, {plan.short:,} a short run, {plan.pairs} training and "
        f"{plan.held_out} held-out pairs, seed {plan.seed}; "
        f"objective: {escape(plan.objective)}</p>\n{frame.table(['', ''], rows, words=True)}"
    )
    return escape_controls(frame.page(title, head, sections, made))


def _floor(study: Study) -> float:
    """Lower limit of the charts; worse trials are drawn there, as some are so bad that all others would look alike."""
    values = [short_value(study, trial) for trial in trials_with_runs(study) if "no_board" not in trial.user_attrs]
    return min(-1.0, float(np.quantile(values or [0.0], 0.25)))


def _label(study: Study, trial: FrozenTrial) -> str:
    origin = trial.user_attrs.get("origin", "")
    if trial.state == TrialState.COMPLETE:
        value = f"{trial_value(trial):+.2f}"
    else:
        value = f"ended early, {short_value(study, trial):+.2f} in short runs"
    if "no_board" in trial.user_attrs:
        value = f"no board on {trial.user_attrs['no_board']}"
    return f"trial {trial.number}{f' (from {origin})' if origin else ''}: {value}; " + ", ".join(
        f"{name} {_number(value)}" for name, value in trial.params.items()
    )


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)


def _history(study: Study) -> str:
    points: list[Point] = []
    stairs: list[tuple[float, float]] = []
    floor = _floor(study)
    for trial in study.trials(*FINISHED):
        if trial.state == TrialState.COMPLETE:
            points.append(Point(trial.number, trial_value(trial), _label(study, trial)))
            if not stairs or trial_value(trial) > stairs[-1][1]:
                stairs.append((trial.number, trial_value(trial)))
        elif trial.intermediate_values:
            points.append(Point(trial.number, max(short_value(study, trial), floor), _label(study, trial), "faint"))
    chart = scatter("history of the trials", points, stairs=stairs, axes=("number of the trial", OVER_DEFAULTS))
    note = (
        "A point is a trial: mean over the training pairs, from all their good boards. Strong: long runs; faint: "
        f"trials that ended early, by their short runs; those below {floor:.3g} are drawn there."
    )
    return f"<figure>{chart}<figcaption>{note}</figcaption></figure>" if chart else ""


def _importance(study: Study) -> str:
    shares = importance(study)
    if shares:
        return bars("importance", shares)
    return f"<p>This needs {MIN_TRIALS} trials with runs to compare; there are {len(trials_with_runs(study))}.</p>"


def _paired(verdict: Verdict) -> str:
    ordered = sorted(zip(verdict.differences, verdict.pairs, strict=True), key=lambda item: item[0])
    points = [Point(i, value, f"{name}: {value:+.2f}") for i, (value, name) in enumerate(ordered, 1)]
    chart = scatter("differences", points, size=(520, 200), axes=("held-out pairs, worst first", OVER_DEFAULTS))
    return f"<figure>{chart}<figcaption>{escape(str(verdict))}</figcaption></figure>"


def _agreement(study: Study) -> str:
    calibration = calibration_trials(study)
    points = [
        Point(trial.user_attrs["short"], trial.user_attrs["long"], _label(study, trial), "mark")
        for trial in calibration
    ]
    points += [
        Point(trial.user_attrs["short"], trial_value(trial), _label(study, trial))
        for trial in completed_trials(study)
        if trial not in calibration
    ]
    if len(points) < 2:
        return ""
    chart = scatter(
        "long against short runs", points, axes=(f"{OVER_DEFAULTS}, short runs", f"{OVER_DEFAULTS}, long runs")
    )
    note = f"Orange: the first trials. By these, {agreement(study)}."
    return f"<figure>{chart}<figcaption>{escape(note)}</figcaption></figure>"


def _slices(study: Study) -> str:
    defaults = values_of(study.base, study.space)
    slices = "".join(_slice(study, variable, defaults.get(variable.name)) for variable in study.space)
    return f'<div class="tiles">{slices}</div>'


def _slice(study: Study, variable: Variable, default: float | None) -> str:
    trials = [trial for trial in trials_with_runs(study) if variable.name in trial.params]
    floor = _floor(study)
    points = [
        Point(trial.params[variable.name], max(short_value(study, trial), floor), _label(study, trial))
        for trial in trials
    ]
    if default is not None:
        points.append(Point(default, 0.0, f"default: {_number(default)}", "mark"))
    chart = scatter(
        variable.name, points, log=variable.log, size=(360, 220), axes=(variable.name, f"{OVER_DEFAULTS}, short runs")
    )
    caption = f"<figcaption>{escape(variable.name)}: {escape(variable.doc)}</figcaption>"
    return f"<figure>{chart}{caption}</figure>" if chart else ""


def _best(study: Study) -> str:
    best = sorted(completed_trials(study), key=trial_value, reverse=True)[:8]
    defaults = values_of(study.base, study.space)
    if not best:
        return ""
    heads = ["trial", *(str(trial.number) for trial in best), "defaults"]
    rows = [["edges over the defaults, long runs", *(f"{trial_value(t):+.2f}" for t in best), "0"]]
    rows.append(["edges over the defaults, short runs", *(f"{t.user_attrs['short']:+.2f}" for t in best), "0"])
    rows += [
        [v.name, *(_number(t.params.get(v.name, "-")) for t in best), _number(defaults.get(v.name, "-"))]
        for v in study.space
    ]
    return frame.table(heads, rows)


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
