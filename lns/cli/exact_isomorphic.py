"""`lns exact isomorphic`: are two sets of pieces equal up to a renaming of colours?"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A", help="a puzzle file, or a shipped instance's name")
    parser.add_argument("second", metavar="B", nargs="?", help="another; without it: which shipped instance is A?")
    parser.add_argument("--rename-grey", action="store_true", help="grey may become another colour, too")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout, with the renaming")
    parser.epilog = "Boards, clues and the order of pieces play no part. Exit status: 0 yes, 1 no."


def run(args: argparse.Namespace) -> int:
    from exact.isomorphism import find_renaming
    from instances.formats import load_puzzle
    from instances.formats.shipped import shipped_instances
    from lns.terminal.output import ANSWER_IS_NO, DONE, print_json

    first = load_puzzle(args.first)
    names = list(shipped_instances()) if args.second is None else [args.second]
    for name in names:
        second = load_puzzle(name)
        found = find_renaming(first.pieces, second.pieces, keep_grey=not args.rename_grey)
        if found is None:
            continue
        if args.json:
            print_json({"isomorphic": True, "with": name, "renaming": {str(a): b for a, b in sorted(found.items())}})
        else:
            print(f"{args.first} and {name} are the same pieces up to this renaming of colours:")
            print("  " + ", ".join(f"{a} -> {b}" for a, b in sorted(found.items())))
        return DONE
    if args.json:
        print_json({"isomorphic": False, "with": args.second, "renaming": None})
    elif args.second is None:
        print(f"{args.first} is none of the {len(names)} shipped instances, up to a renaming of colours")
    else:
        print(f"{args.first} and {args.second} are different sets of pieces under every renaming of colours")
    return ANSWER_IS_NO
