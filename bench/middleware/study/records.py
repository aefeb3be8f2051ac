"""The records of the suite: bench/record.schema.json."""

import json
import os
import platform
from pathlib import Path

from . import ROOT

SUITE = "middleware"
RESULTS = ROOT / "bench" / "results" / f"{SUITE}.jsonl"


class Records:
    """Figures of one protocol."""

    def __init__(self, name: str, library: str, version: str | None = None):
        self.subject = {"format": name, "library": library} | ({"version": version} if version else {})
        self.lines: list[dict] = []

    def add(self, operation: str, metric: str, value: float, unit: str, target: str = "link", **more) -> None:
        """Adds a figure. `more` are further fields of a record, such as repetitions, spread and note."""
        record = {"record": 1, "suite": SUITE, "target": target, "payload": "container", **self.subject}
        record |= {"operation": operation, "metric": metric, "value": value, "unit": unit, "source": "measured", "environment": environment()}
        self.lines.append(record | {key: found for key, found in more.items() if found is not None})

    def failed(self, operation: str, reason: str, target: str = "link") -> None:
        """Adds that something failed, and why."""
        self.add(operation, "failed", 1, "1", target, note=reason)


def environment() -> str:
    """The processor, its cores, the kernel and the language of the clients."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    processor = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
    return f"{processor}, {os.cpu_count()} cores, Linux {platform.release()}, Python {platform.python_version()}"


def write(lines: list[dict]) -> None:
    """Replaces the results of the suite."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
