"""Measures one protocol in its own network: `python -m study.one [--quick] PROTOCOL`. Prints its records, one a line."""

import fcntl
import json
import signal
import sys
import tempfile
from pathlib import Path

from . import TOOLS
from .measure import CLEAR, FULL, QUICK, Plan, check, exchange, idle_hour, latencies, memory, round_trips, series
from .network import Network
from .protocols import find
from .protocols.base import Protocol
from .records import Records


def main(arguments: list[str]) -> None:
    """Measures the protocol that the last argument names."""
    # Servers end when this process is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    kind = find(arguments[-1])
    plan = QUICK if "--quick" in arguments else FULL
    records = Records(kind.name, kind.server_name)
    try:
        measure(kind, plan, records)
    except Exception as error:  # noqa: BLE001  each library has its own
        records.failed("start" if not records.lines else "measure", f"{type(error).__name__}: {error}")
        print(f"{kind.name}: {type(error).__name__}: {error}", file=sys.stderr)
    for line in records.lines:
        print(json.dumps(line))
    sys.stdout.flush()


def measure(kind: type[Protocol], plan: Plan, records: Records) -> None:
    """Starts the server and measures everything. What needs the machine for itself holds a lock that all protocols share."""
    if missing := [path for path in kind.needs if not Path(path).exists()]:
        raise FileNotFoundError(f"this machine does not have {', '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix=f"middleware-{kind.name}-") as folder, open(TOOLS / "middleware.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        network = Network()
        protocol = kind(network, Path(folder))
        try:
            protocol.start()
            records.subject["version"] = protocol.version()
            check(protocol)
            for step in (exchange, series, memory):
                attempt(records, step.__name__, lambda step=step: step(protocol, plan, records))
            attempt(records, "latency", lambda: latencies(protocol, CLEAR, plan, records))
            fcntl.flock(lock, fcntl.LOCK_UN)
            attempt(records, "idle-hour", lambda: idle_hour(protocol, plan, records))
            for condition in plan.conditions:
                if condition != CLEAR:
                    attempt(records, "latency", lambda condition=condition: latencies(protocol, condition, plan, records))
            round_trips(records)
        finally:
            protocol.server.stop()
            network.close()


def attempt(records: Records, operation: str, step) -> None:
    """Runs a step; if it fails, records why, and the next one runs."""
    try:
        step()
    except Exception as error:  # noqa: BLE001  each library has its own
        records.failed(operation, f"{type(error).__name__}: {error}")
        print(f"{records.subject['format']}: {operation}: {type(error).__name__}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
