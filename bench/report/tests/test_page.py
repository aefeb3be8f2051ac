"""The report: every table of the papers has its counterpart, a broken suite is shown as broken, and nothing is loaded."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
import samples
from laboratory import ROOT, definitions, page, pdf, suites
from laboratory.suites import Run

SUITES = suites.load(ROOT / "bench/suites.toml")
VOID = {"meta", "link", "img", "br"}


class Page(HTMLParser):
    """Checks that elements are nested, and collects what the tests ask for."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.headings, self.loaded, self.svg, self.images = [], [], [], [], [], [], []
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in given:
            self.ids.append(given["id"])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "a":
            self.links.append(given["href"])
        if tag == "svg":
            self.svg.append(given)
        if tag == "img":
            self.images.append(given)
        self.loaded += [given[name] for name in ("src", "srcset", "data", "poster") if name in given]
        if tag in ("link", "use", "image"):
            self.loaded += [value for name, value in attributes if name in ("href", "xlink:href")]

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A report of all samples, in which one suite failed and another has a bad line."""
    root = tmp_path_factory.mktemp("report")
    folders = suites.Folders(root / "results", ROOT / "bench/papers", root / "report")
    for name in samples.SUITES:
        samples.write(folders.results, name)
    bad = folders.results / "mobile.jsonl"
    bad.write_text(bad.read_text() + json.dumps({"record": 2}) + "\n")
    ok = {"ok_at": "2026-11-21T10:00:00Z", "ok_form": "quick", "ok_seconds": {"quick": 1}}
    runs = {name: Run("ok", "quick", "2026-11-21T10:00:00Z", 1, **ok) for name in samples.SUITES}
    runs["load"] = Run("failed", "quick", "2026-11-22T10:00:00Z", 1, "exit code 1; <the> reason", **ok)
    runs["mcu"] = Run("missing", "full", "2026-11-22T10:00:00Z", 0, "this machine does not have avr-gcc")
    suites.write_runs(folders, runs)
    page.write(SUITES, folders)
    return folders.report


@pytest.fixture(scope="module")
def text(built):
    return (built / "index.html").read_text()


def section(text, name):
    return re.search(rf'<section class="panel" id="{name}".*?</section>', text, re.DOTALL)[0]


def block(text, name):
    return re.search(rf'<(div|figure) class="block" id="{name}">.*?(?=<(?:div|figure) class="block"|<h3|</section>)', text, re.DOTALL)[0]


def test_the_page_parses_and_loads_nothing(text):
    parsed = Page(text)
    assert all(url.startswith(("data:", "#")) for url in parsed.loaded), parsed.loaded
    assert not re.search(r"url\((?!#)|@import|fetch\(|https?://(?!www\.w3\.org)", text)


def test_anchors_and_headings_are_in_order(text):
    parsed = Page(text)
    assert len(parsed.ids) == len(set(parsed.ids)), "an id is used twice"
    missing = {link for link in parsed.links if link.removeprefix("#") not in parsed.ids}
    assert not missing
    assert parsed.headings[0] == 1 and parsed.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(parsed.headings, parsed.headings[1:], strict=False))


def test_drawings_have_labels_and_take_the_ink_of_the_page(text):
    parsed = Page(text)
    assert len(parsed.svg) > 15
    assert all(svg["role"] == "img" and len(svg["aria-label"]) > 30 for svg in parsed.svg)
    assert all("alt" in image for image in parsed.images)
    assert 'fill="currentColor"' in text and 'fill="#000"' not in text


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_every_table_of_a_paper_has_its_counterpart(suite, text):
    read = definitions.read(suite.name)
    assert (read.paper is not None) == bool(suite.paper)
    readme = (ROOT / "bench/README.md").read_text()
    for item, places in read.places().items():
        assert places, f"{item} has no counterpart"
        assert all(not anchor or f'id="{anchor}"' in text for _, anchor in places)
    if read.paper:
        listed = re.search(rf"^### .*: `{suite.name}`$(.*?)^##", readme, re.MULTILINE | re.DOTALL)[1]
        rows = re.findall(r"^\| (.*) \| (.*) \|$", listed, re.MULTILINE)[1:]
        assert rows == [(item, "; ".join(title for title, _ in places)) for item, places in read.places().items()]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_every_definition_is_used_by_its_template(suite, text):
    read = definitions.read(suite.name)
    for one in [*read.tables, *read.figures, *read.data]:
        assert f'id="{one.id}"' in section(text, suite.name)


@pytest.mark.parametrize(
    "name",
    ["host-bytes", "host-times", "pson-esp32", "pson-uno", "pson-sizes", "pson-flash", "mcu-json-times", "mcu-json-space", "container-sizes",
     "container-nested", "container-nested-reduction", "container-single", "container-two", "container-four", "container-merit", "container-burst", "container-burst-use", "container-costs", "mobile-sizes", "mobile-serialize",
     "smart-grid-times", "smart-grid-sizes", "smart-grid-memory", "smart-grid-held", "smart-grid-messages"],
)  # fmt: skip
def test_tables_are_filled(name, text):
    assert block(text, name).count("<tr") > 3


def test_quoted_figures_stand_beside_ours_and_are_marked(text):
    table = block(text, "container-sizes")
    row = re.search(r"<tr><th scope=\"row\">Protobuf \(float32\)</th>.*?</tr>", re.sub(r"\s*\n\s*", "", table), re.DOTALL)[0]
    assert re.search(r'class="number quoted" data-value="138"', row) and re.search(r'class="number" data-value="138"', row)
    assert ">1.00</td>" in row
    assert "Table 7</td>" not in table and "Table 2 of the paper" in table


def test_messages_of_other_standards_stand_beside_the_formats_of_this_project(text):
    table = block(text, "smart-grid-messages")
    row = re.search(r"<tr><th scope=\"row\">IEEE 2030.5 DER control</th>.*?</tr>", re.sub(r"\s*\n\s*", "", table), re.DOTALL)[0]
    assert all(f'data-value="{size}"' in row for size in (860, 527, 116, 109, 98))
    assert "GOOSE 139 in BER, 281 in JSON and 98 in packed" in re.sub(r"\s+", " ", section(text, "smart-grid"))


def test_json_without_spaces_is_in_the_text_only(text):
    assert "without spaces the message takes 379\N{NO-BREAK SPACE}bytes" in section(text, "container")
    assert 'data-value="418"' in block(text, "container-sizes") and 'data-value="379"' not in block(text, "container-sizes")


def test_nested_messages_stand_beside_the_flat_one(text):
    headings = re.findall(r"<button[^>]*>(.*?)</button>", block(text, "container-nested"))
    assert headings[1:4] == ["a shipping container", "a container, nested", "the same without objects"]
    assert 'class="quoted"' not in block(text, "container-nested") and 'data-value="379"' not in block(text, "container-nested")
    said = " ".join(section(text, "container").split())
    assert "cost 71 bytes in JSON, 51 in CBOR, 49 in MessagePack, 9 in Protobuf and 0 in packed" in said
    assert "CBOR saves 28.2 % of the flat message, 22.9 % of the paper’s nested one" in said
    assert "each format that keeps every value saves a larger share of the nested message" in said
    assert "keep every value is not the same in all of them" in said


def test_a_burst_has_its_own_tables_and_no_part_in_the_paced_ones(text):
    table = block(text, "container-burst")
    headings = re.findall(r"<button[^>]*>(.*?)</button>", table)
    first = headings.index("minimum (ms)")
    assert headings[first : first + 5] == [f"{name} (ms)" for name in ("minimum", "median", "mean", "95th percentile", "maximum")]
    assert 'data-value="700' in table and 'data-value="700' not in block(text, "container-four")
    assert "replica 1 of 1" in block(text, "container-burst-use")
    said = " ".join(section(text, "container").split())
    assert "the 95th percentile is 600 ms in a burst and 4 ms when the devices keep their pace" in said


def test_the_formats_of_this_project_stand_beside_those_of_the_mobile_study(text):
    rows = re.findall(r'<th scope="row">(.*?)</th>', block(text, "mobile-sizes"))
    assert {"PSON", "packed"} <= set(rows) and rows.count("JSON") == 1


def test_the_peers_have_a_table_of_their_own(text):
    assert "serde_json" in block(text, "host-peers") and "prost-reflect" in block(text, "host-peers")
    assert "serde_json" not in block(text, "host-times") + block(text, "host-container")


def test_other_formats_have_tables_and_a_conclusion(text):
    found = section(text, "host")
    assert "ASN.1 UPER" in block(text, "host-others-bytes") and "ASN.1 UPER" not in block(text, "host-bytes")
    assert "Cayenne LPP has no string" in block(text, "failed-host")
    assert "it carries 0 of the 1 messages" in found
    sizes = re.search(r"the container message has, from the smallest, ([^;]*?)\.\s+If", found)[1]
    order = [int(number) for number in re.findall(r"\((\d+)", sizes)]
    assert len(order) == 5 and order == sorted(order)


def test_reads_have_a_table_and_a_conclusion(text):
    assert "read a nested value" in block(text, "host-reads") and "/nested" in block(text, "host-reads")
    assert "times as long as the first in CBOR" in section(text, "host")


def test_a_broken_suite_is_shown_with_its_reason(text):
    broken = section(text, "mobile")
    assert "mobile: broken." in broken and "mobile.jsonl:61: record: version 2; this program reads version 1" in broken
    assert "older figures, of 21 November 2026, 10:00 UTC" in broken


def test_a_failed_suite_is_shown_with_its_last_figures(text):
    failed = section(text, "load")
    assert "load: failed." in failed and "exit code 1; &lt;the&gt; reason" in failed
    assert "older figures, of 21 November 2026, 10:00 UTC" in failed
    assert "older figures" not in section(text, "host")


def test_a_suite_without_results_says_so(text):
    assert "mcu: did not run." in section(text, "mcu") and "does not have avr-gcc" in section(text, "mcu")
    assert "quoted figures only; did not run here" in section(text, "mcu")


def test_what_could_not_be_measured_has_its_reason(text):
    assert "no number without a range" in section(text, "host")


def test_figures_are_files_too(built, text):
    names = {path.name for path in (built / "figures").iterdir()}
    assert {"container-figure-3.svg", "container-figure-3.png", "host-size-speed.svg"} <= names
    assert all((built / "figures" / name).read_bytes()[:4] in (b"\x89PNG", b"<svg") for name in names)


def test_without_any_results_the_report_still_has_the_quoted_figures(folders):
    folders = suites.Folders(folders.results, ROOT / "bench/papers", folders.report)
    page.write(SUITES, folders)
    text = (folders.report / "index.html").read_text()
    Page(text)
    assert "container: no results yet." in text and "quoted figures only" in block(text, "container-costs")
    assert text.count("no figures yet") >= 9


def test_chromium_prints_the_page(built):
    assert pdf.write((built / "index.html").resolve(), built / "report.pdf") == ""
    assert (built / "report.pdf").read_bytes().startswith(b"%PDF")


def test_a_machine_without_chromium_is_reported(built, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    assert pdf.write(built / "index.html", built / "none.pdf") == "there is no Chromium on this machine; please run: apt-get install chromium"


def test_a_heading_sorts_its_column(built, text, tmp_path):
    press = "document.querySelector('#container-costs th:not([colspan]) button[data-column=\"2\"]').click();"
    program = next(filter(None, map(shutil.which, pdf.PROGRAMS)))
    orders = []
    for times in (1, 2):
        path = tmp_path / f"pressed-{times}.html"
        path.write_text(text.replace("</body>", f"<script>{press * times}</script></body>"))
        command = [program, *pdf.FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", path.as_uri()]
        table = block(subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout, "container-costs")
        assert re.search(f'aria-sort="{["ascending", "descending"][times - 1]}"', table)
        rows = [re.findall(r"<td[^>]*>", row) for row in table.split("<tbody>")[1].split("</tr>")[:-1]]
        orders.append([float(re.search(r'data-value="([\d.]+)"', cells[1])[1]) for cells in rows])
    assert len(orders[0]) > 3 and orders[0] == sorted(orders[0]) and orders[1] == orders[0][::-1]


def test_what_the_papers_ask_for_has_its_counterpart(text):
    rows = re.findall(r"^\| .* \| (yes|part|no) \| (.*) \|$", (ROOT / "bench/papers/README.md").read_text(), re.MULTILINE)
    assert len(rows) == 57
    anchors = [anchor for _, counterpart in rows for anchor in re.findall(r"`([a-z]+(?:-[a-z0-9]+)+)`", counterpart)]
    assert len(anchors) > 30
    assert [anchor for anchor in anchors if f'id="{anchor}"' not in text] == []
    assert all(counterpart for _, counterpart in rows)
