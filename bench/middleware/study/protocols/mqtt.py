"""MQTT 3.1.1 and 5, QoS 1, to mosquitto."""

import queue
import subprocess
import threading

import paho.mqtt.client as paho

from .. import SERVER, Failure
from .base import TIMEOUT, KeepAlive, Protocol, Session
from .http import certificate

MOSQUITTO = "/usr/sbin/mosquitto"
PORT, TLS_PORT = 1883, 8883
TOPIC = "v1/LMCU1231237/packed"


class Mqtt5(Protocol):
    """MQTT 5."""

    name = "mqtt5"
    server_name = "mosquitto"
    library = "paho-mqtt"
    keep_alive = KeepAlive(60, "PINGREQ, default of Paho and mosquitto's clients", 2, 9)
    needs = (MOSQUITTO,)
    protocol = paho.MQTTv5
    tls = False

    def start(self) -> None:
        certificate(self.folder)
        keys = f"certfile {self.folder}/cert.pem\nkeyfile {self.folder}/key.pem\ntls_version tlsv1.3\n"
        config = f"listener {PORT} {SERVER}\nlistener {TLS_PORT} {SERVER}\n{keys}allow_anonymous true\nuser root\n"
        (self.folder / "mosquitto.conf").write_text(config)
        self.server.start([MOSQUITTO, "-c", self.folder / "mosquitto.conf"])
        self.server.wait_for_port(PORT)
        self.server.wait_for_port(TLS_PORT)

    def connect(self, short: float | None = None) -> Session:
        return MqttSession(self, round(short or self.keep_alive.seconds))

    def delivered(self, payload: bytes) -> bytes:
        """What a subscriber receives."""
        received, ready = queue.SimpleQueue(), threading.Event()
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=self.protocol)
        client.on_connect = lambda *_: client.subscribe(TOPIC, 1)
        client.on_subscribe = lambda *_: ready.set()
        client.on_message = lambda _client, _userdata, message: received.put(message.payload)
        client.connect(SERVER, PORT)
        client.loop_start()
        try:
            if not ready.wait(TIMEOUT):
                raise Failure("no SUBACK")
            session = self.connect()
            session.send(payload)
            session.close()
            return received.get(timeout=TIMEOUT)
        finally:
            client.disconnect()
            client.loop_stop()

    def server_version(self) -> str:
        return "mosquitto " + subprocess.run([MOSQUITTO, "-h"], check=False, capture_output=True, text=True).stdout.split()[2]


class MqttSession(Session):
    """A client with its network thread."""

    def __init__(self, protocol: Mqtt5, keep_alive: int):
        connected, self.code = threading.Event(), None
        self.client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=protocol.protocol)
        self.client.connect_timeout = TIMEOUT
        if protocol.tls:
            self.client.tls_set(ca_certs=protocol.folder / "cert.pem")

        def on_connect(_client, _userdata, _flags, code, _properties):
            self.code = code
            connected.set()

        self.client.on_connect = on_connect
        self.client.connect(SERVER, TLS_PORT if protocol.tls else PORT, keep_alive)
        self.client.loop_start()
        if not connected.wait(TIMEOUT) or self.code.is_failure:
            self.client.loop_stop()
            raise Failure(f"no CONNACK in {TIMEOUT:g} s" if self.code is None else f"CONNACK: {self.code}")

    def send(self, payload: bytes) -> None:
        message = self.client.publish(TOPIC, payload, qos=1)
        message.wait_for_publish(TIMEOUT)
        if not message.is_published():
            raise Failure(f"no PUBACK in {TIMEOUT:g} s")

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


class Mqtt311(Mqtt5):
    """MQTT 3.1.1."""

    name = "mqtt311"
    protocol = paho.MQTTv311


class Mqtts(Mqtt5):
    """MQTT 5 over TLS 1.3."""

    name = "mqtts"
    tls = True
