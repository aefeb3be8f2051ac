"""Many messages into columns, without a copy to others."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from dunnage import DecodeError, EncodeError, Schema
from vectors import ROOT

CONTAINER = json.loads((ROOT / "bench/corpus/container.json").read_text())
EVERYTHING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "ok": {"type": "boolean"},
        "n": {"type": "integer", "minimum": -5, "maximum": 5},
        "big": {"type": "integer", "minimum": 0, "maximum": 2**64 - 1},
        "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
        "f": {"type": "number"},
        "state": {"enum": ["on", "off"]},
        "mixed": {"enum": ["on", 1, None]},
        "maybe": {"type": ["integer", "null"], "minimum": 0, "maximum": 9},
        "list": {"type": "array", "items": {"type": "number", "multipleOf": 0.5, "minimum": 0, "maximum": 9}, "maxItems": 5},
        "place": {
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": 9}, "floor": {"type": "integer", "minimum": 0, "maximum": 9}},
            "required": ["name"],
            "additionalProperties": False,
        },
        "any": {},
    },
    "required": ["ok", "n", "big", "celsius", "f"],
}
FULL = {
    "ok": True, "n": -3, "big": 2**64 - 1, "celsius": 23.5, "f": 0.1, "state": "off", "mixed": 1, "maybe": None,
    "list": [0.5, 1], "place": {"name": "höld", "floor": 2}, "any": {"a": [1, "x"]}, "more": 7,
}  # fmt: skip
SMALL = {"ok": False, "n": 5, "big": 0, "celsius": -40, "f": 2}


def rows(count: int) -> tuple[Schema, list[bytes], list[dict[str, Any]]]:
    """Returns a schema, messages, and the rows of the table that they become."""
    layout = Schema("container")
    messages = [{**CONTAINER, "nsat": f"{n % 30:02}", "door": "OCD"[n % 3]} for n in range(count)]
    time = datetime(2023, 4, 20, 0, 29, 40, tzinfo=UTC)
    return layout, [layout.encode(message) for message in messages], [{**message, "time": time} for message in messages]


def test_a_batch_is_what_a_loop_decodes() -> None:
    layout, packed, messages = rows(70_000)
    table = layout.decode_arrow(packed)
    assert len(table) == len(messages) and table.column_names == list(CONTAINER)
    assert pa.table(table).to_pylist() == messages
    assert pl.DataFrame(table).to_dicts() == messages
    frame = pd.DataFrame.from_arrow(table)
    assert frame.to_dict("records") == messages
    again = layout.decode_arrow(pa.array(packed, pa.binary()))
    assert pa.table(again).equals(pa.table(table))


def test_rows_of_a_table_can_be_encoded_again() -> None:
    layout = Schema(EVERYTHING)
    packed = [layout.encode(SMALL), layout.encode({**SMALL, "place": {"name": "a"}})]
    table = layout.decode_arrow(packed)
    names = [name for name in table.column_names if name not in ("mixed", "maybe", "any", "*")]
    for rows in (pl.DataFrame(table).select(names).to_dicts(), pa.table(table).select(names).to_pylist()):
        assert rows[0]["place"] is None and rows[1]["place"] == {"name": "a", "floor": None}
        assert [layout.encode(row) for row in rows] == packed


def test_a_table_with_timestamps_is_encoded_again() -> None:
    layout = Schema("weather")
    examples = json.loads((ROOT / "spec/schemas/weather.json").read_text())["examples"]
    packed = [layout.encode(example) for example in examples]
    table = pa.table(layout.decode_arrow(packed))
    assert table.schema.field("time").type == pa.timestamp("us", "UTC")
    assert [layout.encode(row) for row in table.to_pylist()] == packed
    assert [layout.encode(row) for row in pl.DataFrame(table).to_dicts()] == packed


def test_pandas_of_version_2_takes_the_way_over_pyarrow() -> None:
    layout, packed, messages = rows(100)
    frame = pa.table(layout.decode_arrow(packed)).to_pandas()
    assert frame.to_dict("records") == messages


def test_messages_from_other_arrow_arrays() -> None:
    layout, packed, messages = rows(1000)
    for source in [
        pa.array(packed, pa.large_binary()),
        pa.array(packed, pa.binary_view()),
        pa.array(packed, pa.binary())[10:20],
        pa.chunked_array([packed[:300], packed[300:]], pa.binary()),
        pa.table({"payload": packed}),
        pl.Series(packed),
        (bytearray(one) for one in packed),
        tuple(memoryview(one) for one in packed),
    ]:
        part = messages[10:20] if isinstance(source, pa.BinaryArray) else messages
        assert pa.table(layout.decode_arrow(source)).to_pylist() == part
    for wrong in (pa.array(["text"]), pl.Series([1]), ["text"], 5):
        with pytest.raises(TypeError):
            layout.decode_arrow(wrong)  # type: ignore[arg-type]


def test_times_of_a_notation_are_timestamps_both_ways() -> None:
    def times(notation: str) -> Schema:
        time = {"type": "string", "x-dunnage-time": {"notation": notation, "epoch": "2020-01-01T00:00:00Z"}}
        return Schema({"type": "object", "properties": {"time": time}, "required": ["time"], "additionalProperties": False})

    noon = datetime(2026, 3, 29, 12, tzinfo=UTC)
    for notation, time, text, unit in [
        ("DD.MM.YYYY hh:mm:ss", noon, "29.03.2026 12:00:00", "us"),
        ("YYYY-MM-DDThh:mm:ss+01:00", noon, "2026-03-29T13:00:00+01:00", "us"),
        ("YYYY-MM-DDThh:mm:ss.fffZ", noon + timedelta(microseconds=250_000), "2026-03-29T12:00:00.250Z", "us"),
        ("YYYY-MM-DDThh:mm:ss.fffffffffZ", noon + timedelta(microseconds=1), "2026-03-29T12:00:00.000001000Z", "ns"),
    ]:
        layout = times(notation)
        table = pa.table(layout.decode_arrow([layout.encode({"time": text})]))
        assert table.schema.field("time").type == pa.timestamp(unit, "UTC")
        row = pl.DataFrame(table).to_dicts()[0]
        assert row == {"time": time}
        for same in (row, {"time": time.astimezone(timezone(timedelta(hours=2)))}, {"time": pd.Timestamp(time)}):
            assert layout.decode(layout.encode(same)) == {"time": text}
    # A text has the form that the schema describes, or is an error: otherwise it would decode to a different text.
    for lost in (
        "2026-03-29T14:00:00+02:00",
        "2026-03-29T12:00:00+00:00",
        noon.replace(tzinfo=None),
        pd.NaT,
        noon + timedelta(microseconds=1),
        datetime(2019, 1, 1, tzinfo=UTC),
    ):
        with pytest.raises(EncodeError):
            times("YYYY-MM-DDThh:mm:ssZ").encode({"time": lost})


def test_a_value_that_its_column_does_not_hold_is_an_error_or_null() -> None:
    unbounded: dict[str, Any] = {"n": {"type": "integer"}, "d": {"type": "number", "multipleOf": 0.5}}
    layout = Schema({"type": "object", "properties": {**unbounded, "list": {"items": {"type": "integer"}}}})
    good = {"n": -5, "d": -0.5, "list": [1]}
    packed = [layout.encode(one) for one in (good, {"n": 2**63, "d": 1.5}, {"n": 1, "d": 2**53 + 1, "list": [2**64 - 1, 3]}, good)]
    with pytest.raises(DecodeError) as error:
        layout.decode_arrow(packed)
    assert (error.value.kind, error.value.index) == ("range", 1)
    table = pa.table(layout.decode_arrow(packed, errors="null"))
    assert [str(field.type) for field in table.schema][:2] == ["int64", "double"]
    assert table.select(["n", "d"]).to_pylist() == [
        {"n": -5, "d": -0.5}, {"n": None, "d": 1.5}, {"n": 1, "d": None}, {"n": -5, "d": -0.5},
    ]  # fmt: skip


def test_every_type_of_column() -> None:
    layout = Schema(EVERYTHING)
    table = pa.table(layout.decode_arrow([layout.encode(FULL), layout.encode(SMALL)]))
    types = {field.name: str(field.type) for field in table.schema}
    assert types == {
        "ok": "bool", "n": "int64", "big": "uint64", "celsius": "double", "f": "double", "state": "string", "mixed": "string",
        "maybe": "int64", "list": "list<item: double>", "place": "struct<name: string, floor: int64>", "any": "string", "*": "string",
    }  # fmt: skip
    full, small = table.to_pylist()
    assert {**full, "any": json.loads(full["any"]), **json.loads(full["*"]), "mixed": json.loads(full["mixed"])} == {
        **FULL, "*": full["*"],
    }  # fmt: skip
    assert {key: value for key, value in small.items() if value is not None} == SMALL
    assert table.schema == pa.schema(layout.decode_arrow([]))


def test_messages_that_are_not_objects() -> None:
    layout = Schema({"type": "integer", "minimum": 0, "maximum": 9})
    table = layout.decode_arrow([layout.encode(n) for n in (3, 4)])
    assert pa.table(table).to_pydict() == {"value": [3, 4]}
    empty = Schema({"type": "object", "properties": {}, "additionalProperties": False, "x-dunnage-slot": 5})
    assert len(empty.decode_arrow([b"\x05"] * 3)) == 3


def test_a_message_at_fault_is_named_or_null() -> None:
    layout, packed, messages = rows(100_000)
    packed[40_000] = packed[40_000][:-1]
    packed[90_000] = b""
    with pytest.raises(DecodeError) as error:
        layout.decode_arrow(packed)
    assert (error.value.kind, error.value.index, error.value.offset) == ("truncated", 40_000, len(packed[40_000]))
    table = pa.table(layout.decode_arrow(packed, errors="null"))
    assert table.num_rows == 100_000
    assert [at for at, value in enumerate(table["door"].to_pylist()) if value is None] == [40_000, 90_000]
    nulls = pa.array([packed[0], None], pa.binary())
    assert pa.table(layout.decode_arrow(nulls, errors="null")).to_pylist()[1]["door"] is None
    with pytest.raises(ValueError, match="null"):
        layout.decode_arrow(nulls)
    with pytest.raises(ValueError, match="errors is"):
        layout.decode_arrow(packed, errors="ignore")  # type: ignore[arg-type]
