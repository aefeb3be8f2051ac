"""The libraries that are compared."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import cbor2
import msgpack
import orjson
import ormsgpack
from dunnage import pson


@dataclass(frozen=True)
class Library:
    format: str
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]
    version: str


LIBRARIES = {
    "dunnage": Library("pson", pson.dumps, pson.loads, version("dunnage")),
    "orjson": Library("json", orjson.dumps, orjson.loads, version("orjson")),
    "ormsgpack": Library("msgpack", ormsgpack.packb, ormsgpack.unpackb, version("ormsgpack")),
    "msgpack": Library("msgpack", msgpack.packb, msgpack.unpackb, version("msgpack")),
    "cbor2": Library("cbor", cbor2.dumps, cbor2.loads, version("cbor2")),
}
