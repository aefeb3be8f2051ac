"""The code of a C client: .text of Debian's shared library, and of the TLS library that it is linked to."""

import re
import shutil
import subprocess
from pathlib import Path

from .records import Records

FOLDER = Path("/usr/lib/x86_64-linux-gnu")
LIBRARIES = {
    "http1": [("libcurl", "libcurl.so.4")],
    "http2": [("nghttp2", "libnghttp2.so.14")],
    "coap": [("libcoap", "libcoap-3-notls.so.3")],
    "coaps": [("libcoap", "libcoap-3-openssl.so.3")],
    "mqtt311": [("libmosquitto", "libmosquitto.so.1"), ("paho.mqtt.c", "libpaho-mqtt3c.so.1")],
    "mqtt5": [("libmosquitto", "libmosquitto.so.1"), ("paho.mqtt.c", "libpaho-mqtt3c.so.1")],
    "amqp": [("rabbitmq-c", "librabbitmq.so.4")],
    "nats": [("nats.c", "libnats.so.3.4")],
    "websocket": [("libwebsockets", "libwebsockets.so.17")],
    "grpc": [("grpc", "libgrpc.so.29")],
    "dds": [("cyclonedds", "libddsc.so.0debian")],
}
TLS = re.compile(r"NEEDED +(lib(?:ssl|crypto|gnutls|mbedtls|wolfssl)\S*)")


def measure() -> list[dict]:
    """The sizes of the libraries that this machine has."""
    lines = []
    for name, libraries in LIBRARIES.items():
        for library, file in libraries:
            if (path := FOLDER / file).exists() and shutil.which("objdump"):
                records = Records(name, library)
                records.add("client", "text", text(path), "bytes", options=file, note=linked(path))
                lines += records.lines
    return lines


def text(path: Path) -> int:
    """Bytes of the section .text of a shared library."""
    sections = subprocess.run(["objdump", "-h", path], capture_output=True, text=True, check=True).stdout
    return int(re.search(r" \.text +([0-9a-f]+)", sections)[1], 16)


def linked(path: Path) -> str:
    """The TLS libraries that it needs, with their sizes, which are not part of its own. OpenSSL is two libraries."""
    headers = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True).stdout
    found = set(TLS.findall(headers))
    found |= {name.replace("libssl", "libcrypto") for name in found if name.startswith("libssl")}
    sizes = [f"{name} with {text(FOLDER / name)} B" for name in sorted(found)]
    return f"also needs {' and '.join(sizes)}" if sizes else "needs no TLS library"
