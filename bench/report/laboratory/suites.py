"""The suites of bench/suites.toml, and the outcome of their last runs."""

import json
import os
import shutil
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path

from . import ROOT

FORMS = ("quick", "full")


class UsageError(Exception):
    """Something that the user can correct."""


@dataclass(frozen=True)
class Suite:
    """A suite. `seconds` is how long each form takes; a form without a command is not run. `yardsticks` are libraries that cannot be the best. `quoted` are files with quoted figures besides that of bench/papers."""

    name: str
    title: str
    programs: list[str]
    seconds: dict[str, float]
    full: list[str]
    quick: list[str] | None = None
    paper: str = ""
    yardsticks: list[str] = field(default_factory=list)
    quoted: list[str] = field(default_factory=list)

    def command(self, form: str) -> list[str] | None:
        """The command of a form, for the repository's root."""
        return self.quick if form == "quick" else self.full

    def missing(self) -> list[str]:
        """The programs and files that the commands need and this machine does not have."""
        return [name for name in self.programs if not ((ROOT / name).exists() if "/" in name else shutil.which(name))]


@dataclass
class Run:
    """The outcome of the last run of a suite. `ok_*` describe the last run that succeeded: the figures are from it."""

    state: str
    form: str
    at: str
    seconds: float
    reason: str = ""
    ok_at: str | None = None
    ok_form: str | None = None
    ok_seconds: dict[str, float] = field(default_factory=dict)


def load(path: Path) -> list[Suite]:
    """Reads suites.toml."""
    try:
        return [Suite(**suite) for suite in tomllib.loads(path.read_text())["suite"]]
    except (OSError, tomllib.TOMLDecodeError, TypeError, KeyError) as error:
        raise UsageError(f"{path}: {error}") from None


def chosen(suites: list[Suite], names: list[str]) -> list[Suite]:
    """The suites with these names, in the order of the file; all if there are no names."""
    known = [suite.name for suite in suites]
    for name in names:
        if name not in known:
            raise UsageError(f"there is no suite {name}; there are {', '.join(known)}")
    return [suite for suite in suites if not names or suite.name in names]


@dataclass(frozen=True)
class Folders:
    """Where the laboratory reads and writes."""

    results: Path = ROOT / "bench/results"
    papers: Path = ROOT / "bench/papers"
    report: Path = ROOT / "target/report"

    @property
    def runs(self) -> Path:
        """The file with the outcome of each suite's last run."""
        return self.results / "runs.json"


def read_runs(folders: Folders) -> dict[str, Run]:
    """The outcomes of the last runs, by suite."""
    if not folders.runs.exists():
        return {}
    try:
        return {name: Run(**run) for name, run in json.loads(folders.runs.read_text()).items()}
    except (json.JSONDecodeError, TypeError, AttributeError) as error:
        raise UsageError(f"{folders.runs}: {error}; delete the file, and run the suites again") from None


def write_runs(folders: Folders, runs: dict[str, Run]) -> None:
    """Replaces the file at once, so that readers never see a part of it."""
    folders.results.mkdir(parents=True, exist_ok=True)
    unfinished = folders.runs.with_suffix(".unfinished")
    unfinished.write_text(json.dumps({name: asdict(run) for name, run in runs.items()}, indent=1) + "\n")
    os.replace(unfinished, folders.runs)
