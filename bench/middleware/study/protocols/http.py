"""HTTP/1.1 and HTTP/2, with and without TLS 1.3: POST, answered with 204."""

import shutil
import ssl
import subprocess

import httpx

from .. import SERVER, Failure
from . import gateway
from .base import TIMEOUT, Protocol, Session

H2C_PORT, H2_PORT = 8082, 8445
NGINX = "/usr/sbin/nginx"


class Http1(Protocol):
    """HTTP/1.1 to the gateway."""

    name = "http1"
    server_name = "dunnage"
    library = "httpx"
    tls = False
    http2 = False
    port = gateway.HTTP_PORT

    def start(self) -> None:
        if self.tls:
            certificate(self.folder)
        gateway.start(self.server, tls=self.tls)

    def connect(self, short: float | None = None) -> Session:
        verify = ssl.create_default_context(cafile=self.folder / "cert.pem") if self.tls else False
        client = httpx.Client(verify=verify, http1=not self.http2, http2=self.http2, timeout=TIMEOUT, trust_env=False)
        scheme = "https" if self.tls else "http"
        return HttpSession(client, f"{scheme}://{SERVER}:{self.port}/ingest/{gateway.DEVICE}")

    def stored(self) -> bytes:
        return gateway.stored(self.server)

    def server_version(self) -> str:
        return gateway.version()


class HttpSession(Session):
    """A client with one connection, which the first request opens."""

    def __init__(self, client: httpx.Client, url: str):
        self.client, self.url = client, url

    def send(self, payload: bytes) -> None:
        # The headers that a device needs: the library would add four more.
        headers = {"content-type": gateway.MEDIA_TYPE}
        request = httpx.Request("POST", self.url, headers=headers, content=payload)
        answer = self.client.send(request)
        if answer.status_code != 204:
            raise Failure(f"{answer.status_code} {answer.text}")

    def close(self) -> None:
        self.client.close()


class Https1(Http1):
    """HTTP/1.1 over TLS 1.3 to the gateway."""

    name = "https1"
    tls = True
    port = gateway.HTTPS_PORT


class Http2(Http1):
    """HTTP/2 without TLS (prior knowledge) to nginx before the gateway."""

    name = "http2"
    server_name = "nginx before dunnage"
    http2 = True
    port = H2C_PORT
    needs = (NGINX,)

    def start(self) -> None:
        gateway.start(self.server)
        certificate(self.folder)
        (self.folder / "nginx.conf").write_text(
            NGINX_CONF.format(folder=self.folder, server=SERVER, h2c=H2C_PORT, h2=H2_PORT, http=gateway.HTTP_PORT)
        )
        self.server.start([NGINX, "-e", "stderr", "-p", self.folder, "-c", self.folder / "nginx.conf"])
        self.server.wait_for_port(H2_PORT)

    def server_version(self) -> str:
        nginx = subprocess.run([NGINX, "-v"], check=True, capture_output=True, text=True).stderr.split("/")[-1].split()[0]
        return f"nginx {nginx}, {gateway.version()}"


class Https2(Http2):
    """HTTP/2 over TLS 1.3 to nginx before the gateway."""

    name = "https2"
    tls = True
    port = H2_PORT


NGINX_CONF = """daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
    keepalive_requests 100000;
    upstream gateway {{ server {server}:{http}; keepalive 4; }}
    server {{
        listen {server}:{h2c} http2;
        listen {server}:{h2} ssl http2;
        ssl_certificate {folder}/cert.pem;
        ssl_certificate_key {folder}/key.pem;
        ssl_protocols TLSv1.3;
        location / {{ proxy_pass http://gateway; proxy_http_version 1.1; proxy_set_header Connection ""; }}
    }}
}}
"""


def certificate(folder) -> None:
    """Writes `cert.pem`, signed by itself, and `key.pem`: ECDSA P-256, one certificate, as small as a chain gets."""
    if not shutil.which("openssl"):
        raise Failure("needs openssl for a certificate")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=server -addext"
    files = ["-keyout", folder / "key.pem", "-out", folder / "cert.pem"]
    subprocess.run([*command.split(), f"subjectAltName=IP:{SERVER}", *files], check=True, capture_output=True)
