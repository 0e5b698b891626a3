"""What commands share: types of options, the line that says how they stand, signals, tables."""

import argparse
import ctypes
import errno
import io
import logging
import os
import signal
import sys
import time
from collections.abc import Callable

import pytest

from lns.cores import available_cores
from lns.exact.text_table import aligned, markdown, table_width
from lns.runs.files import format_duration
from lns.terminal.options import HelpFormatter, duration, whole_number
from lns.terminal.output import wrapped
from lns.terminal.progress import LiveLine
from lns.terminal.signals import exit_on_signal, interrupt_on_signal, signal_handler
from tests.cli.run_program import wait_for


class Terminal(io.StringIO):
    gone = False

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self.gone:
            raise OSError(errno.ENXIO, "gone")
        return super().write(text)


@pytest.mark.parametrize("quiet", [False, True])
def test_intervals_between_plain_lines_grow(quiet: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "lns")
    with LiveLine(90.0, quiet=quiet) as line:
        for elapsed in (1, 2, 14, 16, 30, 32, 60, 74):
            line.show("well", float(elapsed), now=elapsed == 1)
    told = [
        "1.0 s  well, 1 min 29 s left",
        "16.0 s  well, 1 min 14 s left",
        "32.0 s  well, 58 s left",
        "60.0 s  well, 30 s left",
    ]
    assert [record.getMessage().strip() for record in caplog.records] == ([] if quiet else told)


@pytest.mark.parametrize("seconds", [None, 0.2, 60.0])
def test_a_closed_terminal_does_not_end_the_command(seconds: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with LiveLine(seconds, quiet=False) as line:
        line.show("well", 1.0)
        assert "well" in terminal.getvalue() and ("left" in terminal.getvalue()) == (seconds is not None)
        terminal.gone = True
        line.show("and on", 2.0)


def test_lines_end_between_words_on_a_terminal_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    text = "saved in  runs/one\nsearch  time over after 25 s; 2 workers, seed 835566150"
    shown = wrapped(text, Terminal())
    assert shown == "saved in  runs/one\nsearch  time over after 25 s;\n2 workers, seed 835566150"
    assert wrapped(text, io.StringIO()) == text
    assert wrapped("x" * 40, Terminal()) == "x" * 40, "a path is not cut"
    table_row = "dlx     exact cover, as many items an edge"
    assert wrapped(table_row, Terminal(), indent=8) == "dlx     exact cover, as many\n        items an edge"


def test_help_wraps_paragraphs_and_leaves_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "42")
    epilog = (
        "One line that is too long for forty columns.\nAnd more.\n"
        "examples:\n  lns solve a-very-long-name --time 60 --quiet\n\nEnd."
    )
    parser = argparse.ArgumentParser(formatter_class=HelpFormatter, epilog=epilog)
    assert parser.format_help().endswith(
        "One line that is too long for forty\ncolumns. And more.\nexamples:\n"
        "  lns solve a-very-long-name --time 60 --quiet\n\nEnd.\n"
    )


@pytest.mark.parametrize("number, handler, raised", [
    (signal.SIGINT, interrupt_on_signal, KeyboardInterrupt), (signal.SIGTERM, interrupt_on_signal, KeyboardInterrupt),
    (signal.SIGTERM, exit_on_signal, SystemExit),
])  # fmt: skip
def test_a_signal_that_arrives_in_a_callback_from_c_comes_again(
    number: int, handler: Callable[[int, object], None], raised: type[BaseException], capfd: pytest.CaptureFixture[str]
) -> None:
    """As Ctrl-C while LLVM compiles: what is raised there goes no further by itself."""
    callback = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(number))
    hook, after = sys.unraisablehook, False
    with pytest.raises(raised), signal_handler(handler):
        callback()
        after = True
        for _ in range(1000):
            time.sleep(0.01)  # the second signal is not a real one: it does not end a sleep
    assert after and sys.unraisablehook == hook and capfd.readouterr().err == ""


def test_what_is_waited_for_is_said_until_the_work_begins(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "lns")
    saved = iter([100, 100, *[103] * 100])
    monkeypatch.setattr("lns.exact.kernels.cache.saved_kernels", lambda: next(saved))
    monkeypatch.setattr("lns.terminal.progress.WAIT_S", 0.5)
    with LiveLine(90.0, quiet=False, kernels=9) as line:
        wait_for(lambda: len(caplog.records) >= 2, "two lines about the start")
        line.show("well", 20.0)
        line.begin("run 2 of 7")
        wait_for(lambda: "run 2 of 7" in caplog.text, "the line about the run")
        saved = iter([103, *[105] * 100])
        line.begin("run 3 of 7")
        wait_for(lambda: "run 3 of 7" in caplog.text, "the line about the next run")
    said = [record.getMessage().strip() for record in caplog.records]
    assert said[0].startswith("starting, ") and said[1].startswith("compiling kernels, once: 3 of about 9, ")
    assert "20.0 s  well, 1 min 10 s left" in said and said[3].startswith("run 2 of 7, ")
    assert said[-1].startswith("run 3 of 7; compiling kernels, once: 2 of about 9, "), "those of this run only"
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with LiveLine(None, quiet=False):
        wait_for(lambda: "starting, " in terminal.getvalue(), "the line")


def test_durations_have_their_two_largest_units() -> None:
    shown = [format_duration(seconds) for seconds in (0, 59.4, 59.6, 89, 3600, 7400, 86_400, 604_800, 620_000)]
    assert shown == ["0 s", "59 s", "1 min", "1 min 29 s", "1 h", "2 h 3 min", "1 d", "7 d", "7 d 4 h"]


SECONDS = {"90": 90, "1.5": 1.5, ".5": 0.5, "10m": 600, "5m30s": 330, "1h30m": 5400, "7d": 604800, "1w2d3h4m5s": 788645}
NUMBERS = {"0": 0, "007": 7, "2e8": 200_000_000, "1.5e9": 1_500_000_000, "1.25e2": 125, "9" * 18: 10**18 - 1}


def test_durations() -> None:
    assert {text: duration(text) for text in SECONDS} == SECONDS
    for text in ("", "0", "0s", "5x", "30s5m", "5m5m", "-1", "1 h", "m", "1e3", "2000w"):
        with pytest.raises(argparse.ArgumentTypeError, match="is no duration; expected seconds above 0, or like 10m, "):
            duration(text)


def test_whole_numbers() -> None:
    assert {text: whole_number(text) for text in NUMBERS} == NUMBERS
    for text in ("", "-1", "1.5", "1.25e1", "1e-3", "e3", "1e", "1e18", "9e99", "1" * 19, "1_000", "x", "٣", "nan"):
        with pytest.raises(argparse.ArgumentTypeError, match="is no whole number of at most 18 digits; expected 0 or "):
            whole_number(text)


def test_cores_are_those_of_the_affinity_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3}, raising=False)
    assert available_cores() == 1


TABLE = [["grid", "smallest", "largest", "mean", "report"], ["5x11", "1", "22", "3.5", "4"]]


def test_a_wider_table_is_broken_into_blocks_that_repeat_the_first_columns() -> None:
    whole = "grid  smallest  largest  mean  report\n5x11         1       22   3.5       4"
    with table_width(len(whole.splitlines()[0])):
        assert aligned(TABLE) == whole
    with table_width(26):
        assert aligned(TABLE) == (
            "grid  smallest  largest\n5x11         1       22\n\ngrid  mean  report\n5x11   3.5       4"
        )
        assert aligned(TABLE, left=(0, 1), repeated=2) == (
            "grid  smallest  largest\n5x11  1              22\n\n"
            "grid  smallest  mean\n5x11  1          3.5\n\n"
            "grid  smallest  report\n5x11  1              4"
        )
        assert markdown(TABLE[0], TABLE[1:]) == (
            "| grid | smallest |\n| --- | --- |\n| 5x11 | 1 |\n\n"
            "| grid | largest | mean |\n| --- | --- | --- |\n| 5x11 | 22 | 3.5 |\n\n"
            "| grid | report |\n| --- | --- |\n| 5x11 | 4 |"
        )
