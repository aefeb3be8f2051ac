"""The message of the study: the container's 20 fields as packed."""

import subprocess
from functools import cache

from . import ROOT
from .protocols.gateway import PROGRAM

MESSAGE = ROOT / "bench" / "corpus" / "container.json"


@cache
def payload() -> bytes:
    """The bytes that every protocol carries."""
    command = [PROGRAM, "convert", "--from", "json", "--to", "packed", "--schema", "container", MESSAGE]
    return subprocess.run(command, capture_output=True, check=True).stdout
