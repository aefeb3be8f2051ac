//! The payload of Sparkplug B, reduced to what the gateway writes and reads (Sparkplug 3.0, section 6.4).

use prost::Message;

/// The numbers of the data types of properties.
const DOUBLE: u32 = 10;
const STRING: u32 = 12;

/// A payload.
#[derive(Clone, PartialEq, Message)]
pub struct Payload {
    /// When it was sent, in milliseconds since 1970.
    #[prost(uint64, optional, tag = "1")]
    pub timestamp: Option<u64>,
    #[prost(message, repeated, tag = "2")]
    pub metrics: Vec<Metric>,
    /// The number of the message, modulo 256.
    #[prost(uint64, optional, tag = "3")]
    pub seq: Option<u64>,
}

/// A named value.
#[derive(Clone, PartialEq, Message)]
pub struct Metric {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// When the value was captured, in milliseconds since 1970.
    #[prost(uint64, optional, tag = "3")]
    pub timestamp: Option<u64>,
    /// The number of its data type.
    #[prost(uint32, optional, tag = "4")]
    pub datatype: Option<u32>,
    #[prost(bool, optional, tag = "5")]
    pub is_historical: Option<bool>,
    #[prost(bool, optional, tag = "7")]
    pub is_null: Option<bool>,
    #[prost(message, optional, tag = "9")]
    pub properties: Option<PropertySet>,
    #[prost(oneof = "Value", tags = "10, 11, 13, 14, 15, 16")]
    pub value: Option<Value>,
}

/// The value of a metric. Signed integers are in two's complement.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Value {
    #[prost(uint32, tag = "10")]
    Int(u32),
    #[prost(uint64, tag = "11")]
    Long(u64),
    #[prost(double, tag = "13")]
    Double(f64),
    #[prost(bool, tag = "14")]
    Boolean(bool),
    #[prost(string, tag = "15")]
    String(String),
    #[prost(bytes = "vec", tag = "16")]
    Bytes(Vec<u8>),
}

/// The properties of a metric: as many names as values.
#[derive(Clone, PartialEq, Message)]
pub struct PropertySet {
    #[prost(string, repeated, tag = "1")]
    pub keys: Vec<String>,
    #[prost(message, repeated, tag = "2")]
    pub values: Vec<Property>,
}

/// The value of a property.
#[derive(Clone, PartialEq, Message)]
pub struct Property {
    #[prost(uint32, optional, tag = "1")]
    pub datatype: Option<u32>,
    #[prost(oneof = "PropertyValue", tags = "6, 8")]
    pub value: Option<PropertyValue>,
}

/// The values of the properties that the gateway writes.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum PropertyValue {
    #[prost(double, tag = "6")]
    Double(f64),
    #[prost(string, tag = "8")]
    String(String),
}

impl Metric {
    /// Creates a metric of a value; of null without one.
    pub fn new(name: &str, timestamp: u64, datatype: u32, value: Option<Value>) -> Metric {
        Metric {
            name: Some(name.to_owned()),
            timestamp: Some(timestamp),
            datatype: Some(datatype),
            is_null: value.is_none().then_some(true),
            value,
            ..Metric::default()
        }
    }
}

impl PropertySet {
    /// Adds a property.
    pub fn push(&mut self, key: &str, value: PropertyValue) {
        let datatype = match value {
            PropertyValue::Double(_) => DOUBLE,
            PropertyValue::String(_) => STRING,
        };
        self.keys.push(key.to_owned());
        self.values.push(Property { datatype: Some(datatype), value: Some(value) });
    }
}
