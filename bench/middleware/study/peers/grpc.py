"""A gRPC server with one unary method. Messages are bytes without a wrapper of Protobuf."""

from concurrent.futures import ThreadPoolExecutor

import grpc

from .. import SERVER
from . import answer

PORT = 50051
SERVICE, METHOD = "telemetry.Ingest", "Send"


class Last:
    """The last message."""

    value = b""

    def send(self, request: bytes, _context) -> bytes:
        """The method: keeps the message, and answers with an empty one."""
        self.value = request
        return b""


def main() -> None:
    """Serves until the standard input ends."""
    last = Last()
    server = grpc.server(ThreadPoolExecutor(4))
    methods = {METHOD: grpc.unary_unary_rpc_method_handler(last.send)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, methods),))
    server.add_insecure_port(f"{SERVER}:{PORT}")
    server.start()
    answer(lambda: last.value)


if __name__ == "__main__":
    main()
