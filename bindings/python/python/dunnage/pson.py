"""PSON: any JSON message, and byte strings, in fewer bytes than JSON.

>>> from dunnage import pson
>>> pson.dumps({"celsius": 23.5})
b'\\xc1\\x87celsius@\\x00\\x00\\xbcA'
>>> pson.loads(_)
{'celsius': 23.5}
"""

from collections.abc import Callable
from typing import IO, Any

from ._dunnage import Unpacker, dumps, loads
from ._errors import DecodeError, EncodeError

__all__ = ["DecodeError", "EncodeError", "Unpacker", "dump", "dumps", "load", "loads"]


def dump(
    obj: Any,
    file: IO[bytes],
    /,
    *,
    default: Callable[[Any], Any] | None = None,
    single_precision: bool = False,
    max_nesting: int = 32,
    max_size: int = 1048576,
) -> None:
    """Encode an object and write it to a binary file. See dumps."""
    file.write(dumps(obj, default=default, single_precision=single_precision, max_nesting=max_nesting, max_size=max_size))


def load(file: IO[bytes], /, *, strict: bool = False, max_nesting: int = 32, max_size: int = 1048576) -> Any:
    """Decode the message that a binary file contains. See loads. Reads no more than just above max_size."""
    return loads(file.read(max_size + 1), strict=strict, max_nesting=max_nesting, max_size=max_size)
