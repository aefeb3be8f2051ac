//! A table of PostgreSQL for the messages of a schema: a typed column for each field, and columns that say where each message came from.

mod ddl;
mod names;
mod types;

pub use ddl::{Check, Period, Storage, Timescale};
pub use names::{identifier, literal, quoted};
pub use types::{Decimals, SqlType};

use dunnage_schema::{
    Model, Type,
    parts::{self, Definitions},
    pointer,
};

/// The stable ID of a message: the key.
pub const NAME: &str = "_name";
/// When the message was received. The second part of the key of a table that is divided by time.
pub const RECEIVED_AT: &str = "_received_at";
/// The fields of a message that have no column, as an object.
pub const REST: &str = "_rest";
/// The whole message.
pub const MESSAGE: &str = "_message";
/// The column of a message that is not an object.
const VALUE: &str = "value";

/// Most columns of fields. PostgreSQL has at most 1,600 in a table.
const COLUMNS: usize = 1000;

/// A table for the messages of a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The schema of the database; `None` for the one that the connection selects.
    pub schema: Option<String>,
    /// Its name, without quotes.
    pub name: String,
    /// All columns: first those of every table, then those of the fields.
    pub columns: Vec<Column>,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, without quotes.
    pub name: String,
    /// The content.
    pub source: Source,
    /// Its type.
    pub kind: SqlType,
    /// The only texts in it; none for any.
    pub allowed: Vec<String>,
    /// The field's description and unit.
    pub comment: Option<String>,
    /// The field's unit.
    pub unit: Option<String>,
}

/// The content of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Where the message came from.
    Provenance(Provenance),
    /// The fields that have no column.
    Rest,
    /// The whole message.
    Message,
    /// The field with this path: the names of the objects around it, and its own. Without any, the message.
    Field(Vec<String>),
}

/// Where a message came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// The stable ID.
    Name,
    /// The device's ID.
    Device,
    /// The device's name in the register.
    DeviceName,
    /// The device's tags in the register.
    Tags,
    /// When its last byte arrived at the gateway.
    ReceivedAt,
    /// When it was sent, as the provider says.
    SentAt,
    /// The schema's name.
    Schema,
    /// The link.
    Link,
    /// The length of its raw bytes.
    Bytes,
    /// What the input says about it.
    Origin,
}

/// The columns of every table.
const FIRST: [(&str, Provenance, SqlType, &str); 9] = [
    (
        NAME,
        Provenance::Name,
        SqlType::Text,
        "stable ID of the message: the same however often it is delivered",
    ),
    ("_device", Provenance::Device, SqlType::Text, "ID of the device"),
    ("_device_name", Provenance::DeviceName, SqlType::Text, "name of the device in the register"),
    ("_tags", Provenance::Tags, SqlType::Json, "tags of the device in the register"),
    (RECEIVED_AT, Provenance::ReceivedAt, SqlType::Time(Vec::new()), "when the gateway received the message"),
    (
        "_sent_at",
        Provenance::SentAt,
        SqlType::Time(Vec::new()),
        "when the device sent it, as its provider says",
    ),
    ("_link", Provenance::Link, SqlType::Text, "link that carried it"),
    ("_bytes", Provenance::Bytes, SqlType::Integer, "length as it arrived, in bytes"),
    ("_origin", Provenance::Origin, SqlType::Json, "what the input knows about its arrival"),
];

impl Table {
    /// Returns the table of a schema with these versions. `units` are those of [`dunnage_schema::units`]. With `message`, it also has the
    /// whole message.
    ///
    /// ```
    /// use dunnage_codegen::sql::{Decimals, SqlType, Storage, Table};
    /// # use dunnage_schema::Model;
    /// let model = Model::compile(r#"{"type": "object", "properties": {
    ///     "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
    ///     "wind": {"type": "object", "properties": {"gust": {"type": "integer", "minimum": 0, "maximum": 99}}}
    /// }}"#)?;
    /// let table = Table::new("reading", &[&model], &[], Decimals::Numeric, false);
    /// let gust = table.columns.last().unwrap();
    /// assert_eq!((&*gust.name, &gust.kind), ("wind__gust", &SqlType::SmallInt));
    /// assert!(table.create(&Storage::Plain)[0].contains(r#""celsius" numeric(4,2)"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        name: &str,
        versions: &[&Model],
        units: &[(String, String)],
        decimals: Decimals,
        message: bool,
    ) -> Table {
        let mut columns: Vec<_> = FIRST.into_iter().map(first).collect();
        columns.push(json(REST, Source::Rest, "fields without a column"));
        if message {
            columns.push(json(MESSAGE, Source::Message, "the whole message"));
        }
        let whole: Place<'_> = versions.iter().map(|model| (*model, parts::root(model))).collect();
        let mut walk = Walk { units, decimals, columns, fields: 0 };
        walk.add(&whole, &mut Vec::new(), None);
        Table { schema: None, name: identifier(name), columns: walk.columns }
    }

    /// Returns the table of messages without a schema: each is in one column.
    pub fn untyped(name: &str) -> Table {
        let mut columns: Vec<_> = FIRST.into_iter().map(first).collect();
        columns.push(first(("_schema", Provenance::Schema, SqlType::Text, "schema that the message names")));
        columns.push(json(MESSAGE, Source::Message, "the whole message"));
        Table { schema: None, name: identifier(name), columns }
    }

    /// Returns its name with quotes, and with that of its schema.
    pub fn qualified(&self) -> String {
        let schema = self.schema.as_ref().map(|schema| format!("{}.", quoted(schema)));
        format!("{}{}", schema.unwrap_or_default(), quoted(&self.name))
    }
}

/// Returns the name of the column of the field with this path; of the message itself, if it has no path. No two fields have the same.
pub fn column_name(path: &[String]) -> String {
    if path.is_empty() { VALUE.to_owned() } else { names::column(path) }
}

fn first((name, provenance, kind, comment): (&str, Provenance, SqlType, &str)) -> Column {
    let source = Source::Provenance(provenance);
    let (allowed, comment) = (Vec::new(), Some(comment.to_owned()));
    Column { name: name.to_owned(), source, kind, allowed, comment, unit: None }
}

fn json(name: &str, source: Source, comment: &str) -> Column {
    let comment = Some(comment.to_owned());
    let kind = SqlType::Json;
    Column { name: name.to_owned(), source, kind, allowed: Vec::new(), comment, unit: None }
}

/// The types of the values at one place, by the versions of the schema that say something about it.
type Place<'m> = Vec<(&'m Model, parts::Part<'m>)>;

struct Walk<'u> {
    units: &'u [(String, String)],
    decimals: Decimals,
    columns: Vec<Column>,
    fields: usize,
}

impl Walk<'_> {
    /// Adds the columns of the values at `path`. Objects become a column for each field.
    fn add(&mut self, place: &Place<'_>, path: &mut Vec<String>, description: Option<&str>) {
        let types: Vec<(&Model, &Type)> = place
            .iter()
            .flat_map(|(model, part)| part.iter().map(move |kind| (*model, *kind)))
            .filter(|(_, kind)| **kind != Type::Null)
            .collect();
        if types.is_empty() || self.fields >= COLUMNS {
            return;
        }
        let names = fields(&types);
        if names.is_empty() {
            self.push(&types, path, description);
        }
        for name in names {
            let (place, description) = field(&types, name);
            path.push(name.to_owned());
            self.add(&place, path, description);
            path.pop();
        }
    }

    fn push(&mut self, types: &[(&Model, &Type)], path: &[String], description: Option<&str>) {
        // An object without fields is what `_rest` has, unless it is a part of the message.
        if path.is_empty() && types.iter().all(|(_, kind)| matches!(kind, Type::Object(_) | Type::Any)) {
            return;
        }
        let types::Found { kind, allowed } = types::column(types, self.decimals);
        let name = column_name(path);
        let has = |text: &str, unit: &str| text.split([' ', ',', ':', ';']).any(|word| word == unit);
        let unit = self.unit(path).map(str::to_owned);
        let comment = match (description, unit.as_deref()) {
            (Some(text), Some(unit)) if !has(text, unit) => Some(format!("{text} ({unit})")),
            (Some(text), _) => Some(text.to_owned()),
            (None, unit) => unit.map(str::to_owned),
        };
        self.fields += 1;
        let source = Source::Field(path.to_vec());
        self.columns.push(Column { name, source, kind, allowed, comment, unit });
    }

    /// Returns the unit of the values at `path`, or of the elements of the array there.
    fn unit(&self, path: &[String]) -> Option<&str> {
        let fits = |pattern: &str| {
            let mut tokens: Vec<_> = pattern.split('/').skip(1).map(pointer::unescape).collect();
            tokens.truncate(
                tokens.len() - usize::from(tokens.len() == path.len() + 1 && tokens.ends_with(&["*".into()])),
            );
            tokens.len() == path.len()
                && tokens.iter().zip(path).all(|(token, name)| token == "*" || token == name)
        };
        self.units.iter().find(|(pattern, _)| fits(pattern)).map(|(_, unit)| &**unit)
    }
}

/// Returns the names of the fields if all of the types are objects.
fn fields<'m>(types: &[(&'m Model, &'m Type)]) -> Vec<&'m str> {
    let mut names: Vec<&str> = Vec::new();
    for (_, kind) in types {
        let Type::Object(object) = kind else { return Vec::new() };
        let new: Vec<_> =
            object.fields.iter().map(|field| &*field.name).filter(|name| !names.contains(name)).collect();
        names.extend(new);
    }
    names
}

/// Returns the types of the field `name` where it is declared, and its description.
fn field<'m>(types: &[(&'m Model, &'m Type)], name: &str) -> (Place<'m>, Option<&'m str>) {
    let (mut place, mut description) = (Vec::new(), None);
    for (model, kind) in types {
        let Type::Object(object) = kind else { continue };
        if let Some(field) = object.fields.iter().find(|field| field.name == name) {
            place.push((*model, parts::of(model, &field.kind, Definitions::LeftAlone)));
            description = description.or(field.description.as_deref());
        }
    }
    (place, description)
}
