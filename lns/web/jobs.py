"""Jobs: processes that do one task each, limited in number and time; most have a memory limit and end if unwatched."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
import time
from collections.abc import AsyncGenerator, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lns.instances.errors import InputError

MOST_JOBS = max(2, os.cpu_count() or 1)
MOST_KEPT = 50  # most ended jobs whose messages are kept
MOST_MESSAGES = 5_000
MAX_SECONDS = 24 * 3600.0
MEMORY_BYTES = 8 * 2**30
GRACE_S = 10.0
"""Seconds that a job goes on although no page watches it, so that a page that is reloaded finds it."""
START_S = 240.0  # seconds that a job may take beyond its time limit, for the compilation of kernels
END_S = 15.0  # seconds after SIGINT before a process that has not ended is killed
INTERRUPTED_AT_START = (-signal.SIGINT, 1)
"""Exit statuses of a worker that gets SIGINT before it handles this signal; 1 while Python imports ``site``."""
WORKER = ("-m", "lns.web.worker")
"""Arguments of the Python interpreter that runs the process of a job."""
_LINE_BYTES = 64 * 2**20
_ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Job:
    """One job, and the messages it has sent so far."""

    id: str
    process: asyncio.subprocess.Process
    stays: bool  # whether the job goes on when no page watches it
    messages: list[dict[str, Any]] = field(default_factory=list)
    progress: dict[str, Any] | None = None  # the last progress message; ``messages`` has no progress messages
    ended: bool = False  # whether the last message of the job has come
    stopped: bool = False  # whether the job was asked to end
    watchers: int = 0
    unwatched_since: float = field(default_factory=time.monotonic)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """An event that the next message sets and replaces; waiters must fetch it before they read `messages`."""

    def add(self, message: dict[str, Any]) -> None:
        """Store a message, unless there are too many, and wake those who wait for ``changed``."""
        is_last = message["type"] in ("done", "error")
        if message["type"] == "progress":
            self.progress = message
        elif len(self.messages) < MOST_MESSAGES or is_last:
            self.messages.append(message)
        self.ended |= is_last
        self.changed.set()
        self.changed = asyncio.Event()

    def stop(self) -> None:
        """Ask the job to end with its result so far."""
        if not self.ended:
            self.stopped = True
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGINT)

    async def end(self) -> None:
        """Ask the job to end, and kill its process if it does not end in time."""
        self.stop()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), END_S)
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()

    async def events(self, first: int = 0) -> AsyncGenerator[dict[str, Any]]:
        """Yield the messages from index ``first`` on as they come, and progress at most five times a second."""
        self.watchers += 1
        try:
            number, shown = first, None
            while True:
                changed = self.changed
                while number < len(self.messages):
                    yield {"number": number + 1, **self.messages[number]}
                    number += 1
                if self.ended:
                    return
                if self.progress is not shown:
                    shown = self.progress
                    yield dict(shown or {})
                await asyncio.sleep(0.2)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), 5)
        finally:
            self.watchers -= 1
            self.unwatched_since = time.monotonic()

    async def read(self) -> None:
        """Store the messages of the process until the process ends; add a last message if none was sent."""
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError, ConnectionError):  # raised for a line that is too long or a broken pipe
            while line := await self.process.stdout.readline():
                self.add(json.loads(line))
        status = await self.process.wait()
        if not self.messages and self.stopped and status in INTERRUPTED_AT_START:
            self.add({"type": "done", "status": "interrupted"})
        if not self.ended:
            sentence = f"the process of the job ended (status {status}); no result is known"
            self.add({"type": "error", "error": sentence})

    async def guard(self, seconds: float) -> None:
        """End the job after ``seconds``; unless the job ``stays``, end it earlier if no page watches it."""
        deadline = time.monotonic() + seconds
        while not self.ended:
            await asyncio.sleep(0.5)
            now = time.monotonic()
            alone = not self.stays and not self.watchers and now - self.unwatched_since > GRACE_S
            if alone or now > deadline:
                await self.end()
                return


class Jobs:
    """All jobs of a server."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Lock()

    @property
    def running(self) -> list[Job]:
        """Jobs that have not ended."""
        return [job for job in self._jobs.values() if not job.ended]

    def find(self, name: str) -> Job:
        """Return the job with the id ``name``. Raises InputError if there is no such job."""
        if name not in self._jobs:
            raise InputError("there is no such job; it may be one of an earlier server")
        return self._jobs[name]

    async def start(self, kind: str, fields: dict[str, Any], seconds: float, *, stays: bool = False) -> Job:
        """Start a job that does the task ``kind`` of `lns.web.tasks.TASKS` with the given fields.

        ``seconds`` is the time limit of the search; the process is ended `START_S` seconds later. With ``stays`` the
        job goes on when the page is closed, and may use any memory. Raises InputError if `MOST_JOBS` jobs are running.
        """
        async with self._starting:  # so that two requests at once cannot both take the last free place
            if (running := len(self.running)) >= MOST_JOBS:
                raise InputError(f"{running} jobs are running, as many as may run at once; stop one of them first")
            job = Job(secrets.token_hex(8), await _start_worker(), stays)
            for name in [name for name, old in self._jobs.items() if old.ended][:-MOST_KEPT]:
                del self._jobs[name]
            self._jobs[job.id] = job
        request = {"kind": kind, "fields": fields, "memory": 0 if stays else MEMORY_BYTES}
        assert job.process.stdin is not None
        job.process.stdin.write(json.dumps(request).encode() + b"\n")
        job.process.stdin.close()
        self._spawn(job.read())
        self._spawn(job.guard(seconds + START_S))
        return job

    async def close(self) -> None:
        """Ask all jobs that are running to end, and kill those that do not end in time."""
        await asyncio.gather(*(job.end() for job in self.running))
        for task in self._tasks:
            task.cancel()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _start_worker() -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *WORKER,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(_ROOT), *filter(None, sys.path)])},
        start_new_session=True,  # so that Ctrl-C in a terminal reaches the server only
        # lets SIGINT end the worker even if a shell started the server in the background, where SIGINT is ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        limit=_LINE_BYTES,
    )
