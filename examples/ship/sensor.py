"""sensor.py SENSOR FROM UNTIL   prints the readings of a sensor with these numbers, one every ten minutes, a line of JSON each."""

import json
import random
import sys
from datetime import UTC, datetime, timedelta

sensor, first, until = (int(argument) for argument in sys.argv[1:])
for number in range(first, until):
    chance = random.Random(sensor * 1000 + number)
    at = datetime(2026, 11, 1, tzinfo=UTC) + timedelta(minutes=10 * number, seconds=sensor)
    reading = {
        "time": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "temperature": round(4 + sensor / 10 + chance.uniform(-0.5, 0.5), 1),
        "humidity": 60 + chance.randrange(10),
        "battery": 100 - number,
        "door": "open" if chance.random() < 0.05 else "closed",
    }
    print(json.dumps(reading, separators=(",", ":")))
