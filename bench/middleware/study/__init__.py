"""Communication middleware on a link with delay and loss. README.md says what is measured and how."""

from pathlib import Path

MIDDLEWARE = Path(__file__).resolve().parent.parent
ROOT = MIDDLEWARE.parent.parent
TOOLS = ROOT / "target" / "tools"
SERVER = "10.77.0.1"
"""The server's address in its namespace."""


class Failure(Exception):
    """Something that cannot be measured, with the reason as text."""
