"""A UDP echo without repetition: the yardstick of the link, no candidate."""

import platform
import socket

from .. import SERVER, Failure
from ..peers.udp import PORT
from .base import Session
from .peer import PeerProtocol

LOST_SECONDS = 3.0


class Udp(PeerProtocol):
    """Python's socket on both sides."""

    name = "udp"
    module = "udp"
    server_name = "probe"
    library = "socket"

    def connect(self, short: float | None = None) -> Session:
        return UdpSession()

    def version(self) -> str:
        return f"Python {platform.python_version()}"

    server_version = version


class UdpSession(Session):
    """A socket."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect((SERVER, PORT))
        self.socket.settimeout(LOST_SECONDS)

    def send(self, payload: bytes) -> None:
        self.socket.send(payload)
        try:
            self.socket.recv(2048)
        except TimeoutError:
            raise Failure(f"lost: nothing came back in {LOST_SECONDS:g} s") from None

    def close(self) -> None:
        self.socket.close()
