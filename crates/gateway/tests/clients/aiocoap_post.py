"""Sends messages with aiocoap, and prints a line of JSON for each: what was sent and how it was answered.

aiocoap_post.py URI FORMAT FILE                one message, the content of FILE
aiocoap_post.py URI --clients C --messages M   C endpoints, each M messages one after the other: {"c": client, "n": number}
"""

import argparse
import asyncio
import json

import aiocoap
from aiocoap.numbers.constants import TransportTuning


class Impatient(TransportTuning):
    """What is lost is sent again soon, and more often, so that a test of loss takes seconds."""

    ACK_TIMEOUT = 0.1
    MAX_RETRANSMIT = 8


async def post(context, uri, content_format, payload, confirmable=True):
    message = aiocoap.Message(
        code=aiocoap.POST,
        uri=uri,
        payload=payload,
        content_format=content_format,
        transport_tuning=aiocoap.Reliable if confirmable else aiocoap.Unreliable,
    )
    return await context.request(message).response


async def one(arguments):
    context = await aiocoap.Context.create_client_context()
    with open(arguments.file, "rb") as file:
        payload = file.read()
    answer = await post(context, arguments.uri, arguments.format, payload, not arguments.non)
    print(json.dumps({"code": answer.code.dotted, "diagnostic": answer.payload.decode()}))
    await context.shutdown()


async def client(number, arguments):
    context = await aiocoap.Context.create_client_context()
    for n in range(arguments.messages):
        payload = json.dumps({"c": number, "n": n}).encode()
        message = aiocoap.Message(
            code=aiocoap.POST,
            uri=f"{arguments.uri}{number}",
            payload=payload,
            content_format=50,
            transport_tuning=Impatient(),
        )
        try:
            answer = await context.request(message).response
            code = answer.code.dotted
        except aiocoap.error.Error as e:
            code = type(e).__name__
        print(json.dumps({"c": number, "n": n, "code": code}))
    await context.shutdown()


async def many(arguments):
    await asyncio.gather(*(client(n, arguments) for n in range(arguments.clients)))


parser = argparse.ArgumentParser()
parser.add_argument("uri")
parser.add_argument("format", type=int, nargs="?")
parser.add_argument("file", nargs="?")
parser.add_argument("--non", action="store_true")
parser.add_argument("--clients", type=int)
parser.add_argument("--messages", type=int)
arguments = parser.parse_args()
asyncio.run(many(arguments) if arguments.clients else one(arguments))
