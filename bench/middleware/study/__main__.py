"""Measures all protocols, several at a time, and writes the records: `python -m study [--quick] [PROTOCOL ...]`."""

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from . import Failure, protocols, records, sizes, table, uses
from .network import built

AT_A_TIME = 4
"""Protocols that are measured at the same time. What needs the machine for itself waits for its turn; the others wait for the link."""


def main(arguments: list[str]) -> None:
    """Measures the named protocols, or all."""
    quick = ["--quick"] if "--quick" in arguments else []
    names = [argument for argument in arguments if not argument.startswith("--")]
    names = names or list(protocols.QUICK if quick else protocols.PLACES)
    if unknown := [name for name in names if name not in protocols.PLACES]:
        raise Failure(f"there is no {unknown[0]}; there are {', '.join(protocols.PLACES)}")
    built()
    namespaces()
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        measured = list(pool.map(lambda name: one(name, quick), names))
    lines = [line for found in measured for line in found] + sizes.measure()
    lines += uses.records(lines)
    records.write(lines)
    print(table.render(lines))
    if all(line["metric"] == "failed" for line in lines):
        raise Failure("nothing could be measured")


def namespaces() -> None:
    """Fails if this process may not make network namespaces and TUN devices."""
    script = "ip link set lo up && ip tuntap add dev probe mode tun"
    tried = subprocess.run([*unshare(), "sh", "-c", script], check=False, capture_output=True, text=True)
    if tried.returncode:
        raise Failure(f"needs CAP_NET_ADMIN and /dev/net/tun: {tried.stderr.strip()}")


def unshare() -> list[str]:
    """The beginning of a command with a network namespace of its own; without root, in a user namespace."""
    return ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--net", "--"]


def one(name: str, options: list[str]) -> list[dict]:
    """The records of a protocol."""
    process = subprocess.Popen(
        [*unshare(), sys.executable, "-m", "study.one", *options, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    reader = threading.Thread(target=lambda: [print(line, end="", flush=True) for line in process.stderr])
    reader.start()
    found = [json.loads(line) for line in process.stdout]
    code = process.wait()
    reader.join()
    print(f"{name}: {len(found)} records" + (f", exit code {code}" if code else ""), flush=True)
    return found


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failure as error:
        sys.exit(f"middleware: {error}")
