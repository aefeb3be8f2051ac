"""Plots: definitions of definitions/*.toml, drawn with Vega-Lite."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import altair as alt
import vl_convert

from . import best
from .query import label, name, rank, select, unit_label
from .record import Record

# These colours have a contrast of at least 3:1 with the white and with the dark ground of the page.
COLOURS = ["#3d7fd1", "#c76a15", "#0f8f7e", "#b5559b", "#7a8794", "#8a8a1d", "#d0504b", "#6c6fd0", "#4a9a3c", "#a0703c"]
OURS, PEER, QUOTED = "Dunnage", "other libraries", "quoted"


@dataclass(frozen=True)
class Definition:
    """A figure of the report.

    `kind` is one of the functions below. `item` is the paper's figure that it repeats. `facet` is the field of which each value has a
    plot of its own; `alt` says what it shows to readers who cannot see it. `baseline` selects what `change` and `scatter` compare with.
    """

    id: str
    kind: str
    title: str
    alt: str
    select: dict | list[dict]
    suites: list[str]
    item: str = ""
    facet: str = "operation"
    baseline: dict = field(default_factory=lambda: {"format": "json"})
    x: dict = field(default_factory=dict)
    y: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A drawn figure; without a drawing if no record belongs to it."""

    definition: Definition
    svg: str = ""
    png: bytes = b""


def draw(definition: Definition, records: Iterable[Record]) -> Figure:
    """Draws a figure."""
    members = select((r for r in records if r.suite in definition.suites and r.metric != "failed"), definition.select)
    chart = KINDS[definition.kind](definition, members) if members else None
    if chart is None:
        return Figure(definition)
    specification = _styled(chart).to_dict()
    svg = vl_convert.vegalite_to_svg(specification)
    # The drawing takes the page's ground and ink; the image has its own.
    png = vl_convert.vegalite_to_png(specification | {"background": "white"}, scale=2)
    return Figure(definition, svg, png)


def _styled(chart: alt.TopLevelMixin) -> alt.TopLevelMixin:
    ink = "currentColor"
    return (
        chart.configure(background="transparent", font="Arial, Helvetica, sans-serif", aria=False, padding={"left": 25, "right": 15, "top": 5, "bottom": 5})
        .configure_axis(labelColor=ink, titleColor=ink, domainColor=ink, tickColor=ink, gridColor=ink, gridOpacity=0.13, labelLimit=280,
                        labelFontSize=11, titleFontSize=11, titleFontWeight="normal")
        .configure_legend(columnPadding=24, labelColor=ink, titleColor=ink, orient="top", labelFontSize=11, labelLimit=300, title=None)
        .configure_header(labelColor=ink, titleColor=ink, labelFontSize=12, labelFontWeight="bold", title=None, labelAnchor="start")
        .configure_title(color=ink, fontSize=12, anchor="start")
        .configure_text(color=ink)
        .configure_view(stroke=None)
    )  # fmt: skip


def _who(record: Record) -> str:
    return QUOTED if record.quoted else _project(record.library)


def _project(library: str) -> str:
    # The crates are called dunnage-pson and dunnage-packed.
    return OURS if library.startswith("dunnage") else PEER


def _names(records: list[Record]) -> list[str]:
    """A name of its own for each figure of a plot: the format and the library; where that is not enough, the version and the options, too."""
    names = [name(r.format, "dunnage" if r.library == "paper" else r.library) + (" · quoted" if r.quoted else "") for r in records]
    for field_name in ("version", "floats", "options", "operation", "payload", "target"):
        different = defaultdict(set)
        for one, record in zip(names, records, strict=True):
            different[one].add(getattr(record, field_name))
        names = [
            f"{one} · {label(field_name, getattr(record, field_name))}" if len(different[one]) > 1 else one
            for one, record in zip(names, records, strict=True)
        ]
    return names


def _axis(members: list[Record]) -> str:
    """The title of the axis of these figures."""
    metric, unit = members[0].metric, unit_label(members[0].unit)
    text = label("metric", metric)
    return f"{text} ({unit})" if unit and unit != text else text


def _facet_title(definition: Definition, record: Record) -> str:
    return label(definition.facet, getattr(record, definition.facet))


def bars(definition: Definition, members: list[Record]) -> alt.Chart:
    """Horizontal bars with their spread, the smallest first: one plot per value of the facet."""
    plots = []
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in sorted(members, key=lambda record: rank("operation", record.operation)):
        groups[_facet_title(definition, record)].append(record)
    for title, group in groups.items():
        rows = [
            {"name": one, "value": r.value, "who": _who(r), "low": r.spread.low if r.spread else None, "high": r.spread.high if r.spread else None}
            for one, r in zip(_names(group), group, strict=True)
        ]
        plots.append(_bar_plot(title if len(groups) > 1 else "", rows, _axis(group)))
    return alt.hconcat(*plots) if len(plots) <= 2 else alt.concat(*plots, columns=2)


def _bar_plot(title: str, rows: list[dict], axis: str) -> alt.LayerChart:
    values = [row["value"] for row in rows]
    # On a linear axis, the small values among very different figures cannot be told apart. A bar has no base on a logarithmic axis, so a point marks
    # the figure there.
    logarithmic = min(values) > 0 and max(values) > 30 * min(values)
    scale = alt.Scale(zero=True, nice=True)
    if logarithmic:
        scale, axis = _logarithmic_scale(rows), axis + ", logarithmic"
    base = alt.Chart(alt.Data(values=rows))
    order = alt.EncodingSortField("value", order="ascending", op="min")
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(grid=logarithmic, ticks=False))
    colour = alt.Color("who:N", scale=alt.Scale(domain=[OURS, PEER, QUOTED], range=[COLOURS[0], COLOURS[4], COLOURS[1]]))
    ticks = alt.Axis(tickCount=5, format="~s" if max(values) >= 10_000 else ",~r", labelOverlap=True)
    x = alt.X("value:Q", title=axis, scale=scale, axis=ticks, stack=None)
    mark = base.mark_point(filled=True, size=70, opacity=1) if logarithmic else base.mark_bar(height={"band": 0.7})
    layers = [mark.encode(y=y, x=x, color=colour, **({"shape": alt.Shape("who:N", scale=_shapes())} if logarithmic else {}))]
    if any(row["low"] is not None for row in rows):
        layers.append(
            base.transform_filter("isValid(datum.low)").mark_rule(color="currentColor", strokeWidth=1.5).encode(y=y, x="low:Q", x2="high:Q")
        )
    return alt.layer(*layers).properties(width=300, height={"step": 15}, title=title)


def _logarithmic_scale(rows: list[dict]) -> alt.Scale:
    """An axis with all figures. An interval that reaches zero begins at its edge, because a logarithmic axis has no zero."""
    ends = [end for row in rows for end in (row["value"], row["low"], row["high"]) if end is not None and end > 0]
    edge = max(min(ends), min(row["value"] for row in rows) / 10) / 1.5
    for row in rows:
        if row["low"] is not None:
            row["low"] = max(row["low"], edge)
    return alt.Scale(type="log", domain=[edge, max(ends) * 1.2], nice=False)


def _shapes() -> alt.Scale:
    return alt.Scale(domain=[OURS, PEER, QUOTED], range=["circle", "square", "diamond"])


def scatter(definition: Definition, members: list[Record]) -> alt.LayerChart | None:
    """One kind of figure against another, as ratios to the baseline, each the mean over messages and targets."""
    measured = [record for record in members if not record.quoted]
    sides = []
    for side in (definition.x, definition.y):
        chosen = select(measured, {name: value for name, value in side.items() if name != "title"})
        metrics = {record.metric for record in chosen}
        sides.append({(r.format, r.library): r.ratio for r in best.ranking(chosen, metrics.pop(), definition.baseline)} if len(metrics) == 1 else {})
    rows = [
        {"name": name(f, lib), "x": sides[0][f, lib], "y": sides[1][f, lib],
         "who": _project(lib)}
        for f, lib in sides[0] if (f, lib) in sides[1]
    ]  # fmt: skip
    if len(rows) < 2:
        return None
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:Q", scale=_log(rows, "x"), title=definition.x["title"], axis=alt.Axis(tickCount=6)),
        y=alt.Y("y:Q", scale=_log(rows, "y"), title=definition.y["title"], axis=alt.Axis(tickCount=6)),
    )
    colour = alt.Color("who:N", scale=alt.Scale(domain=[OURS, PEER], range=[COLOURS[0], COLOURS[4]]))
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        color=colour, shape=alt.Shape("who:N", scale=alt.Scale(domain=[OURS, PEER], range=["circle", "square"]))
    )
    _place_names(rows)
    names = [
        base.transform_filter(f"datum.place == {number}").mark_text(align=align, dx=dx, dy=dy, fontSize=10, color="currentColor").encode(text="name:N")
        for number, (align, dx, dy) in enumerate(PLACES)
    ]  # fmt: skip
    return alt.layer(points, *names).properties(width=WIDTH, height=HEIGHT)


# The size of a scatter plot, and where the name of a point may stand: to the right, to the left, above, below, at the corners.
WIDTH, HEIGHT = 760, 480
PLACES = [
    ("left", 7, 1), ("right", -7, 1), ("center", 0, -10), ("center", 0, 12),
    ("left", 5, -9), ("left", 5, 11), ("right", -5, -9), ("right", -5, 11),
]  # fmt: skip


def _place_names(rows: list[dict]) -> None:
    """Sets the place of each name: the first where it covers the fewest points and earlier names."""

    def pixels(axis: str, length: int) -> list[float]:
        low, high = map(math.log, _log(rows, axis).domain)
        return [(math.log(row[axis]) - low) / (high - low) * length for row in rows]

    at = list(zip(pixels("x", WIDTH), pixels("y", HEIGHT), strict=True))
    taken = [(x - 5, x + 5, y - 5, y + 5) for x, y in at]
    for row, (x, y) in zip(rows, at, strict=True):
        width = 5.6 * len(row["name"])
        boxes = []
        for align, dx, dy in PLACES:
            left = x + dx - {"left": 0, "right": width, "center": width / 2}[align]
            # The plot's y grows upwards, dy downwards.
            boxes.append((left, left + width, y - dy - 5, y - dy + 5))
        covered = [sum(_overlap(box, other) for other in taken) + 9 * (box[0] < 0) for box in boxes]
        row["place"] = covered.index(min(covered))
        taken.append(boxes[row["place"]])


def _overlap(a: tuple, b: tuple) -> bool:
    return a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]


def _log(rows: list[dict], axis: str) -> alt.Scale:
    # Room for the names on the right.
    low, high = min(row[axis] for row in rows), max(row[axis] for row in rows)
    return alt.Scale(type="log", domain=[low / 1.15, high * (1.6 if axis == "x" else 1.15)], nice=False)


# The target of a record of a fleet.
_DEVICES = re.compile(r"(\d+) devices, (\d+ replicas?)")


def scaling(definition: Definition, members: list[Record]) -> alt.FacetChart | None:
    """Figures over the number of devices: a plot per format, a line per server and number of replicas."""
    rows = []
    for record in members:
        if found := _DEVICES.fullmatch(record.target):
            rows.append({"devices": int(found[1]), "value": record.value, "server": label("library", record.library),
                         "format": label("format", record.format), "replicas": found[2]})  # fmt: skip
    if not rows:
        return None
    replicas = sorted({row["replicas"] for row in rows})
    shape = alt.Scale(domain=replicas, range=["circle", "square", "diamond", "triangle-up"][: len(replicas)])
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("devices:Q", title="devices", axis=alt.Axis(tickCount=5)),
        y=alt.Y("value:Q", title=_axis(members), axis=alt.Axis(tickCount=5)),
        color=alt.Color("server:N", scale=alt.Scale(range=COLOURS)),
        detail="replicas:N",
    )
    points = base.mark_point(size=60, filled=False, strokeWidth=2, opacity=1).encode(
        shape=alt.Shape("replicas:N", scale=shape, legend=alt.Legend(symbolStrokeColor="currentColor"))
    )
    plot = alt.layer(base.mark_line(strokeWidth=2), points).properties(width=290, height=170)
    return plot.facet(facet=alt.Facet("format:N", title=None, sort=list(dict.fromkeys(row["format"] for row in rows))), columns=2)


def change(definition: Definition, members: list[Record]) -> alt.FacetChart | None:
    """The difference from the best of the baseline in percent, per message; a row of plots per target, a column per operation."""
    fields = ("target", "payload", "operation", "source", "floats", "options")
    key = lambda record: tuple(getattr(record, name) for name in fields)
    compared = select(members, definition.baseline)
    baseline: dict[tuple, float] = {}
    for record in compared:
        baseline[key(record)] = min(record.value, baseline.get(key(record), record.value))
    rows = [
        {"payload": label("payload", r.payload), "change": 100 * (r.value / baseline[key(r)] - 1), "who": name(r.format, "dunnage" if r.quoted else r.library),
         "target": label("target", r.target) + (" (quoted)" if r.quoted else ""), "operation": label("operation", r.operation)}
        for r in members if baseline.get(key(r)) and r not in compared
    ]  # fmt: skip
    if not rows:
        return None
    order = list(dict.fromkeys(row["payload"] for row in rows))
    formats = list(dict.fromkeys(label("format", record.format) for record in compared))
    plot = alt.Chart(alt.Data(values=rows)).mark_bar().encode(
        x=alt.X("payload:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40)),
        xOffset="who:N",
        y=alt.Y("change:Q", title=f"change from {' or '.join(formats)} (%)", axis=alt.Axis(tickCount=5)),
        color=alt.Color("who:N", scale=alt.Scale(range=COLOURS)),
    )  # fmt: skip
    return plot.properties(width=300, height=130).facet(
        row=alt.Row("target:N", title=None, header=alt.Header(labelOrient="top", labelAngle=0)), column=alt.Column("operation:N", title=None)
    )


def profile(definition: Definition, members: list[Record]) -> alt.FacetChart:
    """Every figure per message on a logarithmic axis: a colour per target, or per library if there is one target."""
    several = len({record.target for record in members}) > 1
    rows = [
        {"payload": label("payload", r.payload), "value": r.value,
         "who": (label("target", r.target) if several else label("library", r.library)) + (" (quoted)" if r.quoted else ""),
         "plot": f"{label('operation', r.operation)}, {label('format', r.format)}"}
        for r in sorted(members, key=lambda record: rank("operation", record.operation)) if r.value > 0
    ]  # fmt: skip
    order = list(dict.fromkeys(row["payload"] for row in rows))
    plot = alt.Chart(alt.Data(values=rows)).mark_point(filled=True, size=55, opacity=1).encode(
        x=alt.X("payload:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, grid=True)),
        y=alt.Y("value:Q", scale=alt.Scale(type="log"), title=_axis(members) + ", logarithmic", axis=alt.Axis(tickCount=4)),
        color=alt.Color("who:N", scale=alt.Scale(range=COLOURS)),
        shape="who:N",
    )  # fmt: skip
    return plot.properties(width=300, height=180).facet(
        facet=alt.Facet("plot:N", title=None, sort=list(dict.fromkeys(row["plot"] for row in rows))), columns=2
    )


# The target of a record of an emulated link.
_CONDITION = re.compile(r"(\d+) ms, ([\d.]+) % loss")


def conditions(definition: Definition, members: list[Record]) -> alt.FacetChart | None:
    """Times over the loss of a link: a plot per format, a line per round-trip time."""
    rows = []
    for record in members:
        if found := _CONDITION.fullmatch(record.target):
            rows.append({"delay": f"{found[1]} ms", "loss": float(found[2]), "value": record.value, "format": label("format", record.format)})
    if not rows:
        return None
    delays = list(dict.fromkeys(row["delay"] for row in rows))
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("loss:O", title="lost packets (%)", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("value:Q", scale=alt.Scale(type="log"), title=_axis(members) + ", logarithmic", axis=alt.Axis(tickCount=4)),
        color=alt.Color("delay:N", sort=delays, scale=alt.Scale(domain=delays, range=COLOURS[: len(delays)])),
        shape=alt.Shape("delay:N", sort=delays, scale=alt.Scale(domain=delays)),
    )
    plot = alt.layer(base.mark_line(strokeWidth=2), base.mark_point(filled=True, size=55, opacity=1)).properties(width=170, height=120)
    return plot.facet(facet=alt.Facet("format:N", title=None, sort=list(dict.fromkeys(row["format"] for row in rows))), columns=4)


KINDS = {"bars": bars, "scatter": scatter, "scaling": scaling, "change": change, "profile": profile, "conditions": conditions}
