"""A device with paho: sends each line `device key body` as a PUBLISH with QoS 1, and prints 204 when it is acknowledged.

paho reconnects by itself and repeats unacknowledged messages. If the reason code is an error, the code is printed; 0 means that no
acknowledgement arrived.
"""

import sys
import threading

import paho.mqtt.client as mqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

acknowledged = threading.Event()
reason = 0


def on_publish(_client, _data, _number, code, _properties):
    global reason
    reason = code.value
    acknowledged.set()


port, number = int(sys.argv[1]), sys.argv[2]
client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=f"sender-{number}", protocol=mqtt.MQTTv5)
client.on_publish = on_publish
client.reconnect_delay_set(min_delay=1, max_delay=1)
session = Properties(PacketTypes.CONNECT)
session.SessionExpiryInterval = 600
# The server may be down already; the loop retries until it is up.
client.connect_async("127.0.0.1", port, clean_start=False, properties=session)
client.loop_start()
for line in sys.stdin:
    device, key, body = line.rstrip("\n").split(" ", 2)
    properties = Properties(PacketTypes.PUBLISH)
    properties.UserProperty = ("key", key)
    acknowledged.clear()
    client.publish(f"v1/{device}/json", body, qos=1, properties=properties)
    if not acknowledged.wait(90):
        print(0, flush=True)
    else:
        print(204 if reason < 128 else reason, flush=True)
