"""Reads the records of bench/results and bench/papers. bench/record.schema.json specifies them."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from . import ROOT

VERSION = 1


@dataclass(frozen=True, slots=True)
class Spread:
    """The interval around a figure, in its unit."""

    low: float
    high: float
    of: str


@dataclass(frozen=True, slots=True)
class Record:
    """One figure. The schema describes the fields; those that a line leaves out are None."""

    suite: str
    target: str
    payload: str
    format: str
    library: str
    operation: str
    metric: str
    value: float
    unit: str
    source: str
    version: str | None = None
    repetitions: int | None = None
    spread: Spread | None = None
    environment: str | None = None
    options: str | None = None
    floats: str | None = None
    reference: str | None = None
    note: str | None = None

    @property
    def plain_format(self) -> str:
        """The format without the compressor: json for json+gzip."""
        return self.format.partition("+")[0]

    @property
    def quoted(self) -> bool:
        """Whether the figure is quoted from a publication."""
        return self.source == "quoted"


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads((ROOT / "bench/record.schema.json").read_text()))


def read(path: Path, suite: str | None = None) -> tuple[list[Record], list[str]]:
    """Returns the records of a file and, for each bad line, `file:line: field: reason`. A file that does not exist has no records.

    `suite` is the suite of the records if it is not the file's name.
    """
    if not path.exists():
        return [], []
    records, errors = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        try:
            records.append(parse(line, suite or path.stem))
        except ValueError as error:
            errors.append(f"{_short(path)}:{number}: {error}")
    return records, errors


def parse(line: str, suite: str) -> Record:
    """Reads one line of the file of a suite. Raises ValueError with `field: reason`."""
    try:
        fields = json.loads(line, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"column {error.colno}: not JSON: {error.msg}") from None
    # The version comes first, because the fields of another version differ.
    version = fields.get("record") if isinstance(fields, dict) else None
    if version is not None and version != VERSION:
        raise ValueError(f"record: version {version}; this program reads version {VERSION}")
    error = best_match(_validator().iter_errors(fields))
    if error is not None:
        raise ValueError(f"{_field(error)}: {_reason(error)}")
    if fields["suite"] != suite:
        raise ValueError(f"suite: {fields['suite']!r} in the file of {suite!r}")
    del fields["record"]
    if spread := fields.get("spread"):
        fields["spread"] = Spread(**spread)
    return Record(**fields)


def _refuse(constant: str) -> None:
    raise ValueError(f"value: {constant} is not a finite number")


def _field(error: ValidationError) -> str:
    if error.validator == "required":
        return next(name for name in error.validator_value if name not in error.instance)
    if error.validator == "additionalProperties":
        return next(name for name in error.instance if name not in error.schema["properties"])
    return ".".join(str(part) for part in error.absolute_path) or "line"


def _reason(error: ValidationError) -> str:
    if error.validator == "required":
        return "missing"
    if error.validator == "additionalProperties":
        return "not a field of a record"
    return error.message


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
