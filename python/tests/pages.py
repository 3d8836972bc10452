"""Pages of Markdown whose blocks keep their word: they are run in order, in one folder, as a reader would."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

import madrigal

ROOT = pathlib.Path(__file__).parents[2]
#: Folder that the package comes from: the repository's, or where it is installed.
PACKAGE = pathlib.Path(madrigal.__file__).parents[1]
PROGRAM = pathlib.Path(os.environ.get("MADRIGAL") or ROOT / "target/debug/madrigal")

#: How a line begins that says why the block below it is not run.
EXCUSE = "*Not run by the tests: "
#: Languages of blocks that are for the eye.
SHOWN = {"text", "toml", "{toctree}"}
#: Line of a server's log that says that clients can come.
LISTENS = "listening"
#: Seconds that a server has to listen, and to end: jobs have 30 of these.
PATIENCE = 45


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the word after that, its text, and the line of the page where its text begins.

    ``python`` is run in the page's namespace, as cells of a notebook are; ``python NAME.py`` is a file of the reader's. ``sh`` is
    run by bash, and neighbours ``sh party-I`` at the same time. ``sh service`` goes on beside the blocks below it, until the page's end.
    """

    language: str
    word: str
    text: str
    line: int
    excused: bool


def blocks(text: str) -> list[Block]:
    """The blocks of a page.

    Raises:
        ValueError: a block that is not closed, or of which it is not clear whether it is run.
    """
    found: list[Block] = []
    opened: tuple[str, int] | None = None
    lines = text.split("\n")
    before = ""
    for number, line in enumerate(lines, 1):
        fence = re.match(r"```(.*)$", line)
        if fence and opened is None:
            opened = fence[1].strip(), number
        elif fence and opened is not None:
            info, start = opened
            language, _, word = info.partition(" ")
            if language not in {"python", "sh", "rust"} | SHOWN:
                raise ValueError(f"line {start}: a block of {language!r} is neither run nor shown: is it text?")
            if word and not re.fullmatch(r"party-\d|service" if language == "sh" else r"\w+\.py", word):
                raise ValueError(f"line {start}: {info!r}?")
            excused = before.startswith(EXCUSE) and before.endswith(".*")
            found.append(Block(language, word, "\n".join(lines[start : number - 1]) + "\n", start + 1, excused))
            opened, before = None, ""
        elif opened is None and line.strip():
            before = line.strip()
    if opened is not None:
        raise ValueError(f"line {opened[1]}: a block is not closed")
    return found


def with_free_ports(text: str) -> str:
    """The page with ports that are free here in place of 7700 to 7709, which may be taken."""
    for ten in range(1500 + os.getpid() % 500, 2500):
        with contextlib.ExitStack() as sockets:
            try:
                for last in range(10):
                    sockets.enter_context(socket.socket()).bind(("127.0.0.1", 10 * ten + last))
            except OSError:
                continue
        return text.replace("127.0.0.1:770", f"127.0.0.1:{ten}")
    raise OSError("no ten free ports in a row from 15000 on")


class Reader:
    """Somebody who reads a page in a folder with the repository's examples, and does what it says."""

    def __init__(self, page: pathlib.Path, folder: pathlib.Path) -> None:
        self.page, self.folder = page, folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.services: list[tuple[Block, subprocess.Popen[bytes], pathlib.Path]] = []
        (folder / "examples").symlink_to(ROOT / "examples")
        (folder / "bin").mkdir()
        (folder / "bin/madrigal").symlink_to(PROGRAM)
        (folder / "bin/python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (folder / "bin/python").chmod(0o755)
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "PYTHONPATH": str(PACKAGE)}

    def read(self) -> int:
        """Runs all blocks; gives how many."""
        try:
            count = self.run()
            self.end_services()
        finally:
            for _, process, _ in self.services:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        return count

    def run(self) -> int:
        left = [block for block in blocks(with_free_ports(self.page.read_text())) if block.language in {"python", "sh"} and not block.excused]
        count = len(left)
        while left:
            together = 1
            if left[0].word.startswith("party-"):
                # The number 0 begins a new run.
                while together < len(left) and left[together].word.startswith("party-") and left[together].word != "party-0":
                    together += 1
            now, left = left[:together], left[together:]
            if now[0].word == "service":
                self.serve(now[0])
            elif now[0].language == "sh":
                self.shell(now)
            elif now[0].word:
                (self.folder / now[0].word).write_text(now[0].text)
            else:
                self.python(now[0])
        return count

    def shell(self, together: list[Block]) -> None:
        # A pipeline that is to fail (`! command`) ends no script by itself.
        script = [re.sub(r"^! (.*)$", r"if \1; then exit 99; fi", block.text, flags=re.M) for block in together]
        started = [
            subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", text], cwd=self.folder, env=self.environment, text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )
            for text in script
        ]
        failed = []
        try:
            for block, process in zip(together, started):
                told, _ = process.communicate(timeout=120)
                if process.returncode:
                    failed.append(f"{self.page}:{block.line} ended with {process.returncode}:\n{block.text}\n{told}")
        finally:
            for process in started:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        assert not failed, "\n".join(failed)

    def serve(self, block: Block) -> None:
        log = self.folder / f"service-{len(self.services)}.log"
        with log.open("wb") as told:
            process = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", block.text], cwd=self.folder, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=told, stderr=subprocess.STDOUT, start_new_session=True,
            )
        self.services.append((block, process, log))
        until = time.monotonic() + PATIENCE
        while LISTENS not in log.read_text():
            up = process.poll() is None and time.monotonic() < until
            assert up, f"{self.page}:{block.line} does not listen:\n{block.text}\n{log.read_text()}"
            time.sleep(0.05)

    def end_services(self) -> None:
        """Ends the services, as their operators would; all have to say that it went well."""
        for _, process, _ in self.services:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        failed = []
        for block, process, log in self.services:
            if process.wait(timeout=PATIENCE):
                failed.append(f"{self.page}:{block.line} ended with {process.returncode}:\n{block.text}\n{log.read_text()}")
        assert not failed, "\n".join(failed)

    def python(self, block: Block) -> None:
        # Tracebacks, and errors about secrets, name the page and its line.
        source = "\n" * (block.line - 1) + block.text
        code = compile(source, str(self.page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        made = eval(code, self.names)  # noqa: S307
        if inspect.iscoroutine(made):
            asyncio.run(made)
