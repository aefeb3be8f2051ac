"""The messages of many devices in one call of decode_arrow."""

import random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from dunnage import DecodeError, Receiver, Schema, Sender

PLACE = Schema(
    {
        "type": "object",
        "properties": {
            "id": {"type": "string", "x-dunnage-known": "device"},
            "site": {"type": "string", "x-dunnage-known": "site"},
            "n": {"type": "integer", "minimum": 0, "maximum": 1_000_000},
        },
        "required": ["id", "site", "n"],
        "additionalProperties": False,
    }
)
NUMBER = {"type": "integer", "minimum": 0, "maximum": 1_000_000_000_000}
TRAINED = Schema(
    {
        "type": "object",
        "properties": {"id": {"type": "string", "x-dunnage-known": "device"}, "count": NUMBER, "level": NUMBER},
        "required": ["id", "count", "level"],
        "additionalProperties": False,
        "x-dunnage-slot": 29,
        # `dunnage schema train --device /id` wrote it from random walks.
        "x-dunnage-statistics": "AfPeCc8Bxa7S2dsDByUiJgEmjyUBJAEiSyYBARD/3+va8gIGJwECsAI7AxEEAicBAQABKAABEJ/g69ryAgcnAQMBAgwD2wITAwMnAQ==",
    }
)
SITES = {"A": {"site": "Pisa"}, "B": {"site": "Graz"}}


def rows(names: list[str]) -> tuple[list[bytes], list[dict[str, Any]]]:
    """Returns messages of devices, and what they are."""
    messages = [{"id": name, **SITES[name], "n": n} for n, name in enumerate(names)]
    return [PLACE.encode(message) for message in messages], messages


def decoded(schema: Schema, packed: Any, **options: Any) -> list[dict[str, Any]]:
    return list(pa.table(schema.decode_arrow(packed, **options)).to_pylist())


def test_a_column_of_devices_of_any_library() -> None:
    names = ["A", "B", "B", "A"]
    packed, messages = rows(names)
    frame = pd.DataFrame({"device": names, "payload": packed})
    for devices in [
        names,
        iter(names),
        pa.array(names),
        pa.array(names, pa.large_string()),
        pa.array(names, pa.string_view()),
        pa.array(names).dictionary_encode(),
        pa.chunked_array([names[:1], names[1:]]),
        pa.table({"device": names}),
        pa.array(["B", *names, "A"])[1:-1],
        frame["device"],
        frame["device"].to_numpy(),
        frame["device"].astype(object),
        frame["device"].astype("category"),
        pl.Series(names),
        pl.Series(names, dtype=pl.Categorical),
        pl.Series(names, dtype=pl.Enum(["B", "A"])),
    ]:
        assert decoded(PLACE, frame["payload"], device=devices, known=SITES) == messages
    assert decoded(PLACE, packed[:1], device="A", known=SITES) == decoded(PLACE, packed[:1], device="A", known=SITES["A"]) == messages[:1]
    same = {"site": "Pisa"}
    assert decoded(PLACE, packed, device=names, known=same) == [{**message, **same} for message in messages]


def test_devices_keep_their_messages_over_batches() -> None:
    names = random.Random(1).choices("AB", k=70_000)
    packed, messages = rows(names)
    assert decoded(PLACE, packed, device=names, known=SITES) == messages


def test_columns_that_do_not_fit() -> None:
    packed, _ = rows(["A", "B"])
    for devices in (["A"], pa.array(["A", "B", "A"]), []):
        with pytest.raises(ValueError, match=rf"device has {len(devices)} names for 2 messages"):
            PLACE.decode_arrow(packed, device=devices, known=SITES)
    for wrong, found in [(["A", 5], "int"), (pa.array([1, 2]), "Int64"), (5, "int"), (b"AB", "int"), (pa.table({"a": ["A"], "b": ["B"]}), "Struct")]:
        with pytest.raises(TypeError, match=f"device is a text, or a column .*, not .*{found}"):
            PLACE.decode_arrow(packed, device=wrong, known=SITES)  # type: ignore[arg-type]
    for known in ({"site": 5}, {"A": {"site": "Pisa"}, "B": "Graz"}, ["Pisa"]):
        with pytest.raises(TypeError, match="known is a dict of texts"):
            PLACE.decode_arrow(packed, device=["A", "B"], known=known)  # type: ignore[arg-type]


def test_empty_tables() -> None:
    empty = pd.DataFrame({"device": [], "payload": []})
    for messages, devices in [
        ([], []),
        (empty["payload"], empty["device"]),
        (pl.Series([], dtype=pl.Binary), pl.Series([], dtype=pl.String)),
        (pa.array([]), pa.array([], pa.string())),
    ]:
        assert decoded(PLACE, messages, device=devices, known=SITES) == []


def test_a_device_that_is_null_or_unknown() -> None:
    packed, messages = rows(["A", "B", "A"])
    nulls = {"id": None, "site": None, "n": None}
    empty = pa.DictionaryArray.from_arrays(pa.array([None] * 3, pa.int8()), pa.array([], pa.string()))
    for devices, index, reason in [
        (["A", "C", "A"], 1, '"site" of the device'),
        (["A", None, "A"], 1, "ID of the device"),
        (pd.Series(["A", None, "A"], dtype="category"), 1, "ID of the device"),
        (pa.nulls(3), 0, "ID of the device"),
        (empty, 0, "ID of the device"),
    ]:
        with pytest.raises(DecodeError, match=reason) as error:
            PLACE.decode_arrow(packed, device=devices, known=SITES)
        assert (error.value.kind, error.value.index) == ("type", index)
        expected = [messages[0], nulls, messages[2]] if index else [nulls] * 3
        assert decoded(PLACE, packed, device=devices, known=SITES, errors="null") == expected


def log(count: int, devices: int, lost: float = 0.1) -> tuple[list[str], list[bytes], list[dict[str, Any]]]:
    """Returns the log of a fleet whose messages are deltas where an acknowledgement has arrived."""
    numbers = random.Random(2)
    ends = {f"d{n}": (Sender(TRAINED, pending=4), Receiver(TRAINED), {"id": f"d{n}", "count": n, "level": 1000 * n}) for n in range(devices)}
    names, packed, messages = [], [], []
    for _ in range(count):
        name = numbers.choice(list(ends))
        sender, receiver, state = ends[name]
        state["count"] += numbers.randint(0, 3)
        message = dict(state)
        data = sender.encode(message)
        assert receiver.decode(data, device=name) == message
        if numbers.random() > lost:
            sender.acknowledged(receiver.last or 0)
        names.append(name)
        packed.append(data)
        messages.append(message)
    return names, packed, messages


def test_deltas_of_a_fleet_are_what_its_receivers_decode() -> None:
    names, packed, messages = log(2_000, devices=7)
    assert sum(data[0] >> 6 == 2 for data in packed) > 1_000
    assert decoded(TRAINED, packed, device=pa.array(names)) == messages
    # Repeated messages take no place of references, which may be in an earlier batch.
    repeated = [(name, data, message) for name, data, message in zip(names, packed, messages) for _ in range(20)]
    names, packed, messages = map(list, zip(*repeated))
    assert decoded(TRAINED, packed, device=names) == messages


def test_deltas_without_their_device_or_their_reference() -> None:
    names, packed, messages = log(50, devices=1, lost=0)
    first = next(at for at, data in enumerate(packed) if data[0] >> 6 == 2)
    assert decoded(TRAINED, packed, device="d0") == messages
    with pytest.raises(DecodeError, match="needs its device=") as error:
        TRAINED.decode_arrow(packed[first:])
    assert error.value.kind == "reference"
    with pytest.raises(DecodeError, match="is not known") as error:
        TRAINED.decode_arrow(packed[first:], device=names[first:])
    assert (error.value.kind, error.value.index) == ("reference", 0)
    holes: list[Any] = [*names[:-1], None]
    nulls = {"id": None, "count": None, "level": None}
    assert decoded(TRAINED, packed, device=holes, errors="null") == [*messages[:-1], nulls]
    assert decoded(TRAINED, [*packed[:-1], b"\x80"], device=names, errors="null") == [*messages[:-1], nulls]
    assert decoded(TRAINED, pa.array([None, *packed]), device=["d0", *names], errors="null") == [nulls, *messages]
