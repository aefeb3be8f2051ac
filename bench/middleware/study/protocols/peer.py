"""Protocols whose server is a program of `study.peers` with the client's library."""

import sys

from .. import MIDDLEWARE
from .base import Protocol


class PeerProtocol(Protocol):
    """Starts `study.peers.MODULE`."""

    module: str

    def start(self) -> None:
        self.process = self.server.start([sys.executable, "-m", f"study.peers.{self.module}"], {"PYTHONPATH": str(MIDDLEWARE)})
        self.server.wait_for_line(self.process)

    def stored(self) -> bytes:
        self.process.stdin.write("last\n")
        self.process.stdin.flush()
        return bytes.fromhex(self.server.wait_for_line(self.process))

    def server_version(self) -> str:
        return f"a server with {self.library}"
