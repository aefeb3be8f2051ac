"""How figures and fields are written, and what a selection selects."""

import pytest
import samples
from laboratory import best, query, record, tables


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (56, "56"), (9.57, "9.57"), (28.4, "28.4"), (66.3, "66.3"), (12.3456, "12.35"), (123.456, "123.5"), (1234.5, "1\u202f234"),
     (3890896, "3\u202f890\u202f896"), (0.00123456, "0.00123"), (-2.5, "-2.5")],
)  # fmt: skip
def test_figures_have_four_digits_at_most_and_no_invented_ones(value, text):
    assert query.number(value) == text


def test_labels_keep_mappings_and_compressors():
    assert query.label("format", "protobuf (float32)") == "Protobuf (float32)"
    assert query.label("format", "json+zstd-dictionary") == "JSON+zstd-dictionary"
    assert query.label("library", "unheard-of") == "unheard-of"


def records(*lines):
    import json

    return [record.parse(json.dumps(line), line["suite"]) for line in lines]


def size(format, value, **more):
    return samples.line("host", "host", more.pop("payload", "a"), format, more.pop("library", "dunnage"), "encode", "bytes", value, "bytes", **more)


def test_a_selection_knows_texts_expressions_and_lists():
    all_records = records(size("json", 1), size("json+gzip", 2), size("cbor", 3))
    assert [r.value for r in query.select(all_records, {"format": "json"})] == [1]
    assert [r.value for r in query.select(all_records, {"format": "~json.*"})] == [1, 2]
    assert [r.value for r in query.select(all_records, {"format": ["cbor", "~.*gzip"]})] == [2, 3]
    assert [r.value for r in query.select(all_records, [{"format": "cbor"}, {"format": "json", "payload": "a"}])] == [1, 3]


def test_the_ranking_is_the_mean_ratio_and_needs_half_of_the_messages():
    lines = [size("json", 100), size("json", 10, payload="b"), size("json", 10, payload="c"), size("cbor", 50), size("cbor", 5, payload="b"),
             size("cbor", 5, payload="c"), size("packed", 1)]  # fmt: skip
    assert [(rank.format, round(rank.ratio, 2)) for rank in best.ranking(records(*lines), "bytes")] == [("cbor", 0.5), ("json", 1.0)]


def test_a_message_without_the_baseline_does_not_count_and_operations_are_cases_of_their_own():
    lines = [size("json", 100), size("cbor", 50), size("packed", 900, payload="b"), size("cbor", 9, payload="b"), size("xml", 1, payload="b")]
    assert [(rank.format, rank.ratio) for rank in best.ranking(records(*lines), "bytes")] == [("cbor", 0.5), ("json", 1.0)]
    times = [samples.line("host", "host", "a", format, "dunnage", operation, "ns", value, "ns")
             for format, operation, value in (("json", "encode", 100), ("json", "decode", 400), ("cbor", "encode", 50), ("cbor", "decode", 200))]  # fmt: skip
    assert [(rank.format, round(rank.ratio, 2)) for rank in best.ranking(records(*times), "ns")] == [("cbor", 0.5), ("json", 1.0)]
    assert [rank.format for rank in best.ranking(records(*lines[2:]), "bytes")] == ["xml", "cbor", "packed"]


def test_formats_that_change_a_value_are_left_out():
    lossless = samples.line("host", "host", "a", "protobuf", "dunnage", "decode", "lossless", 0, "1")
    lines = [size("json", 9), size("protobuf", 1), size("protobuf+gzip", 2), size("struct (float32)", 1), size("protobuf", 3, payload="b"), lossless]
    assert [(r.format, r.payload) for r in best.exact(records(*lines)) if r.metric == "bytes"] == [("json", "a"), ("protobuf", "b")]


def table(lines, **more):
    definition = tables.Definition(**{"id": "t", "title": "T", "select": {}, "rows": ["format"], "columns": ["payload"], "suites": ["host"]} | more)
    return tables.build(definition, records(*lines))


def test_figures_that_would_share_a_cell_get_a_heading_of_their_own():
    built = table([size("json", 1), size("json", 2, library="serde_json"), size("json", 3, payload="b")])
    assert "library" in built.row_fields
    assert [[cell.text for cell in cells] for _, _, cells in built.rows] == [["1", "3"], ["2", ""]]


def test_quoted_figures_stand_beside_the_measured_ones_with_their_ratio():
    built = table(
        [size("json", 3), size("json", 2, library="paper", reference="P, Table 1")], quoted="columns", ratio=True, rows=["format", "library"]
    )
    assert [heading.text for heading in built.headings[-1]] == ["paper", "here", "here / paper"]
    assert [([cell.text for cell in cells], heads) for heads, _, cells in built.rows] == [(["2", "3", "1.50"], ["Dunnage"])]
    assert built.constants == ["a", "JSON", "bytes"]


def test_what_could_not_be_measured_is_no_figure():
    failed = samples.line("host", "host", "a", "cbor", "dunnage", "encode", "failed", 1, "1", note="why")
    assert len(table([size("json", 3), failed]).rows) == 1


def test_a_table_of_words_is_read_from_a_file_of_rows(tmp_path):
    from laboratory.definitions import Data

    rows = '{"columns": {}, "rows": [{"id": 1, "suite": "a", "format": "json", "human_readable": true, "remark": ""}, {"id": 2, "suite": "b", "format": "xml"}]}'
    (tmp_path / "words.json").write_text(rows)
    data = Data("d", "", "D", ["none.toml", "words.json"], where={"suite": "a"})
    assert data.filled(tmp_path) == (["format", "human readable"], [["JSON", "yes"]])
    (tmp_path / "none.toml").write_text('[[row]]\nformat = "cbor"\nlanguages = ["C", "Rust"]\n')
    assert data.filled(tmp_path) == (["format", "languages"], [["CBOR", "C, Rust"]])
    assert Data("d", "", "D", ["other.toml"]).filled(tmp_path) == ([], [])


def test_a_quoted_figure_stands_beside_its_own_library():
    lines = [size("json", value, library=library) for library, value in (("a", 10), ("b", 20))]
    lines += [size("json", value, library=library, reference="P, Table 1") for library, value in (("a", 1), ("b", 2))]
    built = table(lines, quoted="columns", rows=["format", "library"])
    assert [(heads, [cell.text for cell in cells]) for heads, _, cells in built.rows] == [(["a"], ["1", "10"]), (["b"], ["2", "20"])]


def test_a_metric_among_the_row_headings_has_its_unit():
    lines = [
        samples.line("host", "host", "a", "json", "dunnage", "encode", metric, 3, unit)
        for metric, unit in (("time", "us per 1000 operations"), ("cycles", "cycles"))
    ]
    assert [heads for heads, _, _ in table(lines, rows=["format", "metric"]).rows] == [["time (µs per 1000)"], ["cycles"]]
