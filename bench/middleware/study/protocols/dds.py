"""DDS: a sample to a reliable reader, acknowledged by its ACKNACK. RTPS over UDP, unicast, without security."""

import time

from cyclonedds.domain import DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.util import duration

from .. import SERVER, Failure
from ..peers.dds import PORT, RELIABLE, Message, domain, topic
from .base import TIMEOUT, KeepAlive, Session
from .peer import PeerProtocol

CLIENT = "10.77.0.2"


class Dds(PeerProtocol):
    """Cyclone DDS on both sides."""

    name = "dds"
    module = "dds"
    server_name = "cyclonedds"
    library = "cyclonedds"
    keep_alive = KeepAlive(30, "discovery's announcements and leases, defaults of Cyclone DDS", 30, 60)

    def start(self) -> None:
        super().start()
        self.domain = domain(CLIENT, "auto", f'<Peer address="{SERVER}:{PORT}"/>')

    def delivered(self, payload: bytes) -> bytes:
        session = self.connect()
        session.send(payload)
        # The acknowledgement is the library's: the program takes the sample a little later.
        time.sleep(0.5)
        session.close()
        return self.stored()

    def connect(self, short: float | None = None) -> Session:
        return DdsSession()


class DdsSession(Session):
    """A participant with a writer that has found the reader."""

    def __init__(self):
        self.participant = DomainParticipant(0)
        self.writer = DataWriter(self.participant, topic(self.participant), qos=RELIABLE)
        end = time.monotonic() + TIMEOUT
        while not self.writer.get_matched_subscriptions():
            if time.monotonic() > end:
                self.close()
                raise Failure(f"no reader found in {TIMEOUT:g} s")
            time.sleep(0.0005)

    def send(self, payload: bytes) -> None:
        self.writer.write(Message(payload))
        if not self.writer.wait_for_acks(duration(seconds=TIMEOUT)):
            raise Failure(f"no ACKNACK in {TIMEOUT:g} s")

    def close(self) -> None:
        # The library frees entities when nothing refers to them.
        self.writer = self.participant = None
