//! Lines as a table: what columns it has, and its bytes.
//!
//! A column that the schema declares is always there and has the type that the schema says; values that do not fit it are null. The type
//! of any other column is that of its values: integers are INT64, other numbers DOUBLE, and text where neither would be exact; times of
//! RFC 3339 are TIMESTAMP; values of several types are text. Such a column is left out when it is null in all messages.

use crate::{
    Catalog,
    files::{
        columns::{Columns, FIRST, Leaf, cost, flatten},
        declared::{Declaration, Declared, Kind},
        growing::Growing,
        ndjson::{Line, identify},
    },
};
use dunnage_base::clock;
use parquet::{
    basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical},
    data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type},
    errors::ParquetError,
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::types::Type,
};
use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
    sync::Arc,
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// A group of rows ends after so many, or about so many bytes in memory.
const GROUP_ROWS: usize = 1 << 16;
const GROUP_BYTES: usize = 16 << 20;
/// Integers up to this have a double each.
const EXACT: u64 = 1 << 53;

/// What lines are as a table.
pub struct Table {
    pub rows: u64,
    pub first_id: i64,
    pub last_id: i64,
    /// Values that do not fit what the schema says.
    pub misfits: u64,
    columns: Columns,
    kinds: Vec<Kind>,
}

/// What is known of the values behind a pointer.
enum Known {
    /// The schema says the type.
    Declared(Kind),
    /// The schema says that they have parts.
    Structure,
    /// The values say the type. Of integers, whether each has a double that is exactly it.
    Seen(Kind, bool),
}

/// A message of a group, without the leaves that are no columns.
struct Record {
    fixed: [Option<String>; 9],
    id: i64,
    received_at: i64,
    leaves: HashMap<String, Leaf>,
}

impl Table {
    /// What the lines at `path` are, without what was not written whole; nothing if there are none.
    pub fn survey(path: &Path, catalog: &dyn Catalog) -> io::Result<Option<Table>> {
        if last_id(path)?.is_none() {
            return Ok(None);
        }
        let schema = schema_of(path)?;
        let declared = Declared::new(schema.iter().flat_map(|schema| catalog.versions(schema)));
        let mut survey = Survey::new(&declared);
        let (mut rows, mut first_id, mut last_id) = (0, 0, 0);
        for_each(path, |line, _| {
            rows += 1;
            last_id = line.id;
            if rows == 1 {
                first_id = line.id;
            }
            flatten(line.value)?.iter().for_each(|(pointer, leaf)| survey.add(pointer, leaf));
            Ok(())
        })?;
        let kinds = survey.columns.names().iter().map(|name| survey.known[name].kind()).collect();
        let Survey { columns, misfits, .. } = survey;
        Ok(Some(Table { rows, first_id, last_id, misfits, columns, kinds }))
    }

    /// Writes the lines at `path` as Parquet. Answers the file.
    pub fn write(&self, path: &Path, to: File) -> io::Result<File> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = SerializedFileWriter::new(to, Arc::new(self.schema()?), Arc::new(properties))?;
        let (mut group, mut bytes) = (Vec::new(), 0);
        for_each(path, |line, length| {
            let leaves = flatten(line.value)?;
            bytes += length + cost(&leaves);
            group.push(Record::of(line, leaves)?);
            if group.len() == GROUP_ROWS || bytes >= GROUP_BYTES {
                self.write_group(&mut writer, &group)?;
                group.clear();
                bytes = 0;
            }
            Ok(())
        })?;
        if !group.is_empty() {
            self.write_group(&mut writer, &group)?;
        }
        Ok(writer.into_inner()?)
    }

    fn schema(&self) -> Result<Type, ParquetError> {
        let text = Some(LogicalType::String);
        let micros = Some(LogicalType::timestamp(true, TimeUnit::MICROS));
        let mut fields = Vec::new();
        for name in FIRST {
            let (physical, logical) = match name {
                "id" => (Physical::INT64, None),
                "received_at" => (Physical::INT64, micros.clone()),
                _ => (Physical::BYTE_ARRAY, text.clone()),
            };
            let repetition = match name {
                "schema" | "link" => Repetition::OPTIONAL,
                _ => Repetition::REQUIRED,
            };
            fields.push(field(name, physical, logical, repetition)?);
        }
        for (pointer, kind) in self.columns.names().iter().zip(&self.kinds) {
            let (physical, logical) = match kind {
                Kind::Bool => (Physical::BOOLEAN, None),
                Kind::Integer => (Physical::INT64, None),
                Kind::Double => (Physical::DOUBLE, None),
                Kind::Time => (Physical::INT64, micros.clone()),
                Kind::Text => (Physical::BYTE_ARRAY, text.clone()),
            };
            let name = if pointer.is_empty() { "(all)" } else { pointer };
            fields.push(field(name, physical, logical, Repetition::OPTIONAL)?);
        }
        Type::group_type_builder("message").with_fields(fields).build()
    }

    fn write_group(&self, writer: &mut SerializedFileWriter<File>, group: &[Record]) -> io::Result<()> {
        let mut columns = writer.next_row_group()?;
        for (n, name) in FIRST.into_iter().enumerate() {
            match name {
                "id" => required::<Int64Type>(&mut columns, group.iter().map(|r| r.id))?,
                "received_at" => required::<Int64Type>(&mut columns, group.iter().map(|r| r.received_at))?,
                "schema" | "link" => optional::<ByteArrayType>(
                    &mut columns,
                    group.iter().map(|r| r.fixed[n].as_deref().map(ByteArray::from)),
                )?,
                _ => required::<ByteArrayType>(
                    &mut columns,
                    group.iter().map(|r| ByteArray::from(r.fixed[n].as_deref().unwrap_or_default())),
                )?,
            }
        }
        for (pointer, kind) in self.columns.names().iter().zip(&self.kinds) {
            let leaves = group.iter().map(|record| record.leaves.get(pointer));
            match kind {
                Kind::Bool => optional::<BoolType>(&mut columns, leaves.map(|leaf| leaf?.bool()))?,
                Kind::Integer => optional::<Int64Type>(&mut columns, leaves.map(|leaf| leaf?.whole()))?,
                Kind::Double => optional::<DoubleType>(&mut columns, leaves.map(|leaf| leaf?.double()))?,
                Kind::Time => optional::<Int64Type>(&mut columns, leaves.map(|leaf| leaf?.time()))?,
                Kind::Text => {
                    let texts = leaves.map(|leaf| leaf?.text().map(|text| ByteArray::from(&*text)));
                    optional::<ByteArrayType>(&mut columns, texts)?;
                }
            }
        }
        columns.close()?;
        Ok(())
    }
}

/// The columns of the messages that were looked at.
struct Survey<'d, 'm> {
    declared: &'d Declared<'m>,
    columns: Columns,
    known: HashMap<String, Known>,
    misfits: u64,
}

impl<'d, 'm> Survey<'d, 'm> {
    fn new(declared: &'d Declared<'m>) -> Self {
        let mut survey = Survey { declared, columns: Columns::default(), known: HashMap::new(), misfits: 0 };
        for pointer in declared.pointers() {
            survey.columns.add(&pointer);
            survey.declare(&pointer);
        }
        survey
    }

    /// Notes what the schema says of a pointer. Answers whether it says anything.
    fn declare(&mut self, pointer: &str) -> bool {
        let known = match self.declared.at(pointer) {
            Declaration::Column(kind) => Known::Declared(kind),
            Declaration::Structure => Known::Structure,
            Declaration::Open => return false,
        };
        self.known.insert(pointer.to_owned(), known);
        true
    }

    fn add(&mut self, pointer: &str, leaf: &Leaf) {
        let Some((kind, exact)) = kind_of(leaf) else { return };
        if !self.known.contains_key(pointer) && !self.declare(pointer) {
            self.known.insert(pointer.to_owned(), Known::Seen(kind, exact));
        }
        match self.known.get_mut(pointer) {
            Some(Known::Declared(declared)) => self.misfits += u64::from(!fits(leaf, *declared)),
            Some(Known::Seen(known, all_exact)) => {
                *known = widened((*known, *all_exact), (kind, exact));
                *all_exact &= exact;
            }
            Some(Known::Structure) | None => {
                // An empty object or array has no part, and is what the schema says.
                self.misfits += u64::from(!matches!(leaf, Leaf::Empty(_)));
                return;
            }
        }
        self.columns.add(pointer);
    }
}

impl Known {
    fn kind(&self) -> Kind {
        match self {
            Known::Declared(kind) | Known::Seen(kind, _) => *kind,
            Known::Structure => Kind::Text,
        }
    }
}

/// What a column with `leaf` alone would be, and whether an integer has a double that is exactly it; nothing for null.
fn kind_of(leaf: &Leaf) -> Option<(Kind, bool)> {
    let kind = match leaf {
        Leaf::Null => return None,
        Leaf::Bool(_) => Kind::Bool,
        Leaf::Number(text) => match leaf.integer() {
            Some(number) => return Some((Kind::Integer, number.unsigned_abs() <= EXACT)),
            None if is_double(text) => Kind::Double,
            None => Kind::Text,
        },
        Leaf::Text(_) if leaf.exact_time() => Kind::Time,
        Leaf::Text(_) | Leaf::Empty(_) => Kind::Text,
    };
    Some((kind, true))
}

/// What a column with values of both is, where all integers have exact doubles or not.
fn widened((one, one_exact): (Kind, bool), (other, other_exact): (Kind, bool)) -> Kind {
    match (one, other) {
        (one, other) if one == other => one,
        (Kind::Integer, Kind::Double) | (Kind::Double, Kind::Integer) if one_exact && other_exact => {
            Kind::Double
        }
        _ => Kind::Text,
    }
}

/// Whether a column of `kind` can have `leaf`.
fn fits(leaf: &Leaf, kind: Kind) -> bool {
    match kind {
        Kind::Bool => leaf.bool().is_some(),
        Kind::Integer => leaf.whole().is_some(),
        Kind::Double => leaf.double().is_some(),
        Kind::Time => leaf.time().is_some(),
        Kind::Text => true,
    }
}

/// Whether a number of JSON has a double that is exactly it, or is one already.
fn is_double(text: &str) -> bool {
    text.contains(['.', 'e', 'E'])
        || text.trim_start_matches('-').parse::<u64>().is_ok_and(|number| number <= EXACT)
}

impl Leaf {
    fn bool(&self) -> Option<bool> {
        if let Leaf::Bool(bool) = self { Some(*bool) } else { None }
    }

    /// A whole number, without fraction and exponent; nothing of `-0`, which is no integer.
    fn integer(&self) -> Option<i64> {
        let Leaf::Number(text) = self else { return None };
        if text == "-0" { None } else { text.parse().ok() }
    }

    /// The same, also of `1.0`, which is an integer to a schema.
    fn whole(&self) -> Option<i64> {
        let double = || self.double().filter(|double| double.fract() == 0.0 && double.abs() <= EXACT as f64);
        self.integer().or_else(|| Some(double()? as i64))
    }

    /// A time as RFC 3339 writes it, in microseconds since 1970, without what is finer.
    fn time(&self) -> Option<i64> {
        i64::try_from(self.nanoseconds()?.div_euclid(1000)).ok()
    }

    /// Whether it is a time that microseconds are exactly.
    fn exact_time(&self) -> bool {
        self.nanoseconds().is_some_and(|nanoseconds| nanoseconds % 1000 == 0) && self.time().is_some()
    }

    fn nanoseconds(&self) -> Option<i128> {
        let Leaf::Text(text) = self else { return None };
        Some(OffsetDateTime::parse(text, &Rfc3339).ok()?.unix_timestamp_nanos())
    }

    /// A number as a double, if it has one that is exactly it, or is one already.
    fn double(&self) -> Option<f64> {
        let Leaf::Number(text) = self else { return None };
        if is_double(text) { text.parse().ok() } else { None }
    }

    fn text(&self) -> Option<std::borrow::Cow<'_, str>> {
        match self {
            Leaf::Null => None,
            Leaf::Bool(bool) => Some(bool.to_string().into()),
            Leaf::Number(text) | Leaf::Text(text) | Leaf::Empty(text) => Some(text.into()),
        }
    }
}

impl Record {
    fn of(line: Line<'_>, leaves: Vec<(String, Leaf)>) -> io::Result<Record> {
        let received_at = clock::micros(&line.received_at)
            .ok_or_else(|| io::Error::other(format!("{:?} is no time", line.received_at)))?;
        let value = line.value.get().to_owned();
        let leaves = leaves.into_iter().collect();
        let fixed = [
            Some(line.name),
            None,
            Some(line.device),
            None,
            Some(line.format),
            line.schema,
            line.link,
            Some(line.request),
            Some(value),
        ];
        Ok(Record { fixed, id: line.id, received_at, leaves })
    }
}

fn field(
    name: &str,
    physical: Physical,
    logical: Option<LogicalType>,
    repetition: Repetition,
) -> Result<Arc<Type>, ParquetError> {
    let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
    Ok(Arc::new(builder.with_logical_type(logical).build()?))
}

/// Writes the next column, of values that are always there.
fn required<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: impl Iterator<Item = T::T>,
) -> io::Result<()> {
    let mut column = group.next_column()?.ok_or_else(|| io::Error::other("there are fewer columns"))?;
    column.typed::<T>().write_batch(&values.collect::<Vec<_>>(), None, None)?;
    Ok(column.close()?)
}

/// Writes the next column, of values of which some are null.
fn optional<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: impl Iterator<Item = Option<T::T>>,
) -> io::Result<()> {
    let values: Vec<_> = values.collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<_> = values.into_iter().flatten().collect();
    let mut column = group.next_column()?.ok_or_else(|| io::Error::other("there are fewer columns"))?;
    column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(column.close()?)
}

/// Reads the lines at `path`, each with its length.
fn for_each(path: &Path, mut read: impl FnMut(Line<'_>, usize) -> io::Result<()>) -> io::Result<()> {
    let mut lines = BufReader::new(File::open(path)?);
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 {
        read(serde_json::from_str(&line)?, line.len())?;
        line.clear();
    }
    Ok(())
}

/// The schema of the lines at `path`, which are all of one.
fn schema_of(path: &Path) -> io::Result<Option<String>> {
    let mut line = String::new();
    BufReader::new(File::open(path)?).read_line(&mut line)?;
    let line: Line<'_> = serde_json::from_str(&line)?;
    Ok(line.schema)
}

/// The id of the last of the lines at `path`, after cutting off what was not written whole.
pub fn last_id(path: &Path) -> io::Result<Option<i64>> {
    let (_, last) = Growing::open(path.to_owned(), |line| identify(line).is_some())?;
    Ok(last.as_deref().and_then(identify))
}
