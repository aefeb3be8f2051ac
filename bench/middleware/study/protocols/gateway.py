"""The gateway of this project as the server of HTTP and CoAP."""

import sqlite3
import subprocess

from .. import ROOT, SERVER
from ..server import Server

PROGRAM = ROOT / "target" / "release" / "dunnage"
DEVICE = "LMCU1231237"
MEDIA_TYPE = "application/vnd.dunnage.packed"
COAP_FORMAT = 65001
HTTP_PORT, HTTPS_PORT, COAP_PORT, COAPS_PORT = 8080, 8443, 5683, 5684
KEY = "0123456789abcdef"
"""The pre-shared key, its identity is the device's name."""


def start(server: Server, tls: bool = False) -> None:
    """Starts a gateway with HTTP, CoAP and CoAP over DTLS; with `tls`, its HTTP port has the certificate `cert.pem`."""
    folder = server.folder
    listen = f'listen = "{SERVER}:{HTTPS_PORT if tls else HTTP_PORT}"\ntls = {str(tls).lower()}\n'
    config = f'[http]\n{listen}[buffer]\npath = "{folder}/buffer.sqlite3"\n[access]\nwho = "anyone"\n'
    if tls:
        config += f'[tls]\ncertificate = "{folder}/cert.pem"\nkey = "{folder}/key.pem"\n'
    config += '[[profile]]\ndevice = "*"\nschema = "container"\n'
    for name, port, dtls in [("coap", COAP_PORT, "false"), ("coaps", COAPS_PORT, "true")]:
        config += f'[[input]]\nname = "{name}"\n[input.coap]\nlisten = "{SERVER}:{port}"\ndtls = {dtls}\n'
    (folder / "gateway.toml").write_text(config)
    keys = folder / "keys.toml"
    keys.write_text(f'[[key]]\nname = "{DEVICE}"\ndevice = "{DEVICE}"\nsecret = "{KEY}"\n')
    keys.chmod(0o600)
    server.start([PROGRAM, "gateway", "--config", folder / "gateway.toml"])
    server.wait_for_port(HTTPS_PORT if tls else HTTP_PORT)
    server.wait_for_port(COAPS_PORT, "udp")


def stored(server: Server) -> bytes:
    """The body of the last message in the gateway's buffer."""
    with sqlite3.connect(server.folder / "buffer.sqlite3") as buffer:
        return buffer.execute("SELECT raw FROM messages ORDER BY id DESC LIMIT 1").fetchone()[0]


def version() -> str:
    """The gateway's name and version."""
    return subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.strip()
