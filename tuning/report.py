"""The results of a study: as text for the terminal, and as one HTML page without scripts or external resources.

The page has the verdict and the results behind it. Charts of the trials are drawn by `optuna-dashboard`: their history,
and each parameter against the value of the trials or, for all trials that finished their short runs, against their
attribute ``short``.
"""

from __future__ import annotations

import shlex
import textwrap
import warnings
from collections.abc import Iterable
from functools import partial
from html import escape
from statistics import fmean
from typing import Any

import numpy as np
import optuna
from optuna.trial import TrialState
from scipy.stats import spearmanr

from lns import params as parameters
from lns.instances.draw import page as frame
from lns.instances.text import count_of, escape_controls, printable
from lns.runs.lock import Holder
from lns.tuning import validate
from lns.tuning.objective import OBJECTIVE
from lns.tuning.sampler import STARTUP_TRIALS, values_of
from lns.tuning.storage import JOURNAL_FILE, redact_url
from lns.tuning.study import MAX_COMMAND, MIN_HELD_OUT_PAIRS, Study, trial_value
from lns.tuning.validate import Conclusion, Verdict, signed

MIN_TRIALS = 20  # least number of finished trials for the importance of parameters
NO_BOARD = -1e6  # value assumed, in short runs, of a trial that made no board where the defaults made one
LABEL_WIDTH = 11  # width, in characters, of the labels of the lines below the verdict
OVER_DEFAULTS = "edges over the defaults"


# -- statistics of a study --------------------------------------------------------------------------------------------


def _short_and_long(study: Study) -> list[tuple[float, float]]:
    """Return (mean difference to the defaults in short runs, that in long runs) of each of the first trials."""
    attributes = (trial.user_attrs for trial in study.finished)
    return [(values["short"], values["long"]) for values in attributes if "long" in values]


def rank_correlation(study: Study) -> float | None:
    """Return Spearman's correlation of short and long runs of the first trials; None if these are too few or equal.

    Only the first trials have long runs whatever their short runs showed. Later trials have long runs because their
    short runs were good, so their correlation would be biased.
    """
    both = np.array(_short_and_long(study))
    if len(both) < 4 or (both == both[0]).all(axis=0).any():
        return None
    return float(spearmanr(both).statistic)


def importance(study: Study) -> dict[str, float]:
    """Return how much each parameter decides which trials are the best tenth by short runs, as shares (PED-ANOVA).

    Short runs are used because even bad trials have some. The result is empty with fewer than `MIN_TRIALS` trials.
    """
    trials, pairs = [trial for trial in study.finished if trial.intermediate_values], len(study.training)
    if len(trials) < MIN_TRIALS:
        return {}
    copy, create = optuna.create_study(direction="maximize"), optuna.trial.create_trial
    for each in trials:
        short = [value for step, value in each.intermediate_values.items() if step < pairs]
        value = NO_BOARD if "no_board" in each.user_attrs else fmean(short)
        copy.add_trial(create(params=each.params, distributions=each.distributions, value=value))
    varied = [name for name in study.space if len({trial.params[name] for trial in trials}) > 1]
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # optuna warns if the best tenth has few trials
        return dict(optuna.importance.get_param_importances(copy, evaluator=evaluator, params=varied))


# -- results as text --------------------------------------------------------------------------------------------------


def _agreement(study: Study) -> str:
    """Say in words how well short runs predict long runs."""
    correlation, trials = rank_correlation(study), len(_short_and_long(study))
    if correlation is None:
        few = f"{count_of(trials, 'first trial')} with short and long runs"
        return f"{few}: too few or too equal to say whether short runs predict long ones"
    how = "well" if correlation >= 0.7 else "roughly" if correlation >= 0.3 else "badly"
    advice = "; expected a new study with fewer, longer runs" if how == "badly" else ""
    told = f"they predict long runs {how}: rank correlation {correlation:.2f} over the first {trials} trials"
    return f"{told} (1 is best){advice}"


def verdict_text(study: Study, conclusion: Conclusion) -> str:
    """Say in a sentence or two whether to use other parameters than the defaults, and why."""
    command, held_out = f"`lns tune --study {shlex.quote(str(study.path))}`", study.plan.held_out
    if (winner := conclusion.winner) is not None:
        where = validate.written_best(study, conclusion)
        what = where or f"the parameters of trial {winner.trial}, to be written by {command}"
        slower = f" A run takes {winner.cost:.1f} x the seconds of the defaults." if winner.cost >= 1.2 else ""
        earlier = "" if winner.edges else " The scores are the same and come earlier, which counts up to half an edge."
        return f"Use {what}: {winner.effect}.{earlier}{slower}{_left_out(winner)}"
    if why := _unfinished(study, conclusion):
        return f"No verdict yet, so keep the defaults: {why}; go on with {command}."
    if held_out < MIN_HELD_OUT_PAIRS:
        pairs = count_of(held_out, "held-out pair")
        why = f": {pairs} cannot show that anything is better; at least {MIN_HELD_OUT_PAIRS} can, in a new study."
    elif not conclusion.verdicts:
        none = f"none of {count_of(len(study.finished), 'trial')} beat them on the training pairs"
        why = f", because {none}: there was nothing to test on held-out pairs."
    else:
        best, candidates = conclusion.verdicts[0], len(conclusion.verdicts)
        had = f"the best {'candidate' if candidates == 1 else f'of {candidates} candidates'} had {best.effect}"
        reason = f"{best.doubt}: {had}" if best.negligible else f"{had}: {best.doubt}"
        why = f", because {reason}.{_left_out(best)}"
    return f"Keep the defaults{why}"


def _unfinished(study: Study, conclusion: Conclusion) -> str:
    """Say what is missing for a verdict; "" if nothing is missing."""
    finished = len(study.finished)
    if conclusion.pending:
        return f"the test on held-out pairs lacks {count_of(conclusion.pending, 'run')}"
    if conclusion.verdicts:
        return ""
    if any(trial_value(trial) > 0 for trial in study.trials(TrialState.COMPLETE)):
        return "the trials that beat the defaults on the training pairs are not tested on held-out pairs yet"
    if finished < STARTUP_TRIALS:
        return f"of the first {STARTUP_TRIALS} trials, which are drawn at random, {finished or 'none'} finished"
    return ""


def _left_out(verdict: Verdict) -> str:
    if not (pairs := verdict.left_out):
        return ""
    left_out = f"{count_of(len(pairs), 'held-out pair')} {'is' if len(pairs) == 1 else 'are'} left out"
    return f" {left_out}, as the defaults made no board there: {', '.join(pairs)}."


def facts(study: Study, conclusion: Conclusion, overhead: float | None) -> Iterable[tuple[str, str]]:
    """Yield (label, text) of each line below the verdict."""
    plan, completed, finished = study.plan, study.trials(TrialState.COMPLETE), study.finished
    yield "study", f"{study.path}: {plan.subject}, {plan.nodes:,} nodes a run, {count_of(plan.pairs, 'pair')}"
    no_board = sum("no_board" in trial.user_attrs for trial in finished)
    gave_up = f", {no_board} made no board where the defaults made one" if no_board else ""
    early = f"{len(completed)} with all long runs, {len(finished) - len(completed) - no_board} ended early{gave_up}"
    yield "trials", f"{len(finished)} finished: {early}" if finished else "none finished"
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


def as_text(verdict: str, lines: Iterable[tuple[str, str]], width: int) -> str:
    """Return the verdict in a box, and below it each label with its text, in lines of ``width`` columns.

    A word longer than a line is not broken.
    """
    wrap, inner = partial(textwrap.wrap, break_long_words=False, break_on_hyphens=False), max(20, width - 4)
    rule = "─" * (inner + 2)
    told = [f"┌{rule}┐", *(f"│ {line:<{inner}} │" for line in wrap(verdict, inner)), f"└{rule}┘"]
    for label, text in lines:
        first, later = f"{label:<{LABEL_WIDTH}} ", " " * (LABEL_WIDTH + 1)
        told += wrap(text, max(40, width), initial_indent=first, subsequent_indent=later)
    return "\n".join(told)


# -- the HTML page ----------------------------------------------------------------------------------------------------


def html_page(study: Study, conclusion: Conclusion, made: str) -> str:
    """Return the report as an HTML page. ``made``, the date and the version of lns, goes into its last line."""
    plan, shares, verdicts = study.plan, importance(study), conclusion.verdicts
    none_yet = f"<p>This needs {MIN_TRIALS} finished trials; there are {len(study.finished)}.</p>"
    differences = [dict(zip(verdict.pairs, verdict.differences, strict=True)) for verdict in verdicts]
    paired = [
        [pair.label, *(f"{of[pair.label]:+.2f}" if pair.label in of else "-" for of in differences)]
        for pair in study.held_out
    ]
    sections = [
        ("Importance of parameters: which ones tell the best tenth of the trials from the others",
         frame.table(["", ""], [[name, f"{share:.0%}"] for name, share in shares.items()]) or none_yet),
        (f"Held-out pairs: {OVER_DEFAULTS}",
         frame.table(["", *(f"trial {verdict.trial}" for verdict in verdicts)], paired if verdicts else [])),
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


def _best(study: Study) -> str:
    """Return an HTML table with a column for each of the best trials and the defaults, and a row for each parameter."""
    best = sorted(study.trials(TrialState.COMPLETE), key=trial_value, reverse=True)[:8]
    columns = [*(trial.params for trial in best), values_of(study.base, study.space)]
    rows = [
        [f"{OVER_DEFAULTS}, long runs", *(f"{trial_value(t):+.2f}" for t in best), "0"],
        [f"{OVER_DEFAULTS}, short runs", *(f"{t.user_attrs['short']:+.2f}" for t in best), "0"],
        *([name, *(_number(values.get(name, "-")) for values in columns)] for name in study.space),
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
        f"optuna-dashboard {shlex.quote(trials)}    # charts of the trials; .venv/bin/pip install -e '.[dashboard]'\n\n"
        f"# the parameters that candidates are compared with\n{parameters.to_toml(study.base)}"
    )


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)
