"""A device with aiocoap: sends each line `device key body` as a confirmable POST, and prints 204 when the answer is 2.04.

Other answers are printed as 400, 404 and so on; 0 means that the message was not answered after all retransmissions of RFC 7252.
"""

import asyncio
import sys

import aiocoap
from aiocoap import error, numbers


class Tuning(numbers.TransportTuning):
    """Retransmits sooner than devices do, which shortens the test."""

    ACK_TIMEOUT = 0.15


async def main(port):
    context = await aiocoap.Context.create_client_context()
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        device, key, body = line.rstrip("\n").split(" ", 2)
        request = aiocoap.Message(
            code=aiocoap.POST,
            uri=f"coap://127.0.0.1:{port}/ingest/{device}?key={key}",
            payload=body.encode(),
            content_format=50,
            transport_tuning=Tuning(),
        )
        try:
            code = (await context.request(request).response).code
            status = 204 if code == aiocoap.CHANGED else (code >> 5) * 100 + (code & 31)
        except error.Error:
            status = 0
        print(status, flush=True)


asyncio.run(main(sys.argv[1]))
