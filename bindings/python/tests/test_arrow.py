"""Many messages into columns, without a copy to others."""

import json
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from dunnage import DecodeError, Schema
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
    layout = Schema("container")
    messages = [{**CONTAINER, "nsat": f"{n % 30:02}", "door": "OCD"[n % 3]} for n in range(count)]
    return layout, [layout.encode(message) for message in messages], messages


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
