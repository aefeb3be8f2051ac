"""The report: one self-contained HTML page, its figures, and the page as PDF."""

import base64
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import ROOT, best, definitions, plots, query, record, tables
from .definitions import Definitions
from .plots import Figure
from .record import Record
from .suites import Folders, Run, Suite, read_runs
from .tables import Table

# The name of each state on the page.
STATES = {
    "ok": "measured",
    "failed": "failed",
    "missing": "did not run",
    "broken": "broken",
    "none": "no results yet",
}


@dataclass
class Section:
    """A suite with its figures. `older` says when the figures were measured, if the last run was no success."""

    suite: Suite
    state: str
    reason: str
    run: Run | None
    older: str
    measured: list[Record]
    quoted: list[Record]
    definitions: Definitions
    tables: dict[str, Table] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.suite.name

    @property
    def state_label(self) -> str:
        """What the state is called on the page."""
        return STATES[self.state]

    def versions(self) -> list[tuple[str, ...]]:
        """Each library with the formats that it wrote and its version."""
        known: dict[tuple[str, str], list[str]] = {}
        for one in self.measured:
            formats = known.setdefault((query.label("library", one.library), one.version or "not recorded"), [])
            name = query.label("format", one.plain_format)
            if name not in formats:
                formats.append(name)
        return [(library, version, ", ".join(formats)) for (library, version), formats in sorted(known.items(), key=lambda k: k[0][0].lower())]

    def failed(self) -> list[Record]:
        """What could not be measured: with a reason, or because a message does not fit a target."""
        return [one for one in self.measured if one.metric == "failed" or (one.metric == "fits" and not one.value and one.note)]

    def environments(self) -> list[str]:
        """The machines, simulators and compilers of the figures."""
        return sorted({one.environment for one in self.measured if one.environment})

    def repetitions(self) -> list[str]:
        """What stands behind the figures per metric: how often it was measured, and what its spread is."""
        known: dict[str, set] = {}
        for one in self.measured:
            known.setdefault(query.label("metric", one.metric), set()).add((one.repetitions or 0, one.spread.of if one.spread else ""))
        lines = []
        for metric, kinds in known.items():
            counts = [count for count, _ in kinds if count]
            spreads = sorted({of for _, of in kinds if of})
            lines.append(f"{metric}: {_times(counts)}" + (f", spread: {', '.join(spreads)}" if spreads else ""))
        return lines


def _times(counts: list[int]) -> str:
    if not counts:
        return "repetitions not recorded"
    low, high = min(counts), max(counts)
    return f"{low} to {high} repetitions" if low < high else f"{low} repetition{'s' * (low > 1)}"


def sections(all_suites: Iterable[Suite], folders: Folders) -> list[Section]:
    """Reads the records, and fills the tables and figures of each suite."""
    runs, found = read_runs(folders), []
    for suite in all_suites:
        path = folders.results / f"{suite.name}.jsonl"
        measured, errors = record.read(path)
        quoted, paper_errors = _quoted(suite, folders)
        run = runs.get(suite.name)
        state, reason = _state(run, measured, errors + paper_errors)
        older = "" if state == "ok" or not measured else _measured_at(run, path)
        found.append(Section(suite, state, reason, run, older, measured, quoted, definitions.read(suite.name)))
    everything = [one for section in found for one in section.quoted + section.measured]
    for section in found:
        section.tables = {table.id: tables.build(table, everything) for table in section.definitions.tables}
        section.figures = {figure.id: plots.draw(figure, everything) for figure in section.definitions.figures}
    return found


def _quoted(suite: Suite, folders: Folders) -> tuple[list[Record], list[str]]:
    records, errors = [], []
    for path in [folders.papers / f"{suite.name}.jsonl", *(ROOT / name for name in suite.quoted)]:
        more, bad = record.read(path, suite.name)
        records += more
        errors += bad
    return records, errors


def _state(run: Run | None, measured: list[Record], errors: list[str]) -> tuple[str, str]:
    if errors:
        more = f" (and {len(errors) - 1} more bad lines)" if len(errors) > 1 else ""
        return "broken", errors[0] + more
    if run and run.state != "ok":
        return run.state, run.reason
    return ("ok", "") if measured else ("none", "")


def _measured_at(run: Run | None, path: Path) -> str:
    if run and run.ok_at:
        return run.ok_at
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Figures:
    """What templates ask for figures in sentences."""

    def __init__(self, found: list[Section]):
        self.sections = {section.name: section for section in found}

    def one(self, suite: str, **where: str | list[str]) -> Record | None:
        """The measured figure that fits; None unless there is exactly one."""
        return self._only(self.sections[suite].measured, where)

    def quoted(self, suite: str, **where: str | list[str]) -> Record | None:
        """The quoted figure that fits; None unless there is exactly one."""
        return self._only(self.sections[suite].quoted, where)

    def ranking(self, suite: str, metric: str, **where: str | list[str]) -> list[best.Rank]:
        """The ranks of the measured formats that change no value."""
        section = self.sections[suite]
        members = [r for r in query.select(best.exact(section.measured), where) if r.library not in section.suite.yardsticks]
        return best.ranking(members, metric)

    @staticmethod
    def _only(records: list[Record], where: dict) -> Record | None:
        members = query.select(records, where)
        return members[0] if len({member.value for member in members}) == 1 else None


def svg(figure: Figure) -> Markup:
    """The drawing for the page: with names of its own, and a label for readers who cannot see it."""
    name = figure.definition.id
    text = re.sub(r'id="', f'id="{name}-', figure.svg)
    text = text.replace("url(#", f"url(#{name}-").replace('href="#', f'href="#{name}-')
    alt = str(Markup.escape(figure.definition.alt))
    # The page draws in its own ink. The parts of a figure say nothing that the label does not say.
    text = re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", text)
    return Markup(text.replace("<svg ", f'<svg role="img" aria-label="{alt}" ', 1))


def render(found: list[Section], root: Path = ROOT) -> str:
    """The page."""
    environment = Environment(
        loader=FileSystemLoader(query.HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"svg": svg, "quantity": query.quantity, "number": query.number, "when": _when}
    environment.globals |= {"figures": Figures(found), "label": query.label, "name": query.name, "root": root, "inline": _inline(environment)}
    icon = base64.b64encode((ROOT / "dashboard/icon.svg").read_bytes()).decode()
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return environment.get_template("page.html").render(sections=found, icon=icon, now=now)


def _inline(environment: Environment) -> Callable[[str], Markup]:
    return lambda name: Markup(environment.loader.get_source(environment, name)[0])


def _when(text: str) -> str:
    """A point in time for readers."""
    return datetime.fromisoformat(text).strftime("%-d %B %Y, %H:%M UTC")


def write(all_suites: Iterable[Suite], folders: Folders) -> list[Section]:
    """Writes index.html and the figures."""
    found = sections(all_suites, folders)
    drawings = folders.report / "figures"
    drawings.mkdir(parents=True, exist_ok=True)
    for old in drawings.iterdir():
        old.unlink()
    for section in found:
        for figure in section.figures.values():
            if figure.svg:
                (drawings / f"{figure.definition.id}.svg").write_text(figure.svg)
                (drawings / f"{figure.definition.id}.png").write_bytes(figure.png)
    (folders.report / "index.html").write_text(render(found))
    return found
