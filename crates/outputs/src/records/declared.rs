//! The columns that a schema declares: each of its parts that is neither an object nor an array, by its JSON pointer, and its type.

use super::columns::COLUMNS;
use dunnage_pson::Value;
use dunnage_schema::{
    Model, TextFormat, TimeText, Type,
    parts::{self, Definitions, Part},
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Largest number of parts of a schema that are searched for columns.
const PARTS: usize = 16 * COLUMNS;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    Bool,
    Integer,
    Double,
    Time,
    Text,
}

/// The declaration of the values at a pointer by the schema.
#[derive(Debug, PartialEq, Eq)]
pub enum Declaration {
    /// They form a column of this type.
    Column(ColumnType),
    /// They have parts, or are always null.
    Structure,
    /// They may be anything.
    Open,
}

/// A schema, in all its versions.
pub struct Declared<'m>(Vec<&'m Model>);

impl<'m> Declared<'m> {
    /// Creates the declarations of a schema with these versions. Without any version, everything is open.
    pub fn new(versions: impl Iterator<Item = &'m Model>) -> Declared<'m> {
        Declared(versions.collect())
    }

    /// Returns what the schema says about the values at `pointer`. A version that says nothing about them does not count if another says
    /// something.
    pub fn at(&self, pointer: &str) -> Declaration {
        let said = self.0.iter().map(|model| declaration(&part_at(model, pointer)));
        said.reduce(Declaration::with).unwrap_or(Declaration::Open)
    }

    /// Returns the pointers of the columns that every file has, in the schema's order, at most [`COLUMNS`]. Leaves out pointers into
    /// recursive definitions and into arrays without `maxItems`, because their number is unlimited.
    pub fn pointers(&self) -> Vec<String> {
        let mut found = Vec::new();
        for model in &self.0 {
            list(model, &part_at(model, ""), &mut String::new(), &mut PARTS.clone(), &mut found);
        }
        // Check again with recursive definitions followed, because they may turn a column into something else.
        found.retain(|pointer| matches!(self.at(pointer), Declaration::Column(_)));
        found
    }
}

fn part_at<'m>(model: &'m Model, pointer: &str) -> Part<'m> {
    let tokens = pointer.split('/').skip(1).map(dunnage_schema::pointer::unescape);
    tokens.fold(parts::root(model), |part, token| parts::child(model, &part, &token, Definitions::Followed))
}

fn declaration(part: &Part<'_>) -> Declaration {
    if part.is_empty() || part.contains(&&Type::Any) {
        return Declaration::Open;
    }
    let kinds = part.iter().filter_map(|kind| kind_of(kind));
    kinds.reduce(ColumnType::with).map_or(Declaration::Structure, Declaration::Column)
}

/// Returns the type of a column of these values; `None` for objects, arrays and null.
fn kind_of(kind: &Type) -> Option<ColumnType> {
    match kind {
        Type::Bool => Some(ColumnType::Bool),
        Type::Integer(_) => Some(ColumnType::Integer),
        Type::Text(text) if text.format == Some(TextFormat::DateTime) => Some(ColumnType::Time),
        Type::TimeText(time) if is_rfc_3339(time) => Some(ColumnType::Time),
        text if text.is_text() => Some(ColumnType::Text),
        number if number.is_number() => Some(ColumnType::Double),
        Type::Enum(values) => values.iter().filter_map(kind_of_value).reduce(ColumnType::with),
        Type::Const(value) => kind_of_value(value),
        _ => None,
    }
}

/// Returns whether the times in this notation are RFC 3339 times.
pub fn is_rfc_3339(time: &TimeText) -> bool {
    OffsetDateTime::parse(&time.write(time.range().0), &Rfc3339).is_ok()
}

fn kind_of_value(value: &Value) -> Option<ColumnType> {
    match value {
        Value::Bool(_) => Some(ColumnType::Bool),
        Value::I64(_) | Value::U64(_) => Some(ColumnType::Integer),
        Value::F64(_) => Some(ColumnType::Double),
        Value::Text(_) => Some(ColumnType::Text),
        _ => None,
    }
}

impl Declaration {
    /// Combines the declarations of two versions.
    fn with(self, other: Declaration) -> Declaration {
        match (self, other) {
            (Declaration::Column(one), Declaration::Column(other)) => Declaration::Column(one.with(other)),
            (column @ Declaration::Column(_), _) | (_, column @ Declaration::Column(_)) => column,
            (Declaration::Open, other) | (other, Declaration::Open) => other,
            _ => Declaration::Structure,
        }
    }
}

impl ColumnType {
    /// Returns the type of a column that can hold values of both types.
    fn with(self, other: ColumnType) -> ColumnType {
        match (self, other) {
            (one, other) if one == other => one,
            (ColumnType::Integer, ColumnType::Double) | (ColumnType::Double, ColumnType::Integer) => {
                ColumnType::Double
            }
            _ => ColumnType::Text,
        }
    }
}

/// Adds the pointers of the columns in `part`, which is at `pointer`, and in its parts. `left` bounds how many parts are searched.
fn list(model: &Model, part: &Part<'_>, pointer: &mut String, left: &mut usize, found: &mut Vec<String>) {
    if *left == 0 || found.len() >= COLUMNS {
        return;
    }
    *left -= 1;
    if part.iter().any(|kind| kind_of(kind).is_some()) && !found.contains(pointer) {
        found.push(pointer.clone());
    }
    for token in tokens(part) {
        let outer = pointer.len();
        pointer.push('/');
        pointer.push_str(&dunnage_schema::pointer::escape(&token));
        list(model, &parts::child(model, part, &token, Definitions::LeftAlone), pointer, left, found);
        pointer.truncate(outer);
    }
}

/// Returns the names of the fields of `part`, and the indexes of its elements.
fn tokens(part: &Part<'_>) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for kind in part {
        let further: Vec<String> = match kind {
            Type::Object(object) => object.fields.iter().map(|field| field.name.clone()).collect(),
            Type::Array(array) => indexes(array.max.unwrap_or(0) as usize),
            Type::Tuple(tuple) => indexes(tuple.max.map_or(tuple.items.len(), |max| max as usize)),
            _ => Vec::new(),
        };
        let new: Vec<_> = further.into_iter().filter(|token| !tokens.contains(token)).collect();
        tokens.extend(new);
    }
    tokens
}

/// Returns the indexes of `count` elements, at most [`COLUMNS`].
fn indexes(count: usize) -> Vec<String> {
    (0..count.min(COLUMNS)).map(|index| index.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(schemas: &[&str]) -> Vec<String> {
        let models: Vec<_> = schemas.iter().map(|schema| Model::compile(schema).unwrap()).collect();
        let declared = Declared::new(models.iter());
        let shown = |pointer: String| format!("{pointer} {:?}", declared.at(&pointer));
        declared.pointers().into_iter().map(shown).collect()
    }

    #[test]
    fn each_part_of_a_schema_is_a_column_of_its_type() {
        let schema = r#"{"type":"object","properties":{
            "n":{"type":"integer"},"t":{"type":"number"},"d":{"type":"number","multipleOf":0.01},"ok":{"type":"boolean"},
            "at":{"type":"string","format":"date-time"},"s":{"type":"string"},
            "sent":{"type":"string","x-dunnage-time":{"notation":"YYYY-MM-DDThh:mm:ss.fff+01:00"}},
            "gps":{"type":"string","x-dunnage-time":{"notation":"YYMMDD hhmmss"}},
            "maybe":{"type":["integer","null"]},"either":{"type":["integer","number"]},"mixed":{"type":["integer","string"]},
            "level":{"enum":[1,2.5]},"state":{"enum":["on","off",null]},"v":{"const":3},
            "position":{"type":"object","properties":{"a/b":{"type":"number"}}},
            "pair":{"type":"array","items":{"type":"number"},"maxItems":2},
            "two":{"prefixItems":[{"type":"string"},{"type":"boolean"}],"type":"array","items":false},
            "list":{"type":"array","items":{"type":"number"}},
            "any":{},"nothing":{"type":"null"}}}"#;
        assert_eq!(
            columns(&[schema]),
            [
                "/n Column(Integer)",
                "/t Column(Double)",
                "/d Column(Double)",
                "/ok Column(Bool)",
                "/at Column(Time)",
                "/s Column(Text)",
                "/sent Column(Time)",
                "/gps Column(Text)",
                "/maybe Column(Integer)",
                "/either Column(Double)",
                "/mixed Column(Text)",
                "/level Column(Double)",
                "/state Column(Text)",
                "/v Column(Integer)",
                "/position/a~1b Column(Double)",
                "/pair/0 Column(Double)",
                "/pair/1 Column(Double)",
                "/two/0 Column(Text)",
                "/two/1 Column(Bool)",
            ]
        );
        let model = Model::compile(schema).unwrap();
        let declared = Declared::new([&model].into_iter());
        assert_eq!(declared.at("/list/7"), Declaration::Column(ColumnType::Double));
        assert_eq!(declared.at("/position"), Declaration::Structure);
        assert_eq!(declared.at("/nothing"), Declaration::Structure);
        for open in ["/any", "/any/thing", "/further", "/position/further"] {
            assert_eq!(declared.at(open), Declaration::Open, "{open}");
        }
        assert_eq!(columns(&[r#"{"type":"integer"}"#]), [" Column(Integer)"]);
        assert_eq!(Declared::new([].into_iter()).at("/x"), Declaration::Open);
    }

    #[test]
    fn versions_of_a_schema_share_their_columns() {
        let one = r#"{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}}}"#;
        let two = r#"{"type":"object","properties":{"n":{"type":"number"},"new":{"type":"boolean"}}}"#;
        assert_eq!(columns(&[one, two]), ["/n Column(Double)", "/s Column(Text)", "/new Column(Bool)"]);
    }

    #[test]
    fn schemas_without_an_end_have_columns_as_far_as_they_do_not_repeat() {
        let tree = r##"{"type":"object","properties":{"v":{"type":"number"},"left":{"$ref":"#"},"right":{"$ref":"#"}}}"##;
        assert_eq!(columns(&[tree]), ["/v Column(Double)"]);
        let model = Model::compile(tree).unwrap();
        let declared = Declared::new([&model].into_iter());
        assert_eq!(declared.at("/left/right/v"), Declaration::Column(ColumnType::Double));
        let cube = r#"{"type":"array","maxItems":9999,"items":{"type":"array","maxItems":9999,"items":{"type":"array","maxItems":9999}}}"#;
        assert_eq!(columns(&[cube]).len(), 0);
        let wide = r#"{"type":"array","maxItems":9999,"items":{"type":"array","maxItems":9999,"items":{"type":"null"}}}"#;
        assert_eq!(columns(&[wide]).len(), 0);
        assert_eq!(
            columns(&[r#"{"type":"array","maxItems":9999,"items":{"type":"boolean"}}"#]).len(),
            COLUMNS
        );
    }
}
