"""Tables that a notebook shows."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple, TypeVar, overload


class Part(NamedTuple):
    """A part of all messages of a schema."""

    path: str
    """Where it is in the message: ``position.altitude``. ``(slot)`` is the slot byte."""
    offset: int | None
    """The position of its first bit, if it is the same in every message."""
    kind: str
    min_bits: int
    max_bits: int | None
    range: str
    step: str
    why: str


class MessagePart(NamedTuple):
    """A part of one message."""

    path: str
    """The JSON pointer of its value; empty for what belongs to the whole message."""
    bit: int | None
    """The position of its first bit, or None if it shares its bits with other parts."""
    bits: float | None
    """How many bits it has; in a coded body, its share of the bits. The row of the body has what its values leave, because of whole bytes.
    The sum is the size of the message."""
    data: bytes
    """The bytes that hold these bits."""
    meaning: str
    """The value: ``14.3``, ``"PISA01"``, ``is absent``."""


class Comparison(NamedTuple):
    """A message in one format."""

    format: str
    bytes: int | None
    """The size, or None if the format cannot carry the message."""
    percent: float | None
    """The size in percent of compact JSON."""
    gzip_bytes: int | None
    lossless: bool
    reason: str | None
    """Why the format cannot carry the message."""


R = TypeVar("R", Part, MessagePart, Comparison)


class Table(Sequence[R]):
    """A sequence of rows, which are named tuples. ``print`` and notebooks show them as a table; polars and pandas make a ``DataFrame`` of it."""

    def __init__(self, columns: tuple[str, ...], rows: Iterable[R]) -> None:
        self.columns = columns
        self._rows: tuple[R, ...] = tuple(rows)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[R, ...]: ...
    def __getitem__(self, index: int | slice) -> R | tuple[R, ...]:
        return self._rows[index]

    def __str__(self) -> str:
        cells = [list(self.columns)] + [[_text(cell) for cell in row] for row in self._rows]
        widths = [max(len(row[at]) for row in cells) for at in range(len(self.columns))]
        numeric = [self._is_numeric(at) for at in range(len(self.columns))]
        lines = []
        for row in cells:
            padded = [cell.rjust(w) if right else cell.ljust(w) for cell, w, right in zip(row, widths, numeric)]
            lines.append("  ".join(padded).rstrip())
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(column)}</th>" for column in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(_text(cell))}</td>" for cell in row) + "</tr>" for row in self._rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _is_numeric(self, at: int) -> bool:
        return all(row[at] is None or _is_number(row[at]) for row in self._rows)


def _is_number(cell: object) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, bytes):
        return cell.hex(" ")
    return f"{cell:.1f}".removesuffix(".0") if isinstance(cell, float) else str(cell)


def parts(rows: list[tuple[Any, ...]]) -> Table[Part]:
    """Makes the table of Schema.explain without a message."""
    return Table(("path", "bit", "kind", "min", "max", "range", "step", "why"), (Part(*row) for row in rows))


def message_parts(rows: list[tuple[str, int | None, float | None, bytes, str]]) -> Table[MessagePart]:
    """Makes the table of Schema.explain with a message."""
    columns = ("path", "bit", "bits", "bytes", "meaning")
    return Table(columns, (MessagePart(*row) for row in rows))


def comparison(rows: list[tuple[Any, ...]]) -> Table[Comparison]:
    """Makes the table of compare."""
    columns = ("format", "bytes", "% of JSON", "gzip", "lossless", "reason")
    return Table(columns, (Comparison(*row) for row in rows))
