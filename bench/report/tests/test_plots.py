"""What the drawings show: every figure once, with its interval, under a name of its own."""

import json

import pytest
import samples
from laboratory import plots, record


def records(*lines):
    return [record.parse(json.dumps(line), line["suite"]) for line in lines]


def time(format, library, value, **more):
    return samples.line("host", "host", "a", format, library, "encode", "ns", value, "ns", **more)


def definition(kind, **more):
    return plots.Definition(**{"id": "f", "kind": kind, "title": "F", "alt": "A drawing.", "select": {}, "suites": ["host"]} | more)


def values(chart):
    """The data of a chart."""
    found = []

    def walk(node):
        if isinstance(node, dict):
            found.extend(node["values"] if isinstance(node.get("values"), list) else [])
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(chart.to_dict())
    return [value for value in found if isinstance(value, dict)]


def test_two_figures_of_one_library_have_names_of_their_own():
    lines = [
        time("msgpack", "mpack", 10, version="1.0"),
        time("msgpack", "mpack", 20, version="1.1"),
        time("json", "paper", 30, reference="P, Table 1"),
    ]
    rows = values(plots.bars(definition("bars"), records(*lines)))
    assert {row["name"]: row["value"] for row in rows} == {"MessagePack · mpack · 1.0": 10, "MessagePack · mpack · 1.1": 20, "JSON · quoted": 30}


def test_bars_are_not_stacked():
    chart = plots.bars(definition("bars"), records(time("json", "a", 10), time("json", "b", 20))).to_dict()
    assert chart["hconcat"][0]["layer"][0]["encoding"]["x"]["stack"] is None


@pytest.mark.parametrize(("values_of", "kind"), [((10, 20), "linear"), ((10, 2000), "log")])
def test_very_different_figures_have_a_logarithmic_axis(values_of, kind):
    chart = plots.bars(definition("bars"), records(*(time("json", str(value), value) for value in values_of))).to_dict()
    assert chart["hconcat"][0]["layer"][0]["encoding"]["x"]["scale"].get("type", "linear") == kind


def test_an_interval_that_reaches_zero_begins_at_the_edge():
    spread = {"low": -5, "high": 30, "of": "99.9 % confidence interval"}
    rows = values(plots.bars(definition("bars"), records(time("json", "a", 10, spread=spread), time("json", "b", 9000))))
    assert 0 < next(row["low"] for row in rows if row["low"] is not None) < 10


def test_the_change_is_that_from_the_baseline():
    rows = values(plots.change(definition("change"), records(time("json", "a", 200), time("json", "b", 400), time("cbor", "dunnage", 50))))
    assert [(row["who"], row["change"]) for row in rows] == [("CBOR", -75)]


def test_no_change_is_a_bar_and_options_are_compared_apart():
    lines = [time("json", "a", 24), time("cbor", "dunnage", 24), time("json", "a", 10, options="-O2"), time("cbor", "dunnage", 20, options="-O2")]
    assert [row["change"] for row in values(plots.change(definition("change"), records(*lines)))] == [0, 100]


def test_the_axis_of_a_change_names_the_baseline():
    lines = records(time("json", "a", 24), time("xml", "a", 48))
    assert "change from XML (%)" in json.dumps(plots.change(definition("change", baseline={"format": "xml"}), lines).to_dict())


def test_every_crate_of_the_project_is_ours():
    rows = values(plots.bars(definition("bars"), records(time("pson", "dunnage-pson", 1), time("cbor", "dunnage", 2), time("cbor", "ciborium", 3))))
    assert [row["who"] for row in rows] == ["Dunnage", "Dunnage", "other libraries"]


def test_nothing_to_draw_is_no_drawing():
    assert plots.draw(definition("bars"), []).svg == ""
    failed = samples.line("host", "host", "a", "cbor", "dunnage", "encode", "failed", 1, "1", note="why")
    assert plots.draw(definition("bars"), records(failed)).svg == ""


def test_a_drawing_is_svg_and_png():
    drawn = plots.draw(definition("bars"), records(time("json", "a", 10), time("json", "b", 20)))
    assert drawn.svg.startswith("<svg") and drawn.png.startswith(b"\x89PNG") and "currentColor" in drawn.svg
