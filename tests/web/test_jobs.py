"""Jobs are limited in number, time and memory, end with what watches them, and never end without a word."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from lns.instances.errors import InputError
from lns.web import jobs
from lns.web.jobs import Job, Jobs

pytestmark = pytest.mark.anyio

TASKS = """
import logging, os, signal, time
from lns.web import tasks, worker

def wait(fields):
    send = yield
    send(type="note", text="waiting")
    time.sleep(300)

def deaf(fields):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return (yield from wait(fields))

def talk(fields):
    send = yield
    for number in range(fields.get("count")):
        send(type="progress", nodes=number)
        send(type="note", text=str(number))
    return {"status": "done"}

def log(fields):
    yield
    logging.getLogger("lns").info("compiling \\x1b[31m")
    return {"status": "done"}

def crash(fields):
    yield
    os._exit(7)

def hog(fields):
    yield
    return {"bytes": len(bytearray(fields.get("bytes")))}

tasks.TASKS |= {"log": log, "wait": wait, "trace": wait, "deaf": deaf, "talk": talk, "crash": crash, "hog": hog}
worker.main()
"""
"""The worker with tasks that need no search."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers with the tasks above, and limits that a test can wait for."""
    monkeypatch.setattr(jobs, "WORKER", ("-c", TASKS))
    monkeypatch.setattr(jobs, "MOST_JOBS", 2)
    monkeypatch.setattr(jobs, "START_S", 0.0)
    monkeypatch.setattr(jobs, "END_S", 1.0)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def started(anyio_backend: str) -> AsyncIterator[Jobs]:
    """Jobs that are ended after the test; no process is left."""
    jobs_of_test = Jobs()
    yield jobs_of_test
    await jobs_of_test.close()
    for job in jobs_of_test._jobs.values():
        await asyncio.wait_for(job.process.wait(), 10)


async def messages(job: Job, first: int = 0) -> list[dict[str, Any]]:
    return [message async for message in job.events(first)]


async def said(job: Job) -> None:
    """Until the task itself has begun."""
    while not job.messages:
        await asyncio.sleep(0.05)


async def test_no_more_than_may_run_at_once_are_started_even_by_requests_at_once(started: Jobs) -> None:
    asked = [started.start("wait", {}, 300) for _ in range(6)]
    given = await asyncio.gather(*asked, return_exceptions=True)
    running = [job for job in given if isinstance(job, Job)]
    refused = [str(error) for error in given if isinstance(error, InputError)]
    assert (len(running), len(refused), len(started.running)) == (2, 4, 2)
    assert all("2 jobs are running" in sentence for sentence in refused)
    await said(running[0])
    running[0].stop()
    assert (await messages(running[0]))[-1]["status"] == "interrupted"
    assert isinstance(await started.start("wait", {}, 300), Job)


@pytest.mark.parametrize("wait", [0.0, 0.02, 0.1, 0.3])
async def test_a_job_that_is_stopped_while_its_process_starts_is_interrupted(started: Jobs, wait: float) -> None:
    job = await started.start("wait", {}, 300)
    await asyncio.sleep(wait)
    job.stop()
    last = (await asyncio.wait_for(messages(job), 30))[-1]
    assert last.items() >= {"type": "done", "status": "interrupted"}.items(), last


@pytest.mark.parametrize("kind", ["wait", "deaf"])
async def test_a_job_that_takes_too_long_is_ended(started: Jobs, kind: str) -> None:
    job = await started.start(kind, {}, 6)
    last = (await asyncio.wait_for(messages(job), 30))[-1]
    assert last["type"] == ("done" if kind == "wait" else "error"), last
    if kind == "deaf":
        assert "no result is known" in last["error"]


async def test_a_job_that_nothing_watches_ends_and_one_that_stays_does_not(
    started: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "GRACE_S", 1.0)
    left, staying = [await started.start("wait", {}, 300, stays=stays) for stays in (False, True)]
    began = time.monotonic()
    while not left.ended and time.monotonic() - began < 30:
        await asyncio.sleep(0.1)
    assert left.ended and not staying.ended


async def test_a_job_that_is_watched_goes_on(started: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "GRACE_S", 0.5)
    job = await started.start("wait", {}, 300)
    watching = asyncio.create_task(messages(job))
    await said(job)
    await asyncio.sleep(2.5)
    assert not job.ended
    job.stop()
    assert (await watching)[-1]["status"] == "interrupted"


async def test_memory_is_limited(started: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MEMORY_BYTES", 2 * 2**30)
    job = await started.start("hog", {"bytes": 3 * 2**30}, 300)
    assert "needs more memory" in (await messages(job))[-1]["error"]


async def test_a_process_that_crashes_is_no_answer(started: Jobs) -> None:
    job = await started.start("crash", {}, 300)
    last = (await messages(job))[-1]
    assert last["type"] == "error" and "status 7" in last["error"]


async def test_what_is_logged_comes_as_a_note(started: Jobs) -> None:
    job = await started.start("log", {}, 300)
    first, last = await messages(job)
    assert first["type"] == "note" and first["text"] == r"compiling \x1b[31m" and last["type"] == "done"


async def test_a_page_that_comes_back_gets_what_it_has_not_seen(started: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MOST_MESSAGES", 20)
    job = await started.start("talk", {"count": 50}, 300)
    every = [message for message in await messages(job) if message["type"] != "progress"]
    assert [message["number"] for message in every] == list(range(1, 22)), "20, and the last one always"
    assert every[-1]["type"] == "done"
    assert await messages(job, first=18) == every[18:]


async def test_the_end_of_the_server_leaves_no_process(started: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "END_S", 8.0)  # a busy machine too lets the first one end in order
    some = [await started.start(kind, {}, 300, stays=True) for kind in ("wait", "deaf")]
    for job in some:
        await said(job)
    await started.close()
    statuses = [await asyncio.wait_for(job.process.wait(), 10) for job in some]
    assert statuses == [0, -signal.SIGKILL], "in order; by force where that fails"
