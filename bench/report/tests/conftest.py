"""Puts the package and the samples on the path, and gives each test folders of its own."""

import sys
from pathlib import Path

import pytest

REPORT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPORT), str(REPORT / "tests")]


@pytest.fixture
def folders(tmp_path):
    """Folders for results, quoted figures and the report."""
    from laboratory.suites import Folders

    return Folders(tmp_path / "results", tmp_path / "papers", tmp_path / "report")
