"""What Python's users expect beyond JSON's types, and properties of all messages."""

import dataclasses
import datetime as dt
import enum
import io
import math
import uuid
from collections import OrderedDict, namedtuple
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from dunnage import pson
from hypothesis import given
from hypothesis import strategies as st
from vectors import same

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | TEXT | st.binary(max_size=40)
MESSAGES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=60)


@given(MESSAGES)
def test_messages_round_trip_and_every_prefix_is_truncated(message: Any) -> None:
    data = pson.dumps(message)
    back = pson.loads(data, strict=True)
    assert same(back, message)
    assert pson.dumps(back) == data
    for end in range(len(data)):
        with pytest.raises(pson.DecodeError) as error:
            pson.loads(data[:end])
        assert (error.value.kind, error.value.offset) == ("truncated", end)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_an_error(data: bytes) -> None:
    try:
        message = pson.loads(data)
    except pson.DecodeError as error:
        assert error.offset is not None and error.offset <= len(data)
    else:
        assert same(pson.loads(pson.dumps(message)), message)


@given(st.lists(MESSAGES, max_size=5), st.integers(1, 9))
def test_a_stream_in_pieces(messages: list[Any], piece: int) -> None:
    data = b"".join(map(pson.dumps, messages))
    unpacker, found = pson.Unpacker(), []
    for start in range(0, len(data), piece):
        unpacker.feed(data[start : start + piece])
        found.extend(unpacker)
    unpacker.finish()
    assert same(found, messages)


def test_a_stream_is_bounded_and_ends_with_a_message() -> None:
    unpacker = pson.Unpacker(max_size=100)
    unpacker.feed(b"\x01\x9f\xff\xff\x03" + b"a" * 50)
    assert list(unpacker) == [1]
    with pytest.raises(pson.DecodeError, match="truncated"):
        unpacker.finish()
    unpacker.feed(b"a" * 50)
    with pytest.raises(pson.DecodeError) as error:
        next(unpacker)
    assert (error.value.kind, error.value.offset) == ("limit", 100)
    broken = pson.Unpacker()
    broken.feed(b"\xe2\x01\x45")
    for _ in range(2):
        with pytest.raises(pson.DecodeError) as error:
            next(broken)
        assert (error.value.kind, error.value.offset) == ("malformed", 2)


def test_a_long_message_fed_byte_by_byte_takes_linear_time() -> None:
    unpacker = pson.Unpacker()
    data = pson.dumps([[n, str(n)] for n in range(5000)])
    for at in range(len(data)):
        unpacker.feed(data[at : at + 1])
        assert (next(unpacker, None) is None) == (at + 1 < len(data))


def test_files() -> None:
    file = io.BytesIO()
    pson.dump({"a": 1.1}, file, single_precision=True)
    assert len(file.getvalue()) == 1 + 2 + 5
    file.seek(0)
    assert pson.load(file) == {"a": float(np.float32(1.1))}
    with pytest.raises(pson.DecodeError, match="limit"):
        pson.load(io.BytesIO(b"\0" * 20), max_size=10)


@dataclasses.dataclass(slots=True)
class Position:
    latitude: float
    longitude: float
    _hidden: int = 0


@dataclasses.dataclass
class Reading:
    time: dt.datetime
    position: Position


class Color(enum.Enum):
    RED = "red"
    NESTED = Position(1.5, 2.5)


class Level(enum.IntEnum):
    HIGH = 3


Point = namedtuple("Point", "x y")


def test_types_of_the_standard_library() -> None:
    utc = dt.UTC
    for obj, value in [
        (dt.datetime(2026, 3, 29, 12, tzinfo=utc), "2026-03-29T12:00:00+00:00"),
        (dt.datetime(2026, 3, 29, 12, 0, 0, 5), "2026-03-29T12:00:00.000005"),
        (dt.date(2026, 3, 29), "2026-03-29"),
        (dt.time(12, 30), "12:30:00"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Color.RED, "red"),
        (Color.NESTED, {"latitude": 1.5, "longitude": 2.5}),
        ([Level.HIGH, True], [3, True]),
        ((1, "a", ()), [1, "a", []]),
        (Point(1, 2), [1, 2]),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (bytearray(b"ab"), b"ab"),
        (memoryview(b"abc")[1:], b"bc"),
        (
            Reading(dt.datetime(2026, 1, 1), Position(43.7, 10.4)),
            {"time": "2026-01-01T00:00:00", "position": {"latitude": 43.7, "longitude": 10.4}},
        ),
        ({"a": {1}}, None),
        (1j, None),
        (Position, None),
    ]:
        if value is None:
            with pytest.raises(pson.EncodeError, match="has no representation"):
                pson.dumps(obj)
        else:
            assert pson.loads(pson.dumps(obj)) == value
    assert pson.loads(pson.dumps({"a": {3}}, default=sorted)) == {"a": [3]}


def test_decimals_are_numbers_where_a_binary64_has_the_same_text() -> None:
    for text, value in [("24.56", 24.56), ("1E+3", 1000), ("0.1", 0.1), ("18446744073709551615", 2**64 - 1), ("18446744073709552000", 2**64)]:
        assert pson.loads(pson.dumps(Decimal(text))) == value
    assert pson.dumps(Decimal("-0")) == pson.dumps(-0.0)
    assert math.isnan(pson.loads(pson.dumps(Decimal("nan"))))
    for text in ("0.1000000000000000055", "18446744073709551615.5", "1E+1000000", "1E-1000"):
        with pytest.raises(pson.EncodeError) as error:
            pson.dumps([Decimal(text)])
        assert (error.value.kind, error.value.pointer) == ("range", "/0")


def test_numpy() -> None:
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    for obj, value in [
        (array, [[0, 1, 2], [3, 4, 5]]),
        (array.T, [[0, 3], [1, 4], [2, 5]]),
        (array.astype(">i4"), array.tolist()),
        (array[:, 1:], [[1, 2], [4, 5]]),
        (np.array([0.1, 2], dtype=np.float32), [float(np.float32(0.1)), 2]),
        (np.array([True, False]), [True, False]),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array([1, None], dtype=object), [1, None]),
        (np.array(5), 5),
        (np.zeros((2, 0)), [[], []]),
        (np.array([2**64 - 1], dtype=np.uint64), [2**64 - 1]),
        (np.float16(0.5), 0.5),
        (np.uint8(7), 7),
        (np.float64(1.25), 1.25),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.datetime64("2026-03-29T12:00:00.5"), "2026-03-29T12:00:00.500"),
        (np.array(["2026-03-29"], dtype="M8[D]"), ["2026-03-29"]),
    ]:
        assert pson.loads(pson.dumps(obj)) == value, obj
    itself = np.empty((), dtype=object)
    itself[()] = itself
    others = [np.longdouble(1.5), np.array([1, 2], dtype="g"), itself]  # tolist() returns them again
    for obj in (np.complex128(1j), np.array([(1, 2.0)], dtype="i4,f8"), np.timedelta64(1, "s"), *others):
        with pytest.raises(pson.EncodeError) as error:
            pson.dumps(obj)
        assert error.value.kind == "type"
    with pytest.raises(pson.EncodeError) as error:
        pson.dumps(np.zeros([1] * 33))
    assert error.value.kind == "limit"


def test_keys_are_the_same_object_and_none_is_mixed_up() -> None:
    one, two = pson.loads(pson.dumps([{"temperature": 1}, {"temperature": 2}]))
    assert next(iter(one)) is next(iter(two))
    keys = {"k" * n + str(m): m for n in range(0, 60, 3) for m in range(300)}
    assert pson.loads(pson.dumps(keys)) == keys
    swapped = {"ab" * 8 + x + "cd" * 8: x for x in map(chr, range(97, 123))}
    assert pson.loads(pson.dumps(swapped)) == swapped
