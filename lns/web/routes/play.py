"""The pages Play and Polyominoes: new games and grids."""

from __future__ import annotations

import asyncio
import secrets
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from exact.polyominoes.levels import find_level
from lns.api.files import generate
from lns.web import polyominoes
from lns.web.guard import JSONResponse
from lns.web.routes.shared import Handler, Server, json_fields
from lns.web.wire import board_to_json, puzzle_to_json
from lns_support.errors import InputError

MOST_GAME_PIECES = 256
GAMES = {
    "square": ("uniform", ("width", "height")),
    "rectangle": ("uniform", ("width", "height")),
    "triangle": ("triangle", ("side",)),
    "diamond": ("diamond", ("side",)),
}
"""Kind of puzzle by the shape of a game, and what gives its size."""


async def make_game(server: Server, request: Request) -> Response:
    """A new game: a puzzle and the board that it was cut from."""
    fields = await json_fields(request)
    shape, colour_count = fields.text("shape", 20), fields.integer("colours", 2, 21)
    if shape not in GAMES:
        raise InputError(f"there is no shape of this name; expected one of {', '.join(GAMES)}")
    kind, names = GAMES[shape]
    size: dict[str, Any] = {name: fields.integer(name, 1, 64) for name in names}
    puzzle, solution = await asyncio.to_thread(
        partial(generate, kind, seed=secrets.randbelow(10**9), colours=colour_count, **size)
    )
    if puzzle.piece_count > MOST_GAME_PIECES:
        raise InputError(f"a game of {puzzle.piece_count} pieces; expected at most {MOST_GAME_PIECES}")
    return JSONResponse({"puzzle": puzzle_to_json(puzzle), "solution": board_to_json(puzzle, solution)})


async def read_polyominoes(server: Server, request: Request) -> Response:
    """A grid of polyominoes from its picture."""
    return JSONResponse(polyominoes.grid_to_json(polyominoes.read_grid(await json_fields(request))))


async def cut_polyominoes(server: Server, request: Request) -> Response:
    """A grid cut into random polyominoes."""
    return JSONResponse(await asyncio.to_thread(polyominoes.cut, await json_fields(request)))


async def get_level(server: Server, request: Request) -> Response:
    """A shipped level of IQ Puzzler Pro."""
    return JSONResponse(polyominoes.grid_to_json(find_level(request.query_params.get("name", "")[:40])))


READS: dict[str, Handler] = {"polyomino/level": get_level}
CHANGES: dict[str, Handler] = {
    "game": make_game,
    "polyomino/read": read_polyominoes,
    "polyomino/cut": cut_polyominoes,
}
