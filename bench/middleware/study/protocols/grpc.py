"""gRPC: a unary call."""

import grpc

from .. import SERVER
from ..peers.grpc import METHOD, PORT, SERVICE
from .base import TIMEOUT, Session
from .peer import PeerProtocol


class Grpc(PeerProtocol):
    """grpcio on both sides."""

    name = "grpc"
    module = "grpc"
    server_name = "grpcio"
    library = "grpcio"

    def connect(self, short: float | None = None) -> Session:
        return GrpcSession()


class GrpcSession(Session):
    """A channel with a connection of its own, which the first call opens."""

    def __init__(self):
        # Channels with the same address would share a connection.
        self.channel = grpc.insecure_channel(f"{SERVER}:{PORT}", [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0)])
        self.method = self.channel.unary_unary(f"/{SERVICE}/{METHOD}")

    def send(self, payload: bytes) -> None:
        self.method(payload, timeout=TIMEOUT, wait_for_ready=True)

    def close(self) -> None:
        self.channel.close()
        # The library closes the connection when nothing refers to the channel.
        self.channel = self.method = None
