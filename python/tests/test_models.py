"""Trained networks: what Python gives is what the command line gives, and what cannot be is an exception with its status."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import madrigal as mg
from test_parties import PROGRAM, gap, party, roster  # noqa: F401  (a fixture)

ROOT = pathlib.Path(__file__).parents[2]
#: Conv, Relu, MaxPool, Flatten on two maps of 6 x 6; the batch has no fixed size.
CONV = ROOT / "fuzz/seeds/onnx/conv.onnx"
TRIALS = ROOT / "crates/cli/tests/trials"
X = (np.arange(2 * 2 * 6 * 6, dtype=np.float32).reshape(2, 2, 6, 6) - 70) / 64

needs_program = pytest.mark.skipif(not os.path.exists(PROGRAM), reason="the program madrigal is not built")


def command(folder: pathlib.Path, *words: object) -> str:
    done = subprocess.run([PROGRAM, *map(str, words)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_program
@pytest.mark.parametrize(
    "parties, protocol, more",
    [
        (2, None, {}),
        (2, "A+Y2", {"numbers": (32, 10)}),
        (3, "R", {"public_model": True}),
        (3, "A+B", {"check_range": True, "to": "all", "transport": "memory"}),
    ],
)
def test_results_are_those_of_the_command_line(
    tmp_path: pathlib.Path, parties: int, protocol: str | None, more: dict[str, Any]
) -> None:
    np.save(tmp_path / "x.npy", X)
    words = ["--numbers=32.10"] if "numbers" in more else []
    words += [f"--{name.replace('_', '-')}" for name in ("public_model", "check_range") if name in more]
    words += ["--to=all", "--transport=memory"] if "to" in more else []
    words += [f"--protocol={protocol}"] if protocol else []
    told = command(
        tmp_path, "infer", "--model", CONV, "--local", parties, "--input", "x.npy", *words, "-o", "y.npy", "--stats", "s.json", "-q"
    )
    assert told == ""
    expected, stats = np.load(tmp_path / "y.npy"), json.loads((tmp_path / "s.json").read_text())
    found = mg.infer(CONV, X, parties=parties, protocol=protocol, **more)
    assert found.result.dtype == expected.dtype and np.array_equal(found.result, expected)
    for name in ("protocol", "protocol_chosen", "numbers", "batch", "parameters", "multiplications", "correlations", "transport"):
        assert found.stats[name] == stats[name], name
    for ours, theirs in zip(found.stats["parties"], stats["parties"]):
        for phase in ("setup", "online"):
            for count in ("bytes_sent", "bytes_received", "messages", "rounds"):
                assert ours[phase][count] == theirs[phase][count], (phase, count)
    # A file, a path in a list and a mapping are the same data.
    for data in (tmp_path / "x.npy", [str(tmp_path / "x.npy")], {"x": X}, (X,), X.astype(np.float64)):
        assert np.array_equal(mg.infer(CONV, data, parties=parties, protocol=protocol, **more).result, expected)


def test_a_model_tells_its_inputs_and_what_it_consists_of() -> None:
    model = mg.load_model(CONV)
    assert list(model.inputs) == ["x"] and model.inputs["x"] is not None and model.inputs["x"][1:] == (2, 6, 6)
    info = model.check(batch=5)
    assert info.figures["inputs"] == [{"name": "x", "element": "float32", "shape": [5, 2, 6, 6]}]
    assert info.figures["multiplications"] == 5 * 2 * 36 * 2 * 9 and "1 Conv" in info.text
    assert model.opset == info.figures["opset"]


@needs_program
def test_answers_are_those_of_the_command_line(tmp_path: pathlib.Path) -> None:
    np.save(tmp_path / "x.npy", X)
    model = mg.load_model(CONV)
    told = command(tmp_path, "model", "compare", CONV, "--input", "x.npy", "--numbers", "32.10", "--json")
    compared = model.compare(X, numbers=mg.fixed(32, 10))
    assert compared.figures == json.loads(told) and compared.overflows == []
    told = command(tmp_path, "model", "calibrate", CONV, "--input", "x.npy", "--spare", 6, "--output", "m.onnx", "--json")
    calibrated = model.calibrate(X, spare=6, output=tmp_path / "n.onnx")
    assert calibrated.figures == json.loads(told)
    assert (tmp_path / "m.onnx").read_bytes() == (tmp_path / "n.onnx").read_bytes()
    again = mg.infer(tmp_path / "n.onnx", X)
    assert calibrated.chosen == "{}.{}".format(*again.stats["numbers"])
    told = command(tmp_path, "model", "explain", CONV, "-N", 3, "--network", "wan", "--batch", 2, "--json")
    explained, expected = model.explain(parties=3, network="wan", batch=2), json.loads(told)
    assert explained.chosen == expected["chosen"] == explained.mixes[0]["protocol"]
    ours = {one["protocol"]: (one["setup"]["bytes_sent"], one["online"]["bytes_sent"]) for one in explained.mixes}
    theirs = {one["protocol"]: (one["setup"]["bytes_sent"], one["online"]["bytes_sent"]) for one in expected["mixes"]}
    assert ours == theirs
    one = model.explain(protocol="A+B", batch=2)
    assert one.chosen is None and len(one.mixes) == 1 and "Conv" in one.text


def test_several_inputs_are_named_or_in_order() -> None:
    folder = TRIALS / "two_named_first_dims"
    right = json.loads((folder / "expected.json").read_text())["right"]["y"]
    expected = np.array(right["values"]).reshape(right["shape"])
    model = mg.load_model(folder / "model.onnx")
    first, second = (np.load(folder / f"in{at}.npy") for at in range(2))
    names = list(model.inputs)
    for data in ((first, second), {names[1]: second, names[0]: first}):
        np.testing.assert_allclose(model.infer(data).result, expected, atol=2e-3)
    with pytest.raises(TypeError, match="no data for"):
        model.infer({names[0]: first})
    with pytest.raises(TypeError, match="no input 'other'"):
        model.infer({"other": first})
    with pytest.raises(mg.RunError, match="one for each input"):
        model.infer(first)


def test_sizes_that_a_model_leaves_open_are_given() -> None:
    model = mg.load_model(TRIALS / "dyn_hw_cnn/model.onnx")
    with pytest.raises(mg.RunError, match='dimension 2 ."H"') as caught:
        model.check()
    assert caught.value.status == 3
    assert model.check(dims={"H": 6, "W": 6}).figures["inputs"][0]["shape"][2:] == [6, 6]
    x = np.load(TRIALS / "dyn_hw_cnn/in0.npy")
    np.testing.assert_allclose(model.infer(x).result.ravel(), [0.749891, 0.79123], atol=2e-3)


@pytest.mark.parametrize(
    "call, words, status",
    [
        (lambda: mg.load_model("no/such/file.onnx"), "no/such/file.onnx", 3),
        (lambda: mg.load_model(__file__), "test_models.py", 3),
        (lambda: mg.infer(TRIALS / "lstm/model.onnx", X), "LSTM", 3),
        (lambda: mg.infer(CONV, X[:, :1]), "x", 3),
        (lambda: mg.infer(CONV, X * 1e9, numbers=(32, 10)), "32.10", 3),
        (lambda: mg.infer(CONV, X, to=5), "party 5", 2),
        (lambda: mg.infer(CONV, X, network="fast"), "network", 2),
        (lambda: mg.load_model(CONV).compare(X, plot=CONV), "conv.onnx", 2),
    ],
)
def test_what_cannot_be_is_an_exception_with_its_status(call: Any, words: str, status: int) -> None:
    with pytest.raises(mg.RunError) as caught:
        call()
    assert words in str(caught.value) and caught.value.status == status, (caught.value, caught.value.status)


@pytest.mark.parametrize(
    "how, words",
    [({"protocol": "A+Q"}, "A+Q"), ({"numbers": "33.1"}, "16, 32, 64 or 128"), ({"threads": 0}, "threads"), ({"parties": 1}, "2 to 64")],
)
def test_arguments_that_are_none_are_told(how: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match="error") as caught:
        mg.infer(CONV, X, **how)
    assert words in str(caught.value)
    with pytest.raises(TypeError, match="numbers"):
        mg.infer(CONV, np.array(["a"]))
    with pytest.raises(TypeError, match="fixed point"):
        mg.infer(CONV, X, numbers=mg.int32)


def test_data_out_of_the_calibrated_range_is_refused_and_not_told(tmp_path: pathlib.Path) -> None:
    mg.load_model(CONV).calibrate(X, output=tmp_path / "m.onnx")
    secret = 123456.7
    with pytest.raises(mg.RunError, match="calibrated|not among") as caught:
        mg.infer(tmp_path / "m.onnx", np.full_like(X, secret))
    assert "123456" not in str(caught.value)


def test_a_page_tells_of_the_run(tmp_path: pathlib.Path) -> None:
    mg.infer(CONV, X, report=tmp_path / "run.html")
    assert "did not see it" in (tmp_path / "run.html").read_text()


def test_one_party_of_several(roster: pathlib.Path) -> None:  # noqa: F811
    expected = mg.infer(CONV, X).result
    mg.load_model(CONV).strip(roster / "bare.onnx")
    with ThreadPoolExecutor() as pool:
        one = pool.submit(party(roster, 0).infer, CONV, batch=2)
        two = pool.submit(party(roster, 1).run, mg.load_model(roster / "bare.onnx"), data=X)
        owner, receiver = one.result(), two.result()
    assert dict(owner) == {} and np.array_equal(receiver["y"], expected)
    with pytest.raises(ValueError, match="none here"):
        owner.result
    assert owner.who_saw["data"] == {"party 0: model": "no", "party 1: data": "own"}
    assert receiver.who_saw["weights (36 numbers)"]["party 1: data"] == "no"
    assert receiver.stats["transport"] == "tls"
    with pytest.raises(TypeError, match="how many inputs"):
        party(roster, 0).infer(CONV)


def test_networks_and_programs_share_a_session(roster: pathlib.Path) -> None:  # noqa: F811
    with ThreadPoolExecutor() as pool, party(roster, 0) as ada, party(roster, 1) as ben:
        for _ in range(2):
            one = pool.submit(ada.run, gap, pay=[1.5, 2.0, -4.0])
            assert ben.run(gap, rate=[2.0, 4.0, 0.5])["total"] == one.result()["total"] == 9.0
            seen: list[mg.Progress] = []
            one = pool.submit(ada.infer, CONV, batch=2, protocol="A+B")
            two = asyncio.run(ben.infer_async(CONV, X, protocol="A+B", progress=seen.append))
            assert dict(one.result()) == {} and two.result.shape == (2, 18)
            assert seen and seen[-1].phase == "online" and seen[-1].fraction == 1.0
        # What one party's model is refused for, ends nothing.
        with pytest.raises(mg.RunError, match="LSTM") as caught:
            ada.infer(TRIALS / "lstm/model.onnx", batch=2)
        assert caught.value.status == 3
        one = pool.submit(ada.run, gap, pay=[1.0])
        assert ben.run(gap, rate=[2.0])["most"] == 1.0
        one.result()


def test_parties_that_differ_say_so(roster: pathlib.Path) -> None:  # noqa: F811
    with ThreadPoolExecutor() as pool:
        one = pool.submit(party(roster, 0).infer, CONV, batch=2, protocol="A+B")
        two = pool.submit(party(roster, 1).infer, CONV, X, protocol="A+B", numbers="32.10")
        for failed in (one, two):
            with pytest.raises(mg.RunError, match="numbers") as caught:
                failed.result()
            assert caught.value.status == 5


def test_other_threads_go_on_and_ctrl_c_ends_a_run() -> None:
    ticks = []
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(0.01):
            ticks.append(time.monotonic())

    other = threading.Thread(target=tick)
    other.start()
    threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            # Every message takes a second.
            mg.infer(CONV, X, network="2s,1Mbps", protocol="A+B")
        assert 0.9 < time.monotonic() - began < 2.5
    finally:
        ended.set()
        other.join()
    pauses = np.diff([one for one in ticks if one < began + 1.0])
    assert len(pauses) > 30 and pauses.max() < 0.3
    # What comes after is not hit.
    assert mg.infer(CONV, X).result.shape == (2, 18)


def test_ctrl_c_ends_what_sends_nothing() -> None:
    """No party is there to be told: whoever waits is let go."""
    many = np.tile(X, (30_000, 1, 1, 1))
    model = mg.load_model(CONV)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.compare(many)
    assert time.monotonic() - began < 2.0


SHARED = pathlib.Path(os.environ.get("MADRIGAL_SHARED") or ROOT.parent / "shared") / "data/models/minionn_mnist"


@pytest.mark.skipif(
    not SHARED.exists() and "MADRIGAL_REQUIRE_SHARED" not in os.environ, reason="the larger collection is not there"
)
def test_a_trained_network_keeps_its_answers() -> None:
    images, logits = np.load(SHARED / "images.npy")[:4], np.load(SHARED / "logits.npy")[:4]
    model = mg.load_model(SHARED / "minionn_mnist.onnx")
    found = model.infer(images, parties=3, protocol="R", transport="memory")
    np.testing.assert_allclose(found.result, logits, atol=0.05)
    assert np.array_equal(found.result.argmax(1), logits.argmax(1))
