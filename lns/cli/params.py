"""`lns params`: all parameters with their meaning and range, as TOML for `--params`; and the shipped profiles."""

from __future__ import annotations

import argparse
from pathlib import Path

from lns.cli.main import DONE, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--params", type=Path, metavar="FILE", help="show these instead of the defaults")
    shown.add_argument("--profile", metavar="NAME", help="show a shipped profile, with what is known of it")
    shown.add_argument(
        "--profiles", action="store_true", help="list the shipped profiles and the commands that made them"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(args: argparse.Namespace) -> int:
    from lns import params as parameters

    if args.profiles:
        return _list_profiles(as_json=args.json)
    path, text = args.params, ""
    if args.profile is not None:
        from lns_support.files import read_text
        from tuning import profiles

        path = profiles.path_of(args.profile)
        text = read_text(path)
    params = parameters.load(path) if path else parameters.Params()
    if args.json:
        print_json(parameters.to_dict(params))
    else:
        print(text or parameters.to_toml(params), end="")
    return DONE


def _list_profiles(*, as_json: bool) -> int:
    from tuning import profiles

    found = {name: profiles.command_of(name) for name in profiles.names()}
    if as_json:
        print_json({"profiles": found})
    elif not found:
        print("no profile is shipped; `lns tune` makes one for an instance of yours")
    for name, command in found.items() if not as_json else ():
        print(f"{name:<20} {command}")
    return DONE
