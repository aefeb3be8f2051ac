"""CoAP, confirmable, and CoAP over DTLS 1.2 with a pre-shared key, to the gateway."""

import os
import random
import socket
import time

import aiocoap
from mbedtls import tls

from .. import SERVER, Failure
from . import gateway
from .base import TIMEOUT, Loop, Protocol, Session

PATH = ("ingest", gateway.DEVICE)
ACK_TIMEOUT, ACK_RANDOM_FACTOR, MAX_RETRANSMIT = 2.0, 1.5, 4
"""RFC 7252, 4.8."""
SUITE = "TLS-PSK-WITH-AES-128-CCM-8"
HANDSHAKE_TIMEOUT = 1.0
"""RFC 6347, 4.2.4.1: seconds until the first repetition of a flight; the library doubles them."""


class Coap(Protocol):
    """CoAP with aiocoap."""

    name = "coap"
    server_name = "dunnage"
    library = "aiocoap"
    loop: Loop | None = None

    def start(self) -> None:
        gateway.start(self.server)
        self.loop = Loop()

    def connect(self, short: float | None = None) -> Session:
        return CoapSession(self.loop)

    def stored(self) -> bytes:
        return gateway.stored(self.server)

    def server_version(self) -> str:
        return gateway.version()


class CoapSession(Session):
    """A client with a socket of its own."""

    def __init__(self, loop: Loop):
        self.loop = loop
        self.context = loop.run(aiocoap.Context.create_client_context())

    def send(self, payload: bytes) -> None:
        # The port's name in the URI would be an option; a client that knows the address leaves Uri-Host out.
        message = aiocoap.Message(code=aiocoap.POST, payload=payload)
        message.opt.uri_path, message.opt.content_format = PATH, gateway.COAP_FORMAT
        message.unresolved_remote = f"{SERVER}:{gateway.COAP_PORT}"
        self.loop.run(self._exchange(message))

    async def _exchange(self, message: aiocoap.Message) -> None:
        answer = await self.context.request(message, handle_blockwise=False).response
        if not answer.code.is_successful():
            raise Failure(f"{answer.code} {answer.payload!r}")

    def close(self) -> None:
        self.loop.run(self.context.shutdown())


class Coaps(Coap):
    """CoAP over DTLS with Mbed TLS: aiocoap's DTLS has no extended master secret, which the gateway demands."""

    name = "coaps"
    library = "python-mbedtls"

    def connect(self, short: float | None = None) -> Session:
        return CoapsSession()


class CoapsSession(Session):
    """A DTLS session on a socket of its own."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect((SERVER, gateway.COAPS_PORT))
        settings = tls.DTLSConfiguration(
            pre_shared_key=(gateway.DEVICE, gateway.KEY.encode()), ciphers=[SUITE], validate_certificates=False,
            lowest_supported_version=tls.DTLSVersion.DTLSv1_2, highest_supported_version=tls.DTLSVersion.DTLSv1_2,
            handshake_timeout_min=HANDSHAKE_TIMEOUT,
        )  # fmt: skip
        self.tls = tls.ClientContext(settings).wrap_buffers(None)
        self.message_id = random.randrange(1 << 16)
        self._shake_hands()

    def _shake_hands(self) -> None:
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            try:
                self.tls.do_handshake()
            except tls.WantReadError:
                self._flush()
                self._receive(0.1)
            except tls.WantWriteError:
                self._flush()
            if self.tls._handshake_state is tls.HandshakeStep.HANDSHAKE_OVER:
                self._flush()
                return
        raise Failure(f"no DTLS session in {TIMEOUT:g} s")

    def send(self, payload: bytes) -> None:
        self.message_id = (self.message_id + 1) % (1 << 16)
        message = aiocoap.Message(code=aiocoap.POST, mtype=aiocoap.CON, mid=self.message_id, token=os.urandom(2), payload=payload)
        message.opt.uri_path, message.opt.content_format = PATH, gateway.COAP_FORMAT
        timeout = random.uniform(ACK_TIMEOUT, ACK_TIMEOUT * ACK_RANDOM_FACTOR)
        for _ in range(MAX_RETRANSMIT + 1):
            self.tls.write(message.encode())
            self._flush()
            if answer := self._answer(message.token, timeout):
                if not answer.code.is_successful():
                    raise Failure(f"{answer.code} {answer.payload!r}")
                return
            timeout *= 2
        raise Failure(f"no answer after {MAX_RETRANSMIT} repetitions")

    def _answer(self, token: bytes, timeout: float) -> aiocoap.Message | None:
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            if not self._receive(left):
                continue
            try:
                answer = aiocoap.Message.decode(self.tls.read(2048))
            except tls.WantReadError:
                continue
            if answer.token == token:
                return answer
        return None

    def _receive(self, timeout: float) -> bool:
        self.socket.settimeout(timeout)
        try:
            self.tls.receive_from_network(self.socket.recv(2048))
        except TimeoutError:
            return False
        return True

    def _flush(self) -> None:
        if waiting := self.tls.peek_outgoing(1 << 16):
            self.socket.send(waiting)
            self.tls.consume_outgoing(len(waiting))

    def close(self) -> None:
        self.tls.shutdown()
        self._flush()
        self.socket.close()
