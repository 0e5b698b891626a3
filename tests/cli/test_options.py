"""Types and checks of options that several commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from lns.terminal.options import check_folder
from lns_support.errors import InputError


def test_an_output_file_is_refused_where_none_can_be_created(tmp_path: Path) -> None:
    check_folder(None)
    check_folder(tmp_path / "new.json")
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match="there is no such directory"):
        check_folder(tmp_path / "none" / "new.json")
    if not Path("/proc/self").is_dir():
        pytest.skip("no directory that not even root can write to")
    with pytest.raises(InputError, match="/proc/self: no file can be made in this directory: "):
        check_folder("/proc/self/new.json")
