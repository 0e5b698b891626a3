"""What proposes the trials: the same after restarts, and better than chance. Runs are made up (`made_up`)."""

from __future__ import annotations

import importlib.util
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from optuna.trial import TrialState

from lns.params import from_dict
from lns.runs.files import seal
from lns_support.errors import InputError
from tests.tuning.made_up import REQUEST, searched
from tuning import SAMPLERS
from tuning.cmaes import propose
from tuning.plan import STUDY_FILE, StudyRequest
from tuning.sampler import STARTUP_TRIALS, SeededSampler
from tuning.space import Variable, values_of
from tuning.study import open_study

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


def kept(study):
    """The part of the values that each trial has of the base."""
    base = values_of(study.base, study.space)
    return [
        np.mean([value == base[name] for name, value in trial.params.items() if name in base])
        for trial in study.trials()
    ]


@pytest.mark.slow
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_study_in_several_sessions_draws_the_same_trials_as_in_one(made_up, tmp_path, sampler):
    request, most = replace(REQUEST, sampler=sampler), STARTUP_TRIALS + 16
    whole = searched(tmp_path / "whole", most, request)
    for trials in (1, 2, 9, STARTUP_TRIALS + 1, STARTUP_TRIALS + 13, most):
        parts = searched(tmp_path / "parts", trials, request)
        assert len(parts.trials()) == trials
    assert [trial.params for trial in parts.trials()] == [trial.params for trial in whole.trials()]
    assert len({json.dumps(trial.params) for trial in parts.trials()}) == most


def test_every_other_of_the_first_trials_keeps_most_of_the_base(made_up, tmp_path):
    study = searched(tmp_path / "s", STARTUP_TRIALS + 10)
    base, parts = values_of(study.base, study.space), kept(study)
    assert parts[0] == 1.0
    near, far = parts[1:STARTUP_TRIALS:2], parts[2:STARTUP_TRIALS:2]
    assert min(near) > 0.4 and 0.65 < np.mean(near) < 0.9 and min(near) < 1
    assert max(far) < 0.4 and np.mean(far) < 0.3, "of a switch a random value is often that of the base"
    assert np.mean(parts[STARTUP_TRIALS:]) < 0.35, "TPE draws all values itself"
    changed = {
        name for trial in study.trials()[1:STARTUP_TRIALS:2] for name in base if trial.params.get(name) != base[name]
    }
    assert len(changed) > len(base) / 2, "not the same ones in every trial"


@pytest.mark.slow
def test_samplers_begin_alike_and_those_with_a_model_beat_random_ones(made_up, tmp_path):
    """Merits of the made-up runs rise with the tail and fall with `neighbourhoods.last`."""
    first, merits = {}, {}
    for sampler in SAMPLERS:
        study = searched(tmp_path / sampler, 90, replace(REQUEST, sampler=sampler))
        drawn = [trial.params for trial in study.trials()]
        first[sampler] = drawn[:STARTUP_TRIALS]
        found = [study.params_of(trial) for trial in study.trials()[-30:]]
        merits[sampler] = np.mean([one.construct.tail - 3 * one.neighbourhoods.last for one in found])
        if sampler == "random":
            near = kept(study)[STARTUP_TRIALS + 1 :: 2]
            assert np.mean(near) > 0.6, "it goes on near the base"
    assert first["tpe"] == first["cmaes"] == first["random"]
    assert min(merits["tpe"], merits["cmaes"]) > merits["random"] + 1


def variable(kind=float, low=0.0, high=1.0, log=False, when="", name="x"):
    return Variable("part", name, kind, low, high, log, when, "")


def test_cmaes_goes_where_merits_rise_and_stays_in_range():
    """A made-up slope: the best is at the end of one range and in the middle of another, which is logarithmic."""
    space = [variable(low=-2.0, high=3.0), variable(int, 1, 1000, True, name="y"), variable(int, 0, 2, name="z")]

    def merit(values):
        return 2, values["part.x"] - abs(math.log(values["part.y"] / 30)) - values["part.z"]

    chance = np.random.default_rng(1)
    first = []
    for _ in range(20):
        values = {"part.x": chance.uniform(-2, 3), "part.y": int(chance.integers(1, 1001)), "part.z": 1}
        first.append((values, merit(values)))
    later = []
    for number in range(200):
        values = propose(space, first, later, number)
        assert all(one.low <= values[one.name] <= one.high for one in space)
        assert isinstance(values["part.y"], int) and values["part.z"] in (0, 1, 2)
        later.append((values, merit(values)))
    assert later[-1][0]["part.x"] > 2.8 and 20 < later[-1][0]["part.y"] < 45 and later[-1][0]["part.z"] == 0
    assert propose(space, first, later, 5) == propose(space, first, later, 5) != propose(space, first, later, 6)
    assert propose(space, first[:9], [], 5) == {}


def test_a_generation_of_cmaes_is_drawn_from_one_distribution():
    space = [variable(), variable(name="y")]
    first = [({"part.x": i / 20, "part.y": 0.5}, (1, float(i))) for i in range(20)]
    drawn = propose(space, first, [], 7)
    later = []
    while propose(space, first, later, 7) == drawn:
        later.append((propose(space, first, later, len(later)), (1, 0.0)))
    assert len(later) == 6, "as many as a generation of two parameters has"


def test_the_observations_of_cmaes(made_up, tmp_path):
    """Of whole trials their value, of others the mean that they were given up with, and nothing of those of old."""
    study = searched(tmp_path / "s", STARTUP_TRIALS + 6, replace(REQUEST, sampler="cmaes"))
    sampler = study.optuna.sampler
    first, later = sampler._observations(study.optuna)
    assert (len(first), len(later)) == (STARTUP_TRIALS, 6)
    for trial, (values, merit) in zip(study.trials(), first + later, strict=True):
        last = trial.intermediate_values[max(trial.intermediate_values)]
        assert values == trial.params
        assert merit == ((2, trial.value) if trial.state == TrialState.COMPLETE else (1, last))
    assert {merit[0] for _, merit in first} == {1, 2}
    own = study.next_trial(None)
    for one in study.space:
        one.suggest(own)
    study.requeue(own)
    again = study.next_trial(None)
    for one in study.space:
        one.suggest(again)
    assert again.params == own.params
    study.optuna.tell(again, state=TrialState.PRUNED)
    refused = study.next_trial(None)
    for one in study.space:
        one.suggest(refused)
    study.optuna.tell(refused, state=TrialState.PRUNED)
    assert sampler._observations(study.optuna) == (first, [*later, (refused.params, (0, 0.0))])


def test_cmaes_draws_everything_unless_a_condition_may_fail(made_up, tmp_path):
    """In a study the quota is never 0, so that its colours are always there, whatever the base says."""
    for number, base in enumerate(({}, {"quota_scale": 0.0}, {"border_colours": 4})):
        params = from_dict({"construct": base})
        study = searched(tmp_path / str(number), STARTUP_TRIALS + 2, replace(REQUEST, sampler="cmaes", params=params))
        assert [one.when for one in study.space if one.when] == ["quota_scale", "quota_scale"]
        assert study.optuna.sampler._unconditional == study.space
    on_or_off = [variable(int, 0, 3, name="on"), variable(int, 1, 9, when="on"), variable(name="y")]
    assert SeededSampler("cmaes", 1, {}, on_or_off)._unconditional == [on_or_off[0], on_or_off[2]]


def test_without_its_package_a_sampler_is_refused_before_anything_is_written(monkeypatch, tmp_path):
    real = importlib.util.find_spec
    monkeypatch.setattr("lns_support.optional_deps.find_spec", lambda name: None if name == "cmaes" else real(name))
    with pytest.raises(
        InputError, match=r"--sampler cmaes needs cmaes, which is not installed .*: pip install cmaes, or"
    ):
        open_study(tmp_path / "s", replace(REQUEST, sampler="cmaes"))
    assert not (tmp_path / "s").exists()
    open_study(tmp_path / "t", REQUEST)
    monkeypatch.undo()
    path = open_study(tmp_path / "u", replace(REQUEST, sampler="cmaes")).path
    monkeypatch.setattr("lns_support.optional_deps.find_spec", lambda name: None)
    with pytest.raises(InputError, match="needs cmaes"):
        open_study(path, StudyRequest())
    assert open_study(path, StudyRequest(), reading=True).plan.sampler == "cmaes", "a report needs none"


def test_a_study_without_a_sampler_in_its_plan_uses_tpe(tmp_path):
    study = open_study(tmp_path / "s", REQUEST)
    values = json.loads((study.path / STUDY_FILE).read_text())
    del values["sampler"], values["sum"]
    (study.path / STUDY_FILE).write_text(seal(values))
    assert open_study(study.path, StudyRequest(sampler="tpe")).plan == study.plan
    (study.path / STUDY_FILE).write_text(seal({**values, "sampler": "nsga"}))
    for reading in (False, True):
        with pytest.raises(InputError, match=r"study\.json: 'sampler': 'nsga'; expected one of tpe, cmaes, random"):
            open_study(study.path, StudyRequest(), reading=reading)
