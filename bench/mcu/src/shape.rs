//! The C type that holds a message.

use crate::Failure;
use dunnage_pson::Value;

/// The type of a value in C.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Null,
    Bool,
    /// The first of `uint32_t`, `int32_t`, `uint64_t` and `int64_t` that holds the range.
    Integer {
        least: i64,
        most: u64,
    },
    Float,
    Double,
    /// `char[longest + 1]`
    Text {
        longest: usize,
    },
    /// A struct.
    Map(Vec<(String, Shape)>),
    /// Elements of one shape, in a C array.
    List {
        element: Box<Shape>,
        most: usize,
    },
    /// Elements of several shapes, as a struct; also the empty array.
    Mixed(Vec<Shape>),
}

/// How a target stores floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Floats {
    /// Only binary32: other values are rounded to it.
    Single,
    /// binary32 where that is exact, else binary64.
    Lossless,
}

impl Floats {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Floats::Single => "single",
            Floats::Lossless => "exact",
        }
    }
}

/// The message with its floats as the target stores them.
pub fn rounded(value: &Value, floats: Floats) -> Value {
    match value {
        Value::F64(number) if floats == Floats::Single => Value::from(f64::from(*number as f32)),
        Value::Array(elements) => Value::Array(elements.iter().map(|e| rounded(e, floats)).collect()),
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|(key, v)| (key.clone(), rounded(v, floats))).collect())
        }
        other => other.clone(),
    }
}

impl Shape {
    /// The shape of a [`rounded`] value. Fails for bytes, and for text with NUL.
    pub fn of(value: &Value) -> Result<Shape, Failure> {
        Ok(match value {
            Value::Null => Shape::Null,
            Value::Bool(_) => Shape::Bool,
            Value::U64(n) => Shape::Integer { least: 0, most: *n },
            Value::I64(n) => Shape::Integer { least: *n, most: 0 },
            Value::F64(f) if f64::from(*f as f32) == *f => Shape::Float,
            Value::F64(_) => Shape::Double,
            Value::Text(text) if text.contains('\0') => return Err("has text with a NUL in it".into()),
            Value::Text(text) => Shape::Text { longest: text.len() },
            Value::Bytes(_) => return Err("contains bytes, which JSON lacks".into()),
            Value::Array(elements) => {
                let shapes = elements.iter().map(Shape::of).collect::<Result<Vec<_>, _>>()?;
                let most = shapes.len();
                let mut one = shapes.first().cloned().map(Ok).unwrap_or(Err(()));
                for shape in shapes.iter().skip(1) {
                    one = one.and_then(|all| all.unite(shape).ok_or(()));
                }
                match one {
                    Ok(Shape::Null) | Err(()) => Shape::Mixed(shapes),
                    Ok(element) => Shape::List { element: Box::new(element), most },
                }
            }
            Value::Map(entries) => Shape::Map(
                entries
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), Shape::of(value)?)))
                    .collect::<Result<_, Failure>>()?,
            ),
        })
    }

    /// The shape that holds the values of both; `None` if no shape does.
    fn unite(&self, other: &Shape) -> Option<Shape> {
        use Shape::*;
        Some(match (self, other) {
            (a, b) if a == b => a.clone(),
            (Integer { least: a, most: b }, Integer { least: c, most: d }) => {
                let shape = Integer { least: *a.min(c), most: *b.max(d) };
                shape.integer_type()?;
                shape
            }
            (Float, Integer { least, most }) | (Integer { least, most }, Float)
                if least.unsigned_abs().max(*most) <= 1 << 24 =>
            {
                Float
            }
            (Float | Double, Integer { least, most }) | (Integer { least, most }, Float | Double)
                if least.unsigned_abs().max(*most) <= 1 << 53 =>
            {
                Double
            }
            (Text { longest: a }, Text { longest: b }) => Text { longest: *a.max(b) },
            (Float, Double) | (Double, Float) => Double,
            (Map(a), Map(b)) if a.len() == b.len() => Map(a
                .iter()
                .zip(b)
                .map(|((key, a), (other, b))| (key == other).then(|| Some((key.clone(), a.unite(b)?)))?)
                .collect::<Option<_>>()?),
            (List { element: a, most: m }, List { element: b, most: n }) => {
                List { element: Box::new(a.unite(b)?), most: *m.max(n) }
            }
            _ => return None,
        })
    }

    /// The name of an integer's type in the macros, such as `u32`; `None` if no type holds the range.
    pub fn integer_type(&self) -> Option<&'static str> {
        let Shape::Integer { least, most } = *self else { return None };
        match (least, most) {
            (0, 0..=0xffff_ffff) => Some("u32"),
            (-0x8000_0000.., 0..=0x7fff_ffff) => Some("i32"),
            (0, _) => Some("u64"),
            (_, 0..=0x7fff_ffff_ffff_ffff) => Some("i64"),
            _ => None,
        }
    }

    /// Whether it needs the 64-bit functions of a library.
    pub fn is_wide(&self) -> bool {
        match self {
            Shape::Integer { .. } => matches!(self.integer_type(), Some("u64" | "i64")),
            Shape::Double => true,
            Shape::Map(entries) => entries.iter().any(|(_, shape)| shape.is_wide()),
            Shape::List { element, .. } => element.is_wide(),
            Shape::Mixed(shapes) => shapes.iter().any(Shape::is_wide),
            _ => false,
        }
    }
}
