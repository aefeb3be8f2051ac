//! The data types of Sparkplug B, and JSON values in them (Sparkplug 3.0, section 6.4.16).

use super::payload::Value;
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use dunnage_base::clock;
use serde_json::Value as Json;

/// The distance of the number of an array's type to that of its elements.
const ARRAY: u32 = 21;
/// Up to here, each integer is a binary64 of its own.
const EXACT: u64 = 1 << 53;

/// A data type: a scalar, or an array of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataType {
    scalar: Scalar,
    is_array: bool,
}

/// The scalars that messages have, with their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scalar {
    Int8 = 1,
    Int16 = 2,
    Int32 = 3,
    Int64 = 4,
    UInt8 = 5,
    UInt16 = 6,
    UInt32 = 7,
    UInt64 = 8,
    Double = 10,
    Boolean = 11,
    String = 12,
    DateTime = 13,
    Bytes = 17,
}

const SCALARS: [Scalar; 13] = [
    Scalar::Int8,
    Scalar::Int16,
    Scalar::Int32,
    Scalar::Int64,
    Scalar::UInt8,
    Scalar::UInt16,
    Scalar::UInt32,
    Scalar::UInt64,
    Scalar::Double,
    Scalar::Boolean,
    Scalar::String,
    Scalar::DateTime,
    Scalar::Bytes,
];

impl DataType {
    pub const INT64: DataType = DataType::scalar(Scalar::Int64);
    const UINT64: DataType = DataType::scalar(Scalar::UInt64);
    pub const DOUBLE: DataType = DataType::scalar(Scalar::Double);
    pub const BOOLEAN: DataType = DataType::scalar(Scalar::Boolean);
    pub const STRING: DataType = DataType::scalar(Scalar::String);
    pub const DATE_TIME: DataType = DataType::scalar(Scalar::DateTime);
    const BYTES: DataType = DataType::scalar(Scalar::Bytes);

    const fn scalar(scalar: Scalar) -> DataType {
        DataType { scalar, is_array: false }
    }

    /// Returns the smallest type of all integers from `min` to `max`; Int64 if none has them all.
    pub fn integer(min: i128, max: i128) -> DataType {
        let narrow = |scalar: &&Scalar| scalar.range().is_some_and(|(low, high)| low <= min && max <= high);
        let unsigned = [Scalar::UInt8, Scalar::UInt16, Scalar::UInt32, Scalar::UInt64];
        let signed = [Scalar::Int8, Scalar::Int16, Scalar::Int32];
        let all = if min < 0 { &signed[..] } else { &unsigned[..] };
        DataType::scalar(all.iter().find(narrow).copied().unwrap_or(Scalar::Int64))
    }

    /// Returns the type of arrays of this scalar; `None` if there is none.
    pub fn array(self) -> Option<DataType> {
        (!self.is_array && self.scalar != Scalar::Bytes).then_some(DataType { is_array: true, ..self })
    }

    /// Returns its number in payloads.
    pub fn number(self) -> u32 {
        self.scalar as u32 + if self.is_array { ARRAY } else { 0 }
    }

    /// Returns the type with a number.
    pub fn of_number(number: u32) -> Option<DataType> {
        let all = SCALARS.into_iter().map(DataType::scalar);
        all.flat_map(|scalar| [Some(scalar), scalar.array()]).flatten().find(|kind| kind.number() == number)
    }

    /// Returns the type that a value has without a schema. What is neither a scalar nor an array of one scalar is a text, of JSON.
    pub fn natural(json: &Json) -> DataType {
        match json {
            Json::Bool(_) => DataType::BOOLEAN,
            Json::Number(number) if number.is_i64() => DataType::INT64,
            Json::Number(number) if number.is_u64() => DataType::UINT64,
            Json::Number(_) => DataType::DOUBLE,
            Json::Object(_) if float(json).is_some() => DataType::DOUBLE,
            Json::Object(_) if bytes(json).is_some() => DataType::BYTES,
            Json::Array(items) => {
                let kinds = [DataType::BOOLEAN, DataType::INT64, DataType::DOUBLE, DataType::STRING];
                let arrays = kinds.into_iter().filter_map(DataType::array);
                let mut fitting = arrays.filter(|kind| !items.is_empty() && kind.fit(json).is_some());
                fitting.next().unwrap_or(DataType::STRING)
            }
            Json::Null | Json::String(_) | Json::Object(_) => DataType::STRING,
        }
    }

    /// Returns a value in this type; `None` if it has no such value, or only a rounded one. Of a time, what is below a millisecond is cut.
    pub fn fit(self, json: &Json) -> Option<Value> {
        match (self.is_array, json) {
            (false, json) => self.scalar.fit(json),
            (true, Json::Array(items)) => self.scalar.pack(items).map(Value::Bytes),
            (true, _) => None,
        }
    }
}

impl Scalar {
    /// Returns the smallest and the largest integer of the type, if it is one of integers.
    fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            Scalar::Int8 => (i8::MIN.into(), i8::MAX.into()),
            Scalar::Int16 => (i16::MIN.into(), i16::MAX.into()),
            Scalar::Int32 => (i32::MIN.into(), i32::MAX.into()),
            Scalar::Int64 => (i64::MIN.into(), i64::MAX.into()),
            Scalar::UInt8 => (0, u8::MAX.into()),
            Scalar::UInt16 => (0, u16::MAX.into()),
            Scalar::UInt32 => (0, u32::MAX.into()),
            Scalar::UInt64 => (0, u64::MAX.into()),
            _ => return None,
        })
    }

    fn fit(self, json: &Json) -> Option<Value> {
        match self {
            Scalar::Double => double(json).map(Value::Double),
            Scalar::Boolean => json.as_bool().map(Value::Boolean),
            Scalar::String => json.as_str().map(|text| Value::String(text.to_owned())),
            Scalar::DateTime => time(json).map(|millis| Value::Long(millis as u64)),
            Scalar::Bytes => bytes(json).map(Value::Bytes),
            Scalar::Int64 => self.integer(json).map(|integer| Value::Long(integer as i64 as u64)),
            Scalar::UInt64 => self.integer(json).map(|integer| Value::Long(integer as u64)),
            _ => self.integer(json).map(|integer| Value::Int(integer as i32 as u32)),
        }
    }

    fn integer(self, json: &Json) -> Option<i128> {
        let (min, max) = self.range()?;
        integer(json).filter(|integer| (min..=max).contains(integer))
    }

    /// Returns the elements of an array one after the other, as Sparkplug packs them: little-endian numbers, texts that end with NUL, or the
    /// number of booleans and their bits, from the highest of each byte.
    fn pack(self, items: &[Json]) -> Option<Vec<u8>> {
        let mut packed = Vec::new();
        if self == Scalar::Boolean {
            packed.extend(u32::try_from(items.len()).ok()?.to_le_bytes());
            for eight in items.chunks(8) {
                let bits = eight.iter().map(Json::as_bool).collect::<Option<Vec<_>>>()?;
                packed.push(
                    bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit) << (7 - at)),
                );
            }
            return Some(packed);
        }
        for item in items {
            match self {
                Scalar::Double => packed.extend(double(item)?.to_le_bytes()),
                Scalar::DateTime => packed.extend(time(item)?.to_le_bytes()),
                Scalar::String => {
                    let text = item.as_str().filter(|text| !text.contains('\0'))?;
                    packed.extend(text.as_bytes());
                    packed.push(0);
                }
                _ => {
                    let (integer, width) = (self.integer(item)?, self.width()?);
                    packed.extend(&integer.to_le_bytes()[..width]);
                }
            }
        }
        Some(packed)
    }

    /// Returns the bytes of an integer in an array.
    fn width(self) -> Option<usize> {
        Some(match self {
            Scalar::Int8 | Scalar::UInt8 => 1,
            Scalar::Int16 | Scalar::UInt16 => 2,
            Scalar::Int32 | Scalar::UInt32 => 4,
            Scalar::Int64 | Scalar::UInt64 => 8,
            _ => return None,
        })
    }
}

/// Returns a whole number, also of one such as 2.0.
fn integer(json: &Json) -> Option<i128> {
    let whole = |float: f64| float.fract() == 0.0 && float.abs() <= EXACT as f64;
    let signed = json.as_i64().map(i128::from).or_else(|| json.as_u64().map(i128::from));
    signed.or_else(|| json.as_f64().filter(|float| whole(*float)).map(|float| float as i128))
}

/// Returns a number that is a binary64.
fn double(json: &Json) -> Option<f64> {
    match json {
        Json::Number(number) if number.is_f64() => number.as_f64(),
        Json::Number(_) => integer(json).filter(|n| n.unsigned_abs() <= EXACT.into()).map(|n| n as f64),
        json => float(json),
    }
}

/// Returns a time in milliseconds since 1970.
fn time(json: &Json) -> Option<i64> {
    Some(clock::parse(json.as_str()?)?.div_euclid(1000))
}

/// Returns a number that JSON lacks, which is an object in it: `{"$float":"NaN"}`.
fn float(json: &Json) -> Option<f64> {
    match the_only(json, "$float")? {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Returns bytes, which are an object in JSON: `{"$bytes":"AQI="}`.
fn bytes(json: &Json) -> Option<Vec<u8>> {
    BASE64.decode(the_only(json, "$bytes")?).ok()
}

/// Returns the text of an object's only field, if that has the name `key`.
fn the_only<'j>(json: &'j Json, key: &str) -> Option<&'j str> {
    json.as_object().filter(|object| object.len() == 1)?.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(number: u32) -> DataType {
        DataType::of_number(number).unwrap()
    }

    #[test]
    fn integers_have_the_smallest_type_that_has_them_all() {
        let numbers = [
            ((0, 255), 5),
            ((0, 256), 6),
            ((0, 65_536), 7),
            ((1, 1 << 40), 8),
            ((-1, 127), 1),
            ((-1, 128), 2),
            ((-40_000, 0), 3),
            ((-1, 1 << 40), 4),
            ((i64::MIN.into(), u64::MAX.into()), 4),
        ];
        for ((min, max), number) in numbers {
            assert_eq!(DataType::integer(min, max).number(), number, "{min} {max}");
        }
    }

    /// The examples are those of the specification, except that it writes floats in the other order of bytes, and -23 as 0xef.
    #[test]
    fn arrays_are_packed_as_the_specification_says() {
        let packed = |number, json| match of(number).fit(&json) {
            Some(Value::Bytes(bytes)) => bytes,
            other => panic!("{other:?}"),
        };
        assert_eq!(packed(22, json!([-23, 123])), [0xe9, 0x7b]);
        assert_eq!(packed(23, json!([-30_000, 30_000])), [0xd0, 0x8a, 0x30, 0x75]);
        assert_eq!(packed(24, json!([-1, 315_338_746])), [0xff, 0xff, 0xff, 0xff, 0xfa, 0xaf, 0xcb, 0x12]);
        assert_eq!(packed(27, json!([30, 52_360])), [0x1e, 0, 0x88, 0xcc]);
        let large = packed(29, json!([52, 16_444_743_074_749_521_625_u64]));
        assert_eq!(large[8..], [0xd9, 0x9e, 2, 0xd1, 0xb2, 0x76, 0x37, 0xe4]);
        assert_eq!(packed(31, json!([1.5, 2])), [1.5f64.to_le_bytes(), 2f64.to_le_bytes()].concat());
        let (o, i) = (false, true);
        assert_eq!(packed(32, json!([o, o, i, i, o, i, o, o, i, i, o, i])), [12, 0, 0, 0, 0x34, 0xd0]);
        assert_eq!(packed(33, json!(["ABC", "hello"])), b"ABC\0hello\0");
        assert_eq!(packed(34, json!(["2009-10-21T05:27:55.335Z"]))[..6], [0xc7, 0xd0, 0x90, 0x75, 0x24, 1]);
        assert!(packed(31, json!([])).is_empty());
    }

    #[test]
    fn a_value_is_sent_in_a_type_only_if_nothing_of_it_is_lost() {
        assert_eq!(of(1).fit(&json!(-1)), Some(Value::Int(u32::MAX)));
        assert_eq!(of(4).fit(&json!(-1)), Some(Value::Long(u64::MAX)));
        assert_eq!(of(5).fit(&json!(2.0)), Some(Value::Int(2)));
        assert_eq!(of(10).fit(&json!(7)), Some(Value::Double(7.0)));
        assert_eq!(of(13).fit(&json!("1969-12-31T23:59:59.999Z")), Some(Value::Long(u64::MAX)));
        assert_eq!(of(17).fit(&json!({"$bytes": "AQI="})), Some(Value::Bytes(vec![1, 2])));
        assert!(matches!(of(10).fit(&json!({"$float": "NaN"})), Some(Value::Double(f)) if f.is_nan()));
        for (number, json) in [
            (5, json!(256)),
            (5, json!(-1)),
            (4, json!(1.5)),
            (4, json!(u64::MAX)),
            (10, json!((1_u64 << 53) + 1)),
            (10, json!("1")),
            (11, json!(1)),
            (12, json!(1)),
            (13, json!("yesterday")),
            (25, json!([1, null])),
            (33, json!(["a\0b"])),
            (25, json!(7)),
            (17, json!({"$bytes": "?"})),
        ] {
            assert_eq!(of(number).fit(&json), None, "{number} {json}");
        }
    }

    #[test]
    fn a_value_without_a_schema_has_the_type_of_its_json() {
        for (json, number) in [
            (json!(true), 11),
            (json!(-7), 4),
            (json!(u64::MAX), 8),
            (json!(7.5), 10),
            (json!("x"), 12),
            (json!(null), 12),
            (json!({"$float": "Infinity"}), 10),
            (json!({"$bytes": ""}), 17),
            (json!([true]), 32),
            (json!([1, 2]), 25),
            (json!([1, 2.5]), 31),
            (json!(["a"]), 33),
            (json!([]), 12),
            (json!([1, "a"]), 12),
            (json!([{"t": 1}]), 12),
        ] {
            assert_eq!(DataType::natural(&json).number(), number, "{json}");
        }
        for number in (1..=8).chain(10..=13).chain(22..=29).chain(31..=34).chain([17]) {
            assert_eq!(of(number).number(), number);
        }
        assert_eq!((DataType::of_number(9), DataType::of_number(30)), (None, None));
    }
}
