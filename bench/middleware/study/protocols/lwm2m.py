"""LwM2M 1.1: a registration, then Send with the message as SenML CBOR, to Leshan. CoAP over UDP, without security.

aiocoap has no LwM2M, so the requests are written here as the specification's Transport Bindings (6.4) define them.
"""

import itertools
import re
import shutil
from pathlib import Path

import aiocoap
import cbor2

from .. import SERVER, TOOLS, Failure
from .base import KeepAlive, Loop, Session
from .peer import PeerProtocol

JARS = TOOLS / "leshan"
SOURCE = Path(__file__).parent.parent / "peers" / "Lwm2m.java"
PORT = 5783
LIFETIME = 300
LINK_FORMAT, SENML_CBOR = 40, 112
OBJECTS = b'</>;rt="oma.lwm2m";ct=112,</1/0>,</3/0>,</19/0>'
NAME, DATA = 0, 8
"""Labels of SenML in CBOR: RFC 8428, 6."""


class Lwm2m(PeerProtocol):
    """Leshan's server."""

    name = "lwm2m"
    server_name = "leshan"
    library = "aiocoap"
    hidden_memory = "the JVM puts clients into heap that it already has"
    keep_alive = KeepAlive(0.9 * LIFETIME, f"registration updates before a lifetime of {LIFETIME} s ends, default of Leshan's client", 1, 6)
    needs = (str(JARS),)

    def start(self) -> None:
        if not shutil.which("javac"):
            raise Failure("needs a JDK")
        self.process = self.server.start(["java", "-cp", f"{JARS}/*", SOURCE, SERVER, PORT])
        self.server.wait_for_line(self.process)
        self.loop, self.numbers = Loop(), itertools.count()

    def connect(self, short: float | None = None) -> Session:
        return Lwm2mSession(self.loop, f"c{next(self.numbers)}", short or self.keep_alive.seconds)

    def server_version(self) -> str:
        jar = next(JARS.glob("leshan-server-cf-*.jar")).stem
        return "Leshan " + re.search(r"\d.*", jar)[0]


class Lwm2mSession(Session):
    """A registered client with a socket of its own."""

    def __init__(self, loop: Loop, endpoint: str, update: float):
        self.loop, self.update = loop, update
        self.context = loop.run(aiocoap.Context.create_client_context())
        registration = aiocoap.Message(code=aiocoap.POST, payload=OBJECTS, content_format=LINK_FORMAT, uri_path=("rd",))
        registration.opt.uri_query = (f"ep={endpoint}", f"lt={LIFETIME}", "lwm2m=1.1", "b=U")
        self.location = self._request(registration).opt.location_path

    def send(self, payload: bytes) -> None:
        pack = cbor2.dumps([{NAME: "/19/0/0/0", DATA: payload}])
        self._request(aiocoap.Message(code=aiocoap.POST, payload=pack, content_format=SENML_CBOR, uri_path=("dp",)))

    def idle(self, seconds: float) -> None:
        """Updates the registration."""
        for _ in range(round(seconds / self.update)):
            self._request(aiocoap.Message(code=aiocoap.POST, uri_path=self.location))

    def close(self) -> None:
        self._request(aiocoap.Message(code=aiocoap.DELETE, uri_path=self.location))
        self.loop.run(self.context.shutdown())

    def _request(self, message: aiocoap.Message) -> aiocoap.Message:
        message.unresolved_remote = f"{SERVER}:{PORT}"
        answer = self.loop.run(self._exchange(message))
        if not answer.code.is_successful():
            raise Failure(f"{answer.code} {answer.payload!r}")
        return answer

    async def _exchange(self, message: aiocoap.Message) -> aiocoap.Message:
        return await self.context.request(message, handle_blockwise=False).response
