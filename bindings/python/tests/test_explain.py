"""Tables of the bits of one message: their sums, deltas, and frames of polars and pandas."""

import json
from collections.abc import Iterator
from typing import Any

import dunnage
import pandas as pd
import polars as pl
import pytest
from dunnage import DecodeError, MessagePart, Receiver, Schema, Sender, Table
from vectors import ROOT, load, message, value

MESSAGES = ("numbers", "structure", "text", "modelled", "formats", "coded")


def tables() -> Iterator[tuple[bytes, Table[MessagePart]]]:
    """Yields the messages of all vectors of packed and of the examples of the bundled schemas, with their tables."""
    for name in MESSAGES:
        for vector in load(f"packed/{name}.json"):
            if "kind" not in vector:
                data = message(vector)
                schema = Schema(vector["schema"], assert_formats=name == "formats")
                yield data, schema.explain(data, device=vector.get("device"), known=vector.get("known"))
    for path in (ROOT / "spec/schemas").glob("*.json"):
        schema = Schema(path)
        for example in json.loads(path.read_text())["examples"]:
            yield schema.encode(example), schema.explain(example)
    yield from deltas()


def deltas() -> Iterator[tuple[bytes, Table[MessagePart]]]:
    """Yields the messages of all sequences of deltas, with the tables that their receivers make."""
    for vector in load("packed/deltas.json"):
        receiver = Receiver(Schema(vector["schema"]), keep=10_000)
        for step in vector.get("steps", []):
            if "send" in step and not step["lost"]:
                data = message(step)
                table = receiver.explain(data)
                receiver.decode(data)
                assert list(receiver.explain(data)) == list(table)
                yield data, table


def weather() -> Any:
    return json.loads((ROOT / "spec/schemas/weather.json").read_text())["examples"][0]


def test_the_bits_of_the_rows_are_those_of_the_message() -> None:
    count = coded = 0
    for data, table in tables():
        assert sum(row.bits or 0 for row in table) == pytest.approx(8 * len(data), abs=1e-6), table
        assert all(row.bits is None or row.bits > -1e-6 for row in table), table
        count += 1
        coded += any(row.bit is None and row.bits is not None for row in table)
    assert count > 200 and coded > 50


def test_a_known_text_takes_no_bits_of_the_others() -> None:
    """The statistics are those that `dunnage schema train --without-messages` makes of this schema."""
    changing = {"type": "integer", "minimum": 0, "maximum": 999_999, "x-dunnage-changes": 2}
    schema = Schema(
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["id", "v"],
            "properties": {"id": {"type": "string", "x-dunnage-known": "device"}, "v": changing},
            "x-dunnage-statistics": "AdKUfzgAARD/+wIJEwEEAgMJAhADvgIYAwoEAxMB",
        }
    )
    given = {"id": "abc-7", "v": 7}
    table = schema.explain(given, device="abc-7")
    bits = {row.path: row.bits for row in table}
    assert bits["/id"] == 0 and bits["/v"] > 0, table
    assert sum(row.bits or 0 for row in table) == 8 * len(schema.encode(given))


def test_tables_become_frames() -> None:
    for data, table in tables():
        for frame in (pl.DataFrame(table), pd.DataFrame(table)):
            assert list(frame.columns) == list(MessagePart._fields) and len(frame) == len(table)
            assert frame["bits"].sum() == pytest.approx(8 * len(data), abs=1e-6)
        types = pl.DataFrame(table).schema
        assert (types["path"], types["bit"], types["bits"], types["data"]) == (pl.String, pl.Int64, pl.Float64, pl.Binary)
        assert pl.DataFrame(table).rows() == list(table)
    others: list[Any] = [Schema("container").explain(), Schema({}).explain(), dunnage.compare({"a": 1}), dunnage.compare({"a": b"1"})]
    for other in others:
        assert pl.DataFrame(other).rows() == list(other)
        assert list(pd.DataFrame(other).columns) == list(other[0]._fields)


def test_a_table_is_a_sequence_of_rows() -> None:
    table = Schema("weather").explain()
    assert table[0] in table and table[-1] == list(table)[-1] and table[:2] == tuple(table)[:2]
    assert table.index(table[1]) == 1


def test_a_receiver_explains_deltas() -> None:
    schema = Schema(next(load("packed/coded.json"))["schema"])
    given = value(next(load("packed/coded.json"))["value"])
    sender, receiver = Sender(schema), Receiver(schema)
    receiver.decode(sender.encode(given))
    reference = receiver.last
    assert reference is not None and sender.acknowledged(reference)
    delta = sender.encode({**given, "state": "on"})
    table = receiver.explain(delta)
    assert (receiver.last, table[0].data) == (reference, delta[:1])
    assert f"{reference:04x}" in table[0].meaning and '"on"' in {row.meaning for row in table}
    for reads in (schema.explain, schema.decode):
        with pytest.raises(DecodeError, match="use the Receiver of its device") as error:
            reads(delta)
        assert (error.value.kind, error.value.offset) == ("reference", 0)
    for data, kind in [(delta[:2], "truncated"), (delta[:-1], "reference")]:
        with pytest.raises(DecodeError) as error:
            receiver.explain(data)
        assert error.value.kind == kind
    with pytest.raises(DecodeError, match="is not known"):
        Receiver(schema).explain(delta)
    with pytest.raises(TypeError):
        receiver.explain(given)


def test_a_receiver_reads_messages_without_statistics() -> None:
    number = {"type": "integer", "minimum": 0, "maximum": 255}
    # Without a slot byte, a first byte of 0x80 is not the mode of a delta.
    for schema, given in [(Schema("weather"), weather()), (Schema({**number, "x-dunnage-slot-from": "port"}), 0x80)]:
        receiver, data = Receiver(schema), schema.encode(given)
        assert list(receiver.explain(data)) == list(schema.explain(data))
        assert (receiver.decode(data), receiver.last, receiver.references) == (given, None, [])
