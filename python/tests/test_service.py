"""Clients of a real service of three servers: submissions, outputs, requests, errors that name the server, interrupts."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time
from typing import Iterator

import numpy as np
import pytest

import madrigal as mg
from pages import PROGRAM

#: Clients whose ages are counted in one batch.
CLIENTS = 200
#: Seconds that the servers have to listen.
PATIENCE = 60

KINDS = f"""
[[kinds]]
name = "ages"
program = "ages.madrigal"
submit = "anyone"
receive = {{ analyst = ["analyst"] }}
batch = {{ dimension = "members", least = {CLIENTS}, most = {CLIENTS}, after = "1 h" }}

[[kinds]]
name = "few"
program = "ages.madrigal"
submit = "anyone"
receive = {{ analyst = ["analyst"] }}
batch = {{ dimension = "members", least = 3, most = 3, after = "1 h" }}

[[kinds]]
name = "twice"
program = "twice.mad"
submit = ["analyst"]

[[kinds]]
name = "login"
requests = "aes-128"
submit = "anyone"
"""


@mg.program(parties=3)
def twice(p: mg.Builder) -> None:
    member = mg.client("member")
    x = p.input("x", owner=member, shape=(2, 3), dtype=mg.fixed(64, 16))
    flag = p.input("flag", owner=member, dtype=bool)
    p.reveal("x", np.where(flag, x + x, x), to=member)
    p.reveal("sum", np.sum(x), to=member)


class Proxy:
    """A server, as a client sees it: it hands on what comes, until it is told to be away."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self.there = (host, int(port))
        self.links: list[socket.socket] = []
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.listener: socket.socket | None = None
        self.up()

    def up(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            far = socket.create_connection(self.there)
            self.links += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.pump, args=(one, other), daemon=True).start()

    @staticmethod
    def pump(one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(1 << 16):
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def away(self) -> None:
        if self.listener is not None:
            # A listener in `accept` is woken by this alone.
            self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()
        for link in self.links:
            try:
                link.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.links = []


def start(folder: pathlib.Path) -> subprocess.Popen[bytes]:
    line = [str(PROGRAM), "serve", "--local", "3", "--demo", "statistics", "--directory", str(folder)]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pathlib.Path]:
    """The folder of a service that runs, with kinds of the tests' own."""
    if not PROGRAM.exists():
        pytest.skip("the program madrigal is not built")
    folder = tmp_path_factory.mktemp("trial")
    until = time.monotonic() + PATIENCE
    # The first start makes keys and files.
    process = start(folder)
    while not (folder / "parties.toml").exists():
        assert process.poll() is None and time.monotonic() < until, (folder / "log").read_text()
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    twice.save(folder / "twice.mad")
    for server in range(3):
        shutil.rmtree(folder / f"data{server}", ignore_errors=True)
        file = folder / f"server{server}.toml"
        file.write_text(file.read_text().partition("[[kinds]]")[0] + KINDS)
    process = start(folder)
    try:
        while (folder / "log").read_text().count("listening") < 3:
            assert process.poll() is None and time.monotonic() < until, (folder / "log").read_text()
            time.sleep(0.02)
        yield folder
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            # Servers that leave one after another may wait for each other; nobody waits for them here.
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def member(trial: pathlib.Path) -> Iterator[mg.Service]:
    with mg.service(trial / "member.toml", client="ann", timeout=20) as svc:
        yield svc


@pytest.fixture
def analyst(trial: pathlib.Path) -> Iterator[mg.Service]:
    with mg.service(trial / "analyst.toml", client="analyst", timeout=20) as svc:
        yield svc


@pytest.fixture
def through(trial: pathlib.Path) -> Iterator[tuple[pathlib.Path, Proxy]]:
    """A client's file in which server 2 is a proxy."""
    text = (trial / "member.toml").read_text()
    address = text.split('address = "')[3].partition('"')[0]
    proxy = Proxy(address)
    file = trial / "through.toml"
    file.write_text(text.replace(address, f"127.0.0.1:{proxy.port}"))
    yield file, proxy
    proxy.away()


def last_of(svc: mg.Service, kind: str, batches: int) -> mg.Batch:
    """The batch of a number."""
    return next(iter(svc.outputs(kind, after=batches - 1, timeout=PATIENCE)))


def test_kinds_say_what_they_take(member: mg.Service) -> None:
    assert repr(member) == "<service of server0, server1, server2>"
    kinds = {kind.name: kind for kind in member.kinds()}
    assert set(kinds) == {"ages", "few", "twice", "login"}
    ages = kinds["ages"]
    assert ages.inputs == (mg.KindInput("age", mg.uint32, (1,)),) and not ages.requests and ages.anonymous
    assert [(one.name, one.shape) for one in ages.outputs] == [("sum", ()), ("least", ()), ("greatest", ()), ("below", (4,))]
    assert "analyst" in ages.outputs[0].receivers
    assert [(one.name, one.dtype, one.shape) for one in kinds["twice"].inputs] == [("x", mg.fixed(64, 16), (2, 3)), ("flag", mg.bool_, ())]
    assert not kinds["twice"].anonymous and len(ages.program) == 64
    assert (kinds["login"].requests, kinds["login"].request_bytes, kinds["login"].answer_bytes) == (True, 16, 32)


def test_statistics_of_many_are_numpys(trial: pathlib.Path, analyst: mg.Service) -> None:
    ages = np.random.default_rng(7).integers(0, 120, CLIENTS)
    ages[:3] = 0, 2**31 + 5, 19
    told: list[mg.Progress] = []
    with mg.service(trial / "member.toml", client="office", timeout=20, connections=2) as office:
        made = office.submit_many("ages", {"age": ages}, at_once=50, progress=told.append)
    assert made == mg.Submitted(CLIENTS, ())
    assert told[-1] == mg.Progress("submissions", CLIENTS, CLIENTS)
    batch, outputs, receipt = last_of(analyst, "ages", 1)
    assert (batch, receipt.submissions, receipt.kind, outputs.batch) == (1, CLIENTS, "ages", 1)
    assert [name for name, _, _ in receipt.signed] == analyst.servers and all(len(one) > 60 for _, _, one in receipt.signed)
    assert outputs["sum"] == np.sum(ages) % 2**32
    assert (outputs["least"], outputs["greatest"]) == (np.min(ages), np.max(ages))
    assert outputs["below"].tolist() == [int(np.sum(ages < edge)) for edge in (20, 40, 60, 80)]


def test_a_submission_is_waited_for_and_comes_back(member: mg.Service, analyst: mg.Service, tmp_path: pathlib.Path) -> None:
    submission = member.submit("few", age=np.uint32(31), receipt=tmp_path / "ann.receipt")
    assert len(submission.id) == 64 and (submission.kind, submission.client) == ("few", "ann")
    assert "31" not in repr(submission).replace(submission.id[:16], "")
    ticks: list[int] = []
    enough = threading.Event()

    def tick() -> None:
        while not enough.wait(0.005):
            ticks.append(1)

    # The job waits for two more, and other threads go on meanwhile.
    counter = threading.Thread(target=tick)
    counter.start()
    with pytest.raises(mg.ServiceTimeout, match="not done within 0.3 s"):
        submission.wait(timeout=0.3)
    enough.set()
    counter.join()
    assert len(ticks) > 10
    assert [(one.server, one.state) for one in submission.status()] == [(name, "accepted") for name in member.servers]
    assert (tmp_path / "ann.receipt").read_bytes() == submission.receipt
    submission.save(tmp_path / "other.receipt")
    again = [member.submission(tmp_path / "other.receipt"), member.submission(submission.receipt)]
    member.submit("few", {"age": [44]}, client="bob")
    member.submit("few", age=np.array(17), client="carol")
    for one in [submission, *again]:
        outputs = one.wait(timeout=PATIENCE)
        assert one.id == submission.id and outputs == {} and outputs.receipt.submissions == 3
    assert {(one.state, one.batch) for one in submission.status()} == {("counted", outputs.batch)}
    assert last_of(analyst, "few", outputs.batch).outputs["sum"] == 92


def test_the_submitter_gets_what_is_its(analyst: mg.Service) -> None:
    x = np.array([[0.5, -1.25, 3.0], [100.0, 0.0, -7.5]])
    outputs = analyst.submit("twice", x=x, flag=True).wait(timeout=PATIENCE)
    assert outputs["x"].dtype == np.float64 and np.array_equal(outputs["x"], 2 * x) and outputs["sum"] == x.sum()
    assert np.array_equal(analyst.submit("twice", x=x, flag=False).wait(timeout=PATIENCE)["x"], x)
    made = analyst.submit_many("twice", {"x": np.stack([x, 2 * x]), "flag": [True, False]})
    assert made == mg.Submitted(2, ())


def test_an_event_loop_goes_on(member: mg.Service, trial: pathlib.Path) -> None:
    async def all_at_once() -> None:
        async with mg.service(trial / "analyst.toml", client="analyst") as analyst:
            last = 0
            batches = analyst.outputs("few", timeout=0.3)
            try:
                async for batch, _, _ in batches:
                    last = batch
            except mg.ServiceTimeout:
                assert batches.after == last
            made = await asyncio.gather(*(member.submit_async("few", age=age, client=f"c{age}") for age in (5, 50, 79)))
            outputs = await asyncio.gather(*(one.wait_async(timeout=PATIENCE) for one in made))
            assert {one.batch for one in outputs} == {last + 1}
            assert {one.state for one in await made[0].status_async()} == {"counted"}
            async for batch, given, _ in analyst.outputs("few", after=last):
                assert (batch, given["below"].tolist()) == (last + 1, [1, 1, 2, 3])
                break
            task = asyncio.create_task(analyst.outputs("few", after=last + 1).__anext__())
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert len(await analyst.kinds_async()) == 4

    asyncio.run(all_at_once())


def test_what_does_not_fit_is_told_before_anything_is_sent(member: mg.Service, analyst: mg.Service) -> None:
    for values, error, words in [
        ({"age": [1, 2]}, ValueError, r"age has shape \[2\]; kind 'few' takes u32\[1\]"), ({"age": [[1]]}, ValueError, "shape"), ({"age": -1}, ValueError, "age: .*from 0 to"),
        ({"age": 1.5}, ValueError, "whole numbers"), ({"age": 2**32}, ValueError, "from 0 to"), ({}, TypeError, r"needs age=...: u32\[1\]"),
        ({"age": 1, "pay": 2}, TypeError, "no input 'pay'; it has age"),
    ]:
        with pytest.raises(error, match=words):
            member.submit("few", values)
    with pytest.raises(mg.ServiceError, match="no kind `agse`; they have `ages`") as caught:
        member.submit("agse", age=1)
    assert caught.value.status == 2 and caught.value.server is None
    with pytest.raises(mg.ServiceError, match="of requests"):
        member.submit("login", age=1)
    for many, words in [({"age": 3}, "first axis"), ({"age": [[1, 2], [3, 4]]}, "of each submission")]:
        with pytest.raises(ValueError, match=words):
            member.submit_many("few", many)
    with pytest.raises(ValueError, match="as many to all"):
        analyst.submit_many("twice", {"x": np.zeros((2, 2, 3)), "flag": [True]})
    with pytest.raises(ValueError, match="2 clients for 1 submissions"):
        member.submit_many("few", {"age": [1]}, clients=["a", "b"])
    with pytest.raises(ValueError, match=r"clients\[1\] is no name"):
        member.submit_many("few", {"age": [1, 2]}, clients=["a", "b c"])
    assert member.submit_many("few", {"age": np.empty((0, 1))}) == mg.Submitted(0, ())
    with pytest.raises(TypeError, match="numpy.uint8"):
        member.requests("login", np.zeros((1, 16)))
    with pytest.raises(ValueError, match=r"\(n, 16\)"):
        member.requests("login", np.zeros((16, 1), np.uint8))
    with pytest.raises(mg.ServiceError, match="is of submissions"):
        member.requests("few", np.zeros((1, 16), np.uint8))
    with pytest.raises(mg.ServiceError, match="no receipt of a submission"):
        member.submission(b"{}")


def test_failures_among_many_have_their_places(member: mg.Service, analyst: mg.Service) -> None:
    # Servers know the analyst by a token, which this client does not have.
    made = member.submit_many("few", {"age": [1, 2, 3, 4]}, clients=["a", "analyst", "c", "d"])
    assert made.accepted == 3
    ((place, error),) = made.failures
    assert place == 1 and isinstance(error, mg.ServiceError) and error.server is not None and error.server in str(error) and error.status == 5


def test_a_submission_goes_on_after_a_server_was_away(through: tuple[pathlib.Path, Proxy], tmp_path: pathlib.Path) -> None:
    file, proxy = through
    pending, receipt = tmp_path / "ages.pending", tmp_path / "ages.receipt"
    with mg.service(file, client="dora", timeout=0.5) as svc:
        svc.kinds()
        proxy.away()
        began = time.monotonic()
        with pytest.raises(mg.ServiceError, match="server 2 `server2`.*(again|check)") as caught:
            svc.submit("few", age=31, pending=pending, receipt=receipt)
        assert time.monotonic() - began < 10
        assert (caught.value.server, caught.value.status) == ("server2", 4)
        assert not receipt.exists() and pending.stat().st_mode & 0o777 == 0o600
        begun = json.loads(pending.read_text())["submission"]
    # Another process, as it were, in which all servers are there.
    proxy.up()
    with mg.service(file, client="dora", timeout=20) as svc:
        with pytest.raises(mg.ServiceError, match="other content") as other:
            svc.submit("few", age=32, pending=pending, receipt=receipt)
        assert other.value.status == 3
        submission = svc.submit("few", age=31, pending=pending, receipt=receipt)
        assert submission.id == begun and receipt.exists() and not pending.exists()
        svc.submit_many("few", {"age": [1, 2]})
        assert submission.wait(timeout=PATIENCE).receipt.submissions == 3


def test_a_service_that_is_away_says_which_server(through: tuple[pathlib.Path, Proxy]) -> None:
    file, proxy = through
    proxy.away()
    with mg.service(file, timeout=0.2) as svc:
        with pytest.raises(mg.ServiceError, match="server 2 `server2`: .*cannot be reached") as caught:
            svc.kinds()
        assert (caught.value.server, caught.value.status) == ("server2", 4)
        proxy.up()
        assert len(svc.kinds()) == 4


def test_requests_are_answered_in_their_order(member: mg.Service) -> None:
    blocks = np.random.default_rng(3).integers(0, 256, (300, 16), dtype=np.uint8)
    one = member.requests("login", blocks)
    assert one.shape == (300, 16) and one.dtype == np.uint8
    assert len({bytes(block) for block in one}) == 300 and not np.any(np.all(one == blocks, axis=1))
    order = np.random.default_rng(4).permutation(300)
    assert np.array_equal(asyncio.run(member.requests_async("login", blocks[order])), one[order])
    assert member.requests("login", blocks[:0]).shape == (0, 16)


def test_interrupts_and_closing_end_waiting(member: mg.Service, analyst: mg.Service) -> None:
    analyst.kinds()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        next(iter(analyst.outputs("few", after=10**6)))
    assert time.monotonic() - began < 1.3
    timer.join()
    failed: list[BaseException] = []

    def wait() -> None:
        try:
            next(iter(analyst.outputs("few", after=10**6)))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.2)
    analyst.close()
    thread.join(timeout=5)
    assert not thread.is_alive() and isinstance(failed[0], mg.ServiceError) and "closed" in str(failed[0])
    with pytest.raises(mg.ServiceError, match="closed"):
        next(iter(analyst.outputs("few")))
    analyst.close()


def test_files_and_arguments_that_are_wrong(trial: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(mg.ServiceError, match="none.toml") as caught:
        mg.service(tmp_path / "none.toml")
    assert caught.value.status == 3
    (tmp_path / "wrong.toml").write_text("[[servers]]\nname = 3\n")
    with pytest.raises(mg.ServiceError, match="line 2"):
        mg.service(tmp_path / "wrong.toml")
    for wrong in ({"client": "a b"}, {"timeout": -1.0}, {"timeout": float("nan")}, {"connections": 0}):
        with pytest.raises(ValueError):
            mg.service(trial / "member.toml", **wrong)  # type: ignore[arg-type]
    with mg.service(trial / "member.toml") as svc:
        with pytest.raises(ValueError, match="after"):
            svc.outputs("few", after=-1)
        with pytest.raises(ValueError, match="at_once"):
            svc.submit_many("few", {"age": [1]}, at_once=0)
