"""Jobs: processes that do one task each, limited in number, time and memory, and ended with what watches them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lns_support.errors import InputError

MOST_JOBS = max(2, os.cpu_count() or 1)
MOST_KEPT = 50  # ended jobs whose messages can still be read
MOST_MESSAGES = 5_000
MAX_SECONDS = 24 * 3600.0
MEMORY_BYTES = 8 * 2**30
GRACE_S = 10.0
"""Seconds that a job goes on although nothing watches it: a page that is loaded again finds it."""
START_S = 240.0
"""Seconds beyond its own limit that a job may take, for the compilation of kernels."""
END_S = 15.0
"""Seconds that a process has to end in order after a signal."""
INTERRUPTED_AT_START = (-signal.SIGINT, 1)
"""Exit statuses of the interpreter if SIGINT comes before the worker handles it; 1 while it imports ``site``."""
WORKER = ("-m", "lns.web.worker")
"""Arguments of the interpreter that does a job."""
_LINE_BYTES = 64 * 2**20
_ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Job:
    """One job.

    Attributes
    ----------
    id : str
    kind : str
        A key of `lns.web.tasks.TASKS`.
    process : asyncio process
    stays : bool
        Whether it goes on when nothing watches it.
    messages : list of dict
        What it said so far. Of "progress" only the last is kept, as ``progress``.
    ended : bool
        Whether its last message is there.
    stopped : bool
        Whether it was asked to end.
    changed : asyncio.Event
        Set with the next message, and then replaced. One that waits takes it before it looks at the messages, so that
        nobody else can clear it.
    """

    id: str
    kind: str
    process: asyncio.subprocess.Process
    stays: bool
    messages: list[dict[str, Any]] = field(default_factory=list)
    progress: dict[str, Any] | None = None
    ended: bool = False
    stopped: bool = False
    watchers: int = 0
    unwatched_since: float = field(default_factory=time.monotonic)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, message: dict[str, Any]) -> None:
        """Keep a message and wake who waits."""
        if message["type"] == "progress":
            self.progress = message
        elif len(self.messages) < MOST_MESSAGES or message["type"] in ("done", "error"):
            self.messages.append(message)
        self.ended |= message["type"] in ("done", "error")
        self.changed.set()
        self.changed = asyncio.Event()


class Jobs:
    """All jobs of a server."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Lock()

    @property
    def running(self) -> int:
        """Jobs that have not ended."""
        return sum(not job.ended for job in self._jobs.values())

    def find(self, name: str) -> Job:
        """The job of this id. Raises InputError if there is none."""
        if name not in self._jobs:
            raise InputError("there is no such job; it may be one of an earlier server")
        return self._jobs[name]

    async def start(self, kind: str, fields: dict[str, Any], seconds: float, *, stays: bool = False) -> Job:
        """Start a job.

        Parameters
        ----------
        kind : str
            A key of `lns.web.tasks.TASKS`.
        fields : dict
            What the task gets.
        seconds : float
            Limit of its own search; its process is ended some time after it.
        stays : bool
            Whether it goes on when the page is closed.

        Raises
        ------
        InputError
            As many jobs are running as may run at once.
        """
        async with self._starting:  # two requests at once may not both take the last place
            if self.running >= MOST_JOBS:
                raise InputError(f"{self.running} jobs are running, as many as may run at once; stop one of them first")
            job = Job(secrets.token_hex(8), kind, await _start_worker(), stays)
            self._forget()
            self._jobs[job.id] = job
        process = job.process
        request = {"kind": kind, "fields": fields, "memory": 0 if stays else MEMORY_BYTES}
        assert process.stdin is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.close()
        self._spawn(self._read(job))
        self._spawn(self._watch(job, min(seconds, MAX_SECONDS if not stays else seconds) + START_S))
        return job

    def stop(self, job: Job) -> None:
        """Ask a job to end with its result so far."""
        if not job.ended:
            job.stopped = True
            with contextlib.suppress(ProcessLookupError):
                job.process.send_signal(signal.SIGINT)

    async def events(self, job: Job, first: int = 0) -> AsyncGenerator[dict[str, Any]]:
        """The messages of a job from number ``first`` on, as they come; at most five times a second progress."""
        job.watchers += 1
        try:
            number, shown = first, None
            while True:
                changed = job.changed
                while number < len(job.messages):
                    yield {"number": number + 1, **job.messages[number]}
                    number += 1
                if job.ended:
                    return
                if job.progress is not shown:
                    shown = job.progress
                    yield dict(shown or {})
                await asyncio.sleep(0.2)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), 5)
        finally:
            job.watchers -= 1
            job.unwatched_since = time.monotonic()

    async def close(self) -> None:
        """End all jobs in order; those that do not end in time are killed."""
        running = [job for job in self._jobs.values() if not job.ended]
        for job in running:
            self.stop(job)
        if running:
            ends = [asyncio.create_task(job.process.wait()) for job in running]
            _, late = await asyncio.wait(ends, timeout=END_S)
            for job in running if late else []:
                with contextlib.suppress(ProcessLookupError):
                    job.process.kill()
        for task in self._tasks:
            task.cancel()

    async def _read(self, job: Job) -> None:
        """Keep what the process says until it ends."""
        assert job.process.stdout is not None
        with contextlib.suppress(ValueError, ConnectionError):  # a line that is too long, a pipe that broke
            while line := await job.process.stdout.readline():
                job.add(json.loads(line))
        status = await job.process.wait()
        if not job.messages and job.stopped and status in INTERRUPTED_AT_START:
            job.add({"type": "done", "status": "interrupted"})
        if not job.ended:
            job.add({"type": "error", "error": f"the process of the job ended (status {status}); no result is known"})

    async def _watch(self, job: Job, seconds: float) -> None:
        """End a job that nothing watches, or that takes too long."""
        deadline = time.monotonic() + seconds
        while not job.ended:
            await asyncio.sleep(0.5)
            now = time.monotonic()
            alone = not job.stays and not job.watchers and now - job.unwatched_since > GRACE_S
            if alone or now > deadline:
                self.stop(job)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(job.process.wait(), END_S)
                if job.process.returncode is None:
                    job.process.kill()
                return

    def _forget(self) -> None:
        """Drop the oldest ended jobs."""
        ended = [name for name, job in self._jobs.items() if job.ended]
        for name in ended[: max(0, len(ended) - MOST_KEPT)]:
            del self._jobs[name]

    def _spawn(self, work: Any) -> None:
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
        start_new_session=True,  # Ctrl-C is for the server to handle
        preexec_fn=_heed_interrupts,
        limit=_LINE_BYTES,
    )


def _heed_interrupts() -> None:
    """Let SIGINT end the new process also if the server was started in the background, where a shell ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
