"""Packed messages, other formats, tables."""

import json
from pathlib import Path
from typing import Any

import dunnage
import pytest
from dunnage import DecodeError, EncodeError, Schema
from vectors import ROOT

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
    with pytest.raises(FileNotFoundError):
        Schema("no-such-schema.json")
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


@pytest.mark.parametrize("name", [name for name in dunnage.formats() if "senml" not in name and "sensml" not in name and name not in ("text", "form")])
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
