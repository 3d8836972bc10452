"""Tables as text and as HTML, for terminals and for notebooks. All that stands in them may come from others: it is escaped."""

from __future__ import annotations

import html
from typing import Iterable, NamedTuple, Sequence, Union

#: Styles of a table: borders and tints are half transparent, so that light and dark pages show through.
_TABLE = "border-collapse:collapse;margin:0.4em 0;color:inherit;background:transparent"
_LINE = "1px solid rgba(127,127,127,0.45)"
_CELL = f"border:{_LINE};padding:0.2em 0.6em;vertical-align:top;color:inherit;background:"
_TINTS = {"own": "rgba(64,128,255,0.22)", "yes": "rgba(255,160,0,0.22)", "no": "transparent"}

#: The most characters of a text in a cell.
_LONGEST = 200


class Cell(NamedTuple):
    """A cell with a tint: ``own``, ``yes`` or ``no``."""

    kind: str
    text: str


Content = Union[str, Cell]


def plain(text: object, most: int = _LONGEST) -> str:
    """A text whose characters can all be seen; of a long one its beginning."""
    shown = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in str(text))
    return shown if len(shown) <= most else shown[:most] + "…"


def escape(text: object) -> str:
    """A text of which nothing is read as HTML."""
    return html.escape(plain(text), quote=True)


def _cell(content: Content, at: int, tag: str, numbers: bool) -> str:
    kind, text = content if isinstance(content, Cell) else ("no", content)
    align = "right" if numbers and at else "left"
    return f'<{tag} style="{_CELL}{_TINTS.get(kind, "transparent")};text-align:{align}">{escape(text)}</{tag}>'


def table(header: Sequence[str], rows: Iterable[Sequence[Content]], *, numbers: bool = True) -> str:
    """A table as HTML; ``numbers`` puts all columns but the first to the right."""
    head = "".join(_cell(name, at, "th", numbers) for at, name in enumerate(header))
    body = "".join(
        "<tr>" + "".join(_cell(content, at, "td", numbers) for at, content in enumerate(row)) + "</tr>" for row in rows
    )
    return f'<div style="overflow-x:auto"><table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def paragraph(text: object) -> str:
    """A line of text as HTML."""
    return f'<p style="margin:0.3em 0">{escape(text)}</p>'


def items(texts: Iterable[str]) -> str:
    """A list of sentences as HTML."""
    rows = "".join(f"<li>{html.escape(plain(text, 1000))}</li>" for text in texts)
    return f'<ul style="margin:0.3em 0">{rows}</ul>' if rows else ""


def folded(title: str, content: str) -> str:
    """Content that one click shows."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def whole(text: str) -> str:
    """A text of several lines as HTML."""
    shown = "\n".join(plain(line, 10_000) for line in text.split("\n"))
    return f"<pre>{html.escape(shown)}</pre>"


def text_table(header: Sequence[str], rows: Iterable[Sequence[Content]]) -> str:
    """A table as text that can be pasted into a document."""
    told = [[plain(one.text if isinstance(one, Cell) else one) for one in row] for row in [header, *rows]]
    widths = [max(len(row[at]) for row in told) for at in range(len(header))]
    lines = ["| " + " | ".join(one.ljust(width) for one, width in zip(row, widths)) + " |" for row in told]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def count(number: float | None) -> str:
    """A number, with commas."""
    return "" if number is None else f"{int(number):,}"


def size(number: float | None) -> str:
    """Bytes, with a binary prefix, as the command line writes them."""
    if number is None:
        return ""
    value, units = float(number), ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    at = 0
    while value >= 1024 and at + 1 < len(units):
        value, at = value / 1024, at + 1
    return f"{int(value)} B" if at == 0 else f"{value:.2f} {units[at]}"


def seconds(value: float | None) -> str:
    """A time, with the unit that suits it."""
    if value is None:
        return ""
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    if value < 1.0:
        return f"{value * 1e3:.2f} ms" if value < 0.1 else f"{value * 1e3:.0f} ms"
    return f"{value:.2f} s" if value < 600 else f"{value / 60:.0f} min"
