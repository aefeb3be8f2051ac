"""AMQP 0.9.1: a persistent message to a durable queue of RabbitMQ, with publisher confirms."""

import subprocess
import time

import pika

from .. import SERVER, Failure
from .base import TIMEOUT, KeepAlive, Protocol, Session

PROGRAM = "/usr/lib/rabbitmq/bin/rabbitmq-server"
PORT = 5672
QUEUE = "telemetry"


class Amqp(Protocol):
    """RabbitMQ."""

    name = "amqp"
    server_name = "rabbitmq"
    library = "pika"
    keep_alive = KeepAlive(30, "heartbeats of both sides, each half of the 60 s that RabbitMQ suggests", 1, 8)
    needs = (PROGRAM,)

    def start(self) -> None:
        (self.folder / "rabbitmq.conf").write_text(f"listeners.tcp.1 = {SERVER}:{PORT}\nloopback_users = none\n")
        environment = {
            "HOME": str(self.folder), "RABBITMQ_NODENAME": "study@localhost", "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder), "RABBITMQ_LOGS": "-", "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"), "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_PID_FILE": str(self.folder / "pid"),
        }  # fmt: skip
        # The Erlang runtime would start a port mapper that outlives it.
        self.server.start(["epmd"], environment)
        time.sleep(0.3)
        self.server.start(["sh", "-c", f"exec {PROGRAM} >&2"], environment)
        self.server.wait_for_port(PORT)
        session = self.connect()
        session.channel.queue_declare(QUEUE, durable=True)
        session.close()

    def connect(self, short: float | None = None) -> Session:
        # A heartbeat is due at half of this time.
        return AmqpSession(round(2 * (short or self.keep_alive.seconds)))

    def stored(self) -> bytes:
        session = self.connect()
        body = session.channel.basic_get(QUEUE, auto_ack=True)[2]
        session.close()
        return body

    def server_version(self) -> str:
        command = ["dpkg-query", "-W", "-f", "${Version}", "rabbitmq-server"]
        return "RabbitMQ " + subprocess.run(command, check=True, capture_output=True, text=True).stdout


class AmqpSession(Session):
    """A connection with one channel in confirm mode."""

    def __init__(self, heartbeat: int):
        parameters = pika.ConnectionParameters(
            SERVER, PORT, heartbeat=heartbeat, socket_timeout=TIMEOUT, stack_timeout=TIMEOUT, blocked_connection_timeout=TIMEOUT,
        )  # fmt: skip
        self.connection = pika.BlockingConnection(parameters)
        self.channel = self.connection.channel()
        self.channel.confirm_delivery()

    def send(self, payload: bytes) -> None:
        try:
            self.channel.basic_publish("", QUEUE, payload, pika.BasicProperties(delivery_mode=2), mandatory=True)
        except (pika.exceptions.UnroutableError, pika.exceptions.NackError) as error:
            raise Failure(f"not stored: {error}") from error

    def idle(self, seconds: float) -> None:
        """Lets the library send heartbeats: it has no thread of its own."""
        self.connection.process_data_events(seconds)

    def close(self) -> None:
        self.connection.close()
