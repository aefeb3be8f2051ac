"""Decodes many packed container messages into columns, and in a loop."""

import json
from time import perf_counter

import dunnage
import pyarrow
from payloads import CORPUS
from record import Records


def compare(records: Records, messages: int) -> None:
    """Measures both, each the fastest of three rounds, and prints the ratio."""
    layout = dunnage.Schema("container")
    container = json.loads((CORPUS / "container.json").read_text())
    different = [layout.encode({**container, "nsat": f"{n % 30:02}", "door": "OCD"[n % 3]}) for n in range(90)]
    packed = (different * (messages // 90 + 1))[:messages]
    array = pyarrow.array(packed, pyarrow.binary())
    loop = columns = float("inf")
    for _ in range(3):
        start = perf_counter()
        for data in packed:
            layout.decode(data)
        loop = min(loop, perf_counter() - start)
        start = perf_counter()
        table = pyarrow.table(layout.decode_arrow(array))
        columns = min(columns, perf_counter() - start)
        assert table.num_rows == messages
    print(f"{messages:,} packed container messages: {loop:.2f} s in a loop of decode, {columns:.2f} s into Arrow: {loop / columns:.1f} times")
    records.add("container", "dunnage", "decode-loop", "ns", loop / messages * 1e9, form="packed")
    records.add("container", "dunnage", "decode-arrow", "ns", columns / messages * 1e9, form="packed")
