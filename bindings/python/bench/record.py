"""Writes figures in the format of bench/record.schema.json."""

import json
import os
import platform
from pathlib import Path
from typing import Any

from libraries import LIBRARIES

RESULTS = Path(__file__).parents[3] / "bench" / "results" / "lang-python.jsonl"


class Records:
    """The figures of this run."""

    def __init__(self) -> None:
        self._records: list[dict[str, Any]] = []
        self.environment = f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"

    def add(self, payload: str, library: str, operation: str, metric: str, value: float, form: str | None = None) -> None:
        """Adds a figure, in nanoseconds or as a ratio."""
        it = LIBRARIES[library]
        self._records.append(
            {
                "record": 1,
                "suite": "lang-python",
                "target": "host",
                "payload": payload,
                "format": form or it.format,
                "library": library,
                "version": it.version,
                "operation": operation,
                "metric": metric,
                "value": round(value, 3),
                "unit": "ns" if metric == "ns" else "1",
                "environment": self.environment,
                "source": "measured",
            }
        )

    def write(self) -> Path:
        """Replaces the file of the last run."""
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text("".join(json.dumps(record) + "\n" for record in self._records))
        return RESULTS


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
