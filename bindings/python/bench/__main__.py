"""Measures dunnage beside orjson, ormsgpack, msgpack and cbor2. Prints one table, and writes bench/results/lang-python.jsonl.

target/tools/bindings/bin/python bindings/python/bench [--quick]
"""

import argparse
import statistics
import sys
from typing import Any

import columns
import measure
from libraries import LIBRARIES
from payloads import payloads
from record import Records

OPERATIONS = ("encode", "decode")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and a tenth of the messages for Arrow")
    quick = parser.parse_args().quick
    records = Records()
    ratios: dict[tuple[str, str], list[float]] = {}
    print("ns a message, the fastest of interleaved rounds; in brackets the time relative to dunnage\n")
    for operation in OPERATIONS:
        header(operation)
        for name, payload in payloads():
            times = measure.fastest(tasks(operation, payload), rounds=5 if quick else 25)
            own = times["dunnage"]
            row = [f"{name:<10}"]
            for library, time in times.items():
                ratios.setdefault((operation, library), []).append(time / own)
                row.append(f"{time:>12,.0f} [{time / own:5.2f}]")
                records.add(name, library, operation, "ns", time)
            print(" ".join(row))
        mean = {library: statistics.geometric_mean(ratios[operation, library]) for library in LIBRARIES}
        print(" ".join([f"{'mean':<10}", *(f"{'':>12} [{mean[library]:5.2f}]" for library in LIBRARIES)]), "\n")
        for library in LIBRARIES:
            records.add("average", library, operation, "time_ratio", mean[library])
    columns.compare(records, messages=100_000 if quick else 1_000_000)
    print(f"\n{records.environment}\nwritten: {records.write()}", file=sys.stderr)


def header(operation: str) -> None:
    names = [f"{library} {it.version}" for library, it in LIBRARIES.items()]
    print(" ".join([f"{operation:<10}", *(f"{name:>20}" for name in names)]))


def tasks(operation: str, payload: Any) -> dict[str, tuple[Any, Any]]:
    """Returns a function and its argument for each library. They are checked first."""
    found = {}
    for name, library in LIBRARIES.items():
        data = library.encode(payload)
        assert library.decode(data) == payload, name
        found[name] = (library.encode, payload) if operation == "encode" else (library.decode, data)
    return found


if __name__ == "__main__":
    main()
