"""WebSocket: a binary message, answered with a text."""

from websockets.sync.client import connect

from .. import SERVER, Failure
from ..peers.websocket import OK, PORT
from .base import TIMEOUT, KeepAlive, Session
from .peer import PeerProtocol

PING_SECONDS = 20


class WebSocket(PeerProtocol):
    """The library websockets on both sides, without compression."""

    name = "websocket"
    module = "websocket"
    server_name = "websockets"
    library = "websockets"
    keep_alive = KeepAlive(PING_SECONDS / 2, "a ping of each side each 20 s, default of the library websockets", 1, 8.5)

    def connect(self, short: float | None = None) -> Session:
        return WebSocketSession(short or PING_SECONDS)


class WebSocketSession(Session):
    """A connection."""

    def __init__(self, ping_interval: float):
        self.connection = connect(
            f"ws://{SERVER}:{PORT}/", compression=None, ping_interval=ping_interval, ping_timeout=None, open_timeout=TIMEOUT,
            user_agent_header=None, proxy=None,
        )  # fmt: skip

    def send(self, payload: bytes) -> None:
        self.connection.send(payload)
        if self.connection.recv(TIMEOUT) != OK:
            raise Failure("another answer than ok")

    def close(self) -> None:
        self.connection.close()
