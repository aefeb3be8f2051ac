"""Which format is best, by the mean of its ratios over targets and payloads."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import geometric_mean

from .query import select
from .record import Record

# Metrics of which more is better. Of all others less is better.
RISING = {"rps", "merit"}

# Metrics that do not rank formats: limits and outcomes, not costs.
UNRANKED = {
    "time_ratio",
    "size_ratio",
    "saving",
    "failed",
    "lossless",
    "failures",
    "failures_percent",
    "fits",
    "max_bytes",
    "min_bytes",
    "standard_bytes",
    "round_trip",
    "packets",
    "text",
    "reduction",
}


@dataclass(frozen=True)
class Rank:
    """A format with a library, and the geometric mean of its ratios to the baseline (or to the best, if the baseline was not measured)."""

    format: str
    library: str
    ratio: float


def ranking(records: Iterable[Record], metric: str, baseline: dict | None = None) -> list[Rank]:
    """Ranks formats by one metric, the best first: by their ratios to the best of `baseline`, a selection, which is JSON if there is none.

    A case is an operation on a payload on a target, with options. Cases without the baseline do not count, unless no case has it. A format that
    has less than half of the cases is left out.
    """
    baseline = baseline or {"format": "json"}
    cases: dict[tuple, dict[tuple, float]] = defaultdict(dict)
    references: dict[tuple, list[float]] = defaultdict(list)
    for record in records:
        # A ratio to zero has no meaning.
        if record.value > 0 and record.metric == metric:
            case = record.target, record.payload, record.operation, record.options
            cases[case][record.format, record.library] = record.value
            if select([record], baseline):
                references[case].append(record.value)
    best = max if metric in RISING else min
    # Ratios to different baselines have no common mean.
    compared = references or {name: list(case.values()) for name, case in cases.items()}
    ratios = defaultdict(list)
    for name, reference in compared.items():
        for contender, value in cases[name].items():
            ratios[contender].append(value / best(reference))
    ranks = [Rank(*contender, geometric_mean(values)) for contender, values in ratios.items() if 2 * len(values) >= len(compared)]
    return sorted(ranks, key=lambda rank: rank.ratio, reverse=metric in RISING)


def exact(records: Iterable[Record]) -> list[Record]:
    """Leaves out the formats that change a value of the message: those that store fractions as float32, and those whose record `lossless` is 0."""
    records = list(records)
    changed = {_message(record) for record in records if record.metric == "lossless" and not record.value}
    return [record for record in records if "(float32)" not in record.format and _message(record) not in changed]


def _message(record: Record) -> tuple:
    # A compressor changes no value.
    return record.suite, record.target, record.payload, record.plain_format, record.library, record.options


def winners(records: Iterable[Record], yardsticks: Iterable[str] = ()) -> list[tuple[str, Rank]]:
    """The best format per operation and metric, such as (`encode ns`, Rank). Metrics with one candidate have no winner."""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in exact(records):
        if not record.quoted and record.metric not in UNRANKED and record.library not in yardsticks:
            groups[record.operation, record.metric].append(record)
    found = []
    for (operation, metric), members in groups.items():
        ranks = ranking(members, metric)
        if len(ranks) > 1 and ranks[0].ratio != ranks[-1].ratio:
            name = metric if (operation, metric) == ("encode", "bytes") else f"{operation} {metric}"
            found.append((name, ranks[0]))
    return found
