"""Which format is best, by the mean of its ratios over targets and payloads."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import geometric_mean

from .query import select
from .record import Record

# Metrics of which more is better. Of all others less is better.
RISING = {"rps", "merit", "round_trip"}

# Metrics that do not rank formats: limits and outcomes, not costs.
UNRANKED = {"time_ratio", "size_ratio", "saving", "failed", "lossless", "failures", "failures_percent", "fits", "max_bytes", "min_bytes", "standard_bytes", "round_trip", "reduction"}


@dataclass(frozen=True)
class Rank:
    """A format with a library, and the geometric mean of its ratios to the baseline (or to the best, where the baseline was not measured)."""

    format: str
    library: str
    ratio: float
    cases: int

    @property
    def label(self) -> str:
        """The format, and the library unless it is this project's."""
        return self.format if self.library == "dunnage" else f"{self.format} ({self.library})"


def ranking(records: Iterable[Record], metric: str, baseline: dict | None = None) -> list[Rank]:
    """Ranks formats by one metric, the best first: by their ratios to the best of `baseline`, a selection, which is JSON if there is none.

    A case is a target with a payload; a format that has less than half of the cases is left out.
    """
    baseline = baseline or {"format": "json"}
    cases: dict[tuple, dict[tuple, float]] = defaultdict(dict)
    references: dict[tuple, list[float]] = defaultdict(list)
    for record in records:
        # A ratio to zero has no meaning.
        if record.value > 0 and record.metric == metric:
            case = record.target, record.payload, record.options
            cases[case][record.format, record.library] = record.value
            if select([record], baseline):
                references[case].append(record.value)
    best = max if metric in RISING else min
    ratios = defaultdict(list)
    for name, case in cases.items():
        reference = best(references[name] or case.values())
        for contender, value in case.items():
            ratios[contender].append(value / reference)
    ranks = [
        Rank(*contender, geometric_mean(values), len(values))
        for contender, values in ratios.items()
        if 2 * len(values) >= len(cases)
    ]
    return sorted(ranks, key=lambda rank: rank.ratio, reverse=metric in RISING)


def winners(records: Iterable[Record], yardsticks: Iterable[str] = ()) -> list[tuple[str, Rank]]:
    """The best format per operation and metric, such as (`encode ns`, Rank). Metrics with one candidate have no winner."""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        if not record.quoted and record.metric not in UNRANKED and record.library not in yardsticks:
            groups[record.operation, record.metric].append(record)
    found = []
    for (operation, metric), members in groups.items():
        ranks = ranking(members, metric)
        if len(ranks) > 1 and ranks[0].ratio != ranks[-1].ratio:
            name = metric if (operation, metric) == ("encode", "bytes") else f"{operation} {metric}"
            found.append((name, ranks[0]))
    return found
