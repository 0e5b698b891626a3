"""Parameters that a study found and validated, as NAME.toml beside this file; each begins with how it was made."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from lns import params as parameters
from lns.params import Params
from lns_support.errors import InputError
from lns_support.files import read_text

COMMAND = "# command: "


def folder() -> Path:
    return Path(__file__).parent


def names() -> list[str]:
    return sorted(path.stem for path in folder().glob("*.toml"))


def path_of(name: str) -> Path:
    """The file of a profile. Raises InputError for an unknown name, with the nearest known one."""
    known = names()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        if near:
            expected = f"did you mean '{near[0]}'?"
        else:
            expected = f"expected one of {', '.join(known)}" if known else "none is shipped"
        raise InputError(f"unknown profile '{name}'; {expected}")
    return folder() / f"{name}.toml"


def command_of(name: str) -> str:
    """The command that made it, from its first lines."""
    lines = read_text(path_of(name)).splitlines()
    return next((line.removeprefix(COMMAND) for line in lines if line.startswith(COMMAND)), "")


def load_all() -> dict[str, Params]:
    return {name: parameters.load(path_of(name)) for name in names()}
