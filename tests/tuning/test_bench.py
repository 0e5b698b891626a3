"""Figures of speed: prices of work are measured part by part, and measuring changes nothing that it measures."""

import math

from lns import node_equivalents
from lns.exact.region.searches import DynamicSearch
from lns.instances.formats import load_puzzle
from lns.tuning import bench


def test_each_cost_is_measured() -> None:
    puzzle = load_puzzle("like-e2-10x10")
    told = {what: (price, here) for what, price, here in bench.measure_costs(puzzle, nodes=1_000_000, repeats=50)}
    assert [price for price, _ in told.values()] == [
        node_equivalents.TAIL_SETUP, node_equivalents.TAIL_NODE, node_equivalents.ENDGAME_SETUP,
        node_equivalents.BEAM_CHILD, node_equivalents.REGION_SETUP, node_equivalents.REGION_NODE,
        node_equivalents.COLORPAIRS_SETUP, node_equivalents.COLORPAIRS_NODE,
        node_equivalents.TABU_MOVE, node_equivalents.quota_profile(100),
        node_equivalents.population(1000, 100),
    ]  # fmt: skip
    assert all(math.isfinite(here) for _, here in told.values())
    differences = {
        "set-up of an exact tail",
        "placement in an exact tail",
        "placement in a region, fixed orders",
        "placement in a region, ColorPairs",
    }  # of times: below zero where a machine stutters
    assert all(here > 0 for what, (_, here) in told.items() if what not in differences)


def test_the_two_places_that_compare_the_orders_of_a_region_agree() -> None:
    """`lns` counts in nodes of the construction, `exact`, which must not know them, in nodes in a fixed order."""
    assert abs(node_equivalents.COLORPAIRS_NODE / node_equivalents.REGION_NODE - DynamicSearch.NODE_COST) < 1


def test_whole_commands_and_the_time_to_the_first_board_are_timed() -> None:
    assert 0 < bench.seconds_of(["--help"], runs=1) < 60
    what, figure = next(iter(bench.construction(load_puzzle("like-e2-6x6"), 0.2)))
    assert what == "first board and measurement" and 0 < float(figure.split()[0]) < 60
