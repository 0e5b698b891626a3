"""What a study has found, in words: the verdict in a box, and the facts below it."""

from __future__ import annotations

import shlex
import textwrap
import warnings
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np
import optuna
from optuna.trial import FrozenTrial, TrialState
from scipy.stats import spearmanr

from lns.instances.text import count_of, printable
from lns.runs.lock import Holder
from lns.tuning import validate
from lns.tuning.plan import MIN_HELD_OUT_PAIRS
from lns.tuning.sampler import STARTUP_TRIALS
from lns.tuning.study import FINISHED, Study, trial_value
from lns.tuning.validate import Conclusion, Verdict

MIN_TRIALS = 20  # for the importance of parameters
NO_BOARD = -1e6  # value in the ranking by short runs of a trial that made no board where the defaults made one
LABEL_WIDTH = 11  # of the facts below the verdict


def rank_correlation(study: Study) -> float | None:
    """Spearman's correlation between short and long runs over the first trials; None where it cannot be told.

    Only these have long runs whatever their short runs showed; later trials have them because their short runs were
    good, so their correlation would be biased.
    """
    both = np.array([(trial.user_attrs["short"], trial.user_attrs["long"]) for trial in calibration_trials(study)])
    if len(both) < 4 or (both == both[0]).all(axis=0).any():
        return None
    return float(spearmanr(both[:, 0], both[:, 1]).statistic)


def agreement(study: Study) -> str:
    """How well short runs predict long ones, in words."""
    correlation, trials = rank_correlation(study), len(calibration_trials(study))
    if correlation is None:
        return (
            f"{count_of(trials, 'first trial')} with short and long runs: too few or too equal to say whether "
            "short runs predict long ones"
        )
    how = "well" if correlation >= 0.7 else "roughly" if correlation >= 0.3 else "badly"
    advice = "; expected a new study with fewer, longer runs" if how == "badly" else ""
    return (
        f"they predict long runs {how}: rank correlation {correlation:.2f} over the first {trials} trials "
        f"(1 is best){advice}"
    )


def importance(study: Study) -> dict[str, float]:
    """Importance of each parameter for reaching the best tenth of the short runs (PED-ANOVA), as shares of 1.

    Short runs are used because all trials have some, bad trials too. Empty with fewer than `MIN_TRIALS` trials.
    """
    trials = trials_with_runs(study)
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


def verdict_text(study: Study, conclusion: Conclusion) -> str:
    """The verdict in a sentence or two: whether to use other parameters than the defaults, and why."""
    command = f"`lns tune --study {quoted(study.path)}`"
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


def facts(study: Study, conclusion: Conclusion, overhead: float | None) -> Iterable[tuple[str, str]]:
    """(label, text) of each line below the verdict."""
    plan, completed, finished = study.plan, study.trials(TrialState.COMPLETE), study.trials(*FINISHED)
    yield "study", f"{study.path}: {plan.subject}, {plan.nodes:,} nodes a run, {count_of(plan.pairs, 'pair')}"
    yield "trials", f"{len(finished)} finished: {_how_far(study)}" if finished else "none finished"
    if running := [trial for trial in study.trials(TrialState.RUNNING) if "holder" in trial.user_attrs]:
        hosts = sorted({printable(Holder(**trial.user_attrs["holder"]).host, 60) for trial in running})
        yield "running", f"{len(running)} more, in processes on {', '.join(hosts)}; --trials counts them"
    if left_out := study.left_out:
        named = ", ".join(pair.label for pair in left_out)
        pairs = count_of(len(left_out), "training pair")
        yield "left out", f"{pairs}, as the defaults make no board within a short run there: {named}"
    if completed:
        best = max(completed, key=trial_value)
        value = f"{validate.signed(trial_value(best))} edges over the defaults on the training pairs"
        yield "best trial", f"number {best.number}: {value}"
    if finished:
        yield "short runs", agreement(study)
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
    told = [f"{number} {how}" for i, (how, number) in enumerate(numbers.items()) if number or i < 2]
    return ", ".join(told)


def quoted(path: Path) -> str:
    """``path`` quoted for a shell."""
    return shlex.quote(str(path))


def calibration_trials(study: Study) -> list[FrozenTrial]:
    """The first trials, which have short and long runs in any case."""
    return [trial for trial in study.trials(*FINISHED) if "long" in trial.user_attrs]


def trials_with_runs(study: Study) -> list[FrozenTrial]:
    """Finished trials with at least one run: the journal's steps begin with the first short run."""
    return [trial for trial in study.trials(*FINISHED) if trial.intermediate_values]


def short_value(study: Study, trial: FrozenTrial) -> float:
    """Mean difference to the defaults over the short runs that the trial had; far below if one made no board."""
    if "no_board" in trial.user_attrs:
        return NO_BOARD
    pairs = len(study.training)
    values = [value for step, value in trial.intermediate_values.items() if step < pairs]
    return sum(values) / len(values)
