"""Answers for people and for programs: a text, figures, and tables in notebooks."""

from __future__ import annotations

import json
from typing import Any, Mapping, Sequence

import numpy as np

from ._html import Cell, count, folded, items, paragraph, plain, seconds, size, table, text_table, whole

#: Rows that are shown without a click.
_SHOWN = 15


class Report:
    """An answer: ``text`` as the command line prints it, ``figures`` as its JSON has them, tables in notebooks."""

    def __init__(self, text: str, figures: dict[str, Any]) -> None:
        self.text, self.figures = text, figures

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _tables(self) -> str:
        raise KeyError

    def _repr_html_(self) -> str:
        try:
            return self._tables()
        except (KeyError, IndexError, TypeError, AttributeError):
            # Figures of another form than the tables have.
            return whole(self.text)


def _long(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table, folded if it is long."""
    made = table(header, rows)
    return made if len(rows) <= _SHOWN else folded(f"{title} ({len(rows)})", made)


def _phases(figures: Mapping[str, Any]) -> str:
    header = ["phase", "time", "sent by the party that sends most", "received", "messages", "rounds"]
    rows = [
        [
            name,
            seconds(figures[name]["seconds"]),
            size(figures[name]["bytes_sent"]),
            size(figures[name]["bytes_received"]),
            count(figures[name]["messages"]),
            count(figures[name]["rounds"]),
        ]
        for name in ("setup", "online")
    ]
    return table(header, rows)


class Explanation(Report):
    """What a program costs before it runs, operation by operation."""

    def _tables(self) -> str:
        all_ = self.figures
        head = (
            f"{all_['program']}: {all_['parties']} parties, threads {all_['threads']}, mix {all_['mix']}, "
            f"network {all_['network']}; "
            f"together about {seconds(all_['total_seconds'])}, at most {size(all_['memory_bytes'])} of memory"
        )
        header = ["operation", "source", "makes", "setup: sent", "online: sent", "rounds", "setup", "online"]
        rows = [
            [
                one["name"],
                one["source"],
                ", ".join(one["makes"]),
                size(one["setup"]["bytes_sent"]),
                size(one["online"]["bytes_sent"]),
                count(one["online"]["rounds"]),
                seconds(one["setup"]["seconds"]),
                seconds(one["online"]["seconds"]),
            ]
            for one in all_["operations"]
        ]
        choices = items([*all_["conditionals"], *all_["held"]])
        return paragraph(head) + _phases(all_) + choices + self._steps() + _long("operations", header, rows)

    def _steps(self) -> str:
        """The steps of a query; nothing for other programs."""
        steps = self.figures["steps"]
        if not steps:
            return ""
        header = ["step", "rows", "setup: sent", "online: sent", "rounds", "setup", "online"]
        rows = [
            [
                one["step"],
                "" if one["rows"] is None else count(one["rows"]),
                size(one["setup"]["bytes_sent"]),
                size(one["online"]["bytes_sent"]),
                count(one["online"]["rounds"]),
                seconds(one["setup"]["seconds"]),
                seconds(one["online"]["seconds"]),
            ]
            for one in steps
        ]
        return _long("steps", header, rows)


class ModelExplanation(Report):
    """What a network costs on secrets before it runs: in each usual mix of protocols, or layer by layer in one.

    Attributes:
        mixes: Figures of each mix, the fastest first.
        chosen: Mix that :func:`madrigal.infer` takes where no protocol is named; none where one was named here.
    """

    @property
    def mixes(self) -> list[dict[str, Any]]:
        return list(self.figures["mixes"])

    @property
    def chosen(self) -> str | None:
        chosen = self.figures["chosen"]
        return None if chosen is None else str(chosen)

    def _tables(self) -> str:
        all_ = self.figures
        bits, fraction = all_["numbers"]
        head = (
            f"{all_['model']}: {all_['parties']} parties, threads {all_['threads']}, batch {all_['batch']}, "
            f"numbers {bits}.{fraction}, network {all_['network']}"
        )
        header = ["protocol", "agreed", "here", "setup", "sends in setup", "online", "sends online", "rounds", "memory"]
        rows = [
            [
                one["protocol"],
                seconds(one["agreed_seconds"]),
                seconds(one["total_seconds"]),
                seconds(one["setup"]["seconds"]),
                size(one["setup"]["bytes_sent"]),
                seconds(one["online"]["seconds"]),
                size(one["online"]["bytes_sent"]),
                count(one["setup"]["rounds"] + one["online"]["rounds"]),
                size(one["memory_bytes"]),
            ]
            for one in all_["mixes"]
        ]
        made = paragraph(head) + table(header, rows)
        for one in all_["mixes"]:
            made += folded(f"layers in {one['protocol']}", self._layers(one["layers"]))
        return made

    @staticmethod
    def _layers(layers: Sequence[Mapping[str, Any]]) -> str:
        header = ["layer", "operator", "result", "shared in", "sends in setup", "sends online", "rounds", "setup", "online", "memory"]
        rows = [
            [
                one["name"],
                one["operator"],
                " × ".join(map(str, one["shape"])),
                ", ".join(one["sharings"]),
                size(one["setup"]["bytes_sent"]),
                size(one["online"]["bytes_sent"]),
                count(one["online"]["rounds"]),
                seconds(one["setup"]["seconds"]),
                seconds(one["online"]["seconds"]),
                size(one["memory_bytes"]),
            ]
            for one in layers
        ]
        return table(header, rows)


class ModelInfo(Report):
    """What a network consists of, once it is known to be one that can be computed on secrets."""

    def _tables(self) -> str:
        all_ = self.figures

        def ports(which: str) -> str:
            return ", ".join(f"{one['name']} ({one['element']} {' × '.join(map(str, one['shape']))})" for one in all_[which])

        facts = [
            ["made by", all_["producer"]],
            ["version of operators", str(all_["opset"])],
            ["inputs", ports("inputs")],
            ["outputs", ports("outputs")],
            ["parameters", count(all_["parameters"])],
            ["multiplications", count(all_["multiplications"])],
            ["operators", ", ".join(f"{one['count']} {one['operator']}" for one in all_["operators"])],
        ]
        layers = [
            [one["name"], one["operator"], " × ".join(map(str, one["shape"])), count(one["multiplications"])]
            for one in all_["layers"]
        ]
        return table(["", "in the model"], facts, numbers=False) + _long(
            "layers", ["layer", "operator", "result", "multiplications"], layers
        )


def _outputs(outputs: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    return [[one["name"], f"{one['largest_error']:.2e}", count(one["rows"]), count(one["changed"])] for one in outputs]


class Comparison(Report):
    """How far a network with a fixed point is from the network in the clear, on sample data.

    Attributes:
        overflows: Operations in which a number left its range.
    """

    @property
    def overflows(self) -> list[str]:
        return list(self.figures["overflows"])

    def _tables(self) -> str:
        header = ["layer", "operator", "greatest", "room", "largest error"]
        rows = [
            [
                one["name"],
                one["operator"],
                f"{one['greatest']:.3f}",
                "out of range" if one["room"] < 0 else f"{one['room']:.1f} bits",
                f"{one['largest_error']:.2e}",
            ]
            for one in self.figures["layers"]
        ]
        bits, fraction = self.figures["numbers"]
        left = items(f"a number left its range in: {one}" for one in self.overflows)
        outputs = table(["output", "largest error", "rows", "other greatest number"], _outputs(self.figures["outputs"]))
        return paragraph(f"numbers {bits}.{fraction}") + outputs + left + _long("layers", header, rows)


class Calibration(Report):
    """Numbers with a fixed point that suffice for sample data.

    Attributes:
        chosen: The fewest bits that keep results as exact as was asked for, as ``numbers=`` takes them; none if no numbers do.
    """

    @property
    def chosen(self) -> str | None:
        chosen = self.figures["chosen"]
        return None if chosen is None else f"{chosen[0]}.{chosen[1]}"

    def _tables(self) -> str:
        rows = []
        for choice in self.figures["choices"]:
            name = f"{choice['numbers'][0]}.{choice['numbers'][1]}"
            mark = Cell("own", "chosen") if name == self.chosen else ""
            rows += [[name, *row, mark] for row in _outputs(choice["outputs"])]
        return table(["numbers", "output", "largest error", "rows", "other greatest number", ""], rows)


class WhoSaw:
    """Who sees what of a computation: who brings which input, who learns which output, and what all learn.

    Attributes:
        who: Heads of the columns: parties, and clients after them.
        rows: For each thing that there is its name, and for each of ``who`` whether it is their ``own``, or seen (``yes``) or
            not (``no``) by them, with a text.
        notes: On what the table rests, a sentence or two each.
    """

    def __init__(self, told: str) -> None:
        made = json.loads(told)
        self.who: list[str] = made["who"]
        self.rows: list[tuple[str, list[Cell]]] = [
            (row["what"], [Cell(one["kind"], one["text"]) for one in row["seen"]]) for row in made["rows"]
        ]
        self.notes: list[str] = made["notes"]

    def __getitem__(self, what: str) -> dict[str, str]:
        """What each sees of a thing: ``own``, ``yes`` or ``no``, by the names of ``who``."""
        for name, cells in self.rows:
            if name == what or name.split(":")[0] == what:
                return {who: cell.kind for who, cell in zip(self.who, cells)}
        raise KeyError(what)

    def __str__(self) -> str:
        made = text_table(["", *self.who], [[what, *cells] for what, cells in self.rows])
        notes = "".join(f"- {plain(note, 1000)}\n" for note in self.notes)
        return f"{made}\n\n{notes}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return table(["", *self.who], [[what, *cells] for what, cells in self.rows], numbers=False) + items(self.notes)


def costs(stats: Mapping[str, Any]) -> str:
    """A table of what each party of a run spent, as HTML."""
    rows = []
    for party in stats.get("parties") or []:
        if party is None:
            continue
        for phase in ("setup", "online"):
            figures = party[phase]
            rows.append(
                [
                    f"party {party['party']}" if phase == "setup" else "",
                    phase,
                    seconds(figures["seconds"]),
                    size(figures["bytes_sent"]),
                    size(figures["bytes_received"]),
                    count(figures["messages"]),
                    count(figures["rounds"]),
                ]
            )
    return table(["party", "phase", "time", "sent", "received", "messages", "rounds"], rows) if rows else ""


def _value(value: Any) -> tuple[str, str]:
    """The type of a value, and its beginning."""
    array = np.asarray(value)
    shape = "" if array.ndim == 0 else f" {list(array.shape)}"
    return f"{array.dtype}{shape}", np.array2string(array, threshold=12, edgeitems=3, max_line_width=10_000).replace("\n", " ")


def result(outputs: Mapping[str, Any], stats: Mapping[str, Any]) -> str:
    """Outputs of a run and what it cost, as HTML."""
    rows = [[name, *_value(value)] for name, value in outputs.items()]
    made = table(["output", "type", "value"], rows, numbers=False) if rows else paragraph("no output here")
    name = stats.get("program") or stats.get("model") or ""
    mix = stats.get("mix") or stats.get("protocol") or ""
    head = ", ".join(
        f"{title} {value}" if title else str(value)
        for title, value in [("", name), ("mix", mix), ("network", stats.get("network")), ("transport", stats.get("transport"))]
        if value
    )
    try:
        spent = costs(stats)
    except (KeyError, TypeError):
        spent = ""
    return made + (paragraph(head) if head else "") + spent
