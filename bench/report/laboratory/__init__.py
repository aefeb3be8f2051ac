"""The laboratory: runs the suites of bench/ and builds their report."""

from pathlib import Path

# The repository: this file is bench/report/laboratory/__init__.py.
ROOT = Path(__file__).resolve().parents[3]
