"""A network that passes on CoAP datagrams between a client and the gateway, and loses the messages and acknowledgements that it is told to lose."""

import asyncio
from enum import Enum


class Fate(Enum):
    ARRIVES = "message and acknowledgement arrive"
    LOST = "the message is lost"
    ACK_LOST = "the message arrives, its acknowledgement is lost"


class Relay(asyncio.DatagramProtocol):
    """A UDP socket for clients, and one toward `gateway` for each message: what comes back goes to the last client."""

    @classmethod
    async def listen(cls):
        """Returns a relay on a free port of 127.0.0.1, and the port."""
        loop = asyncio.get_running_loop()
        transport, relay = await loop.create_datagram_endpoint(cls, local_addr=("127.0.0.1", 0))
        return relay, transport.get_extra_info("sockname")[1]

    def connection_made(self, transport):
        self.transport = transport
        self.gateway = self.client = self.toward = None

    async def expect(self, fate):
        """Sets the fate of the next message, and returns a future: the code of the answer that was lost, or 0 if the message was."""
        self.fate = fate
        self.token = None
        loop = asyncio.get_running_loop()
        self.lost = loop.create_future()
        # Each message has a client of its own, which chooses its message ID at random. From one address, a second message with the same ID
        # would be a repetition of the first one (RFC 7252, 4.5).
        if self.toward:
            self.toward.close()
        self.toward, _ = await loop.create_datagram_endpoint(lambda: Answers(self), remote_addr=self.gateway)
        return self.lost

    def datagram_received(self, data, address):
        self._from_client(data, *parts(data), address)

    def answered(self, data):
        self._from_gateway(data, *parts(data))

    def _from_client(self, data, code, token, address):
        self.client = address
        if code != 0:
            self.token = token
            if self.fate is Fate.LOST:
                return self._lose(0)
        self.toward.sendto(data)

    def _from_gateway(self, data, code, token):
        # An empty acknowledgement has no token: the answer follows, with one.
        if self.fate is Fate.ACK_LOST and code == 0:
            return
        if self.fate is Fate.ACK_LOST and token == self.token:
            return self._lose(code)
        self.transport.sendto(data, self.client)

    def _lose(self, code):
        if not self.lost.done():
            self.lost.set_result(code)


class Answers(asyncio.DatagramProtocol):
    """Passes to a relay what the gateway answers."""

    def __init__(self, relay):
        self.relay = relay

    def datagram_received(self, data, address):
        self.relay.answered(data)


def parts(data):
    """The code and the token of a CoAP message."""
    return data[1], data[4 : 4 + (data[0] & 15)]
