"""The notebook runs on our CSV and on the study's, and draws its three charts."""

import re
import xml.etree.ElementTree as xml

import nbformat
import pytest
from conftest import REPORT
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

NOTEBOOK = REPORT / "notebook/analysis.ipynb"
CHARTS = ("time", "space", "serialization_complete")
STUDY = "name,deserTimeJson,deserTimeMsgPack,serTimeJson,serTimeMsgPack,serSpaceJson,serSpaceMsgPack"
OURS = STUDY + ",deserTimePson,serTimePson,serSpacePson,target,unit,version"

# Invented figures; the last object does not fit the second target.
OUR_FILE = f"""{OURS}
short int,226,180,290,119,48,35,90,60,33,board-a,cycles,1
array int,104,54,112,27,45,25,50,20,26,board-a,cycles,1
long,6523,5301,2166,656,1970,1718,4000,500,1700,board-a,cycles,1
short int,2260,1800,2900,1190,48,35,900,600,33,board-b,instructions,1
array int,1040,540,1120,270,45,25,500,200,26,board-b,instructions,1
long,,,,,1970,1718,,,1700,board-b,instructions,1
"""
STUDY_FILE = f"{STUDY}\nshort int,226,180,290,119,48,35\nshort null,24,24,14,9,13,7\n"


def execute(tmp_path, monkeypatch, text):
    """Runs the notebook on a CSV file; returns the texts of its charts."""
    (tmp_path / "input.csv").write_text(text)
    monkeypatch.setenv("MCU_JSON_CSV", str(tmp_path / "input.csv"))
    monkeypatch.setenv("MCU_JSON_CHARTS", str(tmp_path / "charts"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    return {name: texts(tmp_path / "charts" / f"{name}.svg") for name in CHARTS}


def texts(path):
    """The texts of a drawing."""
    return [element.text for element in xml.parse(path).getroot().iter("{http://www.w3.org/2000/svg}text")]


def test_our_file_gives_a_chart_per_target_and_format(tmp_path, monkeypatch):
    charts = execute(tmp_path, monkeypatch, OUR_FILE)
    assert {"board-a, deserialization", "board-b, serialization", "MessagePack", "PSON"} <= set(charts["time"])
    assert {"short int", "array int", "long", "PSON"} <= set(charts["space"])
    assert {"serialize, PSON", "deserialize, JSON", "board-a (cycles)", "board-b (instructions)"} <= set(charts["serialization_complete"])


def test_the_bars_have_the_heights_of_the_improvements(tmp_path, monkeypatch):
    execute(tmp_path, monkeypatch, STUDY_FILE)
    svg = (tmp_path / "charts/space.svg").read_text()
    # A bar is a closed path of four corners whose height is proportional to the improvement: 13 of 48 and 6 of 13 bytes.
    bars = re.findall(r'<path d="M [\d.]+ ([\d.]+) \nL [\d.]+ [\d.]+ \nL [\d.]+ ([\d.]+) \nL [\d.]+ [\d.]+ \nz\n" clip-path', svg)
    heights = [abs(float(low) - float(high)) for low, high in bars]
    assert len(heights) == 2
    assert heights[1] / heights[0] == pytest.approx((6 / 13) / (13 / 48), rel=1e-3)


def test_the_study_s_own_file_works_without_our_columns(tmp_path, monkeypatch):
    charts = execute(tmp_path, monkeypatch, STUDY_FILE)
    assert "PSON" not in charts["time"]
    assert "the study's board, serialization" in charts["time"]


def test_a_file_without_a_column_is_named(tmp_path, monkeypatch):
    with pytest.raises(CellExecutionError, match="serTimeMsgPack"):
        execute(tmp_path, monkeypatch, STUDY_FILE.replace("serTimeMsgPack", "other"))


def test_no_outputs_are_committed():
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        assert not cell.get("outputs") and cell.get("execution_count") is None
