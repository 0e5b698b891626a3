"""A server of `lns web` in the test's own process, and the requests of its pages."""

from pathlib import Path
from typing import Any

import httpx2 as httpx
from starlette.testclient import TestClient

from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from lns.web.app import Server, make_app
from lns.web.guard import Access
from lns.web.runs import Runs
from lns.web.wire import board_to_json, puzzle_to_json

PORT = 8040
SITE = f"http://127.0.0.1:{PORT}"


class Page:
    """A page that is open in a browser: it has the key as a cookie, and the token."""

    def __init__(self, root: Path, password: str | None = None, host: str = "127.0.0.1") -> None:
        self.access = Access(host, PORT, password)
        self.server = Server(self.access, Runs(root))
        self.client = TestClient(make_app(self.server), base_url=SITE, follow_redirects=False)
        self.client.cookies.set(self.access.cookie, self.access.key)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(path, headers=headers)

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        return self.client.post(path, json=body, headers={"x-lns-token": self.access.token, "origin": SITE} | headers)

    def answer(self, path: str, body: Any) -> dict[str, Any]:
        """The answer to a request that must succeed."""
        response = self.post(path, body)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def sentence(self, path: str, body: Any) -> str:
        """Why a request is refused as bad input."""
        response = self.post(path, body)
        assert response.status_code == 400, response.text
        return str(response.json()["error"])


def fields(puzzle: Puzzle, board: Board) -> dict[str, Any]:
    """A puzzle and a board as the pages send them."""
    return {"puzzle": puzzle_to_json(puzzle), "board": board_to_json(puzzle, board)}
