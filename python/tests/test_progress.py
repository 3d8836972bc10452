"""Progress and logs: what is told, to whom, and how often."""

from __future__ import annotations

import logging
import os
import pathlib
import pty
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import madrigal as mg
from test_models import CONV, X
from test_parties import party, roster  # noqa: F401  (a fixture)


@mg.program(parties=2)
def sums(p: mg.Builder) -> None:
    x = p.input("x", owner=0, shape=("n",), dtype=np.int32)
    y = p.input("y", owner=1, shape=("n",), dtype=np.int32)
    p.reveal("sum", np.sum(x * y))
    p.reveal("most", np.max(x + y))


N = 200
GIVEN = {"x": np.arange(N), "y": np.arange(N)}


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No notebook."""
    monkeypatch.delitem(sys.modules, "IPython", raising=False)


def test_functions_are_told_how_far_it_is() -> None:
    seen: list[tuple[float, mg.Progress, int]] = []

    def hear(progress: mg.Progress) -> None:
        seen.append((time.monotonic(), progress, threading.get_ident()))

    result = sums.run_local(progress=hear, network="100ms", **GIVEN)
    assert result["sum"] == np.sum(np.arange(N) ** 2)
    assert {one.phase for _, one, _ in seen} <= {"setup", "online"} and seen
    for _, one, thread in seen:
        assert 0 <= one.done <= one.total and 0.0 <= one.fraction <= 1.0 and thread == threading.get_ident()
    online = [one.done for _, one, _ in seen if one.phase == "online"]
    assert online == sorted(online) and seen[-1][1].phase == "online" and seen[-1][1].fraction == 1.0
    # The last one comes when it comes.
    pauses = np.diff([at for at, _, _ in seen[:-1]])
    assert len(pauses) == 0 or pauses.min() > 0.09


def test_what_a_function_raises_ends_the_run() -> None:
    class Enough(Exception):
        pass

    def hear(progress: mg.Progress) -> None:
        raise Enough

    began = time.monotonic()
    with pytest.raises(Enough):
        mg.infer(CONV, X, network="500ms", protocol="A+B", progress=hear)
    assert time.monotonic() - began < 10
    assert sums.run_local(**GIVEN)["most"] == 2 * (N - 1)


def test_checks_and_calibrations_are_told_piece_by_piece() -> None:
    seen: list[mg.Progress] = []
    sums.check(n=3, progress=seen.append)
    assert seen[-1].fraction == 1.0 and any("A+B" in one.phase or "B," in one.phase for one in seen)
    seen.clear()
    mg.load_model(CONV).calibrate(X, progress=seen.append)
    assert seen[-1] == mg.Progress("numbers of 64 bits", 2, 2)


def test_nothing_is_shown_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    sums.run_local(**GIVEN)
    sums.run_local(progress=False, **GIVEN)
    assert capfd.readouterr() == ("", "")
    with pytest.raises(TypeError, match="progress is True, False or a function"):
        sums.run_local(progress="yes", **GIVEN)  # type: ignore[arg-type]


def test_lines_of_text_are_shown_where_they_are_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    sums.run_local(progress=True, **GIVEN)
    assert "sums: online 100%\n" in capsys.readouterr().err


class Display:
    """What IPython has of displays."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def HTML(self, text: str) -> str:
        return text

    def display(self, content: str, display_id: bool) -> Display:
        assert display_id
        self.shown.append(content)
        return self

    def update(self, content: str) -> None:
        self.shown.append(content)


def test_notebooks_have_a_display_that_is_updated(monkeypatch: pytest.MonkeyPatch) -> None:
    display = Display()
    ipython: Any = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)  # type: ignore[arg-type]
    sums.run_local(**GIVEN)
    assert "<progress" in display.shown[0] and display.shown[-1] == "", "it is empty at the end"
    assert "<progress" in display.shown[-2] and "online" in display.shown[-2]
    before = len(display.shown)
    sums.run_local(progress=False, **GIVEN)
    assert len(display.shown) == before
    # IPython without a kernel is a terminal.
    ipython.get_ipython = lambda: types.SimpleNamespace()
    sums.run_local(**GIVEN)
    assert len(display.shown) == before


def test_terminals_show_the_bars_of_the_command_line() -> None:
    """The package runs on a terminal of its own, and draws what the command line draws."""
    folder = pathlib.Path(__file__).parent
    code = (
        "import madrigal as mg, numpy as np\n"
        "from test_models import CONV, X\n"
        "mg.infer(CONV, X, network='60ms', protocol='A+B')\n"
    )
    shown, terminal = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{folder.parent}", "TERM": "xterm", "COLUMNS": "100"}
    child = subprocess.Popen([sys.executable, "-c", code], stderr=terminal, stdout=subprocess.PIPE, cwd=folder, env=environment)
    os.close(terminal)
    text = b""
    while True:
        try:
            part = os.read(shown, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(shown)
    assert child.wait(60) == 0, text
    assert child.stdout is not None
    child.stdout.close()
    assert b"online" in text and b"setup" in text, text


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "madrigal"]


def test_runs_are_logged_from_beginning_to_end(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="madrigal"):
        sums.run_local(protocol="A+B", **GIVEN)
    told = messages(caplog)
    assert told[0].startswith(f"sums: run by 2 parties here, digest {sums.bind(n=N).digest[:16]}")
    order = ["have met", "agree on what they compute", "online begins", "party 0 done in", "party 1 done in"]
    places = [next(at for at, one in enumerate(told) if words in one) for words in order]
    assert places == sorted(places), told
    assert "sent" in told[-1] and "online" in told[-1]


def test_logs_have_no_secrets(caplog: pytest.LogCaptureFixture) -> None:
    secret = 987_654_321
    with caplog.at_level(logging.DEBUG, logger="madrigal"):
        sums.run_local(x=[secret], y=[1])
        with pytest.raises(ValueError):
            sums.run_local(x=[secret * 1000], y=[1])
        sums.simulate(x=[secret], y=[secret])
        mg.infer(CONV, np.full_like(X, 98.7654321), numbers="64.16")
        with pytest.raises(mg.RunError):
            mg.infer(CONV, np.full_like(X, 987654321.0), numbers="32.14")
    for text in [*messages(caplog), caplog.text]:
        assert "98765" not in text.replace("_", "").replace(".", "") and "98.76" not in text, text
    assert any("ends without a result, status 3" in one for one in messages(caplog))


def test_numbers_out_of_range_are_warnings(caplog: pytest.LogCaptureFixture) -> None:
    @mg.program(parties=2)
    def large(p: mg.Builder) -> None:
        x = p.input("x", owner=0, dtype=mg.fixed(32, 10))
        p.reveal("square", x * x)

    large.simulate(x=1e5)
    (record,) = [record for record in caplog.records if record.name == "madrigal"]
    assert record.levelno == logging.WARNING and "leaves the range" in record.getMessage()
    assert "test_progress.py" in record.getMessage()
    caplog.clear()
    compared = mg.load_model(CONV).compare(X * 1e4, numbers="32.14")
    assert compared.overflows and all(record.levelno == logging.WARNING for record in caplog.records)


def test_parties_log_whom_they_wait_for(roster: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:  # noqa: F811
    with caplog.at_level(logging.INFO, logger="madrigal"), ThreadPoolExecutor() as pool:
        one = pool.submit(party(roster, 0).run, sums, x=[1, 2])
        time.sleep(3.0)
        two = pool.submit(party(roster, 1).run, sums, y=[3, 4])
        assert one.result()["sum"] == two.result()["sum"] == 11
    told = messages(caplog)
    assert any("waiting for party 1" in one for one in told), told
    assert any(one.startswith("sums: run by party 1") for one in told)
