"""A bad line is named by its file, line and field."""

import json

import pytest
import samples
from laboratory import record

GOOD = samples.line("host", "host", "container", "packed", "dunnage", "encode", "bytes", 56, "bytes")
QUOTED = samples.line("host", "host", "container", "json", "paper", "encode", "bytes", 418, "bytes", reference="A paper, Table 2")


def without(field):
    return {name: value for name, value in GOOD.items() if name != field}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (GOOD | {"record": 2}, "record: version 2; this program reads version 1"),
        (without("record"), "record: missing"),
        (without("metric"), "metric: missing"),
        (without("environment"), "environment: missing"),
        ({name: value for name, value in QUOTED.items() if name != "reference"}, "reference: missing"),
        (GOOD | {"value": "56"}, "value: '56' is not of type 'number'"),
        (GOOD | {"repetitions": 0}, "repetitions: 0 is less than the minimum of 1"),
        (GOOD | {"spread": {"low": 1, "high": "2", "of": "range"}}, "spread.high: '2' is not of type 'number'"),
        (GOOD | {"colour": "red"}, "colour: not a field of a record"),
        (GOOD | {"source": "guessed"}, "source: 'guessed' is not one of ['measured', 'quoted']"),
        (GOOD | {"suite": "load"}, "suite: 'load' in the file of 'host'"),
        ([], "line: [] is not of type 'object'"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, reason):
    path = samples.write(tmp_path, "host", [GOOD, line, QUOTED])
    records, errors = record.read(path)
    assert errors == [f"{path}:2: {reason}"]
    assert [one.format for one in records] == ["packed", "json"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("{", "column 2: not JSON"), ("", "column 1: not JSON"), (json.dumps(GOOD | {"value": float("nan")}), "value: NaN is not a finite number")],
)
def test_a_line_that_is_not_json_is_named(tmp_path, text, reason):
    path = tmp_path / "host.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n{text}\n")
    records, errors = record.read(path)
    assert len(records) == 1
    assert errors[0].startswith(f"{path}:2: {reason}")


def test_a_good_line_keeps_every_field(tmp_path):
    more = {"version": "1", "repetitions": 3, "spread": {"low": 1, "high": 2, "of": "range"}, "options": "-Os", "floats": "exact", "note": "a remark"}
    records, errors = record.read(samples.write(tmp_path, "host", [GOOD | more]))
    assert not errors
    assert records[0].spread == record.Spread(1, 2, "range")
    assert all(getattr(records[0], name) == value for name, value in more.items() if name != "spread")


def test_a_file_that_does_not_exist_has_no_records(tmp_path):
    assert record.read(tmp_path / "host.jsonl") == ([], [])


def test_the_quoted_figures_are_records():
    from laboratory import ROOT

    for path in sorted((ROOT / "bench/papers").glob("*.jsonl")):
        records, errors = record.read(path)
        assert not errors and records and all(one.quoted for one in records), errors
