"""What a study has found: in words for the terminal, and as one HTML page without scripts or external resources.

`optuna-dashboard` shows the same trials live; the page adds pairs, verdicts, and short against long runs.
"""

from __future__ import annotations

import math
import shlex
import textwrap
import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from typing import Any, NamedTuple

import numpy as np
import optuna
from optuna.trial import FrozenTrial, TrialState
from scipy.stats import spearmanr

from lns import params as parameters
from lns.instances.draw import page as frame
from lns.instances.text import count_of, escape_controls, printable
from lns.runs.lock import Holder
from lns.tuning import validate
from lns.tuning.objective import OBJECTIVE
from lns.tuning.plan import MAX_COMMAND, MIN_HELD_OUT_PAIRS
from lns.tuning.sampler import STARTUP_TRIALS, values_of
from lns.tuning.storage import JOURNAL_FILE, redact_url
from lns.tuning.study import FINISHED, Study, trial_value
from lns.tuning.validate import Conclusion, Verdict, signed

MIN_TRIALS = 20  # for the importance of parameters
NO_BOARD = -1e6  # value in the ranking by short runs of a trial that made no board where the defaults made one
LABEL_WIDTH = 11  # of the facts below the verdict
OVER_DEFAULTS = "edges over the defaults"
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 16, 30, 42  # margins of a chart


# -- figures ----------------------------------------------------------------------------------------------------------


def _calibration_trials(study: Study) -> list[FrozenTrial]:
    """The first trials, which have short and long runs in any case."""
    return [trial for trial in study.trials(*FINISHED) if "long" in trial.user_attrs]


def _trials_with_runs(study: Study) -> list[FrozenTrial]:
    """Finished trials with at least one run: the journal's steps begin with the first short run."""
    return [trial for trial in study.trials(*FINISHED) if trial.intermediate_values]


def short_value(study: Study, trial: FrozenTrial) -> float:
    """Mean difference to the defaults over the short runs that the trial had; far below if one made no board."""
    if "no_board" in trial.user_attrs:
        return NO_BOARD
    pairs = len(study.training)
    values = [value for step, value in trial.intermediate_values.items() if step < pairs]
    return sum(values) / len(values)


def rank_correlation(study: Study) -> float | None:
    """Spearman's correlation between short and long runs over the first trials; None where it cannot be told.

    Only these have long runs whatever their short runs showed; later trials have them because their short runs were
    good, so their correlation would be biased.
    """
    both = np.array([(trial.user_attrs["short"], trial.user_attrs["long"]) for trial in _calibration_trials(study)])
    if len(both) < 4 or (both == both[0]).all(axis=0).any():
        return None
    return float(spearmanr(both[:, 0], both[:, 1]).statistic)


def importance(study: Study) -> dict[str, float]:
    """Importance of each parameter for reaching the best tenth of the short runs (PED-ANOVA), as shares of 1.

    Short runs are used because all trials have some, bad trials too. Empty with fewer than `MIN_TRIALS` trials.
    """
    trials = _trials_with_runs(study)
    if len(trials) < MIN_TRIALS:
        return {}
    copy, create = optuna.create_study(direction="maximize"), optuna.trial.create_trial
    for each in trials:
        value = short_value(study, each)
        copy.add_trial(create(params=each.params, distributions=each.distributions, value=value))
    shares, evaluator = dict[str, float](), optuna.importance.PedAnovaImportanceEvaluator()
    get = partial(optuna.importance.get_param_importances, copy, evaluator=evaluator, normalize=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # where the best tenth is small
        for name in (variable.name for variable in study.space):
            if len({trial.params.get(name) for trial in trials}) > 1:  # a conditional one: on the trials that have it
                shares |= get(params=[name])
    total = sum(shares.values()) or 1.0
    return {name: float(value) / total for name, value in sorted(shares.items(), key=lambda item: -item[1])}


# -- in words ---------------------------------------------------------------------------------------------------------


def _agreement(study: Study) -> str:
    """How well short runs predict long ones."""
    correlation, trials = rank_correlation(study), len(_calibration_trials(study))
    if correlation is None:
        few = f"{count_of(trials, 'first trial')} with short and long runs"
        return f"{few}: too few or too equal to say whether short runs predict long ones"
    how = "well" if correlation >= 0.7 else "roughly" if correlation >= 0.3 else "badly"
    advice = "; expected a new study with fewer, longer runs" if how == "badly" else ""
    told = f"they predict long runs {how}: rank correlation {correlation:.2f} over the first {trials} trials"
    return f"{told} (1 is best){advice}"


def verdict_text(study: Study, conclusion: Conclusion) -> str:
    """The verdict in a sentence or two: whether to use other parameters than the defaults, and why."""
    command = f"`lns tune --study {shlex.quote(str(study.path))}`"
    if (winner := conclusion.winner) is not None:
        where = validate.written_best(study, conclusion)
        what = where or f"the parameters of trial {winner.trial}, to be written by {command}"
        slower = f" A run takes {winner.cost:.1f} x the seconds of the defaults." if winner.cost >= 1.2 else ""
        earlier = "" if winner.edges else " The scores are the same and come earlier, which counts up to half an edge."
        return f"Use {what}: {winner.effect}.{earlier}{slower}{_left_out(winner)}"
    if why := _unfinished(study, conclusion):
        return f"No verdict yet, so keep the defaults: {why}; go on with {command}."
    if study.plan.held_out < MIN_HELD_OUT_PAIRS:
        pairs = count_of(study.plan.held_out, "held-out pair")
        why = f": {pairs} cannot show that anything is better; at least {MIN_HELD_OUT_PAIRS} can, in a new study."
    elif not conclusion.verdicts:
        trials = count_of(len(study.trials(*FINISHED)), "trial")
        why = (
            f", because none of {trials} beat them on the training pairs: there was nothing to test on held-out pairs."
        )
    else:
        best, candidates = conclusion.verdicts[0], len(conclusion.verdicts)
        had = f"the best {'candidate' if candidates == 1 else f'of {candidates} candidates'} had {best.effect}"
        reason = f"{best.doubt}: {had}" if best.negligible else f"{had}: {best.doubt}"
        why = f", because {reason}.{_left_out(best)}"
    return f"Keep the defaults{why}"


def _unfinished(study: Study, conclusion: Conclusion) -> str:
    """What is missing for a verdict; "" if nothing is."""
    finished = len(study.trials(*FINISHED))
    if conclusion.pending:
        return f"{count_of(conclusion.pending, 'run')} of the test on held-out pairs {_are(conclusion.pending)} missing"
    if conclusion.verdicts:
        return ""
    if any(trial_value(trial) > 0 for trial in study.trials(TrialState.COMPLETE)):
        return "the trials that beat the defaults on the training pairs are not tested on held-out pairs yet"
    if finished < STARTUP_TRIALS:
        some = f"only {count_of(finished, 'trial')} {_are(finished)} finished" if finished else "no trial is finished"
        return f"{some}, and the first {STARTUP_TRIALS} are drawn at random"
    return ""


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _left_out(verdict: Verdict) -> str:
    pairs = f"{count_of(len(verdict.left_out), 'held-out pair')} {_are(len(verdict.left_out))}"
    named = ", ".join(verdict.left_out)
    return f" {pairs} left out, as the defaults made no board there: {named}." if named else ""


def facts(study: Study, conclusion: Conclusion, overhead: float | None) -> Iterable[tuple[str, str]]:
    """(label, text) of each line below the verdict."""
    plan, completed, finished = study.plan, study.trials(TrialState.COMPLETE), study.trials(*FINISHED)
    yield "study", f"{study.path}: {plan.subject}, {plan.nodes:,} nodes a run, {count_of(plan.pairs, 'pair')}"
    yield "trials", f"{len(finished)} finished: {_how_far(study)}" if finished else "none finished"
    if running := [trial for trial in study.trials(TrialState.RUNNING) if "holder" in trial.user_attrs]:
        hosts = sorted({printable(Holder(**trial.user_attrs["holder"]).host, 60) for trial in running})
        yield "running", f"{len(running)} more, in processes on {', '.join(hosts)}; --trials counts them"
    if left_out := study.left_out:
        named, pairs = ", ".join(pair.label for pair in left_out), count_of(len(left_out), "training pair")
        yield "left out", f"{pairs}, as the defaults make no board within a short run there: {named}"
    if completed:
        best = max(completed, key=trial_value)
        value = f"{signed(trial_value(best))} edges over the defaults on the training pairs"
        yield "best trial", f"number {best.number}: {value}"
    if finished:
        yield "short runs", _agreement(study)
    if shares := importance(study):
        yield "importance", ", ".join(f"{name} {share:.0%}" for name, share in list(shares.items())[:6])
    for verdict in conclusion.verdicts:
        yield "held out", str(verdict)
    if overhead is not None and finished:
        yield "overhead", f"{overhead:.1%} of the workers' time was outside of runs"


def _how_far(study: Study) -> str:
    """How many trials had long runs, and how the others ended."""
    pruned = study.trials(TrialState.PRUNED)
    no_board, refused = (sum(why in trial.user_attrs for trial in pruned) for why in ("no_board", "refused"))
    numbers = {
        "with all long runs": len(study.trials(TrialState.COMPLETE)),
        "ended early as not good enough": len(pruned) - no_board - refused,
        "made no board where the defaults made one": no_board,
        "had values that the engine refuses": refused,
    }
    return ", ".join(f"{number} {how}" for i, (how, number) in enumerate(numbers.items()) if number or i < 2)


def as_text(verdict: str, lines: Iterable[tuple[str, str]], width: int) -> str:
    """The verdict in a box, and below it each text behind its label, in lines of ``width`` columns.

    A word longer than a line is not cut and sticks out.
    """
    wrap, inner = partial(textwrap.wrap, break_long_words=False, break_on_hyphens=False), max(20, width - 4)
    rule = "─" * (inner + 2)
    told = [f"┌{rule}┐", *(f"│ {line:<{inner}} │" for line in wrap(verdict, inner)), f"└{rule}┘"]
    for label, text in lines:
        first, later = f"{label:<{LABEL_WIDTH}} ", " " * (LABEL_WIDTH + 1)
        told += wrap(text, max(40, width), initial_indent=first, subsequent_indent=later)
    return "\n".join(told)


# -- the page ---------------------------------------------------------------------------------------------------------


class Point(NamedTuple):
    """A point of a chart."""

    x: float
    y: float
    label: str  # shown when the mouse is over the point
    kind: str = "dot"  # 'faint', 'dot' or 'mark', in the order in which they are drawn: classes of the style sheet


def html_page(study: Study, conclusion: Conclusion, made: str) -> str:
    """The HTML page. ``made`` says when and by which version it is made, for its last line."""
    plan, shares = study.plan, [[name, f"{share:.0%}"] for name, share in importance(study).items()]
    none_yet = f"<p>This needs {MIN_TRIALS} trials with runs to compare; there are {len(_trials_with_runs(study))}.</p>"
    paired = ""
    for verdict in conclusion.verdicts:
        ordered = sorted(zip(verdict.differences, verdict.pairs, strict=True))
        points = [Point(i, value, f"{name}: {value:+.2f}") for i, (value, name) in enumerate(ordered, 1)]
        paired += _figure("differences", points, "held-out pairs, worst first", str(verdict), size=(520, 200))
    history, slices = _of_trials(study)
    sections = [
        ("History", history),
        ("Importance of parameters: which ones tell the best tenth of the trials from the others",
         frame.table(["", ""], shares) or none_yet),
        ("Held-out pairs: candidates against the defaults", paired),
        ("Do short runs predict long runs?", _short_and_long(study)),
        ("Trials by the value of each parameter (orange: the defaults)", f'<div class="tiles">{slices}</div>'),
        ("Best trials", _best(study)),
        ("Commands", f"<pre>{escape(_commands(study, conclusion))}</pre>"),
    ]  # fmt: skip
    title = f"lns tune: {plan.subject}"
    rows = [(label, text) for label, text in facts(study, conclusion, None) if label != "study"]
    head = (
        f'<h1>{escape(title)}</h1>\n<p class="verdict">{escape(verdict_text(study, conclusion))}</p>\n'
        f'<p class="soft">{escape(plan.engine)} engine, {plan.nodes:,} nodes a long run, {plan.short:,} a short run, '
        f"{plan.pairs} training and {plan.held_out} held-out pairs, seed {plan.seed}; "
        f"objective: {escape(OBJECTIVE)}</p>\n{frame.table(['', ''], rows, words=True)}"
    )
    return escape_controls(frame.page(title, head, sections, made))


def _of_trials(study: Study) -> tuple[str, str]:
    """The history of the trials, and for each parameter the trials by its value."""
    trials, defaults, charts = _trials_with_runs(study), values_of(study.base, study.space), []
    shorts = [short_value(study, trial) for trial in trials]
    boards = [value for value in shorts if value != NO_BOARD]
    # lower limit of the charts: some trials are so bad that all others would look alike
    floor = min(-1.0, float(np.quantile(boards or [0.0], 0.25)))
    clipped = [(trial, max(short, floor), _label(study, trial)) for trial, short in zip(trials, shorts, strict=True)]
    history, stairs = [], list[tuple[float, float]]()
    for trial, short, label in clipped:
        is_whole = trial.state == TrialState.COMPLETE
        value = trial_value(trial) if is_whole else short
        history.append(Point(trial.number, value, label, "dot" if is_whole else "faint"))
        if is_whole and (not stairs or value > stairs[-1][1]):
            stairs.append((trial.number, value))
    note = (
        "A point is a trial: mean over the training pairs, from all their good boards. Strong: long runs; faint: "
        f"trials that ended early, by their short runs; those below {floor:.3g} are drawn there."
    )
    for variable in study.space:
        name = variable.name
        points = [Point(trial.params[name], value, label) for trial, value, label in clipped if name in trial.params]
        if name in defaults:
            points.append(Point(defaults[name], 0.0, f"default: {_number(defaults[name])}", "mark"))
        points = [point for point in points if point.x > 0 or not variable.distribution.log]
        how = {"log": variable.distribution.log, "size": (360, 220), "upwards": ", short runs"}
        charts.append(_figure(name, points, name, f"{name}: {variable.doc}", **how))  # type: ignore[arg-type]
    return _figure("history of the trials", history, "number of the trial", note, stairs=stairs), "".join(charts)


def _short_and_long(study: Study) -> str:
    first = _calibration_trials(study)
    points = [Point(t.user_attrs["short"], t.user_attrs["long"], _label(study, t), "mark") for t in first]
    later = (trial for trial in study.trials(TrialState.COMPLETE) if trial not in first)
    points += [Point(t.user_attrs["short"], trial_value(t), _label(study, t)) for t in later]
    note = f"Orange: the first trials. By these, {_agreement(study)}."
    across = f"{OVER_DEFAULTS}, short runs"
    return _figure("long against short runs", points, across, note, upwards=", long runs") if len(points) > 1 else ""


def _best(study: Study) -> str:
    best = sorted(study.trials(TrialState.COMPLETE), key=trial_value, reverse=True)[:8]
    columns = [*(trial.params for trial in best), values_of(study.base, study.space)]
    rows = [
        [f"{OVER_DEFAULTS}, long runs", *(f"{trial_value(t):+.2f}" for t in best), "0"],
        [f"{OVER_DEFAULTS}, short runs", *(f"{t.user_attrs['short']:+.2f}" for t in best), "0"],
        *([each.name, *(_number(values.get(each.name, "-")) for values in columns)] for each in study.space),
    ]
    return frame.table(["trial", *(str(trial.number) for trial in best), "defaults"], rows) if best else ""


def _commands(study: Study, conclusion: Conclusion) -> str:
    best, plan = validate.written_best(study, conclusion), study.plan
    trials = str(study.path / JOURNAL_FILE) if study.storage is None else redact_url(study.storage)
    engine = "" if plan.engine == "auto" else f" --engine {plan.engine}"
    return (
        f"{printable(plan.command, MAX_COMMAND)}    # began this study\n"
        f"lns tune --study {shlex.quote(str(study.path))} --time 1h    # continues it\n"
        f"lns solve INSTANCE{engine} --params {shlex.quote(str(best)) if best else 'FILE'}\n"
        f"optuna-dashboard {shlex.quote(trials)}    # .venv/bin/pip install -e '.[dashboard]'\n\n"
        f"# the parameters that candidates are compared with\n{parameters.to_toml(study.base)}"
    )


def _label(study: Study, trial: FrozenTrial) -> str:
    if "no_board" in trial.user_attrs:
        value = f"no board on {trial.user_attrs['no_board']}"
    elif trial.state == TrialState.COMPLETE:
        value = f"{trial_value(trial):+.2f}"
    else:
        value = f"ended early, {short_value(study, trial):+.2f} in short runs"
    origin = f" (from {trial.user_attrs['origin']})" if trial.user_attrs.get("origin") else ""
    values = ", ".join(f"{name} {_number(value)}" for name, value in trial.params.items())
    return f"trial {trial.number}{origin}: {value}; {values}"


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)


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
    """A scatter chart with its axes named and a caption; "" without points.

    ``log``: the axis across; ``stairs``: corners of a step line.
    """
    if not points:
        return ""
    (wide, high), scale = size, math.log if log else float
    xs, ys = [scale(p.x) for p in points], [p.y for p in points]
    margin = 0.5 * (min(xs) == max(xs))
    left, right, low, top = min(xs) - margin, max(xs) + margin, min(-0.5, *ys), max(0.5, *ys)
    step = 10.0 ** math.floor(math.log10(top - low))
    step = next(step * part for part in (0.2, 0.5, 1, 2) if (top - low) / (step * part) <= 6)
    low, top = math.floor(low / step) * step, math.ceil(top / step) * step

    def x(place: float) -> str:
        return f"{_LEFT + (place - left) / (right - left) * (wide - _LEFT - _RIGHT):.1f}"

    def y(value: float, below: float = 0.0) -> str:
        return f"{high - _BOTTOM - (value - low) / (top - low) * (high - _TOP - _BOTTOM) + below:.1f}"

    parts = [
        f'<text x="2" y="14">{OVER_DEFAULTS}{upwards}</text>',
        f'<text class="middle" x="{(_LEFT + wide - _RIGHT) / 2}" y="{high - 6}">{escape(across)}</text>',
    ]
    for tick in (round(low + number * step, 10) for number in range(round((top - low) / step) + 1)):
        parts.append(f'<path class="{"grid" if tick else "axis"}" d="M{_LEFT} {y(tick)}H{wide - _RIGHT}"/>')
        parts.append(f'<text class="right" x="{_LEFT - 8}" y="{y(tick, 4)}">{tick:g}</text>')
    whole = right - left >= 3 and not log and all(float(p.x).is_integer() for p in points)
    for place in np.linspace(left, right, 4).round(0 if whole else 12).tolist():
        shown = math.exp(place) if log else place
        text = f"{shown:.3g}" if abs(shown) < 1e4 else f"{shown:.1e}".replace("e+0", "e")
        parts.append(f'<text class="middle" x="{x(place)}" y="{high - 24}">{text}</text>')
    if stairs:
        corners = "".join(f"H{x(at)}V{y(value)}" for at, value in stairs[1:])
        parts.append(f'<path class="line" d="M{x(stairs[0][0])} {y(stairs[0][1])}{corners}H{wide - _RIGHT}"/>')
    for p in sorted(points, key=lambda p: ("faint", "dot", "mark").index(p.kind)):
        circle = f'<circle class="{p.kind}" cx="{x(scale(p.x))}" cy="{y(p.y)}" r="{5 if p.kind == "mark" else 3}">'
        parts.append(f"{circle}<title>{escape(p.label)}</title></circle>")
    return f"<figure>{frame.chart(title, wide, high, parts)}<figcaption>{escape(note)}</figcaption></figure>"
