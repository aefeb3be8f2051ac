"""count.py   compares what the sensors sent with what arrived ashore, and prints what the satellite carried."""

import json
from pathlib import Path

arrived = {}
for file in sorted(Path("ashore/files").rglob("*.ndjson")):
    for line in file.read_text().splitlines():
        message = json.loads(line)
        arrived.setdefault(message["device"], []).append(message)
sent = {path.stem.removeprefix("sent-"): path.read_text().splitlines() for path in Path().glob("sent-*.ndjson")}
assert sorted(sent) == sorted(arrived), (sorted(sent), sorted(arrived))
for device, lines in sent.items():
    values = [message["value"] for message in arrived[device]]
    assert values == [json.loads(line) for line in lines], device
sizes = [int(line) for line in Path("sent.txt").read_text().split()]
at_sea = [line for lines in sent.values() for line in lines[: len(lines) // 2]]
print(f"{sum(map(len, sent.values()))} readings of {len(sent)} sensors arrived, each once and in order")
print(f"at sea: {len(at_sea)} readings in {len(sizes)} transmissions of {sum(sizes)} bytes, those that had to be repeated included")
print(f"as JSON, one reading in a transmission: {len(at_sea)} transmissions of {sum(map(len, at_sea))} bytes")
