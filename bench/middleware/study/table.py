"""The figures as text, for a terminal."""

COLUMNS = [
    ("one msg B", "one-message", "bytes", "link"), ("packets", "one-message", "packets", "link"),
    ("connect B", "connection", "bytes", "link"), ("msg B", "message", "bytes", "link"), ("ack B", "acknowledgement", "bytes", "link"),
    ("close B", "close", "bytes", "link"), ("B/msg of many", "series", "bytes", "link"), ("idle hour B", "idle-hour", "bytes", "link"),
    ("cpu us", "series", "cpu_us", "link"), ("idle client B", "idle-client", "memory", "link"), ("round trips", "first", "round_trip", "link"),
]  # fmt: skip


def render(lines: list[dict]) -> str:
    """Two tables, and what failed."""
    names = list(dict.fromkeys(line["format"] for line in lines if line["operation"] != "client"))
    figures = {(line["format"], line["operation"], line["metric"], line["target"]): line["value"] for line in lines}
    conditions = list(dict.fromkeys(line["target"] for line in lines if line["metric"] == "median_ms"))
    first = [["protocol", *(title for title, *_ in COLUMNS)]]
    first += [[name, *(number(figures.get((name, *key))) for _, *key in COLUMNS)] for name in names]
    parts = [grid(first)]
    for operation in ("first", "following"):
        rows = [[f"{operation}, median ms", *conditions]]
        rows += [[name, *(number(figures.get((name, operation, "median_ms", condition))) for condition in conditions)] for name in names]
        parts.append(grid(rows))
    reasons = [
        f"{line['format']}, {line['target']}, {line['operation']}: {line['note']}" for line in lines if line["metric"] in ("failed", "failures")
    ]
    sizes = [f"{line['format']}: {line['library']} {line['value']} B of .text; {line['note']}" for line in lines if line["metric"] == "text"]
    return "\n\n".join([*parts, "\n".join(sizes), "\n".join(reasons)])


def number(value: float | None) -> str:
    """A number with three digits at least; empty if there is none."""
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def grid(rows: list[list[str]]) -> str:
    """Columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
