"""A study that is open: its plan, its trials (journal.log) and its runs (runs.jsonl)."""

from __future__ import annotations

import logging
import math
import random
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

import optuna
from optuna.trial import FrozenTrial, TrialState

from instances.formats import load_puzzle
from instances.generate import family
from instances.puzzle import Puzzle
from lns import params as parameters
from lns.params import Params
from lns.runs.lock import Holder, clear_temporaries
from lns_support.errors import InputError
from tuning.objective import Pair, difference
from tuning.plan import (
    BASE,
    GUARD,
    JOURNAL,
    RUNS,
    SETTINGS,
    Wish,
    begin,
    check_engine,
    check_wish,
    params_digest,
    read_plan,
)
from tuning.pruner import PairedPruner
from tuning.run_store import Key, RunFile, RunStore, locked
from tuning.sampler import Seeded, check_sampler
from tuning.space import Variable, suggest, values_of, variables

REPORT, BEST = "report.html", "best_params.toml"
NAME = "lns"  # of the study inside the journal
AGAIN = 3  # times that a trial whose process died is tried again
FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)

log = logging.getLogger("lns")
warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
warnings.filterwarnings("ignore", message=".*out of( the)? range.*")  # defaults may lie outside
optuna.logging.set_verbosity(optuna.logging.WARNING)


class Study:
    """A directory that is open; several processes may have it open at once."""

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        """``reading``: only to show what is there, which may be of another engine.

        Raises InputError where there is no study, or one that this program cannot go on with.
        """
        self.path = path
        self.plan = read_plan(path)
        if not reading:
            check_engine(self.plan, path)
            check_sampler(self.plan.sampler)
        self.base = parameters.load(path / BASE)
        if params_digest(self.base) != self.plan.base:  # by which the runs are known
            raise InputError(
                "not the parameters that the study began with: changed by hand, or the program has others now",
                path / BASE,
            )
        self.space: list[Variable] = variables(self.base, self.plan.engine)
        self.run_store = RunStore(path / RUNS)
        self.optuna = self._load()
        if not reading:
            self._take_up()

    def alone(self) -> AbstractContextManager[None]:
        """While no other process asks for a trial, buries the dead or chooses candidates."""
        return locked(self.path / GUARD)

    def _load(self) -> optuna.Study:
        journal = self.path / JOURNAL
        with self.alone():
            try:
                storage = optuna.storages.JournalStorage(RunFile(journal))
                study = optuna.create_study(
                    storage=storage,
                    study_name=NAME,
                    direction="maximize",
                    sampler=Seeded(self.plan.sampler, self.plan.seed, values_of(self.base, self.space), self.space),
                    pruner=PairedPruner(self.plan.pairs),
                    load_if_exists=True,
                )
                self._check(study)
            except InputError:
                raise
            except (KeyError, ValueError, TypeError, IndexError, AssertionError) as error:
                raise InputError(f"damaged: its records do not make a study ({error!r})", journal) from None
            if study.direction != optuna.study.StudyDirection.MAXIMIZE:
                raise InputError("a study that minimises; expected one that maximises", journal)
        return study

    def _check(self, study: optuna.Study) -> None:
        """Raises one of the errors of a damaged journal where a trial lacks what is read off it later."""
        for trial in study.get_trials(deepcopy=False):
            numbers = [trial.user_attrs[name] for name in ("short", "long") if name in trial.user_attrs]
            if trial.state == TrialState.COMPLETE:
                self.params_of(trial)
                numbers += [trial.user_attrs["short"], value_of(trial)]
            if not all(math.isfinite(number) for number in numbers):
                raise ValueError(f"a number of trial {trial.number} is not finite")
            if trial.state == TrialState.RUNNING and "holder" in trial.user_attrs:
                Holder(**trial.user_attrs["holder"])

    def _take_up(self) -> None:
        """Put the first trials in line where there are none; bury the dead."""
        with self.alone():
            clear_temporaries(self.path)
            if not self.trials():
                origin = {"origin": "from defaults"}
                self.optuna.enqueue_trial(values_of(self.base, self.space), user_attrs=origin)
            self._bury()

    def _bury(self) -> None:
        """Fail the trials whose process is gone, and put them in line again; those of living sisters go on."""
        for trial in self.trials(TrialState.RUNNING):
            holder = trial.user_attrs.get("holder")
            if holder is None or _is_gone(Holder(**holder)):  # without a holder: killed between asking and signing
                self._give_up(trial, died=True)
                log.info("trial %d was cut short with its process; it will be tried again", trial.number)

    def _give_up(self, trial: FrozenTrial, *, died: bool) -> None:
        """Fail a trial and put it in line again, unless too many processes have died in it."""
        self.optuna.tell(trial.number, state=TrialState.FAIL)
        again = trial.user_attrs.get("again", 0) + died
        values = {**trial.system_attrs.get("fixed_params", {}), **trial.params}
        if again <= AGAIN and values:
            origin = trial.user_attrs.get("origin", f"trial {trial.number}")
            attributes = {"again": again, "origin": origin, "place": place_of(trial)}
            self.optuna.enqueue_trial(values, user_attrs=attributes)

    @cached_property
    def pairs(self) -> list[Pair]:
        return self._pairs(self.plan.first_seeds[0], self.plan.pairs)

    @cached_property
    def held_out(self) -> list[Pair]:
        """Pairs that no trial sees: other members of the family, or other seeds on the instances that were named."""
        return self._pairs(self.plan.first_seeds[1], self.plan.held_out)

    def _pairs(self, first: int, count: int) -> list[Pair]:
        """In a fixed shuffled order, so that no prefix of it favours an instance."""
        if self.plan.family:
            member = family(self.plan.family)
            made = [
                Pair(member(seed).puzzle, seed, f"{self.plan.family} seed {seed}")
                for seed in range(first, first + count)
            ]
        else:
            made = []
            for i in range(count):
                puzzle, seed = self.puzzles[i % len(self.puzzles)], first + i
                made.append(Pair(puzzle, seed, f"{puzzle.name} seed {seed}"))
        random.Random(self.plan.seed).shuffle(made)
        return made

    @cached_property
    def puzzles(self) -> list[Puzzle]:
        """The instances that were named, from the study's own copies."""
        puzzles = []
        for number, (name, sha256) in enumerate(self.plan.instances, 1):
            path = self.path / f"instance-{number}.json"
            puzzle = load_puzzle(str(path))
            if puzzle.sha256 != sha256:
                raise InputError(f"not the puzzle {name} that the study began with; expected it unchanged", path)
            puzzles.append(puzzle)
        return puzzles

    def key(self, params: Params, pair: Pair) -> Key:
        return params_digest(params), pair.puzzle.sha256[:32], pair.seed

    # -- trials ------------------------------------------------------------------------------------------------------

    def ask(self, most: int | None) -> optuna.Trial | None:
        """The next trial, signed by this process; None when ``most`` are finished or under way."""
        with self.alone():
            if most is not None and len(self.trials(*FINISHED, TrialState.RUNNING)) >= most:
                return None
            trial = self.optuna.ask()
            trial.set_user_attr("holder", asdict(Holder.me()))
            return trial

    def give_up(self, trial: optuna.Trial) -> None:
        """Leave a trial that was interrupted to the next session."""
        with self.alone():
            frozen = self.optuna.get_trials(deepcopy=False)[trial.number]
            self._give_up(frozen, died=False)

    def trials(self, *states: TrialState) -> list[FrozenTrial]:
        found: list[FrozenTrial] = self.optuna.get_trials(deepcopy=False, states=states or None)
        return found

    def params_of(self, trial: FrozenTrial) -> Params:
        return suggest(optuna.trial.FixedTrial(trial.params), self.space, self.base)

    def differences(self, params: Params, pairs: Sequence[Pair], budget: int) -> list[float] | None:
        """To the defaults, pair by pair, read off the ledger; None when runs are missing."""
        found = []
        for pair in pairs:
            ours, theirs = (self.run_store.get(self.key(one, pair)) for one in (params, self.base))
            if ours is None or theirs is None or not (ours.covers(budget) and theirs.covers(budget)):
                return None
            found.append(difference(ours, theirs, budget))
        return found


def place_of(trial: FrozenTrial | optuna.Trial) -> int:
    """The trial's number; of one that is tried again, the number that it had at first."""
    place: int = trial.user_attrs.get("place", trial.number)
    return place


def value_of(trial: FrozenTrial) -> float:
    """Edges above the defaults at the long budget, of a complete trial."""
    assert trial.value is not None
    return trial.value


def _is_gone(holder: Holder) -> bool:
    """Whether a process has ended, on this machine or before it was started again; of others nothing is known."""
    return not holder.is_elsewhere and not holder.is_alive


def open_study(path: Path, wish: Wish, *, reading: bool = False) -> Study:
    """The study in ``path``, begun there where there is none. Raises InputError when it is not what was asked for.

    ``reading``: as for `Study`.
    """
    if path.exists() and not path.is_dir():
        raise InputError("is a file; expected the directory of a study", path)
    if not (path / SETTINGS).exists():
        begin(path, wish)
    study = Study(path, reading=reading)
    check_wish(study.plan, wish, path)
    return study
