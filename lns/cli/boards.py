"""`lns verify`, `show`, `convert`, `generate`, `instances` and `params`: boards, puzzles and parameters."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import webbrowser
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lns import params as parameters
from lns.api import files
from lns.exact.outcome import Outcome, SolveStatus
from lns.instances import formats, pairing
from lns.instances import generate as generating
from lns.instances.board import Board
from lns.instances.draw import Scene, svg, terminal
from lns.instances.errors import InputError
from lns.instances.files import write_output
from lns.instances.formats import examples, facts, overview
from lns.instances.generate import KINDS
from lns.instances.puzzle import Puzzle
from lns.instances.text import count_of, printable
from lns.instances.verify import Verification
from lns.instances.verify import verify as verified
from lns.runs.directory import board_source
from lns.terminal import options as opt
from lns.terminal import output as out
from lns.terminal.inputs import print_notes, puzzle_of_board, read_board
from lns.terminal.progress import live_line

LINES_BELOW = 4  # lines of the terminal below a drawing: for the caption, the legend and the prompt
ATTEMPTS, PROOF_SECONDS = 12, 10.0  # most candidates that --unique tries, and most seconds for the proof of each

_EXAMPLES = """\
examples:
  lns generate like-e2                                        16x16, 5 border and 17 inner colours, to stdout
  lns generate like-e2 --width 12 --seed 3 -o p.txt           12x12, another puzzle for each seed
  lns generate like-e2 --width 12 --height 20 -o p.txt --solution p.solution.txt
  lns generate uniform --width 7 --colours 5 --fix-corners    as in Benoist & Bourreau 2008, with pinned corners
  lns generate balanced-torus --width 8 --colours 9           as in Bailleux 2025
  lns generate tetravex --width 6 --colours 10 -o p.json      no frame, and pieces may not be turned
  lns generate unframed --width 8 -o p.json                   no frame
  lns generate wang --width 8 --colours 3 -o p.json           tiles that may be used any number of times
  lns generate macmahon -o p.json                             the 24 squares of three colours; the rim is one of them
  lns generate unframed --width 3 --colours 4 --mates 4 --seed 1   halves that meet their other halves, of 4 motifs
  lns generate triangle --side 8 -o p.json                    rows of 1, 3, 5, ... cells, as Cuvillier & Szymkowiak 2010
  lns generate diamond --side 4 -o p.json                     rows of 1, 3, 5, 7, 5, 3, 1 cells
  lns generate --unique max --width 10 --height 8             one solution up to rotation, proven (Jolivet 2008)
  lns generate --from-3-partition 3 3 4 3 4 3                 solvable if the numbers split into triples of equal sum

Without numbers of colours, there are as many as leave about one solution besides the planted one. The planted solution
is written only with --solution.
"""


@opt.command(
    opt.BOARD, opt.PUZZLE, *opt.BOARD_OPTIONS, *opt.PUZZLE_OPTIONS, opt.JSON,
    epilog="Exit status: 0 the board is valid, 1 it breaks a rule, 2 BOARD or INSTANCE cannot be read.",
)  # fmt: skip
def verify(args: argparse.Namespace) -> int:
    puzzle, board, document, notes = read_board(args)
    found = verified(puzzle, board)
    told = out.picked(found, "valid score max_score problems placed cells full seams rim_faults")
    told |= {"mismatches": len(found.mismatches), "mismatches_by_row": _by_row(puzzle, found)}
    told |= out.picked(puzzle, "name sha256") | {"format": document.format, "notes": notes}
    out.print_answer(args, told, _judgement(puzzle, found, notes))
    return out.DONE if found.valid else out.ANSWER_IS_NO


def _by_row(puzzle: Puzzle, found: Verification) -> dict[int, int]:
    """Return the number of mismatches of each row that has any; a mismatch between two rows counts for the upper."""
    return dict(sorted(Counter(upper // puzzle.width for upper, _ in found.mismatches).items()))


def _judgement(puzzle: Puzzle, found: Verification, notes: list[str]) -> Iterator[str]:
    """Yield the lines in which `lns verify` reports what the verifier found."""
    clues = f", {count_of(len(puzzle.clues), 'clue')}" if puzzle.clues else ""
    yield f"puzzle      {printable(puzzle.name)}, {puzzle.shape_and_rules}{clues}, sha256 {puzzle.sha256[:12]}…"
    mismatches = count_of(len(found.mismatches), "mismatch", "mismatches")
    yield f"board       {found.placed} of {found.cells} cells filled, {mismatches}"
    if found.mismatches:
        yield "mismatches by row: " + ", ".join(f"{row}: {wrong}" for row, wrong in _by_row(puzzle, found).items())
    yield f"score       {found.score} of {found.max_score} matched inner edges"
    if found.rim_faults:
        wrong = "of another colour" if puzzle.rim else "not grey"
        yield (
            f"rim         {count_of(found.rim_faults, 'side')} {wrong}, which the score does not count; with "
            f"them {found.conflicts} conflicts ({found.max_score - found.conflicts})"
        )
    yield from (f"note        {note}" for note in notes)
    if found.valid:
        yield "valid       " + ("yes" if found.full else "yes, as far as it goes: the board is not full")
    else:
        yield f"valid       NO: {count_of(len(found.problems), 'problem')}"
        yield from (f"  {problem}" for problem in found.problems)


@opt.command(
    opt.BOARD.but("a file with a board, a run directory, a viewer URL, a link of `lns web`, or an instance, whose "
                  "pieces are drawn"),
    opt.PUZZLE, *opt.BOARD_OPTIONS, *opt.PUZZLE_OPTIONS,
    opt.value("--svg", "FILE", None, "write an SVG picture"),
    opt.value("--tikz", "FILE", None, "write a LaTeX document with a TikZ picture"),
    opt.flag("--url", "print the viewer URL of the board"),
    opt.flag("--open", "open the SVG picture in the browser: that of --svg, or a temporary one"),
    opt.flag("--numbers", "write piece numbers, from 1, into the SVG picture"),
    opt.flag("--flat", "draw plain colours in the SVG picture, without motifs"), opt.FORCE,
    opt.choice("--colour --color", ("auto", "always", "never", "truecolor", "256"),
               "colours in the terminal (default auto: what the terminal supports, letters if it supports none)"),
    opt.JSON,
    epilog="""\
examples:
  lns show runs/mine                                draw the best board of a run, with the score
  lns show best.json --svg board.svg --numbers      write a picture with piece numbers; mismatches are red
  lns show best.json --open                         show the picture in the browser
  lns show "https://e2.bucas.name/#puzzle=..." --tikz board.tex
  lns show like-e2-16x16                            the pieces, colours and clues of a shipped instance
""",
)  # fmt: skip
def show(args: argparse.Namespace) -> int:
    source = board_source(args.board)
    opt.check_files(args.force, args.svg, args.tikz)
    for option in ("numbers", "flat"):
        if getattr(args, option) and args.svg is None and not args.open:
            raise InputError(f"--{option} is for the SVG picture; expected --svg FILE or --open with it")
    if args.puzzle is None and args.clues is not None:  # BOARD is a puzzle, whose clues --clues replaces
        document = formats.read_puzzle(source, args.puzzle_format or args.format, args.clues)
        notes = list(document.notes)
    else:
        known, of_puzzle = puzzle_of_board(args)
        document = formats.read(source, puzzle=known, format=args.format, number=args.number)
        if document.puzzle is None:
            document = formats.read_board(source, known, args.format, args.number)  # raises InputError with the reason
        notes = [*of_puzzle, *document.notes]
    puzzle, board = document.puzzle, document.board
    assert puzzle is not None
    print_notes(notes)
    if args.url and board is None:
        raise InputError(f"this is a puzzle (format {document.format}); a viewer URL needs a board", source)
    url = formats.viewer_url(puzzle, board) if args.url and board is not None else None
    picture = args.svg
    if args.svg is not None or args.open:
        scale = max(36.0, 288 / max(puzzle.width, puzzle.height))  # pixels per cell; a small board gets larger cells
        text = svg.render(puzzle, board, piece_numbers=args.numbers, motifs=not args.flat, scale=scale)
        if args.svg is not None:
            write_output(args.svg, text)
        else:  # the temporary file is kept, as the browser reads it after this program has ended
            with tempfile.NamedTemporaryFile("w", prefix="lns-", suffix=".svg", delete=False, encoding="utf-8") as file:
                file.write(text)
            picture = file.name
    if args.tikz is not None:
        write_output(args.tikz, svg.tikz(puzzle, board))
    if args.json:
        out.print_json(_facts(puzzle, board) | {"svg": picture, "tikz": args.tikz, "url": url, "notes": notes})
    elif picture or args.tikz or args.url:
        out.print_text(*filter(None, (picture, args.tikz, url)), sep="\n")
    else:
        _draw(puzzle, board, args.colour)
    if args.open and not webbrowser.open(Path(picture).resolve().as_uri()):
        out.print_error(f"lns: no browser was found; the picture is {picture}")
    return out.DONE


def _draw(puzzle: Puzzle, board: Board | None, choice: str) -> None:
    columns, lines = shutil.get_terminal_size((80, 24))
    height = lines - LINES_BELOW if sys.stdout.isatty() else None
    shape: dict[str, Any] = {"colour": colour_of(choice), "width": columns, "height": height}
    sys.stdout.write(terminal.render(puzzle, board, **shape))
    print(terminal.legend(puzzle, board, **shape))
    print(Scene(puzzle, board).caption)
    if board is None:
        out.print_wrapped(pairing.describe(puzzle).removesuffix("\n"), indent=12)
        return
    problems = verified(puzzle, board).problems
    for problem in problems[:5]:
        out.print_text(f"  {problem}")
    if len(problems) > 5:
        out.print_text(f"  and {len(problems) - 5} more (`lns verify` names them all)")


def colour_of(choice: str) -> terminal.Colour:
    """Return the colour mode for a drawing on stdout: that of --colour, or what the terminal supports."""
    if choice == "auto":
        return terminal.capability(sys.stdout)
    if choice == "never" or not terminal.encodes(sys.stdout):
        return "none"
    if choice == "always":
        return terminal.richest()
    return "256" if choice == "256" else "truecolor"


def _facts(puzzle: Puzzle, board: Board | None) -> dict[str, Any]:
    along_rim, inside = pairing.half_edges(puzzle)
    told = out.picked(puzzle, "name sha256 width height max_score holes framed turns mates rim")
    told |= {"pieces": pairing.piece_kinds(puzzle), "half_edges": {"along_rim": along_rim, "inside": inside}}
    told["clues"] = [[clue.cell, clue.piece, clue.rotation] for clue in puzzle.clues]
    if board is not None:
        found = verified(puzzle, board)
        told |= out.picked(found, "score valid placed rim_faults") | {"mismatches": len(found.mismatches)}
    return told


@opt.command(
    opt.value("kind", "KIND", None, ", ".join(KINDS), nargs="?"),
    opt.value("--unique", "HOW", None, "instead of KIND: a puzzle with a single solution and m+n-2 or max colours "
              "(HOW)"),
    opt.TIME.but("stop the proofs of --unique after S seconds, or like 10m "
                 f"(default {ATTEMPTS * PROOF_SECONDS:.0f})"),
    opt.value("--from-3-partition", "A", int, "instead of KIND: the 3-partition problem of 3m numbers of sum m*S, each "
              "strictly between S/4 and S/2", nargs="+"),
    opt.value("--width", "W", int, "number of columns (default: --height, or 16)"),
    opt.value("--height", "H", int, "number of rows (default: --width)"),
    opt.value("--colours", "K", int, "number of colours of a puzzle of another kind than like-e2"),
    opt.value("--side", "N", int, "rows of a triangle (default 16), cells along a side of a diamond (11)"),
    opt.value("--border-colours --rim-colours", "B", int, "number of colours between border pieces of a like-e2 "
              "puzzle"),
    opt.value("--inner-colours", "I", int, "number of its other colours"),
    opt.value("--mates", "N", int, "colours that get a mate, which their sides meet instead of each other (default 0)",
              default=0),
    opt.value("--clues", "N", int, "pin N pieces of the planted solution as clues (default 0)", default=0),
    opt.flag("--fix-corners", "pin the corner pieces too"),
    opt.value("--seed", "S", int, "random seed (default 0)", default=0),
    opt.OUTPUT.but("write the puzzle to FILE (default: to stdout)", type=None),
    opt.value("--solution", "FILE", None, "write the planted solution to FILE"),
    opt.value("--format", "F", None, "format of the puzzle: benoist (squares only), quads, json, ... (default: by "
              "name, shape and rules)"),
    opt.FORCE, opt.JSON.but("print one JSON object about the puzzle to stdout"),
    epilog=_EXAMPLES,
)  # fmt: skip
def generate(args: argparse.Namespace) -> int:
    opt.check_files(args.force, args.output, args.solution)
    if sum(way is not None for way in (args.kind, args.unique, args.from_3_partition)) != 1:
        raise InputError(f"expected one of KIND ({', '.join(KINDS)}), --unique and --from-3-partition")
    if args.time is not None and args.unique is None:
        raise InputError("--time is for the proofs of --unique; expected it with --unique only")
    solution: Board | None
    if args.kind is None:
        puzzle, solution = _constructed(args)
    else:
        named = "width height side seed colours border_colours inner_colours mates clues fix_corners"
        puzzle, solution = files.generate(args.kind, **out.picked(args, named))
    form = args.format
    if form is None and args.output is None:
        form = "json" if puzzle.rules else "benoist" if puzzle.width == puzzle.height else "quads"
    text, left_out = formats.render(form, puzzle, None, path=args.output)
    if left_out:  # a file that cannot hold a requested clue would hold another puzzle
        raise InputError("; ".join(left_out) + "; expected a format that carries them (json)", args.output)
    if args.output is not None:
        write_output(args.output, text)
    if args.solution is not None and solution is not None:
        write_output(args.solution, formats.render("solution", puzzle, solution)[0])
    if args.json:
        clues = [[clue.cell, clue.piece, clue.rotation] for clue in puzzle.clues]
        said = out.picked(puzzle, "name width height colours max_score sha256") | {"clues": clues}
        said |= out.picked(args, "seed output solution") | {"text": text if args.output is None else None}
        out.print_json(said)
    elif args.output is None:
        sys.stdout.write(text)
    else:
        counts = (count_of(puzzle.piece_count, "piece"), count_of(puzzle.colours, "colour"))
        out.print_text(f"{args.output}: {', '.join((puzzle.name, *counts, count_of(len(puzzle.clues), 'clue')))}")
    return out.DONE


def _constructed(args: argparse.Namespace) -> tuple[Puzzle, Board | None]:
    """Return a puzzle as in Jolivet 2008 with one solution up to rotation, as ColorPairs proves, and the solution.

    With --from-3-partition the puzzle encodes a 3-partition problem, and None is returned in place of a solution.
    """
    if args.side is not None:
        raise InputError("--side is for the kinds triangle and diamond; expected none here")
    given = [args.colours, args.border_colours, args.inner_colours]
    if any(value is not None for value in given) or args.mates or args.clues or args.fix_corners:
        raise InputError("--unique and --from-3-partition choose their own colours and have no clues; expected neither")
    if args.from_3_partition is not None:
        if args.solution is not None or args.width is not None or args.height is not None:
            raise InputError("--from-3-partition plants no solution and has its own size; expected neither")
        return generating.three_partition(args.from_3_partition, args.seed), None
    from lns.exact.solvers import count, counted_rotations

    def counted(puzzle: Puzzle, seconds: float | None) -> Outcome:
        outcome = count(puzzle, fix_corner=True, seconds=seconds)
        if outcome.status is SolveStatus.INTERRUPTED:
            raise KeyboardInterrupt
        return outcome

    side = next((side for side in (args.width, args.height) if side is not None), 16)
    width, height = (side if given is None else given for given in (args.width, args.height))
    seconds, made = ATTEMPTS * PROOF_SECONDS if args.time is None else args.time, 0
    with live_line(seconds, quiet=args.json) as line:
        counted(generating.uniform(2, 2).puzzle, None)  # compiles or loads ColorPairs before the clock starts
        began = time.monotonic()
        while made < ATTEMPTS and (left := seconds - (time.monotonic() - began)) > 0:
            planted = generating.unique(width, height, args.unique, args.seed, made)
            made += 1
            line.begin(f"proving that candidate {made} of {ATTEMPTS} has one solution")
            outcome = counted(planted.puzzle, min(PROOF_SECONDS, left))
            copies = counted_rotations(planted.puzzle, planted.solution)
            if outcome.status is SolveStatus.SOLVED and outcome.solutions == copies:
                return planted.puzzle, planted.solution
    raise InputError(
        f"no {width} x {height} puzzle by '{args.unique}' was proven unique in {count_of(made, 'attempt')} and "
        f"{time.monotonic() - began:.0f} s; expected a smaller board (10x10 works)"
    )


@opt.command(
    opt.value("input", "IN", None, "a file, a viewer URL, or the name of a shipped instance", nargs="?"),
    opt.value("output", "OUT", None, "the file to write; - is stdout and needs --to", nargs="?"),
    opt.flag("--list", "list all formats, with an example line each, and end"),
    opt.value("--from --format", "F", None, "format of IN (default: recognised by its content); of a puzzle "
              "--puzzle-format is the same", dest="from_format"),
    opt.value("--to", "F", None, "format of OUT (default: by its extension)", dest="to_format"),
    opt.PUZZLE.but("the puzzle of the board in IN"), *opt.PUZZLE_OPTIONS,
    opt.BOARD_OPTIONS[1].but("which board of IN, where it has several (default: the first)"),
    opt.value("--turn", "DEGREES", int, "turn the board clockwise", choices=(90, 180, 270), default=0),
    opt.flag("--mirror", "mirror the pieces and the board, left to right"),
    opt.value("--letters", "ORDER", None, "order of the letters of a viewer URL that is written: jef, jblackwood, "
              "marie"),
    opt.FORCE.but("overwrite OUT if it exists"),
    opt.JSON.but("print one JSON object about the conversion, or of --list, to stdout"),
    epilog=f"formats of puzzles:\n{overview('puzzle')}\nformats of boards:\n{overview('board')}\n"
    "--list shows a line of each, and of the dialects that pieces, cells and clues read\n"
    'json of a puzzle: {"width": 2, "height": 2, "pieces": [[up, right, down, left], ...]}, grey 0; it may have\n'
    '  "clues": [[cell, piece, rotation], ...], all from 0, and "name"; docs/how-to/own-instance.md has more\n'
    "extensions: .txt benoist, or quads for a rectangle; .solution.txt; .csv csv16; .url; .json best or json",
)  # fmt: skip
def convert(args: argparse.Namespace) -> int:
    if args.list:
        if args.json:
            out.print_json(facts())
        else:
            out.print_text(examples())
        return out.DONE
    to_format, path = _output(args)
    opt.check_files(args.force, path)
    known, of_puzzle = puzzle_of_board(args) if args.puzzle is not None else (None, ())
    named = args.from_format or (args.puzzle_format if known is None else None)
    asked: dict[str, Any] = {"format": named, "puzzle": known, "clues": args.clues if known is None else None}
    # a Path, so that IN is never taken for the text of a puzzle
    source = Path(args.input) if args.input and not formats.is_url(args.input) else args.input
    found = files.convert(
        source, path, to=to_format, instance=args.puzzle, **asked, **out.picked(args, "number turn mirror")
    )
    if path is None:
        sys.stdout.write(found.text)
        sys.stdout.flush()
    notes = [*found.notes[:1], *of_puzzle, *found.notes[1:]]
    print_notes(notes)
    if args.json:
        shape = out.picked(found.puzzle, "width height") | {"board": found.board is not None}
        out.print_json({"out": args.output, "from": found.format, **shape, "notes": notes})
    return out.DONE


def _output(args: argparse.Namespace) -> tuple[str | None, str | None]:
    """Return the format (None: by extension) and path (None: stdout) of OUT. Raises InputError if options conflict."""
    if args.input is None or args.output is None:
        raise InputError(f"{'OUT is' if args.input else 'IN and OUT are'} missing; expected both IN and OUT, or --list")
    to: str | None = args.to_format
    if args.letters is not None:
        if to != "url" and not (to is None and args.output.lower().endswith(".url")):
            raise InputError("--letters is for viewer URLs; expected OUT.url, or --to url")
        to = f"url:{args.letters}"
    if args.output != "-":
        return to, args.output
    if args.to_format is None:
        raise InputError("OUT is - and says no format; expected --to FORMAT")
    if args.json:
        raise InputError("OUT is - and --json writes to stdout too; expected one of them")
    return to, None


@opt.command(
    opt.JSON, epilog="A name stands for its file wherever a command takes an INSTANCE: lns solve like-e2-16x16."
)
def instances(args: argparse.Namespace) -> int:
    paths = formats.shipped_instances()
    puzzles = {name: formats.load_puzzle(str(path)) for name, path in paths.items()}
    widest = max(map(len, puzzles))
    rows, lines = [], []
    for name, puzzle in sorted(puzzles.items(), key=lambda entry: (entry[1].cells, entry[0])):
        size, clues = f"{puzzle.width} x {puzzle.height}", len(puzzle.clues)
        held = f", {count_of(clues, 'clue')}" if clues else ""
        numbers = f"{puzzle.colours:>2} colours, {puzzle.max_score:>3} inner edges{held}"
        lines.append(f"{name:<{widest}}  {size:>7}  {numbers}")
        shape = out.picked(puzzle, "width height colours max_score sha256")
        rows.append({"name": name} | shape | {"clues": clues, "path": str(paths[name])})
    out.print_answer(args, {"instances": rows}, lines)
    return out.DONE


@opt.command(opt.PARAMS.but("print the values in FILE instead of the defaults"), opt.JSON)
def params(args: argparse.Namespace) -> int:
    values = parameters.load(args.params) if args.params else parameters.Params()
    out.print_answer(args, parameters.to_dict(values), [parameters.to_toml(values).removesuffix("\n")])
    return out.DONE
