"""What proposes the trials: the same after restarts, and better than chance. Runs are made up (`made_up`)."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace

import numpy as np
import pytest
from optuna.trial import TrialState

from instances import InputError
from lns.names import SAMPLERS
from lns.runs.files import seal
from tests.tuning.made_up import WISH, searched
from tuning.plan import SETTINGS, Wish
from tuning.sampler import STARTUP
from tuning.space import values_of
from tuning.study import open_study

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


def kept(study):
    """The part of the values that each trial has of the base."""
    base = values_of(study.base, study.space)
    return [
        np.mean([value == base[name] for name, value in trial.params.items() if name in base])
        for trial in study.trials()
    ]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_study_goes_on_where_it_was_and_draws_what_it_would_have_drawn(made_up, tmp_path, sampler):
    wish, most = replace(WISH, sampler=sampler), STARTUP + 16
    whole = searched(tmp_path / "whole", most, wish)
    for trials in (1, 2, 9, STARTUP + 1, STARTUP + 13, most):
        parts = searched(tmp_path / "parts", trials, wish)
        assert len(parts.trials()) == trials
    assert [trial.params for trial in parts.trials()] == [trial.params for trial in whole.trials()]
    assert len({json.dumps(trial.params) for trial in parts.trials()}) == most


def test_every_other_of_the_first_trials_keeps_most_of_the_base(made_up, tmp_path):
    study = searched(tmp_path / "s", STARTUP + 10)
    base, parts = values_of(study.base, study.space), kept(study)
    assert parts[0] == 1.0
    near, far = parts[1:STARTUP:2], parts[2:STARTUP:2]
    assert min(near) > 0.4 and 0.65 < np.mean(near) < 0.9 and min(near) < 1
    assert max(far) < 0.4 and np.mean(far) < 0.2
    assert np.mean(parts[STARTUP:]) < 0.3, "TPE draws all values itself"
    changed = {name for trial in study.trials()[1:STARTUP:2] for name in base if trial.params.get(name) != base[name]}
    assert len(changed) > len(base) / 2, "not the same ones in every trial"


def test_samplers_begin_alike_and_those_that_learn_come_nearer_than_chance(made_up, tmp_path):
    """Merits of the made-up runs rise with the tail and fall with `windows.patience`."""
    first, merits = {}, {}
    for sampler in SAMPLERS:
        study = searched(tmp_path / sampler, 90, replace(WISH, sampler=sampler))
        drawn = [trial.params for trial in study.trials()]
        first[sampler] = drawn[:STARTUP]
        found = [study.params_of(trial) for trial in study.trials()[-30:]]
        merits[sampler] = np.mean([one.construct.tail - one.windows.patience / 150 for one in found])
        if sampler == "random":
            near = kept(study)[STARTUP + 1 :: 2]
            assert np.mean(near) > 0.6, "it goes on near the base"
    assert first["tpe"] == first["cmaes"] == first["random"]
    assert min(merits["tpe"], merits["cmaes"]) > merits["random"] + 1


def test_cmaes_is_told_of_its_own_trials_only(made_up, tmp_path):
    """One that is tried again has values of old, which are no sample of the present distribution."""
    study = searched(tmp_path / "s", STARTUP + 2, replace(WISH, sampler="cmaes"))
    own = study.ask(None)
    own.suggest_float("construct.band", 0.15, 0.4)
    study.give_up(own)
    again = study.ask(None)
    first, second = study.trials()[-2:]
    assert (first.number, second.number) == (own.number, again.number)
    assert "cmawm:generation" in first.system_attrs and "cmawm:generation" not in second.system_attrs
    conditional = [one for one in study.space if one.when]
    base = values_of(study.base, study.space)
    late = study.trials(TrialState.COMPLETE, TrialState.PRUNED)[STARTUP:]
    assert conditional and all(trial.params[one.name] == base[one.name] for trial in late for one in conditional)


def test_without_its_package_a_sampler_is_refused_before_anything_is_written(monkeypatch, tmp_path):
    real = importlib.util.find_spec
    monkeypatch.setattr("exact.extras.find_spec", lambda name: None if name == "cmaes" else real(name))
    with pytest.raises(InputError, match=r"--sampler cmaes needs cmaes, which is not installed.*\[cma\]"):
        open_study(tmp_path / "s", replace(WISH, sampler="cmaes"))
    assert not (tmp_path / "s").exists()
    open_study(tmp_path / "t", WISH)


def test_a_study_from_before_there_were_samplers_is_one_of_tpe(tmp_path):
    study = open_study(tmp_path / "s", WISH)
    values = json.loads((study.path / SETTINGS).read_text())
    del values["sampler"], values["sum"]
    (study.path / SETTINGS).write_text(seal(values))
    assert open_study(study.path, Wish(sampler="tpe")).plan == study.plan
    (study.path / SETTINGS).write_text(seal({**values, "sampler": "nsga"}))
    with pytest.raises(InputError, match="'sampler': 'nsga'; expected one of tpe, cmaes, random"):
        open_study(study.path, Wish())
