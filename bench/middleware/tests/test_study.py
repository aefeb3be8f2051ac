"""What the study computes from its records, and the shape of a record. Nothing is started."""

import json
import shutil
import tomllib

import jsonschema
import pytest
from study import ROOT, protocols, sizes, table, uses
from study.measure import FULL, parallel
from study.network import Condition, total
from study.records import Records

LIBC = sizes.FOLDER / "libc.so.6"


def measured() -> list[dict]:
    """The figures of a protocol that the uses need."""
    records = Records("coap", "dunnage", "1.2.3")
    for operation, value in (("one-message", 147), ("series", 100), ("idle-hour", 30)):
        records.add(operation, "bytes", value, "bytes")
    records.failed("latency", "lost")
    return records.lines


def test_a_sleeping_device_connects_four_times_and_a_connected_one_sends_twelve_messages():
    made = {line["operation"]: line["value"] for line in uses.records(measured())}
    assert made == {"sleeping": 4 * 147, "connected": 12 * 100 + 30}


def test_a_protocol_without_an_idle_hour_has_no_use_as_a_connection():
    lines = [line for line in measured() if line["operation"] != "idle-hour"]
    assert [line["operation"] for line in uses.records(lines)] == ["sleeping"]


def test_records_are_those_of_the_laboratory():
    schema = json.loads((ROOT / "bench/record.schema.json").read_text())
    for line in measured() + uses.records(measured()):
        jsonschema.validate(line, schema)


def test_the_table_has_each_figure_and_each_reason():
    text = table.render(measured())
    assert "147" in text
    assert "coap, link, latency: lost" in text


def test_both_directions_count():
    counts = {"up": {"all": {"bytes": 3, "packets": 1}}, "down": {"all": {"bytes": 4, "packets": 2}}}
    assert (total(counts), total(counts, unit="packets")) == (7, 3)


def test_the_full_form_has_nine_conditions_and_one_client_at_a_time_without_delay_and_loss():
    assert len({str(condition) for condition in FULL.conditions}) == 9
    assert str(Condition(600, 0.01)) == "600 ms, 1 % loss"
    assert [parallel(Condition(rtt, loss)) for rtt, loss in ((0, 0.0), (0, 0.1), (50, 0.0), (600, 0.0))] == [1, 4, 4, 20]


@pytest.mark.skipif(not (LIBC.exists() and shutil.which("objdump")), reason="needs objdump and Debian's libc")
def test_the_code_of_a_shared_library_is_smaller_than_its_file():
    assert 100_000 < sizes.text(LIBC) < LIBC.stat().st_size


def test_the_report_has_a_name_for_every_protocol():
    labels = tomllib.loads((ROOT / "bench/report/laboratory/labels.toml").read_text())["format"]
    assert set(protocols.PLACES) <= set(labels)
    assert set(protocols.QUICK) <= set(protocols.PLACES)
