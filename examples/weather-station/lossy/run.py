"""Carries the messages of the simulated station to a gateway, over a network that loses some, and compares what the gateway stored with what
the station measured.

run.py FOLDER DUNNAGE    the folder is the one that lossy.sh fills
"""

import asyncio
import json
import random
import signal
import sys
from pathlib import Path
from statistics import mean

import aiocoap
from aiocoap.numbers.constants import TransportTuning
from parts import PATIENCE, Gateway, Station
from relay import Fate, Relay

LOSS = ACK_LOSS = 0.3
PACKED = 65001  # the Content-Format
CHANGED, CONFLICT = 0x44, 0x89  # 2.04 and 4.09
GATEWAY_DIES, STATION_DIES = 40, 80  # before these readings
FALSE = 60  # the first lost message from here on is acknowledged all the same


class Once(TransportTuning):
    """The station sends each message once, as over a satellite; how long the answer takes does not matter."""

    ACK_TIMEOUT = PATIENCE
    ACK_RANDOM_FACTOR = 1.0
    MAX_RETRANSMIT = 0


def fates(count, chance):
    """Loses exactly LOSS of the messages, and ACK_LOSS of the acknowledgements of the others."""
    lost = set(chance.sample(range(count), round(LOSS * count)))
    others = [n for n in range(count) if n not in lost]
    unheard = set(chance.sample(others, round(ACK_LOSS * len(others))))
    return [Fate.LOST if n in lost else Fate.ACK_LOST if n in unheard else Fate.ARRIVES for n in range(count)]


class Journey:
    """The run, and what happened in it."""

    def __init__(self, station, gateway, relay, uri, count):
        self.station, self.gateway, self.relay, self.uri = station, gateway, relay, uri
        self.fates = fates(count, random.Random(18))
        self.false = self.fates.index(Fate.LOST, FALSE)
        self.reference = None  # the reading that the station believes to be kept
        self.stored, self.quarantined = [], []  # readings, in the order in which they arrived
        self.sizes = {0: [], 1: [], 2: []}  # bytes of the messages of each mode
        self.plain = []

    async def post(self, payload, fate):
        """Returns the code with which the gateway answered, or 0, and the code that the station heard."""
        lost = await self.relay.expect(fate)
        # A context of its own, because a client waits for the answer to one message before it sends the next.
        context = await aiocoap.Context.create_client_context()
        request = aiocoap.Message(code=aiocoap.POST, uri=self.uri, payload=payload, content_format=PACKED, transport_tuning=Once())
        answer = asyncio.ensure_future(context.request(request).response)
        await asyncio.wait({answer, lost}, return_when=asyncio.FIRST_COMPLETED)
        heard = 0 if lost.done() else int(answer.result().code)
        await context.shutdown()
        await asyncio.wait({answer})  # with an error, if the shutdown ended it
        answer.exception()
        return (lost.result(), 0) if lost.done() else (heard, heard)

    async def send(self, number):
        """Carries one message, and tells the station what it heard. Returns whether the station sends it again."""
        message, plain = await self.station.sent()
        mode = message[0] >> 6
        assert mode < 2 or self.reference is not None, f"reading {number}: a delta without a reference"
        self.sizes[mode].append(len(message))
        self.plain.append(plain)
        answered, heard = await self.post(message, self.fates[number])
        if answered == CHANGED:
            self.stored.append(number)
        elif answered == CONFLICT:
            assert mode == 2 and self.reference == self.false, f"reading {number}: 4.09, but the gateway has its reference"
            self.quarantined.append(number)
        else:
            assert answered == 0, f"reading {number}: {answered >> 5}.{answered & 31:02}"
        if heard == CHANGED or number == self.false:
            self.reference = number
            self.station.tell("+")
        if heard == CONFLICT:
            self.reference = None
            self.station.tell("!")
        return heard == CONFLICT

    async def restart_gateway(self):
        await self.gateway.kill()
        await self.gateway.start()
        self.relay.gateway = ("127.0.0.1", self.gateway.coap)

    async def restart_station(self):
        await self.station.kill()
        await self.station.start()
        self.reference = None

    async def go(self):
        for number in range(len(self.fates)):
            if number == GATEWAY_DIES:
                await self.restart_gateway()
            if number == STATION_DIES:
                await self.restart_station()
            self.station.tell(f"{number}\n")
            while await self.send(number):
                pass


def check(journey, readings):
    """Compares the API with what the station measured, and what was sent with its goal."""
    stored = [entry["value"] for entry in journey.gateway.entries("devices/roof/messages", "messages")]
    expected = [readings[number] for number in journey.stored]
    assert stored == expected, f"the API has {len(stored)} readings that are not the {len(expected)} that arrived"
    assert len(set(journey.stored)) == len(journey.stored), "a reading was stored twice"
    quarantine = journey.gateway.entries("quarantine", "messages")
    assert len(quarantine) == len(journey.quarantined), f"the quarantine has {quarantine}"
    assert journey.quarantined, "the false acknowledgement was not noticed"
    deltas = journey.sizes[2]
    assert deltas and mean(deltas) < mean(journey.plain), "deltas save nothing"


def report(journey):
    """Prints the figures of the run as one line."""
    fates, sizes, plain = journey.fates, journey.sizes, journey.plain
    sent = [size for mode in sizes.values() for size in mode]
    forms = [f"{name} {mean(sizes[mode]):.1f} B ({len(sizes[mode])})" for mode, name in enumerate(("sent plain", "prior", "delta")) if sizes[mode]]
    print(
        f"{len(fates)} readings, {fates.count(Fate.LOST)} lost, {fates.count(Fate.ACK_LOST)} acknowledgements lost, {len(journey.stored)} stored, "
        f"{len(journey.quarantined)} quarantined; mean bytes: {', '.join(forms)}, all {mean(sent):.1f} B, in plain form {mean(plain):.1f} B"
    )


async def main(folder, dunnage):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the parts end with it
    readings = [json.loads(line) for line in (folder / "readings.ndjson").read_text().splitlines()]
    station = Station(folder / "simulate", folder / "firmware.elf")
    reader, writer = ((folder / f"{name}.token").read_text().strip() for name in ("reader", "roof"))
    gateway = Gateway([dunnage, "gateway", "--config", folder / "dunnage.toml"], folder / "gateway.log", reader)
    relay, port = await Relay.listen()
    started = []
    try:
        for part in (gateway, station):
            await part.start()
            started.append(part)
        relay.gateway = ("127.0.0.1", gateway.coap)
        uri = f"coap://127.0.0.1:{port}/ingest/roof?schema=station&token={writer}"
        journey = Journey(station, gateway, relay, uri, len(readings))
        await journey.go()
        check(journey, readings)
        report(journey)
    finally:
        for part in started:
            if part.process.returncode is None:
                await part.kill()


asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
