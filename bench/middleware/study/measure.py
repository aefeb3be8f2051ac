"""What is measured of one protocol."""

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass

from . import Failure
from .network import Condition, total
from .payload import payload
from .protocols.base import Protocol
from .records import Records

CLEAR = Condition(0, 0.0)
HOUR = 3600


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    conditions: list[Condition]
    repeats: int
    """Times that the bytes of one message are counted; the median is recorded."""
    messages: int
    """Messages of the series on one connection."""
    clients: int
    """Idle clients whose memory is measured."""
    samples: int
    """Clients in each condition, for either latency."""
    each: int
    """Messages of a client on its open connection."""
    idle: bool
    """Whether an idle connection is watched."""


QUICK = Plan([CLEAR, Condition(50, 0.0), Condition(600, 0.0)], repeats=3, messages=200, clients=50, samples=10, each=2, idle=False)
FULL = Plan(
    [Condition(rtt, loss) for rtt in (0, 50, 600) for loss in (0.0, 0.01, 0.1)], repeats=5, messages=1000, clients=100, samples=40, each=5, idle=True
)


def check(protocol: Protocol) -> None:
    """Fails unless a message arrives as it was sent."""
    if protocol.delivered(payload()) != payload():
        raise Failure("the receiver has another message than the one that was sent")


def exchange(protocol: Protocol, plan: Plan, records: Records) -> None:
    """The bytes of one message: of its parts, with pauses between them, and at a stretch."""
    network, parts, at_a_stretch = protocol.network, [], []
    for _ in range(plan.repeats):
        network.settled_count()
        session = protocol.connect()
        first = network.settled_count()
        session.send(payload())
        one = network.settled_count()
        session.send(payload())
        second = network.settled_count()
        session.close()
        last = network.settled_count()
        parts.append({
            "connection": total(first) + total(one) - total(second), "message": second["up"]["all"]["bytes"],
            "acknowledgement": second["down"]["all"]["bytes"], "close": total(last),
        })  # fmt: skip
        session = protocol.connect()
        session.send(payload())
        session.close()
        at_a_stretch.append(network.settled_count())
    for part in parts[0]:
        median_record(records, part, [each[part] for each in parts])
    median_record(records, "one-message", [total(each) for each in at_a_stretch])
    packets = [total(each, unit="packets") for each in at_a_stretch]
    records.add("one-message", "packets", statistics.median(packets), "1", repetitions=plan.repeats)


def median_record(records: Records, operation: str, values: list[int]) -> None:
    """Records the median of counted bytes with their range."""
    spread = {"low": min(values), "high": max(values), "of": "range"} if min(values) != max(values) else None
    records.add(operation, "bytes", statistics.median(values), "bytes", repetitions=len(values), spread=spread)


def series(protocol: Protocol, plan: Plan, records: Records) -> None:
    """Many messages on one connection, each sent when the one before is acknowledged: bytes, time, and the server's processor time."""
    network = protocol.network
    session = protocol.connect()
    session.send(payload())
    network.settled_count()
    cpu, begin = protocol.server.cpu(), time.perf_counter()
    for _ in range(plan.messages):
        session.send(payload())
    took, cpu = time.perf_counter() - begin, protocol.server.cpu() - cpu
    counts = network.settled_count()
    session.close()
    options = f"{plan.messages} messages"
    records.add("series", "bytes", total(counts) / plan.messages, "bytes", options=options)
    records.add("series", "packets", total(counts, unit="packets") / plan.messages, "1", options=options)
    records.add("series", "cpu_us", cpu / plan.messages * 1e6, "us", options=options)
    records.add("series", "rps", plan.messages / took, "1/s", options=options)


def memory(protocol: Protocol, plan: Plan, records: Records) -> None:
    """The server's memory for each client that has sent a message and keeps its connection, less what the messages themselves take."""
    server = protocol.server
    with closing(protocol.connect()) as session:
        session.send(payload())
        before = server.memory()
        for _ in range(plan.clients):
            session.send(payload())
        messages = server.memory() - before
    with ExitStack() as sessions:
        before = server.memory()
        for _ in range(plan.clients):
            session = sessions.enter_context(closing(protocol.connect()))
            session.send(payload())
        time.sleep(0.5)
        clients = server.memory() - before - messages
    records.add("idle-client", "memory", max(clients, 0) / plan.clients, "bytes", options=f"{plan.clients} clients", note=protocol.hidden_memory)


def idle_hour(protocol: Protocol, plan: Plan, records: Records) -> None:
    """The bytes of a connection without messages in an hour, from what it sends with a shorter interval."""
    keep_alive, network = protocol.keep_alive, protocol.network
    if keep_alive is None:
        records.add("idle-hour", "bytes", 0, "bytes", note="the peers send nothing by default")
        return
    if not plan.idle:
        return
    session = protocol.connect(keep_alive.short)
    session.send(payload())
    network.settled_count()
    session.idle(keep_alive.watch)
    counts = network.count()
    session.close()
    if keep_alive.short == keep_alive.seconds:
        hour, how = total(counts) * HOUR / keep_alive.watch, f"watched for {keep_alive.watch:g} s"
    else:
        times = max(counts["up"]["segment"]["packets"], counts["up"]["datagram"]["packets"])
        if not times:
            raise Failure("an idle connection has sent nothing")
        hour = total(counts) / times * HOUR / keep_alive.seconds
        how = f"{times} exchanges at {keep_alive.short:g} s, counted as one each {keep_alive.seconds:g} s"
    records.add("idle-hour", "bytes", hour, "bytes", note=f"{keep_alive.what}; {how}")


def latencies(protocol: Protocol, condition: Condition, plan: Plan, records: Records) -> None:
    """From nothing to the acknowledgement of the first message, and of messages on an open connection, in one condition."""
    protocol.network.set(condition, seed=1 + condition.rtt_ms)

    def client(number: int) -> tuple[float, list[float]]:
        # Clients that start at the same time would wait for this process, not for the link.
        time.sleep(number % parallel(condition) * condition.rtt_ms / 1000 / parallel(condition))
        begin = time.perf_counter()
        session = protocol.connect()
        try:
            session.send(payload())
            first, following = time.perf_counter() - begin, []
            for _ in range(plan.each):
                begin = time.perf_counter()
                session.send(payload())
                following.append(time.perf_counter() - begin)
        finally:
            session.close()
        return first, following

    firsts, following, reasons = [], [], []
    with ThreadPoolExecutor(parallel(condition)) as pool:
        for future in [pool.submit(client, number) for number in range(plan.samples)]:
            try:
                one, more = future.result()
                firsts.append(one)
                following += more
            except Exception as error:  # noqa: BLE001  each library has its own
                reasons.append(f"{type(error).__name__}: {error}"[:200])
    for operation, values in [("first", firsts), ("following", following)]:
        if values:
            latency_record(records, operation, values, condition)
    if reasons:
        note = f"{len(reasons)} of {plan.samples} clients failed: {max(set(reasons), key=reasons.count)}"
        records.add("first", "failures", len(reasons) / plan.samples, "1", str(condition), repetitions=plan.samples, note=note)


def latency_record(records: Records, operation: str, values: list[float], condition: Condition) -> None:
    """Records the median with the interval in which nine of ten are, and the 95th percentile."""
    milliseconds = sorted(1000 * value for value in values)
    low, high = (milliseconds[round(share * (len(milliseconds) - 1))] for share in (0.05, 0.95))
    spread = {"low": low, "high": high, "of": "5th to 95th percentile"}
    more = {"target": str(condition), "repetitions": len(values)}
    records.add(operation, "median_ms", statistics.median(milliseconds), "ms", spread=spread, **more)
    records.add(operation, "p95_ms", high, "ms", **more)


def parallel(condition: Condition) -> int:
    """Clients at a time: one where the machine is what takes time, more where the link is."""
    if condition.rtt_ms >= 600:
        return 20
    return 4 if condition.rtt_ms or condition.loss else 1


def round_trips(records: Records) -> None:
    """Round trips from nothing to the first acknowledgement: what a longer link adds to the median, in times of what the link adds."""
    medians = {line["target"]: line["value"] for line in records.lines if (line["operation"], line["metric"]) == ("first", "median_ms")}
    near, far = (str(Condition(rtt_ms, 0.0)) for rtt_ms in (0, 600))
    if near in medians and far in medians:
        records.add("first", "round_trip", round((medians[far] - medians[near]) / 600, 2), "1")
