"""Checks the files for Grafana, and runs each query of the dashboard as Grafana would: with its variables and macros replaced.

The keys are those of https://grafana.com/docs/grafana/latest/administration/provisioning/, the macros those of
https://grafana.com/docs/grafana/latest/datasources/postgres/query-editor/.
"""

import csv
import io
import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import yaml

folder, psql, url = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
SECONDS = 60


def provisioning() -> None:
    """Checks that the files have the keys that Grafana requires, and that they belong together."""
    [source] = read("datasources")["datasources"]
    assert {"name", "type", "access", "url", "user"} <= source.keys(), source
    assert {"database", "sslmode"} <= source["jsonData"].keys(), source
    assert source["type"] == "grafana-postgresql-datasource" and source["secureJsonData"]["password"].startswith("$")
    [provider] = read("dashboards")["providers"]
    assert provider["type"] == "file" and {"name", "folder"} <= provider.keys() and provider["options"]["path"]


def read(kind: str) -> dict:
    [path] = (folder / "provisioning" / kind).glob("*.yaml")
    content = yaml.safe_load(path.read_text())
    assert content["apiVersion"] == 1, path
    return content


def expand(sql: str, **chosen: list[str]) -> str:
    """Replaces the variables and the macros of a query. `chosen` are the selected values; without any, all are."""

    def variable(match: re.Match) -> str:
        name, form = match.groups()
        if name == "table":
            assert form == "raw"
            return "room"
        assert form == "sqlstring", match
        # Grafana inserts `allValue` as it is.
        return ", ".join("'" + value.replace("'", "''") + "'" for value in chosen[name]) if name in chosen else "'*'"

    sql = re.sub(r"\$\{(table|device|tag):(\w+)\}", variable, sql)
    sql = sql.replace("$__interval", f"{SECONDS}s")
    now = datetime.now(UTC)
    start, end = (time.strftime("%Y-%m-%dT%H:%M:%S.%fZ") for time in (now - timedelta(hours=24), now + timedelta(minutes=1)))
    group = rf'floor(extract(epoch from \1)/{SECONDS})*{SECONDS} AS "time"'
    sql = re.sub(rf"\$__timeGroupAlias\((\w+), {SECONDS}s\)", group, sql)
    sql = re.sub(r"\$__timeFilter\((\w+)\)", rf"\1 BETWEEN '{start}' AND '{end}'", sql)
    assert "$" not in sql, sql
    return sql


def rows(sql: str, **chosen: list[str]) -> list[dict[str, str]]:
    command = [psql, "--no-psqlrc", "--csv", "--set=ON_ERROR_STOP=1", url, "--command", expand(sql, **chosen)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(output)))


provisioning()
dashboard = json.loads((folder / "dashboards/room.dashboard.json").read_text())
assert {"title", "schemaVersion", "time", "templating", "panels"} <= dashboard.keys()

variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
assert variables["source"]["type"] == "datasource" and variables["table"]["current"]["value"] == "room"
found = {name: rows(variable["query"]) for name, variable in variables.items() if variable["type"] == "query"}
assert [row["table_name"] for row in found["table"]] == ["room"], found
assert [(row["__value"], row["__text"]) for row in found["device"]] == [
    ("room-201", "Room 201 (room-201)"),
    ("room-202", "Room 202 (room-202)"),
    ("room-301", "Room 301 (room-301)"),
], found
assert [row["?column?"] for row in found["tag"]] == ["floor=2", "floor=3", "site=lucca", "site=pisa"], found

panels = {panel["title"]: panel for panel in dashboard["panels"]}
assert len({panel["id"] for panel in panels.values()}) == len(dashboard["panels"]) == 5
for panel in panels.values():
    assert panel["datasource"] == {"type": "grafana-postgresql-datasource", "uid": "${source}"} and panel["gridPos"].keys() == set("xywh")
sql = {title: panel["targets"][0]["rawSql"] for title, panel in panels.items()}

latest = rows(sql["Latest values"])
assert [(row["Name"], row["temperature"], row["humidity"], row["battery"]) for row in latest] == [
    ("Room 201", "22.5", "45.0", "98"),
    ("Room 202", "-1.0", "50.0", "100"),
    ("Room 301", "0.0", "10.0", "50"),
], latest
assert json.loads(latest[2]["Tags"]) == {"floor": "3", "site": "lucca"}
assert [row["Device"] for row in rows(sql["Latest values"], tag=["site=pisa"], device=["room-202", "o'clock"])] == ["room-202"]
assert [row["Device"] for row in rows(sql["Silent for an hour"])] == ["room-301"]
assert rows(sql["Silent for an hour"], tag=["site=pisa"]) == []

units = {"temperature": "suffix: °C", "humidity": "suffix: %", "battery": "suffix: %"}
means = {"temperature": [22.0, -1.0, 0.0], "humidity": [45.0, 50.0, 10.0], "battery": [98.5, 100.0, 50.0]}
for field, unit in units.items():
    assert panels[field]["type"] == "timeseries" and panels[field]["fieldConfig"]["defaults"]["unit"] == unit
    assert panels[field]["targets"][0]["format"] == "time_series"
    series: dict[str, list[float]] = {}
    for row in rows(sql[field]):
        assert float(row["time"]) % SECONDS == 0
        series.setdefault(row["metric"], []).append(float(row["value"]))
    # Two messages in one minute are one point, or two if the minute ended between them.
    actual = [sum(values) / len(values) for _, values in sorted(series.items())]
    assert actual == means[field] and min(series) == "Room 201 (room-201)", (field, series)
    assert {row["metric"] for row in rows(sql[field], tag=["floor=3"])} == {"Room 301 (room-301)"}

print(f"{len(sql)} panels and {len(found)} variables have the rows that were sent")
