"""ChirpStack's MQTT integration with paho: publishes each line `device key body` as an event `up` with QoS 1, and prints 204 when the broker
acknowledges it.

The event has the form of ChirpStack 4's JSON marshaler. The key is its deduplicationId, and the number of the device, `d007`, its DevEUI.
"""

import base64
import itertools
import json
import sys
import threading

import paho.mqtt.client as mqtt

acknowledged = threading.Event()


def on_publish(_client, _data, _number, _code, _properties):
    acknowledged.set()


def up(device, key, body, counter):
    dev_eui = f"70B3D57ED00{int(device[1:]):05X}"
    event = {
        "deduplicationId": key,
        "time": "2026-01-01T00:00:00+00:00",
        "deviceInfo": {"applicationId": "17c82e96", "deviceName": f"Sensor {device}", "devEui": dev_eui},
        "dr": 5,
        "fCnt": counter,
        "fPort": 2,
        "data": base64.b64encode(body.encode()).decode(),
        "rxInfo": [{"gatewayId": "0016c001f153a14c", "uplinkId": counter, "rssi": -97, "snr": 7.5}],
        "txInfo": {"frequency": 868100000, "modulation": {"lora": {"bandwidth": 125000, "spreadingFactor": 7}}},
    }
    return f"application/17c82e96/device/{dev_eui.lower()}/event/up", json.dumps(event)


port, number = int(sys.argv[1]), sys.argv[2]
client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=f"chirpstack-{number}", protocol=mqtt.MQTTv5)
client.on_publish = on_publish
client.connect("127.0.0.1", port)
client.loop_start()
for line, counter in zip(sys.stdin, itertools.count()):
    device, key, body = line.rstrip("\n").split(" ", 2)
    acknowledged.clear()
    client.publish(*up(device, key, body, counter), qos=1)
    print(204 if acknowledged.wait(90) else 0, flush=True)
