"""Publishes numbers with paho-mqtt, several clients at once, and prints each one that the server has acknowledged.

    mqtt_publish.py PORT VERSION QOS CLIENTS COUNT FIRST

VERSION is 3 or 5. Each client publishes FIRST to FIRST + COUNT - 1 to v1/paho-CLIENT/json, up to 20 of them unacknowledged at a time, and prints
"CLIENT NUMBER" for each acknowledgement, "CLIENT NUMBER no CODE" for one that says no. Ends when all is acknowledged or the connection is lost.
"""

import sys
import threading

import paho.mqtt.client as mqtt

PORT, VERSION, QOS, CLIENTS, COUNT, FIRST = map(int, sys.argv[1:])
WINDOW = 20
printing = threading.Lock()


def publish(number: int) -> None:
    room = threading.Semaphore(WINDOW)
    ended = threading.Event()
    sent: dict[int, int] = {}
    known = threading.Condition()

    def on_publish(_client, _data, mid, code, _properties):
        with known:
            while mid not in sent:
                known.wait()
            value = sent.pop(mid)
        with printing:
            no = f" no {code.value}" if code.is_failure else ""
            print(f"{number} {value}{no}", flush=True)
        room.release()

    def on_disconnect(*_):
        ended.set()
        room.release(WINDOW)

    protocol = mqtt.MQTTv5 if VERSION == 5 else mqtt.MQTTv311
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, f"paho-{number}", protocol=protocol)
    client.on_publish = on_publish
    client.on_disconnect = on_disconnect
    client.max_inflight_messages_set(WINDOW)
    client.connect("127.0.0.1", PORT, keepalive=60)
    client.loop_start()
    for value in range(FIRST, FIRST + COUNT):
        room.acquire()
        if ended.is_set():
            break
        info = client.publish(f"v1/paho-{number}/json", str(value), qos=QOS)
        with known:
            sent[info.mid] = value
            known.notify_all()
    for _ in range(WINDOW):
        if ended.is_set():
            break
        room.acquire()
    client.disconnect()
    client.loop_stop()


threads = [threading.Thread(target=publish, args=(number,), daemon=True) for number in range(CLIENTS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
