"""All vectors of packed, in all modes."""

from collections.abc import Iterator
from typing import Any

import pytest
from dunnage import DecodeError, EncodeError, Receiver, Schema, Sender
from vectors import load, message, same, value


def vectors(*names: str) -> list[Any]:
    def cases() -> Iterator[Any]:
        for name in names:
            for vector in load(f"packed/{name}.json"):
                yield pytest.param(vector, name == "formats", id=vector["name"])

    return list(cases())


def schema(vector: dict[str, Any], formats: bool = False) -> Schema:
    return Schema(vector["schema"], assert_formats=formats)


def known(vector: dict[str, Any]) -> dict[str, Any]:
    return {"device": vector.get("device"), "known": vector.get("known")}


VALID = vectors("numbers", "structure", "text", "modelled", "formats", "coded")


@pytest.mark.parametrize(("vector", "formats"), [case for case in VALID if "kind" not in case.values[0]])
def test_a_message_has_its_bytes(vector: dict[str, Any], formats: bool) -> None:
    layout, data, expected = schema(vector, formats), message(vector), value(vector["value"])
    assert layout.encode(expected) == data
    if "given" in vector:
        assert layout.encode(value(vector["given"])) == data
    assert same(layout.decode(data, **known(vector)), expected)
    plain = layout.encode(expected, plain=True)
    assert same(layout.decode(plain, **known(vector)), expected)
    if layout.max_size is not None:
        assert layout.min_size <= len(plain) <= layout.max_size
    for end in range(len(data)):
        with pytest.raises(DecodeError) as error:
            layout.decode(data[:end], **known(vector))
        assert error.value.kind == "truncated" or data[0] >> 6 == 1


@pytest.mark.parametrize(("vector", "formats"), [case for case in VALID if "kind" in case.values[0]] + vectors("invalid"))
def test_an_invalid_message_is_rejected(vector: dict[str, Any], formats: bool) -> None:
    with pytest.raises(DecodeError) as error:
        schema(vector, formats).decode(message(vector), **known(vector))
    assert (error.value.kind, error.value.offset) == (vector["kind"], vector["offset"])


@pytest.mark.parametrize(("vector", "formats"), vectors("refused"))
def test_a_value_that_the_schema_does_not_allow_is_refused(vector: dict[str, Any], formats: bool) -> None:
    with pytest.raises(EncodeError) as error:
        schema(vector, formats).encode(value(vector["value"]))
    assert (error.value.kind, error.value.pointer) == (vector["kind"], vector["pointer"])


@pytest.mark.parametrize(("vector", "formats"), vectors("layouts"))
def test_a_layout_has_its_text_fingerprint_and_sizes(vector: dict[str, Any], formats: bool) -> None:
    layout = schema(vector, formats)
    assert (layout.canonical, layout.fingerprint) == (vector["canonical"], vector["fingerprint"])
    assert (layout.min_size, layout.max_size) == (vector["min_bytes"], vector["max_bytes"])
    assert layout.is_plain == (layout.max_size is not None)


@pytest.mark.parametrize(("vector", "formats"), vectors("deltas"))
def test_deltas(vector: dict[str, Any], formats: bool) -> None:
    layout = schema(vector, formats)
    if "kind" in vector:
        receiver = Receiver(layout, references=[bytes.fromhex(plain) for plain in vector["references"]])
        with pytest.raises(DecodeError) as error:
            receiver.decode(message(vector))
        assert (error.value.kind, error.value.offset) == (vector["kind"], vector["offset"])
        return
    sender, receiver = Sender(layout, pending=vector["pending"]), Receiver(layout, keep=10_000)
    for step in vector["steps"]:
        if "acknowledge" in step:
            assert sender.acknowledged(int(step["acknowledge"], 16)) == step["news"]
        elif step.get("forget"):
            sender.forget()
        else:
            data = sender.encode(value(step["send"]))
            assert (data, sender.last) == (message(step), int(step["name"], 16))
            if not step["lost"]:
                assert same(receiver.decode(data), value(step["send"]))
                assert receiver.last == sender.last
                assert Receiver(layout, references=receiver.references).references == receiver.references
