"""The page of a board: opened, checked and shared in any format."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from instances import formats
from instances.draw import svg
from lns.web.guard import JSONResponse
from lns.web.routes.shared import Handler, Server, json_fields
from lns.web.wire import (
    MAX_TEXT,
    decode_upload,
    document_to_json,
    facts,
    find_shipped,
    parse_text,
    puzzle_to_json,
    read_board,
    read_puzzle,
)


async def get_opened(server: Server, request: Request) -> Response:
    """The board or puzzle of the command line, or null."""
    return JSONResponse(server.opened)


async def get_instance(server: Server, request: Request) -> Response:
    """A shipped instance."""
    puzzle = find_shipped(request.query_params.get("name", ""))
    return JSONResponse({"format": "shipped", "puzzle": puzzle_to_json(puzzle), "board": None, "notes": [],
                         **facts(puzzle, None)})  # fmt: skip


async def read_document(server: Server, request: Request) -> Response:
    """A puzzle or board from text in any format."""
    fields = await json_fields(request)
    puzzle = read_puzzle(fields) if fields.text("known", 5, default="") == "yes" else None
    text = decode_upload(fields.text("text", MAX_TEXT).encode(errors="surrogatepass"))
    document = await asyncio.to_thread(
        parse_text, text, puzzle, fields.text("format", 60, default="") or None, fields.text("name", 200, default="")
    )
    return JSONResponse(document_to_json(document))


async def render_document(server: Server, request: Request) -> Response:
    """A board or puzzle as text in a format, as SVG, or as a viewer URL."""
    fields = await json_fields(request)
    puzzle = read_puzzle(fields)
    board = read_board(fields, puzzle)
    form = fields.text("format", 60)
    if form == "svg":
        return JSONResponse({"text": svg.render(puzzle, board), "notes": []})
    if form == "url":
        return JSONResponse({"text": formats.viewer_url(puzzle, board) + "\n", "notes": []})
    text, notes = formats.render(form, puzzle, board, instance=puzzle.name)
    return JSONResponse({"text": text, "notes": list(notes)})


async def check_board(server: Server, request: Request) -> Response:
    """What the verifier says of a board."""
    fields = await json_fields(request)
    puzzle = read_puzzle(fields)
    return JSONResponse(facts(puzzle, read_board(fields, puzzle)))


READS: dict[str, Handler] = {"opened": get_opened, "instance": get_instance}
CHANGES: dict[str, Handler] = {"document": read_document, "render": render_document, "check": check_board}
