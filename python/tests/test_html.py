"""Tables in notebooks: they are whole, and nothing of a name is read as HTML."""

from __future__ import annotations

import html.parser
import pathlib
import shutil
from typing import Any

import numpy as np
import pytest

import madrigal as mg
from madrigal import _html
from test_models import CONV, X

HOSTILE = "<script>alert('x')</script>\"&\u202e"


class Reader(html.parser.HTMLParser):
    """Reads a page's elements and text, and refuses what no table of ours has."""

    ALLOWED = {
        "div", "table", "thead", "tbody", "tr", "th", "td", "p", "ul", "li", "details", "summary", "pre", "progress",
    }

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.ALLOWED, tag
        assert all(name in ("style", "max", "value") for name, _ in attrs), attrs
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@mg.program(parties=3)
def gap(p: mg.Builder) -> None:
    pay = p.input("pay", owner=0, shape=("n",), dtype=mg.fixed(64, 16))
    rate = p.input("rate", owner=mg.client("ada"), shape=("n",), dtype=mg.fixed(64, 16))
    p.require(np.all(pay > 0), "positive")
    p.reveal("total", np.sum(pay * rate))
    p.reveal("most", np.max(pay), to=2)
    p.reveal("least", np.min(rate), to=mg.client("press"))


def test_who_sees_what_follows_from_the_program() -> None:
    sees = gap.who_sees()
    assert sees.who == ["party 0", "party 1", "party 2", "client ada", "client press"]
    kinds = {
        "input pay": "own no no no no",
        "input rate": "no no no own no",
        "output total": "yes yes yes no no",
        "output most": "no no yes no no",
        "output least": "no no no no yes",
        "what is computed on the way": "no no no no no",
    }
    for what, expected in kinds.items():
        assert list(sees[what].values()) == expected.split(), what
    met = next(what for what, _ in sees.rows if "positive" in what)
    assert list(dict(zip(sees.who, (cell.kind for cell in dict(sees.rows)[met]))).values()) == ["yes"] * 3 + ["no"] * 2
    assert "all 2 others together" in sees.notes[0]
    assert "no two of the three" in gap.who_sees(protocol="R").notes[0]
    with pytest.raises(KeyError):
        sees["other"]
    # With lengths there are types.
    assert gap.who_sees(n=4).rows[1][0] == "input pay: Fixed<i64, 16>[4]"
    text = str(sees)
    assert "| input pay" in text and "brings it" in text and "- Lengths, directions and times" in text
    page = Reader(sees._repr_html_())
    assert len(page.rows) == len(sees.rows) + 1 and page.rows[0] == ["", *sees.who]


def test_runs_tell_who_saw_what() -> None:
    @mg.program(parties=2)
    def product(p: mg.Builder) -> None:
        p.reveal("product", p.input("x", owner=0) * p.input("y", owner=1), to=0)

    saw = product.run_local(x=2.0, y=3.0).who_saw
    assert saw["output product"] == {"party 0": "yes", "party 1": "no"}
    assert any("one process on one machine" in note for note in saw.notes)
    assert any("TCP without encryption" in note for note in saw.notes)
    network = mg.infer(CONV, X, parties=3).who_saw
    assert network["data"] == {"party 0: model": "no", "party 1: data": "own", "party 2": "no"}
    assert network["results"] == {"party 0: model": "no", "party 1: data": "yes", "party 2": "no"}
    assert Reader(network._repr_html_()).rows[0][1:] == network.who


def test_costs_and_results_are_tables() -> None:
    @mg.program(parties=2)
    def product(p: mg.Builder) -> None:
        x, y = p.input("x", owner=0, shape=("n",)), p.input("y", owner=1, shape=("n",))
        p.reveal("product", np.sum(x * y))

    explained = product.explain(n=10, network="wan")
    page = Reader(explained._repr_html_())
    assert ["phase", "time"] == page.rows[0][:2] and [row[0] for row in page.rows[1:3]] == ["setup", "online"]
    assert len(page.rows) == 4 + len(explained.figures["operations"]) and "network wan" in page.text
    page = Reader(product.run_local(x=[1.0, 2.0], y=[3.0, 4.0])._repr_html_())
    assert page.rows[1] == ["product", "float64", "11."] and page.rows[3][:2] == ["party 0", "setup"]
    # Figures of a form that is not known are shown as text.
    assert Reader(mg.Explanation("a < b", {"other": 1})._repr_html_()).text == "a < b"


def test_answers_on_networks_are_tables() -> None:
    model = mg.load_model(CONV)
    info, compared, calibrated = model.check(), model.compare(X), model.calibrate(X)
    mixes, layers = model.explain(), model.explain(protocol="A+B")
    for one in (info, compared, calibrated, mixes, layers, mg.infer(CONV, X)):
        assert len(Reader(one._repr_html_()).rows) > 2
        assert "<pre>" not in one._repr_html_()
    assert any("Conv" in cell for row in Reader(layers._repr_html_()).rows for cell in row)
    assert any("chosen" in row for row in Reader(calibrated._repr_html_()).rows)


def test_nothing_of_a_name_is_read_as_html(tmp_path: pathlib.Path) -> None:
    @mg.program(parties=2, name=HOSTILE)
    def program(p: mg.Builder) -> None:
        x = p.input(HOSTILE, owner=mg.client("ada"))
        p.require(x > 0, HOSTILE)
        p.reveal(HOSTILE, x * p.input("y", owner=1))

    given: dict[str, Any] = {HOSTILE: 2.0, "y": 3.0}
    folder = tmp_path / "<script>"
    folder.mkdir()
    shutil.copy(CONV, folder / "<b onclick=a()>.onnx")
    model = mg.load_model(folder / "<b onclick=a()>.onnx")
    pages = [
        program.who_sees(),
        program.explain(),
        program.run_local(**given),
        program.run_local(**given).who_saw,
        mg.Explanation(HOSTILE, {}),
        model.explain(),
        model.infer(X),
        model.infer(X).who_saw,
    ]
    for page in pages:
        text = page._repr_html_()
        assert "<script" not in text and "<b " not in text and "\u202e" not in text
        Reader(text)
    assert HOSTILE[:8] in Reader(program.who_sees()._repr_html_()).text
    assert "\u202e" not in str(program.who_sees())


def test_cells_are_short_and_escaped() -> None:
    assert _html.escape("<a href='b'>\n\x1b") == "&lt;a href=&#x27;b&#x27;&gt;\ufffd\ufffd"
    assert len(_html.plain("x" * 10_000)) == 201
    assert [_html.size(value) for value in (0, 1023, 1024, 5 << 20)] == ["0 B", "1023 B", "1.00 KiB", "5.00 MiB"]
    assert [_html.seconds(value) for value in (2e-6, 0.0123, 0.5, 2.0, 6000)] == ["2 µs", "12.30 ms", "500 ms", "2.00 s", "100 min"]
    made = _html.text_table(["a", "b"], [["x\ny", _html.Cell("own", "z")]])
    assert made.splitlines() == ["| a   | b |", "|-----|---|", "| x\ufffdy | z |"]
