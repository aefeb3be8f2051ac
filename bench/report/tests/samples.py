"""Invented records in the shape of each suite's, for tests only."""

import json
import zlib
from pathlib import Path

TESTS = [f"Test{number:02}" for number in range(1, 11)]
KINDS = ["short int", "short json", "medium mixed", "array strings", "short null", "mixed json WoT"]
ENVIRONMENT = "an invented processor, 2 cores, rustc 1.95.0"


def _figure(low: float, high: float, *of: object) -> float:
    """A number between low and high that depends on the arguments only."""
    return round(low + (high - low) * (zlib.crc32(repr(of).encode()) % 10_000) / 10_000, 1)


def line(suite, target, payload, format, library, operation, metric, value, unit, **more) -> dict:
    """A record as it is in a file; measured unless it has a reference."""
    source = {"source": "quoted"} if "reference" in more else {"source": "measured", "environment": ENVIRONMENT}
    return {
        "record": 1, "suite": suite, "target": target, "payload": payload, "format": format, "library": library,
        "operation": operation, "metric": metric, "value": value, "unit": unit, **source, **more,
    }  # fmt: skip


def _spread(value: float) -> dict:
    return {"repetitions": 20, "spread": {"low": value * 0.93, "high": value * 1.08, "of": "interquartile range"}}


def _trials(value: float) -> dict:
    return {"repetitions": 3, "spread": {"low": value * 0.9, "high": value * 1.2, "of": "range"}}


def host() -> list[dict]:
    """All formats on messages with a written and with an inferred schema."""
    lines = []
    formats = ["json", "cbor", "msgpack", "pson", "bson", "xml", "yaml", "protobuf", "protobuf (float32)", "avro", "thrift-compact", "struct", "packed"]
    for payload in [*TESTS, "container", "weather", "wot"]:
        more = {"version": "0.1.0", "options": "schema written for such messages" if payload in ("container", "weather") else "schema inferred from the message"}
        for format in formats:
            size = int(_figure(20, 60, payload, format) * (1 if format == "packed" else 4))
            for compressor in ("", "+gzip", "+zstd"):
                lines.append(line("host", "host", payload, format + compressor, "dunnage", "encode", "bytes", size + len(compressor), "bytes", **more))
            for operation in ("encode", "decode"):
                time = _figure(80, 900, payload, format, operation)
                lines.append(line("host", "host", payload, format, "dunnage", operation, "ns", time, "ns", **more, **_spread(time)))
                lines.append(line("host", "host", payload, format, "dunnage", operation, "alloc", int(time * 3), "bytes", **more))
    for payload in ("Book", "Video"):
        for format in ("json", "pson", "packed"):
            lines.append(line("host", "host", payload, format, "dunnage", "encode", "bytes", int(_figure(90, 700, payload, format)), "bytes", options="schema written for such messages"))
    for format, library, options in (("json", "serde_json", "typed structs"), ("pson", "dunnage-pson", "typed structs"), ("protobuf", "prost-reflect", "schema at run time")):
        for operation in ("encode", "decode"):
            lines.append(line("host", "host", "container", format, library, operation, "ns", _figure(80, 900, library, operation), "ns", options=options))
    for payload in ("openadr3-event", "ieee2030-5-der-control", "goose"):
        for format in ("cbor", "pson", "protobuf", "packed"):
            size = 98 if format == "packed" else int(_figure(130, 500, payload, format))
            lines.append(line("host", "host", payload, format, "dunnage", "encode", "bytes", size, "bytes", options="schema written for such messages"))
    lines += _other_formats() + _reads()
    lines.append(line("host", "host", "wot", "struct-zlib", "dunnage", "encode", "failed", 1, "1", note="no number without a range"))
    return lines


def _other_formats() -> list[dict]:
    """Formats of other libraries: what they carry, and two messages."""
    lines = []
    others = {"cbor-keys": "minicbor", "flexbuffers": "flexbuffers", "smile": "serde-smile", "ion": "ion-rs", "postcard": "postcard", "uper": "rasn", "flatbuffers": "flatbuffers"}
    for format, library in others.items():
        lines.append(line("host", "host", "null", format, library, "encode", "fits", 1, "1", version="1.2.3"))
        for payload in ("container", "weather"):
            more = {"version": "1.2.3", "options": "schema written for such messages"}
            lines.append(line("host", "host", payload, format, library, "encode", "bytes", 10 if format == "cbor-keys" else int(_figure(20, 300, payload, format)), "bytes", note=f"how {format} writes", **more))
            for operation in ("encode", "decode"):
                lines.append(line("host", "host", payload, format, library, operation, "ns", _figure(80, 900, payload, format, operation), "ns", **more))
    lines.append(line("host", "host", "null", "cayenne-lpp", "cayenne_lpp", "encode", "fits", 0, "1", note="Cayenne LPP has no null"))
    lines.append(line("host", "host", "container", "cayenne-lpp", "cayenne_lpp", "encode", "failed", 1, "1", options="schema written for such messages", note="Cayenne LPP has no string"))
    return lines


def _reads() -> list[dict]:
    """Reads of one value."""
    lines = []
    for payload, operations in (("container", ("read first", "read last")), ("weather", ("read first", "read last", "read nested"))):
        for operation in operations:
            for format, library in (("json", "dunnage"), ("packed", "dunnage"), ("pson", "dunnage"), ("cbor", "minicbor"), ("flatbuffers", "planus")):
                time = _figure(5, 100, payload, operation, format) * (10 if operation == "read last" else 1)
                lines.append(line("host", "host", payload, format, library, operation, "ns", time, "ns", options=f"/{operation[5:]}", note=f"how {format} reads", **_spread(time)))
    return lines


def pson_paper() -> list[dict]:
    """The ten tests on two targets, and sizes."""
    lines = []
    libraries = {"json": "cJSON", "msgpack": "mpack", "protobuf": "nanopb", "pson": "dunnage"}
    for target, metric in (("atmega328p", "cycles"), ("rv32imc", "instructions")):
        for format, library in libraries.items():
            for operation in ("serialize", "deserialize"):
                for payload in TESTS:
                    value = _figure(400, 20_000, target, format, operation, payload)
                    more = {"version": "1.2.3", "repetitions": 1, "options": "-Os -flto", "floats": "single"}
                    lines.append(line("pson-paper", target, payload, format, library, operation, metric, value, metric, **more))
                    if metric == "cycles":
                        lines.append(line("pson-paper", target, payload, format, library, operation, "time", value * 62.5, "us per 1000 operations", **more))
            lines.append(line("pson-paper", target, "Test10", format, library, "serialize+deserialize", "flash", _figure(1800, 9000, target, format), "bytes", version="1.2.3"))
    for format in (*libraries, "avro", "packed"):
        for payload in TESTS:
            lines.append(line("pson-paper", "host", payload, format, "dunnage", "serialize", "bytes", int(_figure(10, 200, format, payload)), "bytes"))
    return lines


def mcu_json() -> list[dict]:
    """Three formats on three targets."""
    lines = []
    for target, metric in (("atmega328p", "cycles"), ("cortex-m4", "instructions"), ("rv32imc", "instructions")):
        for payload in KINDS:
            for format, share in (("json", 1.0), ("msgpack", 0.5), ("pson", 0.4)):
                for operation in ("serialize", "deserialize"):
                    value = share * _figure(4000, 9000, target, payload, operation)
                    lines.append(line("mcu-json", target, payload, format, "dunnage", operation, metric, value, metric, version="0.1.0"))
                lines.append(line("mcu-json", target, payload, format, "dunnage", "serialize", "bytes", int(share * 100), "bytes"))
    return lines


def link() -> list[dict]:
    """Messages on a lossy link, and those of vendors."""
    lines = []
    for sent, goal in (("plain", "none"), ("prior", "<= 27: hit"), ("delta, 30/30 lost", "<= 16.5: MISS")):
        lines.append(line("link", "host", "container-voyage, 15 min", "packed", "dunnage", sent, "mean", _figure(14, 40, sent), "B", options=goal, repetitions=1000))
        lines.append(line("link", "host", "container-voyage, 15 min", "packed", "dunnage", sent, "wrong values", 0, "1", options="<= 0: hit", repetitions=900))
    lines.append(line("link", "host", "vendors, all", "packed", "dunnage", "plain", "of the vendors' bytes", 0.7, "1", options="none", repetitions=30))
    return lines


def load() -> list[dict]:
    """Requests, and the devices of the container study."""
    lines = []
    for format in ("cbor", "msgpack", "struct-zlib (float32)", "protobuf (float32)", "packed"):
        for library in ("dunnage", "probe", "node"):
            for connections in (64, 256):
                rps = _figure(9000, 40_000, format, library, connections)
                lines.append(line("load", f"{connections} connections", "container", format, library, "ingest", "rps", rps, "1/s", **_spread(rps)))
        for library in ("dunnage", "node"):
            for replicas, devices in ((1, (100, 300, 500, 1000, 2000)), (2, (500, 1000)), (4, (2000,))):
                for count in devices:
                    target = f"{count} devices, {replicas} replica{'s' * (replicas > 1)}"
                    for metric, value, unit in (("rps", count / 2, "1/s"), ("mean_ms", 2, "ms"), ("p95_ms", 4, "ms"), ("failures_percent", 0, "%"), ("merit", 900, "1")):
                        lines.append(line("load", target, "container", format, library, "fleet", metric, value, unit))
        for library in ("dunnage", "node"):
            if format == "packed" and library == "node":
                continue
            for metric, value, unit in (("min_ms", 10, "ms"), ("median_ms", 300, "ms"), ("mean_ms", 310, "ms"), ("p95_ms", 600, "ms"), ("max_ms", 700, "ms"),
                                        ("failures_percent", 0, "%"), ("last_start_ms", 40, "ms"), ("last_answer_ms", 720, "ms")):  # fmt: skip
                lines.append(line("load", "2000 devices, 1 replica", "container", format, library, "burst", metric, value, unit, **_trials(value)))
            for metric, value, unit in (("cpu_percent", 90, "%"), ("resident_mb", 80, "MB")):
                lines.append(line("load", "2000 devices, replica 1 of 1", "container", format, library, "burst", metric, value, unit, **_trials(value)))
    return lines


def container() -> list[dict]:
    """Sizes, limits and costs, with the sizes that the suite writes."""
    lines = [line("container", link, "container", "any", "dunnage", "fit", "max_bytes", limit, "bytes") for link, limit in (("astrocast", 160), ("kineis", 30))]
    lines.append(line("container", "host", "container", "json", "dunnage", "encode", "bytes", 379, "bytes", options="without spaces"))
    sizes = {"json": 418, "msgpack": 301, "cbor": 300, "struct-zlib (float32)": 124, "struct (float32)": 116, "protobuf (float32)": 138, "protobuf": 97, "avro": 79, "pson": 299, "packed": 56}
    for format, size in sizes.items():
        lines.append(line("container", "host", "container", format, "dunnage", "encode", "bytes", size, "bytes"))
        lines.append(line("container", "host", "container", format, "dunnage", "encode", "reduction", round(100 * (1 - size / 418), 1), "%"))
        lines.append(line("container", "host", "container-fleet", format, "dunnage", "encode", "bytes", size, "bytes", **_spread(size), note="the most frequent size"))
        lines.append(line("container", "astrocast", "container", format, "dunnage", "fit", "fits", int(size <= 160), "1"))
        for target, metric, share, unit in (("lte-m", "mb", 1.2, "MB"), ("lte-m", "eur", 0.02, "EUR"), ("astrocast", "kb", 1200, "KB"), ("astrocast", "eur", 220.0, "EUR")):
            lines.append(line("container", target, "container", format, "dunnage", "month", metric, round(size * share, 2), unit))
        for payload, nested in NESTED.items():
            size = nested.get(format, 90)
            lines.append(line("container", "host", payload, format, "dunnage", "encode", "bytes", size, "bytes"))
            lines.append(line("container", "host", payload, format, "dunnage", "encode", "reduction", round(100 * (1 - size / nested["json"]), 1), "%"))
    return lines


def mesh() -> list[dict]:
    """Frames, air time and energy of two messages over three routes; one link refuses JSON."""
    lines = []
    for link, frame in (("thread", 63), ("bluetooth-mesh", 8), ("meshtastic-longfast-eu868", 231)):
        for payload, sizes in (("Test07", {"json": 9, "packed": 1}), ("container", {"json": 371, "packed": 46})):
            for format, size in sizes.items():
                lines.append(line("mesh", link, payload, format, "dunnage", "send", "bytes", size, "bytes"))
                if size > frame == 231:
                    continue
                lines.append(line("mesh", link, payload, format, "dunnage", "send", "frames", -(-size // frame), "1"))
                for hops in ("1 hop", "2 hops", "3 hops"):
                    for metric, unit in (("airtime", "ms"), ("energy", "mJ")):
                        value = _figure(1, 90, link, payload, format, hops, metric)
                        lines.append(line("mesh", link, payload, format, "dunnage", "send", metric, value, unit, options=hops))
    return lines


def deadline() -> list[dict]:
    """The shares in time of two messages over two links, for each deadline and loss."""
    lines = []
    for link in ("edge", "g3-plc"):
        for payload, sizes in (("container", {"json": 371, "packed": 46}), ("goose", {"json": 600, "packed": 40})):
            for format, size in sizes.items():
                lines.append(line("deadline", link, payload, format, "dunnage", "send", "bytes", size, "bytes"))
                for options in (f"{time}, {loss} % lost" for time in ("200 ms", "1 s", "10 s") for loss in (1, 10, 30)):
                    value = _figure(1, 90, link, payload, format, options)
                    lines.append(line("deadline", link, payload, format, "dunnage", "send", "in_time", value, "%", options=options))
    return lines


def phone() -> list[dict]:
    """Sizes and times of the two objects in a browser; text is kept in files, too."""
    lines = []
    for payload in ("Book", "Video"):
        for format, library in (("json", "JSON"), ("protobuf", "protobufjs"), ("packed", "dunnage")):
            size = _figure(40, 800, payload, format)
            lines.append(line("phone", "browser", payload, format, library, "serialize", "bytes", size, "bytes"))
            places = ("two sets of 1000, in memory", "two sets of 100, in a file")[: 2 if format == "json" else 1]
            for operation, place in ((operation, place) for operation in ("serialize", "deserialize") for place in places):
                value = _figure(1000, 90000, payload, format, operation, place)
                lines.append(line("phone", "browser", payload, format, library, operation, "ns", value, "ns", options=place))
    return lines


def middleware() -> list[dict]:
    """Three protocols and the yardstick; one server is missing, and one protocol lost a message."""
    lines = []
    options = {"series": "1000 messages", "sleeping": "4 messages a day", "connected": "12 messages an hour"}
    for format, library in (("udp", "probe"), ("http1", "dunnage"), ("https1", "dunnage"), ("coap", "dunnage"), ("amqp", "rabbitmq")):
        for operation in ("connection", "message", "acknowledgement", "close", "one-message", "series", "idle-hour", "sleeping", "connected"):
            value = int(_figure(20, 4000, format, operation))
            more = {"options": options[operation]} if operation in options else {}
            lines.append(line("middleware", "link", "container", format, library, operation, "bytes", value, "bytes", version="1.2.3", **more))
        for operation, metric, unit in (("series", "cpu_us", "us"), ("series", "rps", "1/s"), ("idle-client", "memory", "bytes"), ("first", "round_trip", "1"), ("one-message", "packets", "1")):
            lines.append(line("middleware", "link", "container", format, library, operation, metric, _figure(1, 9, format, operation, metric), unit, version="1.2.3"))
        for condition in ("0 ms, 0 % loss", "0 ms, 10 % loss", "600 ms, 0 % loss", "600 ms, 10 % loss"):
            for operation in ("first", "following"):
                time = _figure(1, 4000, format, operation, condition)
                lines.append(line("middleware", condition, "container", format, library, operation, "median_ms", time, "ms", version="1.2.3", **_spread(time)))
                lines.append(line("middleware", condition, "container", format, library, operation, "p95_ms", time * 2, "ms", version="1.2.3"))
    lines.append(line("middleware", "600 ms, 10 % loss", "container", "coap", "dunnage", "first", "failures", 0.025, "1", note="1 of 40 clients failed: lost"))
    lines.append(line("middleware", "link", "container", "dds", "cyclonedds", "start", "failed", 1, "1", note="there is no server"))
    lines.append(line("middleware", "link", "container", "coap", "libcoap", "client", "text", 118912, "bytes", options="libcoap-3-notls.so.3", note="needs no TLS library"))
    return lines


# Sizes of nested messages in the formats that the report's text names.
NESTED = {
    "container-nested": {"json": 415, "cbor": 320, "msgpack": 326, "protobuf": 82, "packed": 42},
    "container-nested-flat": {"json": 344, "cbor": 269, "msgpack": 277, "protobuf": 73, "packed": 42},
    "dcsa-iot-event": {"json": 670, "cbor": 540, "msgpack": 536, "protobuf": 213, "packed": 80},
    "fhir-blood-pressure": {"json": 1018, "cbor": 800, "msgpack": 795, "protobuf": 272, "packed": 81},
    "vehicle-diagnostics": {"json": 1056, "cbor": 795, "msgpack": 803, "protobuf": 172, "packed": 61},
}


def mobile() -> list[dict]:
    """Two objects in six formats."""
    lines = []
    for format, library in (("xml", "Simple"), ("json", "Jackson streaming"), ("protobuf", "protobuf-java"), ("thrift-binary", "libthrift"), ("pson", "dunnage"), ("packed", "dunnage")):  # fmt: skip
        for payload in ("Book", "Video"):
            lines.append(line("mobile", "jvm", payload, format, library, "serialize", "bytes", int(_figure(60, 800, format, payload)), "B", version="2.0"))
            for operation in ("serialize", "deserialize"):
                for options in ("JMH", "the paper's procedure"):
                    time = _figure(300, 9000, format, payload, operation, options)
                    lines.append(line("mobile", "jvm", payload, format, library, operation, "ns", time, "ns", version="2.0", options=options, **_spread(time)))
    return lines


def smart_grid() -> list[dict]:
    """Serializers of logical nodes."""
    lines = []
    serializers = [("json", "Jackson"), ("json", "Gson"), ("xml", "JAXB"), ("xml", "XStream"), ("java-serialization", "JDK"), ("kryo", "Kryo"), ("msgpack", "msgpack 0.6"),
                   ("smile", "Jackson"), ("cbor", "Jackson"), ("avro", "Jackson"), ("protobuf", "Protostuff"), ("protostuff", "Protostuff"), ("fory", "Fory"), ("pson", "dunnage")]  # fmt: skip
    for format, library in serializers:
        for operation, low, high in (("serialize", 900, 90_000), ("deserialize", 1200, 120_000), ("gzip", 9000, 60_000), ("gunzip", 4000, 20_000)):
            time = _figure(low, high, format, library, operation)
            written = format + "+gzip" * operation.startswith("g")
            lines.append(line("smart-grid", "jvm", "average", written, library, operation, "ns", time, "ns", version="1.0", options="core attributes", **_spread(time)))
        for operation, low, high in (("serialize", 700, 3900), ("gzip", 300, 900)):
            written = format + "+gzip" * operation.startswith("g")
            lines.append(line("smart-grid", "jvm", "average", written, library, operation, "bytes", _figure(low, high, format, library, "b"), "B", version="1.0", options="core attributes"))
        lines.append(line("smart-grid", "jvm", "average", format, library, "serialize", "alloc", _figure(900, 30_000, format, library, "a"), "B", version="1.0", options="core attributes"))
        for operation in ("serialize", "deserialize"):
            for metric in ("held", "live", "metaspace"):
                lines.append(line("smart-grid", "jvm", "all", format, library, operation, metric, _figure(0.1, 9, format, library, operation, metric), "MB", version="1.0", options="runs: 1000"))
    return lines + _standard_messages()


def _standard_messages() -> list[dict]:
    """Messages of other standards in their own encodings."""
    sizes = {
        "openadr3-event": {"json": 1003},
        "ieee2030-5-der-control": {"json": 550, "xml": 860, "exi": 527, "exi-schema": 116, "exi-strict": 109},
        "goose": {"json": 281, "ber": 139},
    }
    return [line("smart-grid", "jvm", payload, format, "a library", "encode", "bytes", size, "bytes", version="1.0") for payload, of in sizes.items() for format, size in of.items()]


def _language(suite: str, target: str, peers: dict[str, str]) -> list[dict]:
    """A library in another language, and its peers."""
    lines = []
    for library, format in {"dunnage": "pson", **peers}.items():
        for operation in ("encode", "decode"):
            time = _figure(200, 2000, suite, library, operation)
            lines.append(line(suite, target, "container", format, library, operation, "ns", time, "ns", version="1.0"))
            lines.append(line(suite, target, "average", format, library, operation, "time_ratio", time / 500, "1", version="1.0"))
        lines.append(line(suite, target, "container", format, library, "encode", "bytes", int(_figure(200, 400, suite, library)), "bytes", version="1.0"))
    return lines


def lang_python() -> list[dict]:
    """The Python library."""
    return _language("lang-python", "host", {"orjson": "json", "ormsgpack": "msgpack"})


def lang_js() -> list[dict]:
    """The JavaScript library."""
    return _language("lang-js", "node", {"msgpackr": "msgpack", "cbor-x": "cbor"})


def lang_java() -> list[dict]:
    """The Java libraries."""
    lines = _language("lang-java", "jvm", {"msgpack-core": "msgpack"})
    return lines + [one | {"metric": "alloc", "unit": "bytes"} for one in lines if one["metric"] == "ns"]


SUITES = {"host": host, "pson-paper": pson_paper, "mcu-json": mcu_json, "link": link, "mesh": mesh, "deadline": deadline, "phone": phone, "load": load, "container": container, "mobile": mobile, "smart-grid": smart_grid, "lang-python": lang_python, "lang-js": lang_js, "lang-java": lang_java, "middleware": middleware}


def write(folder: Path, suite: str, lines: list[dict] | None = None) -> Path:
    """Writes the records of a suite into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{suite}.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (SUITES[suite]() if lines is None else lines)))
    return path
