"""NATS: a publication to a stream of JetStream, which its server acknowledges."""

import subprocess

import nats

from .. import SERVER, TOOLS
from .base import TIMEOUT, KeepAlive, Loop, Protocol, Session

PROGRAM = TOOLS / "bin" / "nats-server"
PORT = 4222
SUBJECT = "v1.LMCU1231237.packed"


class Nats(Protocol):
    """nats-server with a stream in files."""

    name = "nats"
    server_name = "nats-server"
    library = "nats-py"
    keep_alive = KeepAlive(120, "PING of the client, default of nats-py; the server's own pings are not needed then", 1, 6)
    needs = (str(PROGRAM),)

    def start(self) -> None:
        self.server.start([PROGRAM, "-a", SERVER, "-p", PORT, "-js", "-sd", self.folder / "store"])
        self.server.wait_for_port(PORT)
        self.loop = Loop()
        session = self.connect()
        self.loop.run(session.client.jetstream().add_stream(name="telemetry", subjects=["v1.>"]))
        session.close()

    def connect(self, short: float | None = None) -> Session:
        return NatsSession(self.loop, short or self.keep_alive.seconds)

    def stored(self) -> bytes:
        session = self.connect()
        message = self.loop.run(session.client.jetstream().get_last_msg("telemetry", SUBJECT))
        session.close()
        return message.data

    def server_version(self) -> str:
        return subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.replace(":", "").strip()


class NatsSession(Session):
    """A client of the common loop."""

    def __init__(self, loop: Loop, ping_interval: float):
        self.loop = loop
        self.client = loop.run(nats.connect(f"nats://{SERVER}:{PORT}", ping_interval=ping_interval, connect_timeout=TIMEOUT, allow_reconnect=False))

    def send(self, payload: bytes) -> None:
        self.loop.run(self.client.jetstream(timeout=TIMEOUT).publish(SUBJECT, payload))

    def close(self) -> None:
        self.loop.run(self.client.close())
