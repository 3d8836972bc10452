"""The pages of docs/guide, the one on services, and the site's first page, do what they say; what builds the site finds what is wrong with it."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from typing import Any

import pytest

from pages import PROGRAM, ROOT, Reader, blocks

GUIDE = [*sorted((ROOT / "docs/guide").glob("*.md")), ROOT / "docs/SERVICE.md", ROOT / "docs/INFERENCE.md", ROOT / "docs/site/index.md"]
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


def builder() -> Any:
    spec = importlib.util.spec_from_file_location("build", ROOT / "docs/site/build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_site_loads_nothing_and_leads_where_something_is(tmp_path: pathlib.Path) -> None:
    faults = builder().faults
    (tmp_path / "there.html").write_text('<a href="https://example.org/">elsewhere</a><a href="there.html#here">here</a><img src="data:,">')
    assert faults(tmp_path) == []
    for text, words in [
        ('<script src="https://example.org/x.js"></script>', "loads https"), ('<link rel="stylesheet" href="//example.org/x.css">', "loads //"),
        ('<a href="nowhere.html">x</a>', "leads to nowhere.html"), ('<img src="none.png">', "leads to none.png"),
    ]:
        (tmp_path / "wrong.html").write_text(text)
        assert words in faults(tmp_path)[0], text
    (tmp_path / "wrong.html").unlink()
    (tmp_path / "wrong.css").write_text("@import url(https://fonts.example.org/x);")
    assert "loads https" in faults(tmp_path)[0]


def test_pages_of_the_site_have_links_of_the_site() -> None:
    build = builder()
    page, pages = pathlib.Path("docs/guide/notebook.md"), {pathlib.Path(name) for name in ("README.md", "examples/notebooks/auction.md")}

    def linked(text: str) -> Any:
        return build.linked(text, page, pages)

    assert linked("[a](../../README.md#x) [b](https://example.org/c) [c](#d)")[0] == "[a](../../README.md#x) [b](https://example.org/c) [c](#d)"
    assert linked("[a](../../examples/notebooks/auction.ipynb)") == ("[a](../../examples/notebooks/auction.md)", [])
    assert linked("[schema](../../schema)") == ("schema", [])
    assert linked("[a](../../Cargo.toml)") == ("[a](../../Cargo.toml)", [pathlib.Path("Cargo.toml")])
    assert build.shown("```rust\n# fn main() {\nlet x;\n#\n# }\n```") == "```rust\nlet x;\n```"
    assert "*A [notebook](auction.ipynb)" in build.notebook(pathlib.Path("examples/notebooks/auction.ipynb"))


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


@pytest.mark.parametrize("text", ["```sh\nfalse\n```\n", "```sh\n! true\n```\n", "```python\nassert 0\n```\n", "```sh party-0\ntrue\n```\n```sh party-1\nfalse\n```\n",
                                  "```sh service\nfalse\n```\n", "```sh service\ntrap 'exit 3' TERM; echo listening; while true; do sleep 0.1; done\n```\n"])
def test_a_page_that_is_wrong_fails(text: str, tmp_path: pathlib.Path) -> None:
    page = tmp_path / "wrong.md"
    page.write_text(text)
    with pytest.raises(AssertionError):
        Reader(page, tmp_path).read()
