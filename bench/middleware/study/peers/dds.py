"""A DDS participant with a reliable reader."""

from dataclasses import dataclass

from cyclonedds.core import Listener
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import sequence, uint8
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from .. import SERVER
from . import answer

PORT = 7410
"""Discovery's port of participant 0 in domain 0."""
RELIABLE = Qos(Policy.Reliability.Reliable(duration(seconds=60)), Policy.History.KeepAll)


@dataclass
class Message(IdlStruct, typename="telemetry.Message"):
    """The message as a sequence of octets."""

    body: sequence[uint8]


def domain(address: str, index: str, peers: str = "") -> Domain:
    """The domain on one address, with unicast only, as over a wide area network."""
    discovery = f"<ParticipantIndex>{index}</ParticipantIndex><MaxAutoParticipantIndex>200</MaxAutoParticipantIndex><Peers>{peers}</Peers>"
    general = f'<AllowMulticast>false</AllowMulticast><Interfaces><NetworkInterface address="{address}"/></Interfaces>'
    return Domain(0, f'<CycloneDDS><Domain Id="any"><General>{general}</General><Discovery>{discovery}</Discovery></Domain></CycloneDDS>')


def topic(participant: DomainParticipant) -> Topic:
    """The topic of all messages."""
    return Topic(participant, "telemetry", Message, qos=RELIABLE)


def main() -> None:
    """Serves until the standard input ends."""
    last = b""

    class Take(Listener):
        """Takes what has arrived."""

        def on_data_available(self, reader: DataReader) -> None:
            nonlocal last
            for message in reader.take(100):
                if isinstance(message, Message):
                    last = bytes(message.body)

    kept = domain(SERVER, "0")
    participant = DomainParticipant(0)
    reader = DataReader(participant, topic(participant), qos=RELIABLE, listener=Take())
    answer(lambda: last)
    del reader, kept


if __name__ == "__main__":
    main()
