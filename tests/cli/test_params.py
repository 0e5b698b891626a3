"""`lns params`."""

from __future__ import annotations

import json

from lns.cli.main import main
from lns.params import Params, load, to_dict


def test_the_printed_parameters_can_be_read_again(tmp_path, capsys):
    assert main(["params"]) == 0
    path = tmp_path / "p.toml"
    path.write_text(capsys.readouterr().out)
    assert load(path) == Params()
    assert main(["params", "--json", "--params", str(path)]) == 0
    assert json.loads(capsys.readouterr().out) == to_dict(Params())


def test_a_wrong_file_is_refused(tmp_path, capsys):
    path = tmp_path / "p.toml"
    path.write_text("[construct]\nhorzon = 3.0\n")
    assert main(["params", "--params", str(path)]) == 2
    assert "did you mean 'horizon'" in capsys.readouterr().err
    assert main(["params", "--params", str(tmp_path / "absent")]) == 2
