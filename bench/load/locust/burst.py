"""Simulates devices that wait for the same visibility window: all of them are released at one moment. Each then opens a connection, sends one
message that was encoded before the test, and waits for the answer.

    python burst.py http://HOST:PORT < PLAN

PLAN is a line of JSON: {"trials": n, "pause": seconds, "steps": [{"devices": n, "formats": [{"name", "content_type", "bodies"}]}]}
Steps, formats and bodies are those of locustfile.py. For each trial of each format of each step, the program prints a line of JSON. Times
of answers are those from the beginning of the device's own request, as Locust measures them.
"""

import json
import logging
import os
import sys
import time

import gevent
from gevent.event import Event
from locust import FastHttpUser, task
from locust.env import Environment
from locustfile import Format


class Window:
    """A visibility window, with the answers of the devices that sent in it."""

    def __init__(self):
        self.opened = Event()
        self.closed = Event()
        self.format = None
        self.devices = 0
        self.begun = 0.0  # seconds since 1970
        self.last_start = 0.0
        self.times_ms = []
        self.errors = []

    def open(self, format, devices):
        self.format, self.devices, self.begun = format, devices, time.time()
        self.opened.set()

    def start(self):
        self.last_start = time.time()
        return time.perf_counter()

    def answer(self, started, response):
        self.times_ms.append(1000 * (time.perf_counter() - started))
        if not 200 <= response.status_code < 300:
            self.errors.append(str(response.error or response.status_code))
        if len(self.times_ms) == self.devices:
            self.closed.set()


class Device(FastHttpUser):
    window = Window()  # the next one

    @task
    def send(self):
        window = Device.window
        window.opened.wait()
        path, body = window.format.message()
        started = window.start()
        # A device that comes into coverage has no connection.
        headers = window.format.headers | {"Connection": "close"}
        window.answer(started, self.client.post(path, data=body, headers=headers, name=window.format.name))


def burst(format, devices):
    """Releases all devices, and waits until each has an answer or an error."""
    window, Device.window = Device.window, Window()
    window.open(format, devices)
    window.closed.wait()
    return {
        "devices": devices,
        "format": format.name,
        "begun": window.begun,
        "ended": time.time(),
        "last_start_ms": 1000 * (window.last_start - window.begun),
        "times_ms": window.times_ms,
        "failures": len(window.errors),
        "errors": sorted(set(window.errors))[:3],
    }


def main():
    logging.basicConfig(level=logging.ERROR)
    plan = json.load(sys.stdin)
    formats = {}
    runner = Environment(user_classes=[Device], host=sys.argv[1]).create_local_runner()
    for step in plan["steps"]:
        runner.start(step["devices"], spawn_rate=step["devices"])
        while runner.user_count < step["devices"]:
            gevent.sleep(0.05)
        for about in step["formats"]:
            if about["name"] not in formats:
                formats[about["name"]] = Format(**about)
            for _ in range(plan["trials"]):
                # All devices wait for the window, and the server has stored what it answered before.
                gevent.sleep(plan["pause"])
                print(json.dumps(burst(formats[about["name"]], step["devices"])), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
