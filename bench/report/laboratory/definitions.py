"""Reads definitions/*.toml: the tables and figures of each suite, and what repeats which table of a paper."""

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from . import ROOT, plots, tables
from .query import HERE, label


@dataclass(frozen=True)
class Paper:
    """A paper that a suite repeats. `items` are its tables and figures, each of which has a counterpart."""

    title: str
    source: str
    items: list[str]


@dataclass(frozen=True)
class Counterpart:
    """A paper's table that text answers, not figures. `anchor` is the place in the report, if there is one."""

    item: str
    text: str
    anchor: str = ""


@dataclass(frozen=True)
class Data:
    """A table of words, from the first of the files that exists: a list of rows, TOML or JSON."""

    id: str
    item: str
    title: str
    files: list[str]
    where: dict[str, str] = field(default_factory=dict)

    def filled(self, root: Path = ROOT) -> tuple[list[str], list[list[str]]]:
        """The headings and the rows that fit `where`; none if no file exists. An identifier is no column, nor is one that is empty in each row."""
        for name in self.files:
            path = root / name
            if path.exists():
                read = tomllib.loads if path.suffix == ".toml" else json.loads
                content = read(path.read_text())
                rows = content if isinstance(content, list) else next(v for v in content.values() if isinstance(v, list))
                rows = [row for row in rows if all(row.get(key, value) == value for key, value in self.where.items())]
                keys = dict.fromkeys(key for row in rows for key, value in row.items() if value not in (None, ""))
                columns = [key for key in keys if key != "id" and key not in self.where]
                return [key.replace("_", " ") for key in columns], [[_words(key, row.get(key)) for key in columns] for row in rows]
        return [], []


@dataclass(frozen=True)
class Definitions:
    """What the report shows of a suite."""

    tables: list[tables.Definition]
    figures: list[plots.Definition]
    data: list[Data] = field(default_factory=list)
    counterparts: list[Counterpart] = field(default_factory=list)
    paper: Paper | None = None

    def places(self) -> dict[str, list[tuple[str, str]]]:
        """Per table or figure of the paper, the title and the anchor of each counterpart."""
        found: dict[str, list[tuple[str, str]]] = {item: [] for item in self.paper.items} if self.paper else {}
        for one in [*self.tables, *self.figures, *self.data]:
            for item in _items(one.item):
                found[item].append((one.title, one.id))
        for counterpart in self.counterparts:
            found[counterpart.item].append((counterpart.text, counterpart.anchor))
        return found


def _words(key: str, value: object) -> str:
    """A cell: yes and no for a boolean, a list with commas, the label of a field of records."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else label(key, str(value or ""))


def _items(item: str) -> list[str]:
    """The items of a counterpart that repeats several: `Figures 5 and 6`."""
    if item.startswith("Figures "):
        return [f"Figure {number}" for number in item.removeprefix("Figures ").split(" and ")]
    return [item] if item else []


def read(suite: str) -> Definitions:
    """The definitions of a suite; none if it has no file."""
    path = HERE / "definitions" / f"{suite}.toml"
    content = tomllib.loads(path.read_text()) if path.exists() else {}
    return Definitions(
        [tables.Definition(**{"suites": [suite]} | table) for table in content.get("table", [])],
        [plots.Definition(**{"suites": [suite]} | figure) for figure in content.get("figure", [])],
        [Data(**data) for data in content.get("data", [])],
        [Counterpart(**counterpart) for counterpart in content.get("counterpart", [])],
        Paper(**content["paper"]) if "paper" in content else None,
    )
