"""What the figures mean for three uses: a device that sleeps, one that is always connected, and a backbone of many messages.

Each use has a record per protocol, computed from the measured ones.
"""

from .records import Records

A_DAY = 4
"""Messages a day of the sleeping device, as in the container paper: each from nothing to its acknowledgement and the end of the connection."""
AN_HOUR = 12
"""Messages an hour of the device that is always connected."""


def records(lines: list[dict]) -> list[dict]:
    """The records of all protocols that have the figures."""
    figures = {(line["format"], line["operation"], line["metric"]): line for line in lines if line["target"] == "link"}
    made = []
    for name in dict.fromkeys(line["format"] for line in lines):
        found = {key[1:]: line for key, line in figures.items() if key[0] == name}
        if one := found.get(("one-message", "bytes")):
            made += use(one, "sleeping", A_DAY * one["value"], f"{A_DAY} messages a day, each with a connection of its own")
        parts = [found.get((operation, "bytes")) for operation in ("series", "idle-hour")]
        if all(parts):
            series, idle = (part["value"] for part in parts)
            made += use(parts[0], "connected", AN_HOUR * series + idle, f"{AN_HOUR} messages an hour on an open connection, and its keep-alives")
    return made


def use(line: dict, operation: str, value: float, options: str) -> list[dict]:
    """A record with the subject of a line."""
    made = Records(line["format"], line["library"], line.get("version"))
    made.add(operation, "bytes", value, "bytes", options=options)
    return made.lines
