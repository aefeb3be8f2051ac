"""The emulated link, and the server's end of it."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import ROOT, Failure

EMULATOR = ROOT / "target" / "release" / "dunnage-bench-middleware"
QUIET_MS, LIMIT_MS = 120, 5000
"""A link is quiet after this time without a packet: longer than the 40 ms for which Linux delays an acknowledgement."""


@dataclass(frozen=True)
class Condition:
    """Added round-trip time in milliseconds, and the share of packets that each direction loses."""

    rtt_ms: int
    loss: float

    def __str__(self) -> str:
        return f"{self.rtt_ms} ms, {self.loss * 100:g} % loss"


class Network:
    """A link between this process's network namespace and a new one, in which the servers run."""

    def __init__(self):
        self.emulator = subprocess.Popen([EMULATOR], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.namespace = self._answer()
        for enter in ([], self.enter()):
            subprocess.run([*enter, "ip", "link", "set", "lo", "up"], check=True)
        self.settle()
        self.count()

    def enter(self) -> list[str]:
        """The beginning of a command that runs in the server's namespace."""
        return ["nsenter", f"--net={self.namespace}", "--"]

    def set(self, condition: Condition, seed: int = 1) -> None:
        """Changes the link, when it is quiet."""
        self.settle()
        self._ask(f"link {round(condition.rtt_ms * 1000 / 2)} {condition.loss} {seed}")

    def count(self) -> dict:
        """What `up` and `down` have sent since the last call: the fields of `src/count.rs`."""
        return self._ask("count")

    def settle(self) -> None:
        """Waits until the link is quiet, or 5 s if some peer never is."""
        self._ask(f"settle {QUIET_MS} {LIMIT_MS}")

    def settled_count(self) -> dict:
        """The counts after the link has become quiet."""
        self.settle()
        return self.count()

    def close(self) -> None:
        """Ends the link and the server's namespace."""
        self.emulator.stdin.close()
        self.emulator.wait()

    def _ask(self, line: str):
        self.emulator.stdin.write(line + "\n")
        self.emulator.stdin.flush()
        return self._answer()

    def _answer(self):
        line = self.emulator.stdout.readline()
        if not line:
            raise Failure("the emulator of the link has ended: it needs CAP_NET_ADMIN and /dev/net/tun")
        return json.loads(line)


def total(counts: dict, field: str = "all", unit: str = "bytes") -> int:
    """A sum of both directions."""
    return counts["up"][field][unit] + counts["down"][field][unit]


def built() -> None:
    """Fails if the emulator is not built."""
    if not Path(EMULATOR).exists():
        raise Failure("the emulator is not built: cargo build --release -p dunnage-bench-middleware")
