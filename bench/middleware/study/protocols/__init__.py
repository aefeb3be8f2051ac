"""All protocols, in the order of the tables."""

from importlib import import_module

PLACES = {
    "udp": "udp.Udp",
    "http1": "http.Http1",
    "https1": "http.Https1",
    "http2": "http.Http2",
    "https2": "http.Https2",
    "coap": "coap.Coap",
    "coaps": "coap.Coaps",
    "lwm2m": "lwm2m.Lwm2m",
    "mqtt311": "mqtt.Mqtt311",
    "mqtt5": "mqtt.Mqtt5",
    "mqtts": "mqtt.Mqtts",
    "amqp": "amqp.Amqp",
    "nats": "nats.Nats",
    "websocket": "websocket.WebSocket",
    "grpc": "grpc.Grpc",
    "opcua": "opcua.OpcUa",
    "zenoh": "zenoh.Zenoh",
    "dds": "dds.Dds",
}
QUICK = ("udp", "http1", "coap", "coaps", "mqtt5", "nats")
"""Those of the quick form: their servers start at once."""


def find(name: str):
    """The class of a protocol. Imported when it is asked for: each has a library of its own."""
    module, _, kind = PLACES[name].partition(".")
    return getattr(import_module(f"{__name__}.{module}"), kind)
