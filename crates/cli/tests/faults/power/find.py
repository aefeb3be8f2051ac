"""Prints what is in each store of each round: `ROUND STORE DAMAGED N,N,...`, the number of damaged lines and the numbers of the messages."""

import csv
import glob
import json
import os
import sqlite3
import sys

import duckdb

csv.field_size_limit(1 << 30)


def json_lines(pattern):
    for path in glob.glob(pattern):
        for line in open(path, "rb"):
            try:
                yield json.loads(line)["value"]["n"] if line.endswith(b"\n") else None
            except ValueError:
                yield None


def csv_lines(pattern):
    for path in glob.glob(pattern):
        rows = csv.reader(open(path, newline="", encoding="utf-8"))
        header = next(rows)
        for row in rows:
            whole = len(row) == len(header) and row[header.index("/n")].isdecimal()
            yield int(row[header.index("/n")]) if whole else None


def parquet(pattern):
    for path in glob.glob(pattern):
        yield from (row[0] for row in duckdb.sql(f"SELECT \"/n\" FROM read_parquet('{path}')").fetchall())


for disk in glob.glob(os.path.join(sys.argv[1], "*")):
    buffer = sqlite3.connect(os.path.join(disk, "data/buffer.sqlite3"))
    stores = {
        "buffer": [json.loads(row[0])["n"] for row in buffer.execute("SELECT json FROM messages")],
        "ndjson": [*json_lines(f"{disk}/ndjson/*.ndjson")],
        "csv": [*csv_lines(f"{disk}/csv/*.csv")],
        "parquet": [*parquet(f"{disk}/parquet/*.parquet"), *json_lines(f"{disk}/parquet/*.open.ndjson")],
    }
    for store, numbers in stores.items():
        whole = [number for number in numbers if number is not None]
        print(os.path.basename(disk), store, len(numbers) - len(whole), ",".join(map(str, whole)))
