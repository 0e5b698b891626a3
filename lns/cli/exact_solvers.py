"""`lns exact solvers`: list the exact solvers, one a line."""

from __future__ import annotations

import argparse

from lns.terminal.output import print_wrapped


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object to stdout")


def run(args: argparse.Namespace) -> int:
    from exact.registry import all_solvers
    from lns.terminal.output import DONE, print_json
    from lns_support.optional_deps import EXTRAS, is_installed

    solvers = all_solvers()
    if args.json:
        rows = [
            {
                "name": name,
                "what": entry.description,
                "source": entry.source,
                "counts": entry.can_count,
                "extra": entry.extra,
                "installed": entry.extra is None or is_installed(entry.extra),
            }
            for name, entry in solvers.items()
        ]
        print_json({"solvers": rows})
        return DONE
    width = max(map(len, solvers))
    for name, entry in solvers.items():
        needs = "" if entry.extra is None else f"; needs {EXTRAS[entry.extra][1]}"
        missing = "" if entry.extra is None or is_installed(entry.extra) else ", which is not installed"
        print_wrapped(f"{name:<{width}}  {entry.description} ({entry.source}{needs}{missing})", indent=width + 2)
    return DONE
