"""Makes the weather of one station, every 15 minutes, from a seed.

readings.py FOLDER writes
    training.ndjson   the readings of 28 days, for `dunnage schema train`
    readings.ndjson   120 readings of later days, which the firmware measures
    readings.h        the same 120, as the firmware's sensors give them
"""

import json
import math
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

EVERY = timedelta(minutes=15)
WINDS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]
TRAINED = 28 * 96
MEASURED = 120


class Weather:
    """What the sensors of a station measure, in their integers."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.time = datetime(2026, 3, 1, tzinfo=UTC)
        self.pressure, self.warmth, self.wind, self.vane, self.battery = 1014.0, 0.0, 2.5, 5, 3.95

    def next(self):
        chance = self.chance
        self.time += EVERY
        hour = self.time.hour + self.time.minute / 60
        sun = math.sin((hour - 9) / 24 * 2 * math.pi)
        self.pressure += chance.gauss(0, 0.12) + (1014 - self.pressure) * 0.002
        self.warmth += chance.gauss(0, 0.12) - self.warmth * 0.01
        self.wind = min(25.0, max(0.0, self.wind + chance.gauss(0, 0.4) + (2.5 - self.wind) * 0.05))
        if chance.random() < 0.15:
            self.vane = (self.vane + chance.choice([-1, 1])) % 8
        self.battery += 0.004 * sun + (3.95 - self.battery) * 0.02
        return {
            "seconds": int(self.time.timestamp()),
            "failed": chance.random() < 0.005,
            "tenths": round(10 * (11 + 5 * sun + self.warmth)),
            "humidity": max(20, min(100, round(68 - 18 * sun + chance.gauss(0, 1.5)))),
            "pascals": 10 * round(10 * self.pressure),
            "wind": round(10 * self.wind),
            "gust": round(10 * (self.wind * 1.5 + abs(chance.gauss(0, 0.5)))),
            "vane": self.vane,
            "calm": self.wind < 0.3,
            "tips": round(chance.expovariate(1.2)) if self.pressure < 1012.5 and chance.random() < 0.5 else 0,
            "millivolts": 10 * round(100 * self.battery),
        }


def message(sensors):
    """The message of a reading, as the schema has it."""
    wind = {"speed": sensors["wind"] / 10, "gust": sensors["gust"] / 10}
    if not sensors["calm"]:
        wind["from"] = WINDS[sensors["vane"]]
    return {
        "time": datetime.fromtimestamp(sensors["seconds"], UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "temperature": None if sensors["failed"] else sensors["tenths"] / 10,
        "humidity": sensors["humidity"],
        "pressure": sensors["pascals"] / 100,
        "wind": wind,
        "rain": sensors["tips"] / 5,
        "battery": sensors["millivolts"] / 1000,
    }


def main(folder):
    weather = Weather(20260301)
    training = [weather.next() for _ in range(TRAINED)]
    for _ in range(10 * 96):
        weather.next()  # ten days between the training and the run
    measured = [weather.next() for _ in range(MEASURED)]
    for name, readings in [("training", training), ("readings", measured)]:
        (folder / f"{name}.ndjson").write_text("".join(json.dumps(message(r)) + "\n" for r in readings))
    rows = ["    {" + ", ".join(str(int(value)) for value in r.values()) + "}," for r in measured]
    (folder / "readings.h").write_text("static const Sensors readings[] PROGMEM = {\n" + "\n".join(rows) + "\n};\n")


main(Path(sys.argv[1]))
