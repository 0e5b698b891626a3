"""Parameters: ranges, types, unknown names, and the way through TOML and back."""

import dataclasses

import pytest

from lns.instances.errors import InputError
from lns.params import Params, from_dict, load, omitted_names, to_dict, to_toml


def test_every_parameter_has_a_meaning_and_a_default_within_its_range():
    for section in dataclasses.fields(Params()):
        component = getattr(Params(), section.name)
        for spec in dataclasses.fields(component):
            assert len(spec.metadata["doc"]) > 10, spec.name
            assert spec.metadata["low"] <= spec.default <= spec.metadata["high"], spec.name


def test_parameters_that_a_file_leaves_at_their_defaults_are_named():
    assert omitted_names(to_dict(Params())) == []
    assert len(omitted_names({"tabu": {"kicks": 3}})) == len(omitted_names({})) - 1


def test_changed_values_survive_toml(tmp_path):
    changed = from_dict({"construct": {"tail": 14, "quota_scale": 0.9}, "tabu": {"kick": 3}})
    path = tmp_path / "p.toml"
    for params in (Params(), changed):
        path.write_text(to_toml(params))
        assert load(path) == params
    assert to_dict(changed)["construct"]["tail"] == 14


@pytest.mark.parametrize(
    "text,sentence",
    [
        ("[construct]\ntial = 3", "did you mean 'tail'"),
        ("[constrct]\ntail = 3", "did you mean 'construct'"),
        ("[construct]\ntail = 'three'", "expected a whole number"),
        ("[construct]\ntail = 3.5", "expected a whole number"),
        ("[construct]\nquota_scale = 99", "expected 0.0 to 1.2"),
        ("[construct]\ntail = -1", "expected 1 to"),
        ("construct = 3", "section"),
        ("[construct", "not TOML"),
        ("a = " + "[" * 100_000, "not TOML"),
        ("[construct]\ntail = " + "9" * 5000, "not TOML"),
        ("[zzz]\na = 1", "expected one of"),
        ("[rework]\nnodes = 100", "rework.nodes is of an earlier version; it is called neighbourhoods.nodes now"),
        ("[rework]\nmax_share = 0.1", "rework.max_share is of an earlier version; there is none like it now"),
        ("[construct]\ntail = true", "expected a whole number"),
        ("[construct]\nquota_scale = 1" + 400 * "0", "parameter construct.quota_scale is 1000.*expected 0.0 to 1.2"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(tmp_path, text, sentence):
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=sentence) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_names_of_earlier_versions_are_taken_for_an_old_run():
    old = {"rework": {"nodes": 100, "max_share": 0.1}, "construct": {"tail": 11}}
    assert from_dict(old, earlier=True) == from_dict({"neighbourhoods": {"nodes": 100}, "construct": {"tail": 11}})
