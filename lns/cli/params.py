"""`lns params`: print all parameters with their meaning and range, as TOML for `--params`."""

from __future__ import annotations

import argparse
from pathlib import Path

from lns.terminal.output import DONE, print_json, print_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--params", type=Path, metavar="FILE", help="print the values in FILE instead of the defaults")
    parser.add_argument("--json", action="store_true", help="print one JSON object to stdout")


def run(args: argparse.Namespace) -> int:
    from lns import params as parameters

    params = parameters.load(args.params) if args.params else parameters.Params()
    if args.json:
        print_json(parameters.to_dict(params))
    else:
        print_text(parameters.to_toml(params), end="")
    return DONE
