//! The type of a column, from the layout.

use super::time::Time;
use arrow_schema::{DataType, Field};
use dunnage_packed::{Layout, Node, Number, ObjectNode, Shape, Source};
use dunnage_pson::Value;
use std::sync::Arc;

/// The name of the column of properties that the schema does not name.
const ADDITIONAL: &str = "*";

/// The type of a column. Values of several types become JSON text, so that nothing is lost.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Bool,
    I64,
    U64,
    F64,
    Text,
    Time(Box<Time>),
    Json,
    List(Box<Kind>),
    Struct(Vec<(String, Kind)>, bool),
}

impl Kind {
    /// Returns the type of the messages of a layout.
    pub fn of_layout(layout: &Layout) -> Kind {
        match Kind::of(layout.root()) {
            root @ Kind::Struct(..) => root,
            other => Kind::Struct(vec![("value".to_owned(), other)], false),
        }
    }

    fn of(node: &Node) -> Kind {
        match &node.shape {
            Shape::Bool => Kind::Bool,
            Shape::Number(number) => Kind::of_number(number),
            Shape::Float => Kind::F64,
            Shape::Numbers(_) | Shape::Pattern(_) | Shape::Text(_) | Shape::Known(_) => Kind::Text,
            Shape::Constant(value) => Kind::of_values(std::slice::from_ref(value)),
            Shape::Choice(values) => Kind::of_values(values),
            Shape::Array(array) => Kind::List(Box::new(Kind::of(&array.item))),
            Shape::Tuple(tuple) => {
                let kinds = tuple.items.iter().chain(tuple.rest.as_deref()).map(Kind::of);
                Kind::common(kinds).map_or(Kind::Json, |kind| Kind::List(Box::new(kind)))
            }
            Shape::Object(object) => Kind::of_object(object),
            Shape::Nullable(inner) => Kind::of(inner),
            Shape::Union(nodes) => Kind::common(nodes.iter().map(Kind::of)).unwrap_or(Kind::Json),
            Shape::Any | Shape::Definition(_) => Kind::Json,
        }
    }

    fn of_number(number: &Number) -> Kind {
        match &number.source {
            Source::Text(_) => Kind::Text,
            Source::Time(notation) => Kind::Time(Box::new(Time::new(notation))),
            Source::Integer if number.min >= 0 && number.max > i64::MAX.into() => Kind::U64,
            Source::Integer => Kind::I64,
            Source::Decimal(_) => Kind::F64,
        }
    }

    /// Returns the type of a few values.
    fn of_values(values: &[Value]) -> Kind {
        let kinds = values.iter().filter(|value| !matches!(value, Value::Null)).map(|value| match value {
            Value::Bool(_) => Kind::Bool,
            Value::Text(_) => Kind::Text,
            Value::F64(_) => Kind::F64,
            Value::I64(_) => Kind::I64,
            Value::U64(n) if i64::try_from(*n).is_ok() => Kind::I64,
            _ => Kind::Json,
        });
        Kind::common(kinds).unwrap_or(Kind::Json)
    }

    /// Returns the type, if all are of one. Texts and times in several notations are texts.
    fn common(mut kinds: impl Iterator<Item = Kind>) -> Option<Kind> {
        let first = kinds.next()?;
        kinds.try_fold(first, |common, kind| match (common, kind) {
            (common, kind) if common == kind => Some(common),
            (Kind::Text | Kind::Time(_), Kind::Text | Kind::Time(_)) => Some(Kind::Text),
            _ => None,
        })
    }

    fn of_object(object: &ObjectNode) -> Kind {
        let fields = object.fields.iter().map(|field| (field.name.clone(), Kind::of(&field.node)));
        Kind::Struct(fields.collect(), object.additional.is_some())
    }

    /// Returns the type of Arrow.
    pub fn data_type(&self) -> DataType {
        match self {
            Kind::Bool => DataType::Boolean,
            Kind::I64 => DataType::Int64,
            Kind::U64 => DataType::UInt64,
            Kind::F64 => DataType::Float64,
            Kind::Text | Kind::Json => DataType::Utf8,
            Kind::Time(time) => time.data_type(),
            Kind::List(item) => DataType::List(Arc::new(Field::new("item", item.data_type(), true))),
            Kind::Struct(fields, additional) => DataType::Struct(
                fields
                    .iter()
                    .map(|(name, kind)| Field::new(name, kind.data_type(), true))
                    .chain(additional.then(|| Field::new(ADDITIONAL, DataType::Utf8, true)))
                    .collect(),
            ),
        }
    }
}
