"""The application: the routes at their addresses, behind the guard."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from exact.polyominoes.grid import NO_WEIGHT, WEIGHTS
from exact.polyominoes.levels import levels
from exact.registry import all_solvers
from exact.trace import TRACED
from instances import formats
from instances.formats import shipped_instances
from lns.engines import ENGINES
from lns.web.guard import Guard, JSONResponse, refuse
from lns.web.recording import colours
from lns.web.routes import board, jobs, play, runs
from lns.web.routes.pages import PAGES, Answer, first_page, login_form, page_of
from lns.web.routes.shared import Handler, Server
from lns_support.cores import max_workers
from lns_support.errors import InputError
from lns_support.optional_deps import EXTRAS, is_installed

_STATIC = Path(__file__).parent / "static"


def make_app(server: Server) -> Starlette:
    """The application.

    Parameters
    ----------
    server : Server
        What it serves.

    Returns
    -------
    Starlette
    """
    routes = [
        Route("/", first_page(server)),
        Route("/login", login_form(server), methods=["GET", "POST"]),
        *(Route(f"/{name}", page_of(server, name)) for name in PAGES),
        Mount("/static", StaticFiles(directory=_STATIC)),
        *(Route(f"/api/{path}", _safely(server, handler), methods=["GET"]) for path, handler in READS.items()),
        *(Route(f"/api/{path}", _safely(server, handler), methods=["POST"]) for path, handler in CHANGES.items()),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, access=server.access)])
    app.add_exception_handler(404, _not_found)
    return app


async def _not_found(request: Request, error: Exception) -> Response:
    return refuse(404, "there is nothing at this address")


def _safely(server: Server, handler: Handler) -> Answer:
    """The handler with bad input answered by status 400 and its sentence."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(server, request)
        except InputError as error:
            return refuse(400, str(error)[:2000])
        except OSError as error:
            return refuse(400, f"{error.strerror or error}")
        except (MemoryError, RecursionError):
            return refuse(400, "the request needs more memory than it may have")

    return answer


async def get_setup(server: Server, request: Request) -> Response:
    """What a page needs once: colours, solvers, instances, limits."""
    solvers = [
        {
            "name": name,
            "about": entry.description,
            "needs": None if entry.extra is None or is_installed(entry.extra) else EXTRAS[entry.extra][1],
        }
        for name, entry in all_solvers().items()
    ]
    return JSONResponse(
        {
            **colours(),
            "solvers": solvers,
            "traced": [solver for solver in solvers if solver["name"] in TRACED],
            "weights": [*WEIGHTS, NO_WEIGHT],
            "levels": [[name, len(grid.loose)] for name, grid in levels().items()],
            "instances": list(shipped_instances()),
            "engines": list(ENGINES),
            "formats": {name: form.holds for name, form in formats.FORMATS.items()},
            "max_workers": max_workers(),
            "root": str(server.runs.root),
        }
    )


READS: dict[str, Handler] = {"setup": get_setup} | runs.READS | board.READS | play.READS | jobs.READS
CHANGES: dict[str, Handler] = runs.CHANGES | board.CHANGES | play.CHANGES | jobs.CHANGES
