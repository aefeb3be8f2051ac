"""Telemetry over links of 160, 30 or 19 bytes: PSON, packed and a dozen other message formats."""

from . import pson
from ._dunnage import ArrowTable, Fit, Receiver, Schema, Sender, __version__, compare, convert, formats
from ._errors import DecodeError, EncodeError
from ._table import Comparison, MessagePart, Part, Table

__all__ = [
    "ArrowTable",
    "Comparison",
    "DecodeError",
    "EncodeError",
    "Fit",
    "MessagePart",
    "Part",
    "Receiver",
    "Schema",
    "Sender",
    "Table",
    "__version__",
    "compare",
    "convert",
    "formats",
    "pson",
]
