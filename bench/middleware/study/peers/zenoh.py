"""A Zenoh router with a queryable that takes messages."""

import json

import zenoh

from .. import SERVER
from . import answer

PORT = 7447
KEY = "v1/LMCU1231237/packed"


def config(mode: str, **endpoints: list[str]) -> zenoh.Config:
    """A configuration without discovery by multicast."""
    settings = {"mode": mode, "scouting": {"multicast": {"enabled": False}, "gossip": {"enabled": False}}}
    settings |= {name: {"endpoints": found} for name, found in endpoints.items()}
    return zenoh.Config.from_json5(json.dumps(settings))


def main() -> None:
    """Serves until the standard input ends."""
    last = b""

    def take(query) -> None:
        nonlocal last
        last = bytes(query.payload)
        query.reply(KEY, b"")

    with zenoh.open(config("router", listen=[f"tcp/{SERVER}:{PORT}"])) as session:
        session.declare_queryable(KEY, take)
        answer(lambda: last)


if __name__ == "__main__":
    main()
