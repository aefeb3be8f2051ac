"""Simulates devices as in section 4.6 of the paper: each sends a message that was encoded before the test, waits for the answer,
and then waits two more seconds. With 100 devices, this makes the 48 requests per second of the paper's table 3.

    python locustfile.py http://HOST:PORT < PLAN

PLAN is a line of JSON: {"warm": seconds, "seconds": seconds, "steps": [{"devices": n, "formats": [{"name", "content_type", "bodies"}]}]}
The number of devices grows from step to step. `bodies` is a file with a line per message: the device, a space, and the body in
hexadecimal digits. For each format of each step, the program prints a line of JSON. The devices of a step continue in the next one and
only change the format.
"""

import json
import logging
import os
import random
import sys

import gevent
from locust import FastHttpUser, constant, task
from locust.env import Environment

PAUSE = 2.0  # seconds from an answer to the next message


class Format:
    """A format with its messages, and the index of the message that was sent last."""

    def __init__(self, name, content_type, bodies):
        self.name = name
        self.headers = {"Content-Type": content_type}
        self.messages = []
        with open(bodies) as lines:
            for line in lines:
                device, digits = line.split()
                self.messages.append((f"/ingest/{device}", bytes.fromhex(digits)))
        self.next = 0

    def message(self):
        self.next = (self.next + 1) % len(self.messages)
        return self.messages[self.next]


class Device(FastHttpUser):
    wait_time = constant(PAUSE)
    format = None

    def on_start(self):
        # Without this delay, devices that start together would always send at the same time.
        gevent.sleep(random.uniform(0, PAUSE))

    @task
    def send(self):
        path, body = Device.format.message()
        self.client.post(path, data=body, headers=Device.format.headers, name=Device.format.name)


def measure(environment, seconds):
    """Measures the requests of the next `seconds`. Times are in milliseconds."""
    environment.stats.reset_all()
    gevent.sleep(seconds)
    total = environment.stats.total
    return {
        "rps": (total.num_requests - total.num_failures) / seconds,
        "requests": total.num_requests,
        "failures": total.num_failures,
        "mean_ms": total.avg_response_time,
        "p95_ms": total.get_response_time_percentile(0.95),
        "errors": sorted({str(error.error) for error in environment.stats.errors.values()})[:3],
    }


def main():
    logging.basicConfig(level=logging.ERROR)
    plan = json.load(sys.stdin)
    formats = {}
    environment = Environment(user_classes=[Device], host=sys.argv[1])
    runner = environment.create_local_runner()
    for step in plan["steps"]:
        for about in step["formats"]:
            name = about["name"]
            if name not in formats:
                formats[name] = Format(**about)
            if Device.format is None:
                Device.format = formats[name]
            if runner.user_count < step["devices"]:
                runner.start(step["devices"], spawn_rate=step["devices"])
                while runner.user_count < step["devices"]:
                    gevent.sleep(0.05)
                gevent.sleep(PAUSE + plan["warm"])
            Device.format = formats[name]
            gevent.sleep(plan["warm"])
            print(json.dumps({"devices": step["devices"], "format": name} | measure(environment, plan["seconds"])), flush=True)
    # Exit without waiting for requests in flight, which are not measured.
    os._exit(0)


if __name__ == "__main__":
    main()
