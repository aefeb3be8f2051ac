"""What a protocol has to offer to be measured."""

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from ..network import Network
from ..server import Server

TIMEOUT = 60.0
"""Seconds after which a connection or a message has failed."""


@dataclass(frozen=True)
class KeepAlive:
    """What an idle connection sends.

    `seconds` is the default interval of the peers, `what` names it. `short` is the interval with which an idle connection is watched, for
    `watch` seconds; equal to `seconds`, if nothing is shortened.
    """

    seconds: float
    what: str
    short: float
    watch: float


class Session(ABC):
    """A connection of one client."""

    @abstractmethod
    def send(self, payload: bytes) -> None:
        """Sends a message and waits for its acknowledgement."""

    def idle(self, seconds: float) -> None:
        """Sends no message for a while."""
        time.sleep(seconds)

    @abstractmethod
    def close(self) -> None:
        """Ends the connection as the protocol asks for."""


class Protocol(ABC):
    """A protocol with a server and a client library."""

    name: str
    server_name: str
    """The server in the results, `library` is the client's."""
    library: str
    keep_alive: KeepAlive | None = None
    """`None`: an idle client sends nothing."""
    hidden_memory: str | None = None
    """Why the memory of a client may not show in that of the server's process."""
    needs: tuple[str, ...] = ()
    """Files without which the server does not start."""

    def __init__(self, network: Network, folder: Path):
        self.network, self.folder = network, folder
        self.server = Server(network, folder)

    @abstractmethod
    def start(self) -> None:
        """Starts the server, and returns when clients can connect."""

    @abstractmethod
    def connect(self, short: float | None = None) -> Session:
        """Connects a client; with the keep-alive interval `short`, if there is one."""

    def delivered(self, payload: bytes) -> bytes:
        """Sends a message, and returns it as the server or a receiver behind it has it."""
        session = self.connect()
        session.send(payload)
        session.close()
        return self.stored()

    def stored(self) -> bytes:
        """The last message that the server has."""
        raise NotImplementedError

    def version(self) -> str:
        """The versions of the server and the client library."""
        return f"{self.server_version()}; client {self.library} {version(self.library)}"

    @abstractmethod
    def server_version(self) -> str:
        """The name and version of the server."""


class Loop:
    """An event loop in its own thread, for libraries that need one."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def run(self, coroutine, timeout: float = TIMEOUT):
        """Waits for a coroutine."""

        async def limited():
            return await asyncio.wait_for(coroutine, timeout)

        return asyncio.run_coroutine_threadsafe(limited(), self.loop).result()
