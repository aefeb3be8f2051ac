"""The exceptions of the package."""

from typing import Any


class DecodeError(ValueError):
    """Bytes are not a valid message."""

    kind: str
    """``truncated``, ``malformed``, ``type``, ``range``, ``limit`` or ``reference``. The kinds are the same in every library of the project."""

    offset: int | None
    """Where the fault is, in bytes from the start of the message, if known."""

    pointer: str
    """A JSON pointer to the value at fault; empty for the whole message, or if unknown."""

    index: int | None
    """The index of the message, if there are several."""

    def __init__(self, reason: str, *, kind: str = "malformed", offset: int | None = None, pointer: str = "", index: int | None = None) -> None:
        super().__init__(reason)
        self.kind, self.offset, self.pointer, self.index = kind, offset, pointer, index

    def __str__(self) -> str:
        return _sentence(self.kind, self.args[0], self.pointer, self.offset, self.index)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args[0], self.__dict__)


class EncodeError(TypeError, ValueError):
    """A value cannot be encoded."""

    kind: str
    """``type``, ``range`` or ``limit``."""

    pointer: str
    """A JSON pointer to the value at fault; empty for the whole message."""

    offset: int | None
    """How many bytes the message had before that value, if known."""

    def __init__(self, reason: str, *, kind: str = "type", pointer: str = "", offset: int | None = None) -> None:
        super().__init__(reason)
        self.kind, self.pointer, self.offset = kind, pointer, offset

    def __str__(self) -> str:
        return _sentence(self.kind, self.args[0], self.pointer, None, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args[0], self.__dict__)


def _sentence(kind: str, reason: str, pointer: str, offset: int | None, index: int | None) -> str:
    place = f" at {pointer}" if pointer else ""
    byte = "" if offset is None else f" at byte {offset}"
    message = "" if index is None else f" of message {index}"
    return f"{kind}: {reason}{place}{byte}{message}"


def _restore(error: type[Any], reason: str, fields: dict[str, Any]) -> Any:
    """Makes an exception again that was pickled."""
    return error(reason, **fields)
