"""Packed messages, other formats, tables."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import dunnage
import pytest
from dunnage import DecodeError, EncodeError, Schema
from vectors import ROOT, load, message, value

CONTAINER = json.loads((ROOT / "bench/corpus/container.json").read_text())
N = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}},
    "required": ["n"],
    "additionalProperties": False,
}


def test_a_schema_comes_from_a_name_a_file_a_text_or_a_dict() -> None:
    path = ROOT / "spec/schemas/container.json"
    text = path.read_text()
    layouts = [Schema("container"), Schema(path), Schema(str(path)), Schema(text), Schema(json.loads(text))]
    assert len({layout.fingerprint for layout in layouts}) == 1
    layout = layouts[0]
    assert (layout.name, layout.slot, layout.max_size, layout.is_plain) == ("Container", 1, 60, True)
    assert repr(layout) == "<Schema Container: slot 1, at most 60 bytes>"
    with pytest.raises(FileNotFoundError, match=r"schema no-such-schema.json: No such file .*\(bundled schemas: container, .*weather, meter\)"):
        Schema("no-such-schema.json")
    with pytest.raises(FileNotFoundError, match=r"did you mean weather\?"):
        Schema("wether")
    with pytest.raises(IsADirectoryError, match="schema /"):
        Schema(Path("/"))
    with pytest.raises(DecodeError, match="not a schema that dunnage supports"):
        Schema({"type": "nonsense"})
    with pytest.raises(TypeError):
        Schema(1)  # type: ignore[arg-type]


def test_a_message_in_fewer_bytes() -> None:
    layout = Schema("container")
    data = layout.encode(CONTAINER)
    assert len(data) == 56
    assert layout.decode(data) == layout.decode(bytearray(data)) == layout.decode(memoryview(data)) == CONTAINER
    with pytest.raises(EncodeError) as error:
        layout.encode({**CONTAINER, "temperature": "hot"})
    assert (error.value.kind, error.value.pointer) == ("range", "/temperature")
    for end in range(len(data)):
        with pytest.raises(DecodeError, match="truncated"):
            layout.decode(data[:end])


def test_explain_adds_up_to_the_layout() -> None:
    table = Schema("container").explain()
    assert table[0].path == "(slot)"
    assert 60 * 8 - 8 < sum(part.max_bits or 0 for part in table) <= 60 * 8
    assert str(table).startswith("path") and len(str(table).splitlines()) == len(table) + 1


def test_explain_shows_the_bits_of_one_message() -> None:
    layout = Schema("container")
    data = layout.encode(CONTAINER)
    table = layout.explain(data)
    assert (table[0].bit, table[0].bits, table[0].data, table[0].meaning) == (0, 8, data[:1], "slot 1")
    assert table.columns == ("path", "bit", "bits", "bytes", "meaning")
    rows = {part.path: part for part in table}
    assert rows["/door"].meaning == json.dumps(CONTAINER["door"])
    ends = [0] + [part.bit + part.bits for part in table if part.bit is not None and part.bits is not None]
    assert [part.bit for part in table] == ends[:-1] and ends[-1] == 8 * len(data)
    assert list(layout.explain(CONTAINER)) == list(layout.explain(memoryview(data))) == list(table)
    assert str(table).splitlines()[1].split() == ["0", "8", "01", "slot", "1"]
    with pytest.raises(DecodeError, match="truncated") as error:
        layout.explain(data[:-1])
    assert error.value.offset == len(data) - 1
    with pytest.raises(EncodeError, match="range: 104"):
        Schema(N).explain({"n": 104})


def test_explain_of_a_coded_message_shows_shares() -> None:
    vector = next(load("packed/coded.json"))
    table = Schema(vector["schema"]).explain(message(vector))
    shares = [part for part in table if part.bit is None]
    assert len(shares) > 3 and all(part.path and part.data == b"" for part in shares)
    assert 0 < sum(part.bits or 0 for part in shares) <= 8 * len(message(vector))


@pytest.mark.parametrize(
    "name", [name for name in dunnage.formats() if "senml" not in name and "sensml" not in name and name not in ("text", "form")]
)
def test_every_format_carries_the_container(name: str) -> None:
    layout, text = Schema("container"), json.dumps(CONTAINER)
    data = dunnage.convert(text, "json", name, schema=layout)
    assert json.loads(dunnage.convert(data, name, "json", schema=layout)) == CONTAINER


def test_what_cannot_be_converted() -> None:
    with pytest.raises(ValueError, match="no format is called"):
        dunnage.convert(b"", "json5", "json")
    with pytest.raises(ValueError, match="needs a schema"):
        dunnage.convert(b"{}", "json", "protobuf")
    with pytest.raises(DecodeError) as error:
        dunnage.convert(b'{"a":', "json", "cbor")
    assert (error.value.kind, error.value.offset) == ("truncated", 5)
    with pytest.raises(EncodeError) as refused:
        dunnage.convert(b"\xa1\x61a\x41\x00", "cbor", "json")
    assert (refused.value.kind, refused.value.pointer) == ("type", "/a")
    senml = b'[{"n":"celsius","v":23.5,"t":1e9}]'
    assert b"celsius" in dunnage.convert(senml, "senml-json", "json")


def test_compare_is_a_table_that_a_notebook_shows() -> None:
    table = dunnage.compare(CONTAINER, Schema("container"))
    assert (table[0].format, table[0].bytes) == ("packed", 56)
    sizes = {row.format: row for row in table}
    assert sizes["json"].percent == 100 and sizes["json"].lossless and not sizes["struct (float32)"].reason
    assert "<td>packed</td><td>56</td>" in table._repr_html_()
    assert str(table).splitlines()[1].startswith("packed")
    assert all(row.bytes is not None for row in table)
    plain = dunnage.compare({"a": b"<&"})
    assert "packed" not in {row.format for row in plain}
    assert next(row for row in plain if row.format == "json").reason
    assert "representation" in str(plain) or "bytes" in str(plain)
    with pytest.raises(EncodeError, match="range"):
        dunnage.compare({"n": 10}, Schema(N))


def test_compare_has_the_figures_of_the_program_for_the_same_json() -> None:
    text = '{"a":35.0,"b":35,"c":[1.0,-0.0,1e+300],"d":{"e":0.1}}'
    sizes = {row.format: row.bytes for row in dunnage.compare(json.loads(text))}
    for name in ("json", "cbor", "msgpack", "yaml", "pson"):
        assert sizes[name] == len(dunnage.convert(text, "json", name)), name
    assert sizes["json"] == len(text)
    number = {"type": "object", "properties": {"n": {"type": "number", "multipleOf": 0.5, "minimum": 0, "maximum": 9}}}
    assert {row.format: row.bytes for row in dunnage.compare({"n": 3.0}, Schema(number))}["json"] == len('{"n":3.0}')
    # Thousands of whole floats take 9 bytes each on the way, and 1 in PSON.
    many = {row.format: row.bytes for row in dunnage.compare([1.0] * 120_000)}
    assert many["pson"] == 120_000 + 4


@dataclasses.dataclass
class Reading:
    n: int
    state: str | None = None
    place: dict[str, Any] | None = None
    maybe: int | None = None
    list: Any = None


READING = {
    "type": "object",
    "properties": {
        "n": N["properties"]["n"],
        "state": {"enum": ["on", "off"]},
        "place": {
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": 9}, "floor": {"type": "integer", "minimum": 0, "maximum": 9}},
            "additionalProperties": False,
        },
        "maybe": {"type": ["integer", "null"], "minimum": 0, "maximum": 9},
        "list": {
            "type": "array",
            "maxItems": 3,
            "items": {"type": "object", "properties": {"x": {"type": "boolean"}}, "additionalProperties": False},
        },
    },
    "required": ["n"],
    "additionalProperties": False,
}


def test_none_is_absent_where_null_is_not_allowed() -> None:
    layout = Schema(READING)
    absent = {"n": 3, "state": None, "place": None, "list": None}
    for message_, kept in [
        (absent, {"n": 3}),
        ({**absent, "maybe": None}, {"n": 3, "maybe": None}),
        (
            {"n": 3, "place": {"name": None, "floor": 2}, "list": [{"x": None}, {"x": True}]},
            {"n": 3, "place": {"floor": 2}, "list": [{}, {"x": True}]},
        ),
        (Reading(3), {"n": 3, "maybe": None}),
    ]:
        for data in (layout.encode(message_), layout.encode(message_, plain=True)):
            assert layout.decode(data) == kept
        assert dunnage.compare(message_, layout)[0].bytes == len(layout.encode(kept))
        assert len(layout.explain(message_)) == len(layout.explain(kept))
    for wrong, kind, pointer in [
        ({"n": None}, "type", "/n"),
        ({"n": 3, "other": None}, "type", "/other"),
        ({"n": 10, "state": None}, "range", "/n"),
        ({"n": 3, "list": [None]}, "type", "/list/0"),
    ]:
        with pytest.raises(EncodeError) as error:
            layout.encode(wrong)
        assert (error.value.kind, error.value.pointer) == (kind, pointer), wrong


def test_a_sender_leaves_none_out_too() -> None:
    vector = next(load("packed/coded.json"))
    layout, given = Schema(vector["schema"]), value(vector["value"])
    kept = {key: item for key, item in given.items() if key != "name"}
    assert dunnage.Receiver(layout).decode(dunnage.Sender(layout).encode({**given, "name": None})) == kept


def test_none_in_unions_and_definitions() -> None:
    tree = {
        "$defs": {
            "node": {"type": "object", "properties": {"v": {"type": "boolean"}, "next": {"$ref": "#/$defs/node"}}, "additionalProperties": False}
        },
        "$ref": "#/$defs/node",
    }
    layout = Schema(tree)
    assert layout.decode(layout.encode({"v": True, "next": {"v": None, "next": None}})) == {"v": True, "next": {}}
    union = {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 9}, N | {"properties": {**N["properties"], "s": {"type": "boolean"}}}]}
    layout = Schema(union)
    assert layout.decode(layout.encode({"n": 3, "s": None})) == {"n": 3}
    free = Schema({"type": "object", "properties": {"any": {}, "v": {"type": "boolean"}}})
    assert free.decode(free.encode({"any": None, "v": None, "more": None})) == {"any": None, "more": None}


def test_texts_that_a_receiver_knows() -> None:
    known: dict[str, Any] = {
        "type": "object",
        "properties": {"id": {"type": "string", "x-dunnage-known": "device"}, "n": N["properties"]["n"]},
        "required": ["id", "n"],
        "additionalProperties": False,
    }
    layout = Schema(known)
    data = layout.encode({"id": "station-7", "n": 3})
    assert len(data) == 2
    assert layout.decode(data, device="station-7") == {"id": "station-7", "n": 3}
    with pytest.raises(DecodeError) as error:
        layout.decode(data)
    assert error.value.kind == "type"


def test_the_weather_station_sends_what_json_has(tmp_path: Path) -> None:
    examples = json.loads((ROOT / "spec/schemas/weather.json").read_text())["examples"]
    layout = Schema("weather")
    for example in examples:
        assert layout.decode(layout.encode(example)) == example
