from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, Literal, Protocol, Self, final, overload

from typing_extensions import Buffer, CapsuleType

from ._table import Comparison, MessagePart, Part, Table

__all__ = [
    "ArrowTable",
    "Receiver",
    "Schema",
    "Sender",
    "Unpacker",
    "__version__",
    "compare",
    "convert",
    "dumps",
    "formats",
    "loads",
]
__version__: str

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> object: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[object, object]: ...

def dumps(
    obj: Any,
    /,
    *,
    default: Callable[[Any], Any] | None = None,
    single_precision: bool = False,
    max_nesting: int = 32,
    max_size: int = 1048576,
) -> bytes: ...
def loads(data: Buffer, /, *, strict: bool = False, max_nesting: int = 32, max_size: int = 1048576) -> Any: ...
@final
class Unpacker:
    def __new__(cls, *, strict: bool = False, max_nesting: int = 32, max_size: int = 1048576) -> Self: ...
    def feed(self, data: Buffer) -> None: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> Any: ...
    @property
    def pending(self) -> int: ...
    def finish(self) -> None: ...

class Schema:
    def __new__(
        cls, source: Mapping[str, Any] | bool | str | PathLike[str], /, *, assert_formats: bool = False
    ) -> Self: ...
    @property
    def name(self) -> str: ...
    @property
    def slot(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def canonical(self) -> str: ...
    @property
    def min_size(self) -> int: ...
    @property
    def max_size(self) -> int | None: ...
    @property
    def is_plain(self) -> bool: ...
    @property
    def has_statistics(self) -> bool: ...
    def encode(self, message: Any, /, *, plain: bool = False) -> bytes: ...
    def decode(self, data: Buffer, /, *, device: str | None = None, known: Mapping[str, str] | None = None) -> Any: ...
    def decode_arrow(
        self,
        messages: Iterable[Buffer] | _ArrowStream | _ArrowArray,
        /,
        *,
        device: str | Iterable[str | None] | _ArrowStream | _ArrowArray | None = None,
        known: Mapping[str, str] | Mapping[str, Mapping[str, str]] | None = None,
        errors: Literal["raise", "null"] = "raise",
    ) -> ArrowTable: ...
    @overload
    def explain(self) -> Table[Part]: ...
    @overload
    def explain(
        self, message: Any, /, *, device: str | None = None, known: Mapping[str, str] | None = None
    ) -> Table[MessagePart]: ...

@final
class ArrowTable:
    def __len__(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType: ...

@final
class Sender:
    def __new__(cls, schema: Schema, /, *, pending: int = 1) -> Self: ...
    def encode(self, message: Any) -> bytes: ...
    def acknowledged(self, name: int) -> bool: ...
    @property
    def last(self) -> int | None: ...
    def forget(self) -> None: ...

@final
class Receiver:
    def __new__(
        cls,
        schema: Schema,
        /,
        *,
        keep: int = 32,
        references: Iterable[bytes] | None = None,
        device: str | None = None,
        known: Mapping[str, str] | None = None,
    ) -> Self: ...
    def decode(self, data: Buffer, /, *, device: str | None = None, known: Mapping[str, str] | None = None) -> Any: ...
    def explain(
        self, data: Buffer, /, *, device: str | None = None, known: Mapping[str, str] | None = None
    ) -> Table[MessagePart]: ...
    @property
    def last(self) -> int | None: ...
    @property
    def references(self) -> list[bytes]: ...

def convert(
    data: Buffer | str,
    from_format: str,
    to_format: str,
    /,
    *,
    schema: Schema | None = None,
    device: str | None = None,
    known: Mapping[str, str] | None = None,
) -> bytes: ...
def compare(message: Any, schema: Schema | None = None, /) -> Table[Comparison]: ...
def formats() -> list[str]: ...
