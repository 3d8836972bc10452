"""The pages of docs/guide do what they say."""

from __future__ import annotations

import pathlib
import sys

import pytest

from pages import PROGRAM, ROOT, Reader, blocks

GUIDE = sorted((ROOT / "docs/guide").glob("*.md"))
#: Pages that `cargo xtask readme` and rustdoc run.
RUST = {"rust.md"}


@pytest.mark.parametrize("page", [page for page in GUIDE if page.name not in RUST], ids=lambda page: page.stem)
def test_a_page_does_what_it_says(page: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not PROGRAM.exists():
        pytest.skip("the program madrigal is not built")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    modules = set(sys.modules)
    try:
        assert Reader(page, tmp_path).read() > 0
    finally:
        # Files of the reader's are modules of this page alone.
        for name in set(sys.modules) - modules:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
                del sys.modules[name]


def test_what_is_not_run_says_why() -> None:
    for page in GUIDE:
        for block in blocks(page.read_text()):
            commands = any(line.startswith(("madrigal ", "python ", "cargo ", "pip ", "import ")) for line in block.text.splitlines())
            assert not (block.language == "text" and commands), f"{page}:{block.line}: commands that are not run"


def test_blocks_are_found() -> None:
    text = "a\n```sh\none\n```\n*Not run by the tests: it is slow.*\n\n```python\ntwo\n```\nb\n```sh party-1\nthree\n```\n```python x.py\n4\n```\n"
    assert [(block.language, block.word, block.text, block.line, block.excused) for block in blocks(text)] == [
        ("sh", "", "one\n", 3, False), ("python", "", "two\n", 8, True), ("sh", "party-1", "three\n", 12, False), ("python", "x.py", "4\n", 15, False),
    ]
    for wrong in ("```sh\none\n", "```sh quickly\none\n```\n", "```\none\n```\n", "```ruby\none\n```\n", "```python ../x.py\n```\n"):
        with pytest.raises(ValueError, match="line 1"):
            blocks(wrong)


@pytest.mark.parametrize("text", ["```sh\nfalse\n```\n", "```sh\n! true\n```\n", "```python\nassert 0\n```\n", "```sh party-0\ntrue\n```\n```sh party-1\nfalse\n```\n"])
def test_a_page_that_is_wrong_fails(text: str, tmp_path: pathlib.Path) -> None:
    page = tmp_path / "wrong.md"
    page.write_text(text)
    with pytest.raises(AssertionError):
        Reader(page, tmp_path).read()
