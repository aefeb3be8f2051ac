"""Returns each datagram to its sender."""

import socket
import threading

from .. import SERVER
from . import answer

PORT = 7007


class Echo:
    """The socket, and the last datagram."""

    def __init__(self):
        self.last = b""
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((SERVER, PORT))

    def run(self) -> None:
        """Serves until the process ends."""
        while True:
            self.last, sender = self.socket.recvfrom(2048)
            self.socket.sendto(self.last, sender)


if __name__ == "__main__":
    echo = Echo()
    threading.Thread(target=echo.run, daemon=True).start()
    answer(lambda: echo.last)
