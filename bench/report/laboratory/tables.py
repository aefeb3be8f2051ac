"""Tables: definitions of definitions/*.toml, filled with records."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from .query import label, number, quantity, rank, select, unit_label
from .record import Record

# Fields that tell figures apart which a definition does not: they become columns of row headers when they are needed.
DISTINGUISHING = ("library", "version", "floats", "options", "target", "payload")

# Fields in which a quoted figure differs from the measured one next to it.
OF_THE_LIBRARY = {"library", "version", "options", "floats"}


@dataclass(frozen=True)
class Definition:
    """A table of the report.

    `item` is the paper's table or figure that it repeats. `rows` and `columns` are fields of records, or `plain_format`. Quoted figures are `rows` of
    their own, `columns` beside the measured ones, or `cells` like any other. `ratio` adds columns with measured / quoted. `headings` replaces HEADINGS.
    """

    id: str
    title: str
    select: dict | list[dict]
    rows: list[str]
    columns: list[str]
    suites: list[str]
    item: str = ""
    quoted: str = "rows"
    ratio: bool = False
    headings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """A figure in a table; `value` is what it is sorted by."""

    text: str = ""
    value: float | None = None
    quoted: bool = False
    title: str = ""


@dataclass(frozen=True)
class Heading:
    """A column's heading."""

    text: str
    span: int = 1


@dataclass
class Table:
    """A filled table: row headings first, then figures. `constants` are the fields that all its figures share."""

    definition: Definition
    row_fields: list[str] = field(default_factory=list)
    headings: list[list[Heading]] = field(default_factory=list)
    rows: list[tuple[list[str], bool, list[Cell]]] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    measured: int = 0

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.row_fields) + (len(self.headings[-1]) if self.headings else 0)


def build(definition: Definition, records: Iterable[Record]) -> Table:
    """Fills a table. It has no rows if no record belongs to it."""
    # Failed measurements are listed elsewhere, with their reason.
    members = select((r for r in records if r.suite in definition.suites and r.metric != "failed"), definition.select)
    # Quoted figures come first, so that formats and payloads are in the paper's order.
    members.sort(key=lambda record: not record.quoted)
    table = Table(definition, measured=sum(not record.quoted for record in members))
    if not members:
        return table
    return _Filling(table, members).fill()


class _Filling:
    """The steps from records to a table."""

    def __init__(self, table: Table, members: list[Record]):
        self.table, self.members = table, members
        self.definition = table.definition
        self.row_fields = list(self.definition.rows)
        self.column_fields = list(self.definition.columns)
        self.ranks = {name: self._rank(name) for name in (*Record.__dataclass_fields__, "plain_format")}
        self._distinguish()
        self._drop_constants()

    def _rank(self, name: str) -> dict:
        ranks: dict = {}
        for record in self.members:
            if (value := getattr(record, name)).__hash__:
                ranks.setdefault(value, len(ranks))
        if name == "operation":
            ranks = {value: place for place, value in enumerate(sorted(ranks, key=lambda value: rank(name, value)))}
        return ranks

    def _row(self, record: Record) -> tuple:
        key = tuple(getattr(record, name) for name in self.row_fields)
        return (*key, record.quoted and self.definition.quoted == "rows")

    def _column(self, record: Record) -> tuple:
        key = tuple(getattr(record, name) for name in self.column_fields)
        return (*key, record.source) if self.definition.quoted == "columns" else key

    def _distinguish(self) -> None:
        """Adds row headings until no two figures share a cell."""
        for name in DISTINGUISHING:
            seen: dict = {}
            for record in self.members:
                known = seen.setdefault((self._row(record), self._column(record)), record)
                if getattr(known, name) != getattr(record, name) and known.quoted == record.quoted:
                    self.row_fields.append(name)
                    break

    def _drop_constants(self) -> None:
        """Moves fields with one value from the headings to the caption. At least one row heading and one column heading stay."""
        for fields in (self.column_fields, self.row_fields):
            for name in fields[::-1]:
                if len(self.ranks[name]) == 1 and (len(fields) > 1 or fields is self.column_fields and self._more_columns()):
                    fields.remove(name)
                    if value := next(iter(self.ranks[name])):
                        self.table.constants.append(self._constant(name, value))
        if "metric" not in self.definition.rows + self.definition.columns and len(self.ranks["metric"]) == 1:
            self.table.constants.append(self._constant("metric", self.members[0].metric))

    def _more_columns(self) -> bool:
        return self.definition.quoted == "columns"

    def _constant(self, name: str, value: str) -> str:
        """A field's value as readers see it; a metric with its unit."""
        units = {r.unit for r in self.members if r.metric == value} if name == "metric" else set()
        unit = unit_label(units.pop()) if len(units) == 1 else ""
        text = label(name, value)
        return f"{text} ({unit})" if unit and unit != text else text

    def fill(self) -> Table:
        """Fills the table."""
        self._join_quoted()
        cells: dict[tuple, dict[tuple, Record]] = {}
        for record in self.members:
            cells.setdefault(self._row(record), {})[self._column(record)] = record
        columns = sorted({self._column(r) for r in self.members}, key=self._column_rank)
        layout = self._with_ratios(columns)
        notes: dict[str, list[str]] = {}
        for record in self.members:
            name = label("format", record.format)
            if record.note and name not in notes.setdefault(record.note, []):
                notes[record.note].append(name)
        self.table.notes = [f"{', '.join(names)}: {note}" for note, names in notes.items()]
        fields = self.row_fields
        self.table.row_fields = [(HEADINGS | self.definition.headings).get(name, name) for name in self.row_fields]
        self.table.headings = self._headings(layout)
        for row in sorted(cells, key=self._row_rank):
            heads = [self._constant(name, value) for name, value in zip(fields, row[:-1], strict=True)]
            figures = [self._cell(column, cells[row]) for column in layout]
            quoted = all(record.quoted for record in cells[row].values())
            self.table.rows.append((heads, quoted, figures))
        return self.table

    def _join_quoted(self) -> None:
        """Lets quoted figures stand in the rows of the measured ones that have the same format and payload."""
        if self.definition.quoted == "rows":
            return
        shared = [name for name in self.row_fields if name not in OF_THE_LIBRARY]
        joined: list[Record] = []
        for record in self.members:
            if not record.quoted:
                joined.append(record)
                continue
            key = [getattr(record, name) for name in shared]
            beside = [r for r in self.members if not r.quoted and [getattr(r, name) for name in shared] == key]
            # The same library in a newer version is the closest; else any library with the format.
            beside = [r for r in beside if r.library == record.library] or beside
            names = [name for name in self.row_fields if name in OF_THE_LIBRARY]
            places = {tuple((name, getattr(r, name)) for name in names) for r in beside} if names else set()
            joined += [replace(record, **dict(place)) for place in places] or [record]
        self.members = joined

    def _row_rank(self, row: tuple) -> tuple:
        return (*(self.ranks[name].get(value, 0) for name, value in zip(self.row_fields, row[:-1], strict=True)), not row[-1])

    def _column_rank(self, column: tuple) -> tuple:
        ranks = [self.ranks[name].get(value, 0) for name, value in zip(self.column_fields, column)]
        return (*ranks, column[-1] != "quoted")

    def _with_ratios(self, columns: list[tuple]) -> list[tuple]:
        if not (self.definition.ratio and self.definition.quoted == "columns"):
            return columns
        layout = []
        for column in columns:
            layout.append(column)
            metrics = {r.metric for r in self.members if self._column(r) == column}
            if column[-1] == "measured" and (*column[:-1], "quoted") in columns and not metrics & {"fits", "reduction"}:
                layout.append((*column[:-1], "ratio"))
        return layout

    def _headings(self, layout: list[tuple]) -> list[list[Heading]]:
        levels = len(layout[0])
        names = [*self.column_fields, "source"][:levels]
        units = [self._unit(column) for column in layout]
        headings: list[list[Heading]] = []
        for level in range(levels):
            row: list[tuple[tuple, Heading]] = []
            for column, unit in zip(layout, units, strict=True):
                text = "here / paper" if column[level] == "ratio" else label(names[level], column[level])
                if names[level] == "metric" and unit and unit != text:
                    text = f"{text} ({unit})"
                if row and row[-1][0] == column[: level + 1] and level < levels - 1:
                    row[-1] = (row[-1][0], replace(row[-1][1], span=row[-1][1].span + 1))
                else:
                    row.append((column[: level + 1], Heading(text)))
            headings.append([heading for _, heading in row])
        return headings

    def _unit(self, column: tuple) -> str:
        units = {r.unit for r in self.members if self._column(r)[: len(self.column_fields)] == column[: len(self.column_fields)]}
        return unit_label(units.pop()) if len(units) == 1 else ""

    def _cell(self, column: tuple, cells: dict[tuple, Record]) -> Cell:
        if column[-1] == "ratio":
            measured, quoted = (cells.get((*column[:-1], source)) for source in ("measured", "quoted"))
            if measured is None or quoted is None or not quoted.value or unit_label(measured.unit) != unit_label(quoted.unit):
                return Cell()
            return Cell(f"{measured.value / quoted.value:.2f}", measured.value / quoted.value)
        record = cells.get(column)
        if record is None:
            return Cell()
        if record.metric == "fits":
            return Cell("yes" if record.value else "no", record.value, record.quoted, record.note or "")
        return Cell(number(record.value), record.value, record.quoted, _title(record))


def _title(record: Record) -> str:
    """What a reader learns who points at a figure."""
    parts = [quantity(record)]
    if record.spread:
        parts.append(f"{record.spread.of} {number(record.spread.low)} to {number(record.spread.high)}")
    if record.repetitions and record.repetitions > 1:
        parts.append(f"{record.repetitions} repetitions")
    parts += [text for text in (record.options, record.reference, record.note) if text]
    return "; ".join(parts)


# The headings of row headings.
HEADINGS = {
    "format": "format", "plain_format": "format", "library": "library", "version": "version", "payload": "message", "operation": "operation", "target": "target",
    "metric": "figure", "floats": "fractions", "options": "options",
}  # fmt: skip
