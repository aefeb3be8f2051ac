"""Reads the vectors of spec/vectors, whose notation spec/vectors/README.md defines."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "spec" / "vectors"


def load(*files: str) -> Iterator[dict[str, Any]]:
    """Yields the vectors of some files, each with its own name. At least one."""
    for file in files:
        vectors = json.loads((FOLDER / file).read_text())["vectors"]
        assert vectors
        for at, vector in enumerate(vectors):
            yield {"name": f"{file} {at}", **vector}


def files(folder: str) -> list[str]:
    """Returns the files of a folder."""
    return sorted(f"{folder}/{path.name}" for path in (FOLDER / folder).glob("*.json"))


def message(vector: dict[str, Any], key: str = "hex") -> bytes:
    """Returns the bytes of a vector."""
    if key in vector:
        return bytes.fromhex(vector[key])
    return b"".join(bytes.fromhex(part) * count for part, count in vector["hex_parts"])


def value(notation: Any) -> Any:
    """Returns the value that a notation stands for."""
    if not isinstance(notation, dict):
        return notation
    [(word, content)] = notation.items()
    match word:
        case "int":
            return int(content)
        case "float":
            return float(content)
        case "bytes":
            return bytes.fromhex(content)
        case "array":
            return [value(item) for item in content]
        case "map":
            return {key: value(item) for key, item in content}
        case "repeat":
            return content[0] * content[1]
    raise AssertionError(f"no such notation: {word}")


def same(a: Any, b: Any) -> bool:
    """Returns whether two messages are the same: numbers by their value, maps with their order."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        if a != a or b != b:
            return a != a and b != b
        return a == b and (a != 0 or math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and a == b
