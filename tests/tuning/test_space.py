"""The search space, read off dataclasses made with `option`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import ClassVar

import optuna
import pytest

from lns.params import Component, Params, from_dict, option
from tuning.space import search_space, suggest_params, values_of


@dataclass(frozen=True)
class Oven(Component):
    heat: int = option(180, "degrees of the oven", 50, 300, tune=(150, 250))
    minutes: float = option(10.0, "minutes in the oven", 1.0, 100.0, log=True, tune=True)
    fan: float = option(0.5, "power of the fan; 0: off", 0.0, 1.0, tune=True)
    fan_speed: int = option(2, "turns of the fan a second", 1, 9, tune=True, when="fan")
    door: int = option(1, "not for the tuner to touch", 0, 5)


@dataclass(frozen=True)
class Fridge(Component):
    engines: ClassVar[tuple[str, ...]] = ("cold",)
    cold: int = option(4, "degrees of the fridge", 1, 9, tune=True)


@dataclass(frozen=True)
class Kitchen:
    oven: Oven = field(default_factory=Oven)
    fridge: Fridge = field(default_factory=Fridge)


def test_the_space_follows_from_the_options_of_the_dataclasses():
    space = {variable.name: variable for variable in search_space(Kitchen(), "auto")}
    assert list(space) == ["oven.heat", "oven.minutes", "oven.fan", "oven.fan_speed"]
    assert (space["oven.heat"].low, space["oven.heat"].high) == (150, 250)
    assert space["oven.minutes"].log and (space["oven.minutes"].low, space["oven.minutes"].high) == (1.0, 100.0)
    assert [variable.name for variable in search_space(Kitchen(), "cold")] == ["fridge.cold"]


def test_a_trial_fills_the_dataclass_and_leaves_the_rest():
    asked = {"oven.heat": 150, "oven.minutes": 2.5, "oven.fan": 0.1, "oven.fan_speed": 7}
    base = Kitchen(oven=Oven(door=5))
    made = suggest_params(optuna.trial.FixedTrial(asked), search_space(base, "auto"), base)
    assert made == Kitchen(oven=Oven(150, 2.5, 0.1, 7, 5))


def test_a_conditional_parameter_is_drawn_only_if_its_condition_holds():
    asked = {"oven.heat": 201, "oven.minutes": 2.0, "oven.fan": 0.0}
    space = search_space(Kitchen(), "auto")
    made = suggest_params(optuna.trial.FixedTrial(asked), space, Kitchen())  # asking for fan_speed would raise
    assert values_of(made, space) == asked


def test_the_values_of_params_make_them_again():
    base = Params()
    space = search_space(base, "auto")
    other = from_dict({"construct": {"tail": 11, "quota_scale": 0.9}, "neighbourhoods": {"last": 17}})
    assert suggest_params(optuna.trial.FixedTrial(values_of(other, space)), space, base) == other


def test_values_out_of_range_are_left_out():
    space = search_space(Kitchen(), "auto")
    assert values_of(Kitchen(oven=Oven(heat=300, fan_speed=9)), space) == {
        "oven.minutes": 10.0, "oven.fan": 0.5, "oven.fan_speed": 9
    }  # fmt: skip


def test_parameters_that_an_engine_does_not_use_are_not_tuned_for_it():
    assert {variable.section for variable in search_space(Params(), "construct")} == {"construct"}


@pytest.mark.parametrize("engine", ["auto", "tabu"])
def test_every_tunable_parameter_can_be_drawn_and_starts_within_its_range(engine):
    base = Params()
    space = search_space(base, engine)
    defaults = values_of(base, space)
    assert space
    for variable in space:
        spec = next(f for f in dataclasses.fields(getattr(base, variable.section)) if f.name == variable.field)
        low, high = spec.metadata["low"], spec.metadata["high"]
        assert low <= variable.low < variable.high <= high, variable.name
        assert variable.low > 0 or not variable.log, variable.name
        if variable.name in defaults:
            assert variable.low <= defaults[variable.name] <= variable.high, variable.name
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    for _ in range(50):
        suggest_params(study.ask(), space, base)  # Component refuses what is out of range
