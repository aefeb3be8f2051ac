"""The payloads: the ten messages of the PSON paper, the container's message, and a document of 1 MB."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parents[3] / "bench" / "corpus"


def payloads() -> Iterator[tuple[str, Any]]:
    """Yields the names and messages."""
    paper = json.loads((CORPUS / "pson-paper.json").read_text())["payloads"]
    yield from ((name, message) for name, message in paper.items() if name.startswith("Test"))
    yield "container", json.loads((CORPUS / "container.json").read_text())
    yield "1 MB", document()


def document() -> list[Any]:
    """Returns readings of stations, always the same: 1 MB as compact JSON."""
    numbers = random.Random(1)
    readings: list[Any] = []
    size = 0
    while size < 1_000_000:
        reading = {
            "id": len(readings),
            "station": f"station {numbers.randrange(1000)}",
            "temperature": round(numbers.uniform(-40, 60), 2),
            "humidity": numbers.randrange(100),
            "ok": numbers.random() < 0.9,
            "position": [round(numbers.uniform(-90, 90), 5), round(numbers.uniform(-180, 180), 5)],
            "tags": ["sun", "wind", "température"][: numbers.randrange(4)],
            "note": None,
        }
        size += len(json.dumps(reading, separators=(",", ":"), ensure_ascii=False).encode()) + 1
        readings.append(reading)
    return readings
