"""The search space, read off the dataclasses of parameters, and the samplers that draw from it."""

import json
from dataclasses import replace

import numpy as np
import optuna
import pytest

from lns.params import Params, from_dict
from lns.tuning import SAMPLERS
from lns.tuning.sampler import STARTUP_TRIALS, search_space, values_of, with_values
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
def test_samplers_begin_alike_and_tpe_beats_random_ones(made_up, tmp_path):
    """Merits of the made-up runs rise with the tail and fall with `neighbourhoods.last`."""
    first, merits = {}, {}
    for sampler in SAMPLERS:
        study = searched(tmp_path / sampler, 90, replace(REQUEST, sampler=sampler))
        first[sampler] = [trial.params for trial in study.trials()][:STARTUP_TRIALS]
        found = [study.params_of(trial) for trial in study.trials()[-30:]]
        merits[sampler] = np.mean([one.construct.tail - 3 * one.neighbourhoods.last for one in found])
        if sampler == "random":
            assert np.mean(kept(study)[STARTUP_TRIALS + 1 :: 2]) > 0.6, "it goes on near the base"
    assert first["tpe"] == first["random"]
    parts = kept(study)
    assert parts[0] == 1.0 and min(parts[1:STARTUP_TRIALS:2]) > 0.4 > max(parts[2:STARTUP_TRIALS:2]), "every other one"
    assert merits["tpe"] > merits["random"] + 1
