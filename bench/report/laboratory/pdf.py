"""Prints the page as PDF with Chromium."""

import shutil
import subprocess
import tempfile
from pathlib import Path

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")

# No window, no network, no state of an earlier run. A container has no user namespaces for the sandbox.
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-pdf-header-footer",
]  # fmt: skip


def write(page: Path, pdf: Path) -> str:
    """Prints a page. Returns why it could not; empty if it could."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        return "there is no Chromium on this machine; please run: apt-get install chromium"
    with tempfile.TemporaryDirectory() as profile:
        command = [program, *FLAGS, f"--user-data-dir={profile}", f"--print-to-pdf={pdf}", page.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
        except subprocess.TimeoutExpired:
            return "Chromium did not print the page within 180 s"
    return "" if done.returncode == 0 and pdf.exists() else f"Chromium did not print the page: {done.stderr.strip()[-300:]}"
