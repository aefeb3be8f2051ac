"""A WebSocket server: a binary message in, `ok` back."""

import asyncio

from websockets.asyncio.server import serve

from .. import SERVER
from . import answer_in_thread

PORT = 8090
OK = "ok"


async def main() -> None:
    """Serves until the process ends."""
    last = b""

    async def handle(connection) -> None:
        nonlocal last
        async for last in connection:
            await connection.send(OK)

    async with serve(handle, SERVER, PORT) as server:
        answer_in_thread(lambda: last)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
