"""Grids filled with polyominoes: counts against brute force, xcover and published figures; text, cuts, verifier."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lns.cli.main import main
from lns.exact.driver import TURN, Turns
from lns.exact.outcome import SolveStatus
from lns.exact.polyominoes import draw
from lns.exact.polyominoes.grid import (
    IQ_PUZZLER_PRO,
    NO_WEIGHT,
    WEIGHTS,
    Cell,
    Grid,
    Shape,
    filling_errors,
    is_connected,
    neighbours,
    normal,
    orientations,
    parse,
    render,
)
from lns.exact.polyominoes.levels import TIERS, CutLimits, cut_grid, find_level, levels, make_level
from lns.exact.polyominoes.model import FillingSearch, Step, StepOutcome, StepRecorder, build_model
from lns.exact.polyominoes.search import fill, race
from lns.instances.draw.palette import PALETTE, xterm
from lns.instances.errors import InputError
from lns.instances.generate.planted import PortableRandom

GAME = parse(IQ_PUZZLER_PRO)


def pentominoes() -> dict[str, Shape]:
    """The twelve shapes of five cells, grown cell by cell."""
    shapes: set[Shape] = {((0, 0),)}
    for _ in range(4):
        larger = ((*shape, cell) for shape in shapes for one in shape for cell in neighbours(one) if cell not in shape)
        shapes = {orientations(normal(cells))[0] for cells in larger}
    return dict(zip("FILNPTUVWXYZ", sorted(shapes), strict=True))


def count_by_brute_force(grid: Grid) -> int:
    """Count fillings (equal pieces swapped once) by trying every orientation of every piece on the first free cell."""
    kinds = Counter(orientations(shape)[0] for shape in grid.loose.values())

    def count(free: frozenset[Cell]) -> int:
        if not free:
            return 1
        row, column = min(free)
        fillings = 0
        for kind in [kind for kind, left in kinds.items() if left]:
            for shape in orientations(kind):
                first_row, first_column = shape[0]  # the first cell of a shape covers the first free cell
                cells = {(row + r - first_row, column + c - first_column) for r, c in shape}
                if cells <= free:
                    kinds[kind] -= 1
                    fillings += count(free - cells)
                    kinds[kind] += 1
        return fillings

    return count(frozenset(grid.free))


def small_grid(seed: int) -> Grid:
    """A random grid of at most 20 cells; some have a placed piece, a hole, or a piece replaced by a bar."""
    draws = PortableRandom(seed)
    grid, filling = cut_grid(2 + draws.below(4), 2 + draws.below(3), seed, max_pieces=1 + draws.below(9))
    pieces, names = dict(grid.pieces), list(grid.pieces)
    rows = grid.rows
    if draws.below(2) and len(names) > 1:
        last = names.pop()  # becomes a placed piece or a hole
        sign = last if draws.below(2) else "#"
        rows = tuple("".join(sign if cell == last else "." for cell in row) for row in filling)
        if sign == "#":
            del pieces[last]
    if draws.below(3) == 0:  # then there may be no filling
        name = names[draws.below(len(names))]
        pieces[name] = tuple((0, column) for column in range(len(pieces[name])))
    return Grid(rows, pieces)


def test_small_grids_are_counted_as_by_brute_force() -> None:
    statuses, several = set(), 0
    for seed in range(80):
        grid = small_grid(seed)
        expected = count_by_brute_force(grid)
        several += len({orientations(shape)[0] for shape in grid.loose.values()}) < len(grid.loose)
        for number, weight in enumerate((*WEIGHTS, NO_WEIGHT)):
            found = fill(grid, weight, zones=number % 2 == 0, dead_ends=number % 3 > 0, count_all=True)
            assert found.solutions == expected, (seed, weight)
            assert (found.filling is None) == (expected == 0)
        raced = fill(grid)
        assert raced.status is (SolveStatus.SOLVED if expected else SolveStatus.INFEASIBLE)
        assert raced.filling is None or filling_errors(grid, raced.filling) == []
        statuses.add(raced.status)
    assert statuses == {SolveStatus.SOLVED, SolveStatus.INFEASIBLE}
    assert several > 10  # grids with equal pieces


@pytest.mark.parametrize(
    ("rows", "solutions"),
    [(["." * 20] * 3, 2 * 4), (["." * 15] * 4, 368 * 4), (["." * 8] * 3 + ["...##..."] * 2 + ["." * 8] * 3, 65 * 8)],
)  # Scott 1958 for the chessboard, Haselgrove 1960, as in every book on pentominoes
def test_the_twelve_pentominoes(rows: list[str], solutions: int) -> None:
    grid = Grid(tuple(rows), pentominoes())
    found = fill(grid, count_all=True)
    assert (found.status, found.solutions) == (SolveStatus.SOLVED, solutions)
    if solutions < 1000:
        assert fill(grid, "ascender", zones=False, count_all=True).solutions == solutions


def kept(filling: tuple[str, ...], names: str) -> Grid:
    """The game with the named pieces of a filling on it."""
    return Grid(tuple("".join(sign if sign in names else "." for sign in row) for row in filling), GAME.pieces)


def test_the_game_has_the_known_pieces_and_places() -> None:
    assert len(GAME.pieces) == 12 and sum(map(len, GAME.pieces.values())) == len(GAME.free) == 55
    assert len({orientations(shape)[0] for shape in GAME.pieces.values()}) == 12
    assert build_model(GAME).options == 2140  # as counted for an integer program of others
    assert build_model(GAME, reduced=True).options < 2140
    for weight in WEIGHTS:
        found = fill(GAME, weight)
        assert found.filling is not None and filling_errors(GAME, found.filling) == []
        level = kept(found.filling, "FLUWY")
        assert fill(level, weight, count_all=True).solutions == count_by_brute_force(level) > 0


def test_the_result_does_not_depend_on_step_sizes() -> None:
    single, raced = build_model(cut_grid(8, 8, 2)[0]), build_model(cut_grid(12, 12, 0)[0])
    for model, weights in ((single, ["ascender"]), (raced, list(WEIGHTS))):
        ends = []
        for budget in (170, TURN + 1, 10 * TURN, 10**9):
            searches = {weight: FillingSearch(model, weight) for weight in weights}
            turns = Turns(searches)
            while not (turns.solutions or turns.exhausted):
                turns.advance(budget, True)
            pruned = sum(each.pruned for each in searches.values())
            ends.append((turns.nodes, pruned, searches[turns.answered_by].first_filling(), turns.answered_by))
        assert len(set(ends)) == 1
        assert ends[0][0] > 5 * TURN


def test_budgets() -> None:
    grid = cut_grid(60, 6, 1)[0]
    found = fill(grid, "ascender", nodes=5000)
    assert (found.status, found.nodes, found.filling, found.weight) == (SolveStatus.BUDGET_SPENT, 5000, None, "")
    assert fill(grid, nodes=100).nodes == 100
    assert fill(grid, "ascender", seconds=0.2).status is SolveStatus.BUDGET_SPENT
    grid = cut_grid(60, 5, 1)[0]  # a race ends with the first weight that finds a filling
    assert fill(grid, "descender", nodes=100_000).status is SolveStatus.BUDGET_SPENT
    found = fill(grid, nodes=100_000)
    assert found.status is SolveStatus.SOLVED and found.weight not in ("", "descender")


def test_a_zone_of_seven_cells_is_not_filled_by_pieces_of_two_three_and_six() -> None:
    # The report's example of the subset sum; it uses the piece of two cells twice.
    pieces = ".X.\nXXX\n.X.\n\nAA\n\nBBB\n\nCCCCCC\n"
    seven_and_four = parse(f"########.#####\n..............\n########.#####\n\n{pieces}")
    without, with_zones = (fill(seven_and_four, zones=zones) for zones in (False, True))
    assert without.status is with_zones.status is SolveStatus.INFEASIBLE
    assert (with_zones.nodes, with_zones.pruned) == (1, 1) and without.nodes > 1
    eight_and_three = parse(f"#########.####\n..............\n#########.####\n\n{pieces}")
    assert fill(eight_and_three, "none").pruned == 0 < fill(eight_and_three, "none").solutions


@pytest.mark.parametrize("count_all", [False, True])
def test_a_full_grid_is_solved_and_a_grid_too_narrow_is_infeasible(count_all: bool) -> None:
    found = fill(parse("AA\nBB\n\nAA\n\nBB\n"), count_all=count_all)
    assert (found.status, found.solutions, found.filling) == (SolveStatus.SOLVED, 1, ("AA", "BB"))
    assert fill(parse("....\n\nAA\nAA\n"), count_all=count_all).status is SolveStatus.INFEASIBLE


def test_weights() -> None:
    bar, ell = normal([(0, 0), (0, 1), (0, 2)]), normal([(0, 0), (1, 0), (1, 1)])
    square: Shape = ((0, 0), (0, 1), (1, 0), (1, 1))
    assert WEIGHTS["descender"](square) > WEIGHTS["descender"](bar) == WEIGHTS["descender"](ell)
    assert WEIGHTS["compactness"](square) > WEIGHTS["compactness"](bar)
    assert WEIGHTS["perimeter-inverse"](bar) == 8 == WEIGHTS["perimeter-inverse"](square)
    assert WEIGHTS["holes-inverse"](ell) == 1 > WEIGHTS["holes-inverse"](bar)
    for name in ("compactness", "perimeter", "holes"):
        assert WEIGHTS[name](ell) == -WEIGHTS[f"{name}-inverse"](ell)
    assert WEIGHTS["ascender"](ell) == -WEIGHTS["descender"](ell)
    with pytest.raises(InputError, match="unknown weight 'size'; expected race, descender"):
        fill(GAME, "size")
    with pytest.raises(InputError, match="a race ends at the first filling"):
        fill(GAME, "race", count_all=True)


def test_the_verifier_rejects_every_damaged_filling() -> None:
    filling = fill(GAME).filling
    assert filling is not None
    for (row, line), sign in product(enumerate(filling), ".#C?"):
        for column in range(len(line)):
            wrong = (*filling[:row], line[:column] + sign + line[column + 1 :], *filling[row + 1 :])
            assert bool(filling_errors(GAME, wrong)) == (line[column] != sign)
    level = kept(filling, "W")
    assert filling_errors(level, filling) == []
    assert "a blocked cell or a placed piece was changed" in filling_errors(level, filling[::-1])
    assert filling_errors(GAME, filling[:-1]) == ["the filling has another shape than the grid"]


def test_render_and_parse_are_inverse() -> None:
    for seed in range(40):
        grid = small_grid(seed)
        assert parse(render(grid)) == grid
    assert parse(IQ_PUZZLER_PRO) == parse("...........\n" * 5)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "nothing is drawn here", None),
        ("\n  \n", "nothing is drawn here", None),
        ("..\n...\n", "a row of 3 cells; expected 2", 2),
        ("..\n\nA B\n", "' ' inside a picture", 3),
        ("..\n\nA\x07\n", r"'\\x07' inside a picture", 3),
        ("..\n\nAB\n", "a piece is drawn with A B", 3),
        ("..\n\n..\n", r"a piece is drawn with \.", 3),
        ("..\n\n##\n", "a piece is drawn with #", 3),
        ("...\n\nA.A\n\nB\n", "piece A has separate parts", 3),
        ("..\n\nA\n\nA\n", "piece A is drawn twice", 5),
        ("..\n.Q\n\nAA\n", "there is no piece Q; expected one of A", 2),
        ("...\nAAA\n\nAA\nA.\n\nBBB\n", "piece A is placed here with another shape", 2),
        ("..\nA.\n\nAA\n\nBB\n", "piece A is placed here with another shape", 2),
        ("...\n\nAA\n", "the pieces not placed yet cover 2 cells; expected 3", None),
        ("....\n", "cover 55 cells; expected 4", None),
        ("." * 101 + ("\n" + "." * 101) * 100, "the grid has 10,201 cells; expected at most 10,000", None),
    ],
)
def test_invalid_pictures_are_refused(text: str, message: str, line: int | None) -> None:
    with pytest.raises(InputError, match=message) as error:
        parse(text)
    assert error.value.line == line


@pytest.mark.parametrize(
    "limits",
    [None, CutLimits(3, 5), CutLimits(3, 5, longest=3), CutLimits(3, 6, longest=4, thinnest=2), CutLimits(4, 4),
     CutLimits(2, 5, distinct=True), CutLimits(5, 8)],
)  # fmt: skip
def test_pieces_of_a_cut_are_within_its_limits(limits: CutLimits | None) -> None:
    for seed in range(8):
        width, most = 6 if limits is not None and limits.distinct else 10, 50 - 40 * (seed == 7 and limits is None)
        grid, filling = cut_grid(width, 8, seed, most, limits)
        assert (grid, filling) == cut_grid(width, 8, seed, most, limits) != cut_grid(width, 8, seed + 1, most, limits)
        assert filling_errors(grid, filling) == [] and all(map(is_connected, grid.pieces.values()))
        assert len(grid.pieces) <= most
        for shape in grid.pieces.values() if limits is not None else ():
            sides = [max(end) + 1 for end in zip(*shape, strict=True)]
            assert limits.smallest <= len(shape) <= limits.largest
            assert limits.thinnest <= min(sides) and max(sides) <= (limits.longest or 10)
        kinds = {orientations(shape)[0] for shape in grid.pieces.values()}
        assert len(kinds) == len(grid.pieces) or limits is None or not limits.distinct


@pytest.mark.parametrize(
    ("size", "most", "limits", "message"),
    [
        ((1, 9), 50, {}, "cannot be cut"),
        ((9, 0), 50, {}, "cannot be cut"),
        ((101, 100), 50, {}, "cannot be cut"),
        ((5, 5), 0, {}, "0 pieces; expected 1 to"),
        ((5, 5), 50, {"smallest": 5, "largest": 3}, "pieces of 5 to 3 cells; expected the smaller number first"),
        ((5, 5), 50, {"smallest": 0}, "pieces of 0 to 5 cells"),
        ((5, 5), 50, {"longest": 2, "thinnest": 3}, "at least 3 and at most 2 cells long"),
        ((3, 3), 50, {"largest": 2}, "within these limits was found"),
        ((10, 10), 5, {"smallest": 3}, "within these limits was found"),
        ((6, 6), 50, {"largest": 2, "distinct": True}, "within these limits was found"),
    ],
)
def test_impossible_cuts_are_refused(size: tuple[int, int], most: int, limits: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        cut_grid(*size, 1, most, CutLimits(**limits) if limits else None)  # type: ignore[arg-type]


def test_levels_have_one_filling_and_the_pieces_of_their_tier() -> None:
    found = levels()
    assert len({grid.rows for grid in found.values()}) == len(found) == 6 * len(TIERS)
    for name, grid in found.items():
        assert grid.pieces == GAME.pieces and len(grid.loose) == TIERS[name.split("-")[0]]
        assert fill(grid, count_all=True).solutions == 1, name
    for name in ("easy-1", "medium-3"):
        assert count_by_brute_force(found[name]) == 1


def test_levels_are_made() -> None:
    made = make_level(5, 3)
    assert made == make_level(5, 3) != make_level(5, 4)
    assert len(made.loose) == 5 and fill(made, count_all=True).solutions == 1 == count_by_brute_force(made)
    with pytest.raises(InputError, match="a level with 12 pieces to place; expected 1 to 11"):
        make_level(12, 1)


def replayed(grid: Grid, steps: Iterable[Step]) -> set[tuple[str, ...]]:
    """Play recorded steps on the grid alone; returns the fillings. Each placement must be on free cells."""
    placed: list[tuple[str, tuple[Cell, ...]]] = []
    fillings = set()
    for level, name, cells, outcome in steps:
        assert level <= len(placed)
        del placed[level:]
        covered = {cell for _, other in placed for cell in other}
        assert covered.isdisjoint(cells) and set(cells) <= set(grid.free) and name not in dict(placed)
        assert normal(cells) in orientations(grid.pieces[name])
        placed.append((name, cells))
        if outcome is StepOutcome.FILLING:
            fillings.add(grid.filled(dict(placed)))
        elif outcome is StepOutcome.NO_PLACE or outcome is StepOutcome.ZONE:
            placed.pop()
    return fillings


def test_recorded_steps_replay_the_search() -> None:
    for seed in range(25):
        grid = small_grid(seed)
        for zones, dead_ends in ((True, True), (False, True), (True, False)):
            search = FillingSearch(build_model(grid), "perimeter", zones=zones, dead_ends=dead_ends)
            recorder = StepRecorder(search)
            recorder.record(10**6, count_all=True)
            outcomes = Counter(step.outcome for step in recorder.steps)
            assert search.exhausted and len(recorder.steps) == search.nodes
            assert outcomes[StepOutcome.FILLING] == search.solutions == count_by_brute_force(grid)
            assert outcomes[StepOutcome.ZONE] == search.pruned and (zones or not search.pruned)
            assert outcomes[StepOutcome.STAYS] + outcomes[StepOutcome.FILLING] + 1 == search.branches
            stands = [step.level + 1 for step in recorder.steps if step.outcome in (0, 3)]
            assert max(stands, default=0) == search.deepest
            assert len(replayed(grid, recorder.steps)) == search.solutions


def test_the_search_of_the_report_tests_more_placements() -> None:
    for name in ("easy-2", "medium-1", "hard-1"):
        level = find_level(name)
        own = fill(level, NO_WEIGHT, zones=False, count_all=True)
        report = fill(level, NO_WEIGHT, zones=False, dead_ends=False, count_all=True)
        assert own.solutions == report.solutions == 1 and own.nodes < report.nodes


def test_a_race_on_several_processes_finds_what_one_process_finds() -> None:
    grid = cut_grid(60, 5, 1)[0]
    found = race(grid, 2, seconds=120.0)
    assert found.status is SolveStatus.SOLVED and found.filling is not None
    assert filling_errors(grid, found.filling) == [] and found.weight in WEIGHTS and found.nodes > 0
    none = race(parse("...\n...\n\nAAA\n.A.\n\nBB\n"), 3)
    assert (none.status, none.filling, none.solutions) == (SolveStatus.INFEASIBLE, None, 0)
    stopped = race(cut_grid(60, 6, 1)[0], 1, nodes=300)
    assert (stopped.status, stopped.nodes, stopped.filling) == (SolveStatus.BUDGET_SPENT, 300, None)
    with pytest.raises(InputError, match="0 workers; expected 1 or more"):
        race(grid, 0)


# -- pictures ---------------------------------------------------------------------------------------------------------

DRAWN = parse("AAB\n.CB\n.C#\n\nAA\n\nBB\n\nCC\n\n<<\n")
FILLED = ("AAB", "<CB", "<C#")
_SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("colour", ["256", "truecolor"])
def test_a_cell_has_the_colour_of_its_piece_in_a_terminal(colour: draw.Colour) -> None:
    assert draw.terminal(DRAWN, FILLED, "none") == "AAB\n<CB\n<C#"
    lines = draw.terminal(DRAWN, FILLED, colour).split("\n")
    for row, line in zip(FILLED, lines, strict=True):
        cells = re.findall(r"\x1b\[48;[25];([\d;]+?);38;[25];[\d;]+m(\S) ", line)
        assert [sign for _, sign in cells] == [sign for sign in row if sign != "#"]
        for code, sign in cells:
            value = PALETTE["ABC<".index(sign)]
            assert code == (str(xterm(value)) if colour == "256" else "{};{};{}".format(*value))
        assert line.endswith("\x1b[0m")


def test_the_command_draws_fillings_cuts_and_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.txt").write_text(render(DRAWN))
    assert main(["exact", "polyomino", str(tmp_path / "t.txt"), "--quiet", "--svg", str(tmp_path / "t.svg")]) == 0
    assert capsys.readouterr().out.startswith("AAB\n<CB\n<C#\n"), "no terminal, no colour"
    assert (tmp_path / "t.svg").read_text() == draw.svg(DRAWN, FILLED)
    assert main(["exact", "polyomino", str(tmp_path / "t.txt"), "--quiet", "--colour", "always"]) == 0
    assert capsys.readouterr().out.startswith("\x1b[48;")
    assert main(["exact", "polyomino", "--cut", "4x4", "--svg", str(tmp_path / "c.svg")]) == 0
    assert len(ElementTree.parse(tmp_path / "c.svg").findall(f".//{_SVG}text")) == 16
