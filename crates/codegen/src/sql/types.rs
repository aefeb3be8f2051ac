//! The types of columns, from the types of values.

use dunnage_pson::Value;
use dunnage_schema::{
    Decimal, Model, TextFormat, TimeText, Type,
    parts::{self, Definitions},
};

/// All integers up to this have an exact double.
const EXACT: i128 = 1 << 53;

/// The type of a column in PostgreSQL.
#[derive(Debug, Clone, PartialEq)]
pub enum SqlType {
    /// `boolean`
    Boolean,
    /// `smallint`, 16 bits
    SmallInt,
    /// `integer`, 32 bits
    Integer,
    /// `bigint`, 64 bits
    BigInt,
    /// `numeric` with this many digits and decimal places, or with any.
    Numeric(Option<(u32, u32)>),
    /// `double precision`
    Double,
    /// `timestamp with time zone`, of texts in RFC 3339 or in one of these notations.
    Time(Vec<TimeText>),
    /// `text`
    Text,
    /// `jsonb`
    Json,
    /// An array of scalars.
    Array(Box<SqlType>),
}

impl SqlType {
    /// Returns its name, as PostgreSQL's `format_type` writes it.
    pub fn name(&self) -> String {
        match self {
            SqlType::Boolean => "boolean".to_owned(),
            SqlType::SmallInt => "smallint".to_owned(),
            SqlType::Integer => "integer".to_owned(),
            SqlType::BigInt => "bigint".to_owned(),
            SqlType::Numeric(None) => "numeric".to_owned(),
            SqlType::Numeric(Some((digits, places))) => format!("numeric({digits},{places})"),
            SqlType::Double => "double precision".to_owned(),
            SqlType::Time(_) => "timestamp with time zone".to_owned(),
            SqlType::Text => "text".to_owned(),
            SqlType::Json => "jsonb".to_owned(),
            SqlType::Array(element) => format!("{}[]", element.name()),
        }
    }
}

/// The type of numbers with `multipleOf` that are not whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Decimals {
    /// `numeric` with their decimal places: exact.
    #[default]
    Numeric,
    /// `double precision`: smaller, faster, and the nearest binary number.
    Double,
}

/// The type of a column, and the only texts that its values can be, if the schema lists them.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    pub kind: SqlType,
    pub allowed: Vec<String>,
}

/// Values without parts.
enum Scalar {
    Boolean,
    Number(Number),
    Time(Vec<TimeText>),
    /// Text, or one of some texts.
    Text(Option<Vec<String>>),
}

/// Numbers: scaled by 10^-`places`, or any.
struct Number {
    min: i128,
    max: i128,
    places: u32,
    /// Whether they may have any decimals: floats, and decimals that are rounded later.
    any: bool,
    float: bool,
}

/// Returns the type of a column of values of these types, of which there is at least one, and none is null.
pub(super) fn column(types: &[(&Model, &Type)], decimals: Decimals) -> Found {
    let scalars: Option<Vec<_>> = types.iter().map(|(_, kind)| scalar(kind)).collect();
    let merged = scalars.and_then(|scalars| scalars.into_iter().map(Some).reduce(merged).flatten());
    let kind = match merged {
        Some(Scalar::Text(Some(allowed))) => return Found { kind: SqlType::Text, allowed },
        Some(scalar) => scalar.kind(decimals),
        None => array(types, decimals).unwrap_or(SqlType::Json),
    };
    Found { kind, allowed: Vec::new() }
}

/// Returns the type of arrays whose elements are scalars of one type.
fn array(types: &[(&Model, &Type)], decimals: Decimals) -> Option<SqlType> {
    let mut elements = Vec::new();
    for (model, kind) in types {
        let kinds: Vec<&Type> = match kind {
            Type::Array(array) => vec![&*array.items],
            Type::Tuple(tuple) => tuple.items.iter().chain(tuple.rest.as_deref()).collect(),
            _ => return None,
        };
        for kind in kinds {
            let part = parts::of(model, kind, Definitions::LeftAlone);
            elements.extend(part.into_iter().filter(|kind| **kind != Type::Null).map(|kind| (*model, kind)));
        }
    }
    if elements.is_empty() {
        return None;
    }
    match column(&elements, decimals).kind {
        SqlType::Json | SqlType::Array(_) => None,
        scalar => Some(SqlType::Array(Box::new(scalar))),
    }
}

fn scalar(kind: &Type) -> Option<Scalar> {
    Some(match kind {
        Type::Bool => Scalar::Boolean,
        Type::Integer(n) => Scalar::Number(Number::whole(n.min, n.max)),
        Type::Decimal(n) => Scalar::Number(Number::scaled(n)),
        Type::NumberText(text) => Scalar::Number(Number::scaled(&text.number)),
        Type::Float(_) => Scalar::Number(Number { any: true, float: true, ..Number::whole(0, 0) }),
        Type::Text(text) if text.format == Some(TextFormat::DateTime) => Scalar::Time(Vec::new()),
        Type::TimeText(time) => Scalar::Time(vec![time.clone()]),
        Type::Text(_) | Type::NumbersText(_) => Scalar::Text(None),
        Type::Enum(values) => {
            let values = values.iter().filter(|value| **value != Value::Null).map(value);
            values.reduce(merged).flatten()?
        }
        Type::Const(constant) => value(constant)?,
        _ => return None,
    })
}

fn value(value: &Value) -> Option<Scalar> {
    Some(match value {
        Value::Bool(_) => Scalar::Boolean,
        Value::U64(n) => Scalar::Number(Number::whole((*n).into(), (*n).into())),
        Value::I64(n) => Scalar::Number(Number::whole((*n).into(), (*n).into())),
        Value::F64(_) => Scalar::Number(Number { any: true, float: true, ..Number::whole(0, 0) }),
        Value::Text(text) => Scalar::Text(Some(vec![text.clone()])),
        _ => return None,
    })
}

/// Returns the scalar that is either; `None` if a column cannot hold both.
fn merged(one: Option<Scalar>, other: Option<Scalar>) -> Option<Scalar> {
    Some(match (one?, other?) {
        (Scalar::Boolean, Scalar::Boolean) => Scalar::Boolean,
        (Scalar::Number(one), Scalar::Number(other)) => Scalar::Number(one.with(&other)),
        (Scalar::Time(mut one), Scalar::Time(other)) => {
            let new: Vec<_> = other.into_iter().filter(|time| !one.contains(time)).collect();
            one.extend(new);
            Scalar::Time(one)
        }
        (Scalar::Text(Some(mut one)), Scalar::Text(Some(other))) => {
            let new: Vec<_> = other.into_iter().filter(|text| !one.contains(text)).collect();
            one.extend(new);
            Scalar::Text(Some(one))
        }
        (Scalar::Text(_) | Scalar::Time(_), Scalar::Text(_) | Scalar::Time(_)) => Scalar::Text(None),
        _ => return None,
    })
}

impl Number {
    fn whole(min: i128, max: i128) -> Number {
        Number { min, max, places: 0, any: false, float: false }
    }

    fn scaled(number: &Decimal) -> Number {
        let Decimal { min, max, places, round, .. } = *number;
        Number { min, max, places, any: round, float: false }
    }

    fn with(&self, other: &Number) -> Number {
        let places = self.places.max(other.places);
        let scale = |n: i128, from: u32| n.saturating_mul(10_i128.saturating_pow(places - from));
        Number {
            min: scale(self.min, self.places).min(scale(other.min, other.places)),
            max: scale(self.max, self.places).max(scale(other.max, other.places)),
            places,
            any: self.any || other.any,
            float: self.float || other.float,
        }
    }

    fn kind(&self, decimals: Decimals) -> SqlType {
        let exact = (-EXACT..=EXACT).contains(&self.min) && (-EXACT..=EXACT).contains(&self.max);
        let fraction = self.places > 0 || self.any;
        if (self.float && exact) || (fraction && decimals == Decimals::Double) {
            return SqlType::Double;
        }
        if self.any {
            return SqlType::Numeric(None);
        }
        let within = |min: i64, max: i64| self.min >= min.into() && self.max <= max.into();
        if self.places == 0 {
            match () {
                () if within(i16::MIN.into(), i16::MAX.into()) => return SqlType::SmallInt,
                () if within(i32::MIN.into(), i32::MAX.into()) => return SqlType::Integer,
                // 2^64-1 is what a schema without a maximum has.
                () if within(i64::MIN, i64::MAX) || self.max == u64::MAX.into() => return SqlType::BigInt,
                () => {}
            }
        }
        let digits = |n: i128| n.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1);
        let digits = digits(self.min).max(digits(self.max)).max(self.places);
        SqlType::Numeric(Some((digits, self.places)))
    }
}

impl Scalar {
    fn kind(self, decimals: Decimals) -> SqlType {
        match self {
            Scalar::Boolean => SqlType::Boolean,
            Scalar::Number(number) => number.kind(decimals),
            Scalar::Time(notations) => SqlType::Time(notations),
            Scalar::Text(_) => SqlType::Text,
        }
    }
}
