"""The program ``madrigal`` as the package brings it: in an interpreter, with a process of its own for each party."""

from __future__ import annotations

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).parents[2]


def started(*words: str) -> subprocess.Popen[str]:
    import madrigal

    folder = str(pathlib.Path(madrigal.__file__).parents[1])
    paths = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", "madrigal", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths},
    )


def done(*words: str) -> tuple[int, str, str]:
    process = started(*words)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def test_it_is_the_same_program() -> None:
    import madrigal as mg

    assert done("--version") == (0, f"madrigal {mg.__version__}\n", "")
    status, out, err = done("run", "--circuit", "nowhere.txt", "--local", "2")
    assert (status, out) == (3, "") and err.startswith("madrigal: ") and "nowhere.txt" in err
    status, _, err = done("rum")
    assert status == 2 and "unrecognized subcommand" in err


def test_its_parties_are_processes(tmp_path: pathlib.Path) -> None:
    (tmp_path / "key").write_text("2b7e151628aed2a6abf7158809cf4f3c\n")
    (tmp_path / "text").write_bytes(bytes.fromhex("6bc1bee22e409f96e93d7e117393172a"))
    status, _, err = done(
        "demo", "aes-ctr", "--key", str(tmp_path / "key"), "--file", str(tmp_path / "text"),
        "--iv", "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "--out", str(tmp_path / "out"), "--transport", "tls",
    )
    assert status == 0, err
    # NIST SP 800-38A, F.5.1.
    assert (tmp_path / "out").read_bytes().hex() == "874d6191b620e3261bef6864990db6ce"


def test_it_ends_by_a_signal_as_shells_expect() -> None:
    process = started("demo", "aes-ctr", "--file", str(ROOT / "examples/data/pi.txt"), "--network", "10s")
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert time.monotonic() - began < 15 and re.search("stopped|SIGINT", err), err
