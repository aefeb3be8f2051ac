"""Input that wants to do harm."""

import gc
import pickle
import resource
from typing import Any

import pytest
from dunnage import Schema, pson


def rejected(data: Any, **options: Any) -> tuple[str, int | None]:
    with pytest.raises(pson.DecodeError) as error:
        pson.loads(data, **options)
    return error.value.kind, error.value.offset


def refused(obj: Any, **options: Any) -> tuple[str, str]:
    with pytest.raises(pson.EncodeError) as error:
        pson.dumps(obj, **options)
    return error.value.kind, error.value.pointer


def test_a_nesting_bomb() -> None:
    assert rejected(b"\xe1" * 40_000) == ("limit", 32)
    assert rejected(b"\xc1\x81a" * 20_000) == ("limit", 96)
    assert pson.loads(b"\xe1" * 3 + b"\0", max_nesting=3) == [[[0]]]
    assert rejected(b"\xe1" * 4 + b"\0", max_nesting=3) == ("limit", 3)
    with pytest.raises(ValueError):
        pson.loads(b"\0", max_nesting=65)


@pytest.mark.parametrize("header", ["9f", "bf", "df", "ff"])
@pytest.mark.parametrize("length", ["ffffffff0f", "ffffffffffffffffff01"])
def test_a_length_that_is_not_there_takes_no_memory(header: str, length: str) -> None:
    data = bytes.fromhex(header + length)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert rejected(data) == ("truncated", len(data))
    assert rejected(data * 20 if header == "ff" else data)[0] == "truncated"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 << 10


def test_a_message_above_the_limit() -> None:
    assert rejected(b"\0" * (1 << 20) + b"\0") == ("limit", 1 << 20)
    assert rejected(memoryview(b"\0" * (1 << 21))) == ("limit", 1 << 20)
    assert rejected(b"\x83abc", max_size=3) == ("limit", 3)
    assert refused("a" * (1 << 20)) == ("limit", "")
    assert refused([0] * (1 << 21)) == ("limit", "/1048572")
    assert refused(b"ab", max_size=2) == ("limit", "")
    assert pson.loads(pson.dumps("a" * (1 << 20), max_size=1 << 21), max_size=1 << 21) == "a" * (1 << 20)


def test_objects_in_a_circle() -> None:
    circle: list[Any] = []
    circle.append({"a": circle})
    kind, pointer = refused(circle)
    assert (kind, pointer) == ("limit", "/0/a" * 16)
    again: dict[str, Any] = {}
    again["~/"] = again
    assert refused(again) == ("limit", "/~0~1" * 32)


def test_keys_that_are_not_text() -> None:
    for key in (1, None, b"a", 1.5, ("a",)):
        assert refused({"x": [{key: 0}]}) == ("type", "/x/0")

    class Text(str):
        __hash__ = object.__hash__
        __eq__ = object.__eq__

    assert pson.dumps({Text("a"): 1}) == pson.dumps({"a": 1})
    assert refused({Text("a"): 1, Text("a"): 2}) == ("type", "/a")


def test_integers_beyond_64_bits() -> None:
    assert pson.loads(pson.dumps([2**64 - 1, -(2**63)])) == [2**64 - 1, -(2**63)]
    assert refused([2**64]) == ("range", "/0")
    assert refused({"a": -(2**63) - 1}) == ("range", "/a")
    assert refused(10**5000) == ("range", "")


def test_lone_surrogates() -> None:
    assert refused({"a": "\ud800"}) == ("type", "/a")
    assert refused({"\udfff": 0}) == ("type", "")
    assert rejected(b"\x83\xed\xa0\x80") == ("malformed", 0)


def test_numbers_that_are_none() -> None:
    for number, data in [("nan", "400000c07f"), ("inf", "400000807f"), ("-inf", "40000080ff"), ("-0.0", "4000000080")]:
        assert pson.dumps(float(number)).hex() == data
        assert str(pson.loads(bytes.fromhex(data))) == number


def test_a_hook_that_changes_what_is_encoded() -> None:
    items: list[Any] = [object(), 1, 2]

    def clear(_: object) -> int:
        items.clear()
        return 0

    assert refused(items, default=clear) == ("type", "")
    entries: dict[str, Any] = {"a": object(), "b": 1}

    def grow(_: object) -> int:
        entries.update({str(n): n for n in range(100)})
        return 0

    assert refused(entries, default=grow) == ("type", "")
    assert refused(object(), default=lambda same: same)[0] == "limit"
    assert refused(object()) == ("type", "")
    with pytest.raises(ZeroDivisionError):
        pson.dumps([object()], default=lambda _: 1 / 0)


def test_what_is_no_message_and_no_argument() -> None:
    for data in ("text", 1, None, ["a"]):
        with pytest.raises(TypeError):
            pson.loads(data)  # type: ignore[arg-type]
    for call in (lambda: pson.loads(), lambda: pson.dumps(1, 2), lambda: pson.dumps(1, indent=2)):  # type: ignore
        with pytest.raises(TypeError):
            call()
    with pytest.raises(BufferError):
        pson.loads(memoryview(b"abcdef")[::2])


def test_exceptions_are_of_the_usual_classes_and_can_be_pickled() -> None:
    assert issubclass(pson.DecodeError, ValueError)
    assert issubclass(pson.EncodeError, ValueError) and issubclass(pson.EncodeError, TypeError)
    with pytest.raises(pson.DecodeError, match="truncated: the message ends early at byte 2") as error:
        pson.loads(b"\xe2\x01")
    again = pickle.loads(pickle.dumps(error.value))
    assert (str(again), again.kind, again.offset) == (str(error.value), "truncated", 2)


def test_nothing_leaks() -> None:
    schema = Schema("weather")
    data = pson.dumps({"a": [1.5, "text", {"b": b"bytes"}], "other": None})

    def work() -> None:
        pson.dumps(pson.loads(data))
        for end in range(len(data)):
            rejected(data[:end])
        rejected(data[:-1] + b"\x40")
        refused([{"a": object()}])
        with pytest.raises(pson.DecodeError):
            schema.decode_arrow([b"\1", b"\2"])

    work()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(50):
        work()
    gc.collect()
    assert len(gc.get_objects()) - before < 50
