"""Messages that fit: the vectors of spec/vectors/packed/fit.json."""

import pytest
from dunnage import EncodeError, Receiver, Schema, Sender
from vectors import load, value

VECTORS = list(load("packed/fit.json"))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_as_much_of_a_message_is_written_as_fits(vector):
    schema, message, limit = Schema(vector["schema"]), value(vector["value"]), vector["limit"]
    if "kind" in vector:
        with pytest.raises(EncodeError) as caught:
            schema.encode_fit(message, limit)
        assert caught.value.kind == vector["kind"]
        return
    fit = schema.encode_fit(message, limit)
    assert (fit.data.hex(), fit.readings, fit.left_out) == (vector["hex"], vector["readings"], vector["left_out"])
    assert set(fit.left_out) <= set(schema.left_out(schema.decode(fit.data)))
    assert repr(fit).startswith(f"<Fit: {len(fit.data)} bytes, {fit.readings} readings, left out: [")


def test_a_sender_of_deltas_writes_what_fits():
    vector = next(vector for vector in VECTORS if "trained" in vector["name"] and "kind" not in vector)
    schema = Schema(vector["schema"])
    sender, receiver = Sender(schema), Receiver(schema)
    message = value(vector["value"])
    for _ in range(3):
        fit = sender.encode_fit(message, 40)
        assert len(fit.data) <= 40
        assert len(receiver.decode(fit.data)["readings"]) == fit.readings
        assert sender.acknowledged(receiver.last)
    with pytest.raises(EncodeError, match="the smallest form of the message has"):
        sender.encode_fit(message, 1)
