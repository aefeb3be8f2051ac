"""All vectors of PSON."""

from typing import Any

import pytest
from dunnage import pson
from vectors import files, load, message, same, value

VALID = [v for v in load(*(file for file in files("pson") if not file.endswith("reads.json")))]
INVALID = [v for v in load(*(file for file in files("invalid") if not file.endswith("reads.json")))]


def named(vectors: list[dict[str, Any]]) -> Any:
    return pytest.mark.parametrize("vector", vectors, ids=lambda vector: vector["name"])


@named(VALID)
def test_a_message_decodes_to_its_value_and_encodes_canonically(vector: dict[str, Any]) -> None:
    data, expected = message(vector), value(vector["value"])
    assert same(pson.loads(data), expected)
    if vector["canonical"]:
        assert pson.dumps(expected) == data
        assert same(pson.loads(data, strict=True), expected)
    else:
        assert pson.dumps(expected) == message(vector, "canonical_hex")
        with pytest.raises(pson.DecodeError) as error:
            pson.loads(data, strict=True)
        assert (error.value.kind, error.value.offset) == ("malformed", vector["strict_offset"])
    single = pson.dumps(expected, single_precision=True)
    if "single_hex" in vector:
        assert single == message(vector, "single_hex")
    elif vector["canonical"]:
        assert single == data
    if "size" in vector:
        assert (len(data), len(single)) == (vector["size"], vector["single_size"])


@named(VALID)
def test_every_prefix_is_truncated(vector: dict[str, Any]) -> None:
    data = message(vector)
    for end in range(0, len(data), len(data) // 64 + 1):
        for part in (data[:end], bytearray(data[:end]), memoryview(data)[:end]):
            with pytest.raises(pson.DecodeError) as error:
                pson.loads(part)
            assert (error.value.kind, error.value.offset) == ("truncated", end)


@named(INVALID)
def test_an_invalid_message_is_rejected(vector: dict[str, Any]) -> None:
    for strict in (False, True):
        with pytest.raises(pson.DecodeError) as error:
            pson.loads(message(vector), strict=strict)
        expected = vector["kind"], vector["offset"]
        if strict and "strict_kind" in vector:
            expected = vector["strict_kind"], vector["strict_offset"]
        assert (error.value.kind, error.value.offset) == expected


def test_bytes_of_another_implementation() -> None:
    count = 0
    for vector in load("interop.json"):
        data = message(vector)
        assert pson.dumps(vector["json"]) == data
        assert same(pson.loads(data, strict=True), vector["json"])
        count += 1
    assert count == 300
