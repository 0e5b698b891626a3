"""The results of a study as one HTML page without scripts or external resources.

`optuna-dashboard` shows the same trials live; this page adds pairs, verdicts, and short against long runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from optuna.trial import FrozenTrial, TrialState

from lns import params as parameters
from lns.instances.draw import page as frame
from lns.instances.text import escape_controls, printable
from lns.tuning import validate
from lns.tuning.objective import OBJECTIVE
from lns.tuning.plan import MAX_COMMAND
from lns.tuning.sampler import values_of
from lns.tuning.storage import JOURNAL_FILE
from lns.tuning.study import Study, trial_value
from lns.tuning.summary import (
    MIN_TRIALS,
    agreement,
    calibration_trials,
    facts,
    importance,
    quoted,
    short_value,
    trials_with_runs,
    verdict_text,
)
from lns.tuning.validate import Conclusion, Verdict

OVER_DEFAULTS = "edges over the defaults"
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 16, 30, 42  # margins of a chart


class Point(NamedTuple):
    """A point of a chart."""

    x: float
    y: float
    label: str  # shown when the mouse is over the point
    kind: str = "dot"  # 'dot', 'faint' or 'mark': classes of the page's style sheet


def html_page(study: Study, conclusion: Conclusion, made: str) -> str:
    """The HTML page. ``made`` says when and by which version it is made, for its last line."""
    plan, verdict = study.plan, verdict_text(study, conclusion)
    shares = [[name, f"{share:.0%}"] for name, share in importance(study).items()]
    none_yet = f"<p>This needs {MIN_TRIALS} trials with runs to compare; there are {len(trials_with_runs(study))}.</p>"
    sections = [
        ("History", _history(study)),
        ("Importance of parameters: which ones tell the best tenth of the trials from the others",
         frame.table(["", ""], shares) or none_yet),
        ("Held-out pairs: candidates against the defaults", "".join(map(_paired, conclusion.verdicts))),
        ("Do short runs predict long runs?", _agreement(study)),
        ("Trials by the value of each parameter (orange: the defaults)", f'<div class="tiles">{_slices(study)}</div>'),
        ("Best trials", _best(study)),
        ("Commands", f"<pre>{escape(_commands(study, conclusion))}</pre>"),
    ]  # fmt: skip
    title = f"lns tune: {plan.subject}"
    rows = [(label, text) for label, text in facts(study, conclusion, None) if label != "study"]
    head = (
        f'<h1>{escape(title)}</h1>\n<p class="verdict">{escape(verdict)}</p>\n'
        f'<p class="soft">{escape(plan.engine)} engine, {plan.nodes:,} nodes a long run, {plan.short:,} a short run, '
        f"{plan.pairs} training and {plan.held_out} held-out pairs, seed {plan.seed}; "
        f"objective: {escape(OBJECTIVE)}</p>\n{frame.table(['', ''], rows, words=True)}"
    )
    return escape_controls(frame.page(title, head, sections, made))


# -- sections ---------------------------------------------------------------------------------------------------------


def _history(study: Study) -> str:
    floor, points, stairs = _floor(study), [], list[tuple[float, float]]()
    for trial in trials_with_runs(study):
        if trial.state != TrialState.COMPLETE:
            points.append(Point(trial.number, max(short_value(study, trial), floor), _label(study, trial), "faint"))
            continue
        points.append(Point(trial.number, trial_value(trial), _label(study, trial)))
        if not stairs or trial_value(trial) > stairs[-1][1]:
            stairs.append((trial.number, trial_value(trial)))
    note = (
        "A point is a trial: mean over the training pairs, from all their good boards. Strong: long runs; faint: "
        f"trials that ended early, by their short runs; those below {floor:.3g} are drawn there."
    )
    return _figure("history of the trials", points, "number of the trial", note, stairs=stairs)


def _paired(verdict: Verdict) -> str:
    ordered = sorted(zip(verdict.differences, verdict.pairs, strict=True), key=lambda item: item[0])
    points = [Point(i, value, f"{name}: {value:+.2f}") for i, (value, name) in enumerate(ordered, 1)]
    return _figure("differences", points, "held-out pairs, worst first", str(verdict), size=(520, 200))


def _agreement(study: Study) -> str:
    first = calibration_trials(study)
    points = [Point(t.user_attrs["short"], t.user_attrs["long"], _label(study, t), "mark") for t in first]
    later = (trial for trial in study.trials(TrialState.COMPLETE) if trial not in first)
    points += [Point(t.user_attrs["short"], trial_value(t), _label(study, t)) for t in later]
    note = f"Orange: the first trials. By these, {agreement(study)}."
    across = f"{OVER_DEFAULTS}, short runs"
    return _figure("long against short runs", points, across, note, upwards=", long runs") if len(points) > 1 else ""


def _slices(study: Study) -> str:
    floor, defaults, charts = _floor(study), values_of(study.base, study.space), []
    trials = [(t, max(short_value(study, t), floor), _label(study, t)) for t in trials_with_runs(study)]
    for variable in study.space:
        name = variable.name
        points = [Point(t.params[name], value, label) for t, value, label in trials if name in t.params]
        if name in defaults:
            points.append(Point(defaults[name], 0.0, f"default: {_number(defaults[name])}", "mark"))
        if variable.log:
            points = [point for point in points if point.x > 0]
        how = {"log": variable.log, "size": (360, 220), "upwards": ", short runs"}
        charts.append(_figure(name, points, name, f"{name}: {variable.doc}", **how))  # type: ignore[arg-type]
    return "".join(charts)


def _best(study: Study) -> str:
    best = sorted(study.trials(TrialState.COMPLETE), key=trial_value, reverse=True)[:8]
    defaults = values_of(study.base, study.space)
    rows = [
        [f"{OVER_DEFAULTS}, long runs", *(f"{trial_value(t):+.2f}" for t in best), "0"],
        [f"{OVER_DEFAULTS}, short runs", *(f"{t.user_attrs['short']:+.2f}" for t in best), "0"],
        *([v.name, *(_number(values.get(v.name, "-")) for values in (*(t.params for t in best), defaults))]
          for v in study.space),
    ]  # fmt: skip
    return frame.table(["trial", *(str(trial.number) for trial in best), "defaults"], rows) if best else ""


def _commands(study: Study, conclusion: Conclusion) -> str:
    best, plan = validate.written_best(study, conclusion), study.plan
    engine = "" if plan.engine == "auto" else f" --engine {plan.engine}"
    return (
        f"{printable(plan.command, MAX_COMMAND)}    # began this study\n"
        f"lns tune --study {quoted(study.path)} --time 1h    # continues it\n"
        f"lns solve INSTANCE{engine} --params {quoted(best) if best else 'FILE'}\n"
        f"optuna-dashboard {quoted(study.path / JOURNAL_FILE)}    # .venv/bin/pip install -e '.[dashboard]'\n\n"
        f"# the parameters that candidates are compared with\n{parameters.to_toml(study.base)}"
    )


def _floor(study: Study) -> float:
    """Lower limit of the charts; worse trials are drawn there, as some are so bad that all others would look alike."""
    values = [short_value(study, trial) for trial in trials_with_runs(study) if "no_board" not in trial.user_attrs]
    return min(-1.0, float(np.quantile(values or [0.0], 0.25)))


def _label(study: Study, trial: FrozenTrial) -> str:
    origin = trial.user_attrs.get("origin", "")
    if "no_board" in trial.user_attrs:
        value = f"no board on {trial.user_attrs['no_board']}"
    elif trial.state == TrialState.COMPLETE:
        value = f"{trial_value(trial):+.2f}"
    else:
        value = f"ended early, {short_value(study, trial):+.2f} in short runs"
    values = ", ".join(f"{name} {_number(value)}" for name, value in trial.params.items())
    return f"trial {trial.number}{f' (from {origin})' if origin else ''}: {value}; {values}"


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)


# -- charts -----------------------------------------------------------------------------------------------------------


def _figure(
    title: str,
    points: Sequence[Point],
    across: str,
    note: str,
    *,
    upwards: str = "",
    log: bool = False,
    stairs: Sequence[tuple[float, float]] = (),
    size: tuple[int, int] = (520, 260),
) -> str:
    """A scatter chart with its axes named and a caption; "" without points. ``log``: the axis across."""
    if not points:
        return ""
    wide, high = size
    parts = [
        f'<text x="2" y="14">{OVER_DEFAULTS}{upwards}</text>',
        f'<text class="middle" x="{(_LEFT + wide - _RIGHT) / 2}" y="{high - 6}">{escape(across)}</text>',
        *_scatter(points, stairs, size, log=log),
    ]
    return f"<figure>{frame.chart(title, wide, high, parts)}<figcaption>{escape(note)}</figcaption></figure>"


def _scatter(
    points: Sequence[Point], stairs: Sequence[tuple[float, float]], size: tuple[int, int], *, log: bool
) -> Iterable[str]:
    """The grid with its numbers, a step line through the corners ``stairs``, and the points, as SVG."""
    wide, high = size
    places = [math.log(p.x) if log else p.x for p in points]
    left, right = min(places), max(places)
    left, right = (left - 0.5, right + 0.5) if right == left else (left, right)
    low, top = min(-0.5, *(p.y for p in points)), max(0.5, *(p.y for p in points))
    step = 10.0 ** math.floor(math.log10(top - low))
    step = next(step * part for part in (0.2, 0.5, 1, 2) if (top - low) / (step * part) <= 6)
    low, top = math.floor(low / step) * step, math.ceil(top / step) * step

    def x(value: float) -> float:
        return _LEFT + (value - left) / (right - left) * (wide - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return high - _BOTTOM - (value - low) / (top - low) * (high - _TOP - _BOTTOM)

    for number in range(round((top - low) / step) + 1):
        tick = round(low + number * step, 10)
        yield f'<path class="{"grid" if tick else "axis"}" d="M{_LEFT} {y(tick):.1f}H{wide - _RIGHT}"/>'
        yield f'<text class="right" x="{_LEFT - 8}" y="{y(tick) + 4:.1f}">{tick:g}</text>'
    whole = right - left >= 3 and not log and all(float(place).is_integer() for place in places)
    for at in np.linspace(left, right, 4).tolist():
        shown = math.exp(at) if log else round(at) if whole else at
        text = f"{shown:.3g}" if abs(shown) < 1e4 else f"{shown:.1e}".replace("e+0", "e")
        yield f'<text class="middle" x="{x(round(at) if whole else at):.1f}" y="{high - 24}">{text}</text>'
    if stairs:
        corners = "".join(f"H{x(at):.1f}V{y(value):.1f}" for at, value in stairs[1:])
        first = f"M{x(stairs[0][0]):.1f} {y(stairs[0][1]):.1f}"
        yield f'<path class="line" d="{first}{corners}H{wide - _RIGHT}"/>'
    for at, p in sorted(
        zip(places, points, strict=True), key=lambda each: ("faint", "dot", "mark").index(each[1].kind)
    ):
        place = f'cx="{x(at):.1f}" cy="{y(p.y):.1f}" r="{5 if p.kind == "mark" else 3}"'
        yield f'<circle class="{p.kind}" {place}><title>{escape(p.label)}</title></circle>'
