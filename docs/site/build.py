"""Builds the site of the repository's pages into a folder: no network, no page or script of elsewhere, no link that leads nowhere.

``cargo xtask site`` runs it. The pages stay what they are, files to be read in the repository: here they get what a site needs.
"""

from __future__ import annotations

import html.parser
import json
import pathlib
import re
import shutil
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: Pages of the repository; those of this folder are the site's own, and stand at its top.
PAGES = ["*.md", "docs/*.md", "docs/guide/*.md", "crates/*/README.md", "python/README.md", "schema/*.md", "examples/notebooks/*.md"]
NOTEBOOKS = "examples/notebooks/*.ipynb"


def pieces(text: str) -> list[str]:
    """A page cut at its fenced blocks: prose, block, prose, ..."""
    return re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)


def linked(prose: str, page: pathlib.Path, pages: set[pathlib.Path]) -> tuple[str, list[pathlib.Path]]:
    """Prose whose links lead to pages of the site, or to files that are put beside them; and these files."""
    files: list[pathlib.Path] = []

    def link(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        if ":" in target or not target:
            return found[0]
        path = (ROOT / page.parent / target).resolve().relative_to(ROOT)
        if path.with_suffix(".md") in pages and path.suffix == ".ipynb":
            return f"[{text}]({target.removesuffix('.ipynb')}.md{anchor})"
        if path not in pages and (ROOT / path).is_file():
            files.append(path)
        # A folder is no page: what it is called stays.
        return text if (ROOT / path).is_dir() else found[0]

    return re.sub(r"\[([^][]*(?:\[[^][]*\][^][]*)*)\]\(([^)\s#]*)(#[^)\s]*)?\)", link, prose), files


def notebook(path: pathlib.Path) -> str:
    """A notebook as a page: its text and code, and the way to the file."""
    cells = json.loads((ROOT / path).read_text())["cells"]
    parts = ["".join(cell["source"]) if cell["cell_type"] == "markdown" else f"```python\n{''.join(cell['source'])}\n```" for cell in cells]
    title, rest = parts[0].split("\n", 1)
    return "\n\n".join([f"{title}\n\n*A [notebook]({path.name}) of `{path.parent}`.*\n{rest}", *parts[1:]]) + "\n"


def shown(block: str) -> str:
    """A block as readers want it: without the lines of Rust that rustdoc hides."""
    return re.sub(r"^# .*\n|^#\n", "", block, flags=re.M) if block.startswith("```rust\n") else block


def gather(source: pathlib.Path) -> None:
    """Puts all pages into a folder, at their places."""
    found = {path.relative_to(ROOT) for pattern in PAGES for path in ROOT.glob(pattern)}
    books = {path.relative_to(ROOT) for path in ROOT.glob(NOTEBOOKS)}
    pages = found | {path.with_suffix(".md") for path in books}
    texts = {page: (ROOT / page).read_text() for page in found}
    for page, text in texts.items():
        made = []
        for at, piece in enumerate(pieces(text)):
            prose, files = linked(piece, page, pages) if at % 2 == 0 else (shown(piece), [])
            made.append(prose)
            for file in files:
                (source / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, source / file)
        write(source / page, "".join(made))
    for book in books:
        write(source / book.with_suffix(".md"), notebook(book))
        shutil.copy(ROOT / book, source / book)
    for page in HERE.glob("*.md"):
        shutil.copy(page, source / page.name)


def write(path: pathlib.Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class Page(html.parser.HTMLParser):
    """Links of a page, and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if tag in {"script", "img", "iframe", "source", "video", "audio"} and values.get("src"):
            self.loaded.append(values["src"] or "")
        elif tag == "link" and values.get("href"):
            self.loaded.append(values["href"] or "")
        elif tag == "a" and values.get("href"):
            self.links.append(values["href"] or "")


def faults(site: pathlib.Path) -> list[str]:
    """What pages load from elsewhere, and links to files that are not there."""
    wrong = []
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site)
        if name.parts[0] == "rust":
            continue
        page = Page()
        page.feed(path.read_text())
        wrong += [f"{name} loads {url}" for url in page.loaded if re.match(r"\w+:|//", url) and not url.startswith("data:")]
        for url in page.links + page.loaded:
            target = urllib.parse.unquote(urllib.parse.urlsplit(url).path)
            if not re.match(r"\w+:|//", url) and target and not (path.parent / target).exists():
                wrong.append(f"{name} leads to {url}, which is not there")
    for path in site.rglob("*.css"):
        wrong += [f"{path.relative_to(site)} loads {url}" for url in re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)", path.read_text())]
    return wrong


def main(target: pathlib.Path, rust: pathlib.Path) -> int:
    """Builds the site in a folder, with the pages that rustdoc has made; gives the exit status."""
    from sphinx.cmd.build import build_main

    source, site = target / "source", target / "html"
    for folder in (source, site):
        shutil.rmtree(folder, ignore_errors=True)
    gather(source)
    shutil.copytree(rust, site / "rust", ignore=shutil.ignore_patterns(".lock"))
    words = ["-b", "html", "-c", str(HERE), "-d", str(target / "trees"), "-q", "-E", "--fail-on-warning", "--keep-going", "-j", "2"]
    if status := build_main([*words, str(source), str(site)]):
        return status
    if wrong := faults(site):
        print("the site is not whole:", *wrong, sep="\n  ", file=sys.stderr)
        return 1
    print(f"the site: {site / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
