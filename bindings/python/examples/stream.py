"""Reads messages in PSON from a stream that arrives in pieces."""

from dunnage import pson

stream = b"".join(pson.dumps({"celsius": n / 4}) for n in range(4))
unpacker = pson.Unpacker(max_size=160)
for start in range(0, len(stream), 7):
    unpacker.feed(stream[start : start + 7])
    for message in unpacker:
        print(message)
unpacker.finish()
