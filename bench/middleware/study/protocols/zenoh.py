"""Zenoh: a query with the message as its value, answered by a queryable of the router."""

import zenoh

from .. import SERVER, Failure
from ..peers.zenoh import KEY, PORT, config
from .base import TIMEOUT, KeepAlive, Session
from .peer import PeerProtocol


class Zenoh(PeerProtocol):
    """A client of a router, over TCP."""

    name = "zenoh"
    module = "zenoh"
    server_name = "zenoh"
    library = "eclipse-zenoh"
    keep_alive = KeepAlive(2.5, "keep-alives of both sides, a quarter of the default lease of 10 s", 2.5, 25)

    def connect(self, short: float | None = None) -> Session:
        return ZenohSession()


class ZenohSession(Session):
    """A session in the mode client."""

    def __init__(self):
        self.session = zenoh.open(config("client", connect=[f"tcp/{SERVER}:{PORT}"]))

    def send(self, payload: bytes) -> None:
        replies = list(self.session.get(KEY, payload=payload, timeout=TIMEOUT))
        if len(replies) != 1 or not replies[0].ok:
            raise Failure(f"{len(replies)} replies")

    def close(self) -> None:
        self.session.close()
