"""The search space, read off the dataclasses of parameters, and the samplers that draw from it."""

import importlib.util
import json
import math
from dataclasses import replace

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution, IntDistribution

from lns.instances.errors import InputError
from lns.params import Params, from_dict
from lns.tuning import SAMPLERS
from lns.tuning.sampler import (
    STARTUP_TRIALS,
    propose,
    search_space,
    values_of,
    with_values,
)
from lns.tuning.study import StudyRequest, open_study
from tests.tuning.made_up import REQUEST, searched


def test_the_values_of_params_make_them_again_but_those_out_of_range_are_left_out():
    base = Params()
    space = search_space(base, "auto")
    other = from_dict({"construct": {"tail": 11, "quota_scale": 0.9}, "neighbourhoods": {"last": 17}})
    assert with_values(base, space, values_of(other, space)) == other
    few = from_dict({"neighbourhoods": {"nodes": 100}})
    assert values_of(base, space).keys() - values_of(few, space).keys() == {"neighbourhoods.nodes"}


def test_parameters_that_an_engine_does_not_use_are_not_tuned_for_it():
    assert {name.partition(".")[0] for name in search_space(Params(), "construct")} == {"construct"}


@pytest.mark.parametrize("engine", ["auto", "tabu"])
def test_every_tunable_parameter_can_be_drawn_within_its_range(engine):
    base, space = Params(), search_space(Params(), engine)
    assert space and all(each.low < each.high for each in space.values())
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    for _ in range(50):
        with_values(base, space, study.ask({**space}).params)  # Component refuses what is out of range


# -- samplers ---------------------------------------------------------------------------------------------------------


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


@pytest.mark.slow
def test_samplers_begin_alike_and_those_with_a_model_beat_random_ones(made_up, tmp_path):
    """Merits of the made-up runs rise with the tail and fall with `neighbourhoods.last`."""
    first, merits = {}, {}
    for sampler in SAMPLERS:
        study = searched(tmp_path / sampler, 90, replace(REQUEST, sampler=sampler))
        first[sampler] = [trial.params for trial in study.trials()][:STARTUP_TRIALS]
        found = [study.params_of(trial) for trial in study.trials()[-30:]]
        merits[sampler] = np.mean([one.construct.tail - 3 * one.neighbourhoods.last for one in found])
        if sampler == "random":
            assert np.mean(kept(study)[STARTUP_TRIALS + 1 :: 2]) > 0.6, "it goes on near the base"
    assert first["tpe"] == first["cmaes"] == first["random"]
    parts = kept(study)
    assert parts[0] == 1.0 and min(parts[1:STARTUP_TRIALS:2]) > 0.4 > max(parts[2:STARTUP_TRIALS:2]), "every other one"
    assert min(merits["tpe"], merits["cmaes"]) > merits["random"] + 1


def test_cmaes_goes_where_merits_rise_and_stays_in_range():
    """A made-up slope: the best is at the end of one range and in the middle of another, which is logarithmic."""
    space = {"x": FloatDistribution(-2.0, 3.0), "y": IntDistribution(1, 1000, log=True), "z": IntDistribution(0, 2)}

    def merit(values):
        return 2, values["x"] - abs(math.log(values["y"] / 30)) - values["z"]

    chance = np.random.default_rng(1)
    first = []
    for _ in range(20):
        values = {"x": chance.uniform(-2, 3), "y": int(chance.integers(1, 1001)), "z": 1}
        first.append((values, merit(values)))
    later = []
    for number in range(200):
        values = propose(space, first, later, number)
        assert all(each.low <= values[name] <= each.high for name, each in space.items())
        assert isinstance(values["y"], int) and values["z"] in (0, 1, 2)
        later.append((values, merit(values)))
    assert later[-1][0]["x"] > 2.8 and 20 < later[-1][0]["y"] < 45 and later[-1][0]["z"] == 0
    assert propose(space, first, later, 5) == propose(space, first, later, 5) != propose(space, first, later, 6)
    assert propose(space, first[:9], [], 5) == {}


def test_without_its_package_a_sampler_is_refused_before_anything_is_written(monkeypatch, tmp_path):
    real = importlib.util.find_spec
    monkeypatch.setattr("lns.exact.optional_deps.find_spec", lambda name: None if name == "cmaes" else real(name))
    with pytest.raises(
        InputError, match=r"--sampler cmaes needs cmaes, which is not installed .*: pip install cmaes, or"
    ):
        open_study(tmp_path / "s", replace(REQUEST, sampler="cmaes"))
    assert not (tmp_path / "s").exists()
    monkeypatch.undo()
    path = open_study(tmp_path / "u", replace(REQUEST, sampler="cmaes")).path
    monkeypatch.setattr("lns.exact.optional_deps.find_spec", lambda name: None)
    assert open_study(path, StudyRequest(), reading=True).plan.sampler == "cmaes", "a report needs none"
