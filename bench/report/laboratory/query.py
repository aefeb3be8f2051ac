"""Selects records, and says how fields and figures are written for readers."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .record import Record

HERE = Path(__file__).parent


def select(records: Iterable[Record], where: dict | list[dict]) -> list[Record]:
    """The records whose fields have the values of `where`, or of one of several: a text, a regular expression after `~`, or a list of both."""
    choices = where if isinstance(where, list) else [where]
    return [r for r in records if any(all(_matches(getattr(r, name), wanted) for name, wanted in one.items()) for one in choices)]


def _matches(value: str | None, wanted: str | list[str]) -> bool:
    if isinstance(wanted, list):
        return any(_matches(value, one) for one in wanted)
    if wanted.startswith("~"):
        return re.fullmatch(wanted[1:], value or "") is not None
    return value == wanted


@cache
def _labels() -> dict[str, dict[str, str]]:
    return tomllib.loads((HERE / "labels.toml").read_text())


def label(field: str, value: str | None) -> str:
    """What readers see instead of a field's value; the value itself if labels.toml has nothing for it."""
    labels = _labels().get(field.removeprefix("plain_"), {})
    if value in labels:
        return labels[value]
    # A format with a mapping or a compressor, such as `protobuf (float32)` or `json+gzip`.
    if field in ("format", "plain_format") and value and (found := re.match(r"[a-z-]+", value)):
        return labels.get(found[0], found[0]) + value[found.end() :]
    return value or ""


def rank(field: str, value: str) -> int:
    """The place of an operation in labels.toml, where encode stands before decode; 0 for all other fields."""
    known = list(_labels()["operation"]) if field == "operation" else []
    return known.index(value) if value in known else len(known)


def name(format: str, library: str) -> str:
    """The format, and the library unless it is this project's or has the same name."""
    shown = label("library", library)
    return label("format", format) + ("" if library == "dunnage" or shown == label("format", format) else f" · {shown}")


def unit_label(unit: str) -> str:
    """The unit as readers see it; empty for counts and ratios."""
    return label("unit", unit)


def number(value: float) -> str:
    """A figure with four significant digits, or fewer if the record has fewer, and groups of thousands."""
    if value != 0 and abs(value) < 0.01:
        return f"{value:.3g}"
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 3
    known = len(f"{value:.6f}".rstrip("0").partition(".")[2])
    return f"{value:,.{min(digits, known)}f}".replace(",", "\u202f")


def quantity(record: Record) -> str:
    """A figure with its unit."""
    unit = "per second" if record.unit == "1/s" else unit_label(record.unit)
    return number(record.value) + ("\u202f%" if unit == "%" else f"\u00a0{unit}" if unit else "")
