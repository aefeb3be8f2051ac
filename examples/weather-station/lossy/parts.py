"""The two ends as processes: the simulated station and the gateway. Both can be killed and started again."""

import asyncio
import json
import re
import urllib.request

PATIENCE = 30  # seconds until a part that says nothing is an error


class Station:
    """The firmware on a simulated ATmega328P."""

    def __init__(self, simulator, firmware):
        self.command = [simulator, "atmega328p", firmware]

    async def start(self):
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(*self.command, stdin=pipe, stdout=pipe)

    def tell(self, text):
        self.process.stdin.write(text.encode())

    async def sent(self):
        """Returns the next message, and how many bytes its plain form has."""
        line = await asyncio.wait_for(self.process.stdout.readline(), PATIENCE)
        message, plain = (bytes.fromhex(word) for word in line.decode().split())
        return message, plain[0]

    async def kill(self):
        self.process.kill()
        await self.process.wait()


class Gateway:
    def __init__(self, command, log, token):
        self.command, self.log, self.token = command, log, token

    async def start(self):
        """Starts it on free ports, and waits until it listens."""
        with open(self.log, "wb") as log:
            self.process = await asyncio.create_subprocess_exec(*self.command, stderr=log)
        self.http = await self._port("gateway started")
        self.coap = await self._port(r"listens.*coap\b")

    async def _port(self, pattern):
        for _ in range(10 * PATIENCE):
            for line in self.log.read_text(errors="replace").splitlines():
                port = re.search(r"127\.0\.0\.1:(\d+)", line)
                if port and re.search(pattern, line):
                    return int(port[1])
            await asyncio.sleep(0.1)
        raise SystemExit(f"the gateway does not start:\n{self.log.read_text(errors='replace')}")

    async def kill(self):
        self.process.kill()
        await self.process.wait()

    def entries(self, path, name):
        """Returns all entries of a list of the API, the oldest first."""
        entries, before = [], ""
        while True:
            request = urllib.request.Request(
                f"http://127.0.0.1:{self.http}/api/{path}?limit=100{before}", headers={"Authorization": f"Bearer {self.token}"}
            )
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                page = json.load(response)[name]
            if not page:
                return entries[::-1]
            entries += page
            before = f"&before={page[-1]['id']}"
