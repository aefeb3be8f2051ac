"""Answers the requests of conform/README.md, a line for each."""

import struct
import sys
from collections.abc import Iterator
from typing import Any

from dunnage import pson

HELLO = "ok nesting 32 size 1048576 float 64 line 16777216"


class Unrepresentable(Exception):
    """A dict cannot have duplicate keys."""


def answer(request: str) -> str:
    word, _, rest = request.partition(" ")
    if word == "decode":
        mode, _, digits = rest.partition(" ")
        try:
            words: list[str] = []
            tell(pson.loads(bytes.fromhex(digits), strict=mode == "strict"), words)
        except pson.DecodeError as error:
            return f"error {error.kind} {error.offset}"
        return "ok " + " ".join(words)
    if word == "encode":
        policy, *words = rest.split(" ")
        try:
            return "ok " + pson.dumps(value(iter(words)), single_precision=policy == "single").hex()
        except Unrepresentable:
            return "skip"
        except pson.EncodeError as error:
            return f"error {error.kind} {error.offset}"
    return HELLO if word == "hello" else "skip"


def tell(it: Any, words: list[str]) -> None:
    """Appends the words of a value."""
    if it is None:
        words.append("n")
    elif it is True:
        words.append("t")
    elif it is False:
        words.append("f")
    elif isinstance(it, int):
        words.append(f"i{it}")
    elif isinstance(it, float):
        words.append(of_float(it))
    elif isinstance(it, str):
        words.append("s" + it.encode().hex())
    elif isinstance(it, bytes):
        words.append("b" + it.hex())
    elif isinstance(it, list):
        words.append(f"a{len(it)}")
        for item in it:
            tell(item, words)
    else:
        words.append(f"m{len(it)}")
        for key, item in it.items():
            words.append("s" + key.encode().hex())
            tell(item, words)


def of_float(f: float) -> str:
    if f.is_integer() and -(2**63) <= f < 2**64 and (f != 0 or str(f) == "0.0"):
        return f"i{int(f)}"
    return "d7ff8000000000000" if f != f else "d" + struct.pack(">d", f).hex()


def value(words: Iterator[str]) -> Any:
    """Reads the words of a value."""
    word = next(words)
    content = word[1:]
    match word[0]:
        case "n":
            return None
        case "t":
            return True
        case "f":
            return False
        case "i":
            return int(content)
        case "d":
            return struct.unpack(">d", bytes.fromhex(content))[0]
        case "s":
            return bytes.fromhex(content).decode()
        case "b":
            return bytes.fromhex(content)
        case "a":
            return [value(words) for _ in range(int(content))]
    entries = [(value(words), value(words)) for _ in range(int(content))]
    if len(dict(entries)) < len(entries):
        raise Unrepresentable
    return dict(entries)


def main() -> None:
    for line in sys.stdin:
        request = line.rstrip("\n")
        if request:
            sys.stdout.write(answer(request) + "\n")
        else:
            sys.stdout.flush()


if __name__ == "__main__":
    main()
