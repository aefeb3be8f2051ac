"""OPC UA: a variable of the server is written. Binary encoding over TCP, without security."""

import logging

from asyncua import Client, ua

from .. import SERVER
from ..peers.opcua import NODE, PORT
from .base import TIMEOUT, KeepAlive, Loop, Session
from .peer import PeerProtocol


class OpcUa(PeerProtocol):
    """asyncua on both sides."""

    name = "opcua"
    module = "opcua"
    server_name = "asyncua"
    library = "asyncua"
    keep_alive = KeepAlive(1, "reads of the server's state each second, default of asyncua's client", 1, 20)

    def start(self) -> None:
        logging.disable(logging.ERROR)
        super().start()
        self.loop = Loop()

    def connect(self, short: float | None = None) -> Session:
        return OpcUaSession(self.loop)


class OpcUaSession(Session):
    """A secure channel with a session."""

    def __init__(self, loop: Loop):
        self.loop = loop
        self.client = Client(f"opc.tcp://{SERVER}:{PORT}", timeout=TIMEOUT)
        loop.run(self.client.connect())
        self.node = self.client.get_node(NODE)

    def send(self, payload: bytes) -> None:
        self.loop.run(self.node.write_value(payload, ua.VariantType.ByteString))

    def close(self) -> None:
        self.loop.run(self.client.disconnect())
