//! The payloads: the ten messages of "PSON: A Serialization Format for IoT Sensor Networks", section 4.4, and the container's message,
//! as structs that an application would define.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fmt::Debug;

const PAPER: &str = include_str!("../../corpus/pson-paper.json");
const CONTAINER: &str = include_str!("../../corpus/container.json");

/// A message, with its text owned or borrowed from the encoded bytes.
pub trait Payload {
    /// The name in tables.
    const NAME: &'static str;
    /// Text is `String`.
    type Owned: Serialize + DeserializeOwned + PartialEq + Debug;
    /// Text is `&str`.
    type Borrowed<'a>: Deserialize<'a>;

    /// Reads the message from the corpus.
    fn load() -> Self::Owned;
}

/// A payload without text: its owned and borrowed types are the same.
macro_rules! plain {
    ($name:ident { $($field:ident: $type:ty),* }) => {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub struct $name {
            $(pub $field: $type,)*
        }

        impl Payload for $name {
            const NAME: &'static str = stringify!($name);
            type Owned = $name;
            type Borrowed<'a> = $name;

            fn load() -> $name {
                paper(Self::NAME)
            }
        }
    };
}

/// A payload with text is generic over its type `S`.
macro_rules! with_text {
    ($load:ident $name:ident $fields:ident { $($(#[$attribute:meta])? $field:ident: $type:ty),* }) => {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub struct $fields<S> {
            $($(#[$attribute])? pub $field: $type,)*
        }

        #[doc = concat!("[`", stringify!($fields), "`] of ", stringify!($name), ".")]
        pub struct $name;

        impl Payload for $name {
            const NAME: &'static str = stringify!($name);
            type Owned = $fields<String>;
            type Borrowed<'a> = $fields<&'a str>;

            fn load() -> $fields<String> {
                $load(Self::NAME)
            }
        }
    };
}

with_text! { paper Test01 Fields01 { sensor: S, time: u32, data: [f64; 2] } }
with_text! { paper Test02 Fields02 { sensor: S, time: u32, data: [f64; 2] } }
with_text! { paper Test03 Fields03 {
    sensor: S, sensor2: S, sensor3: S, sensor4: S, sensor5: S, sensor6: S, sensor7: S, time: u32, data: [f64; 2]
} }
plain! { Test04 { data: [f64; 8] } }
plain! { Test05 { bool: bool } }
plain! { Test06 { neg: i32 } }
plain! { Test07 { pos: u32 } }
plain! { Test08 { double: f64 } }
with_text! { paper Test09 Fields09 { string: S } }
with_text! { paper Test10 Fields10 {
    string: S, double: f64, long: u32, pos: u32, neg: i32, bool: bool, array: [f64; 2]
} }
with_text! { container Container ContainerFields {
    msisdn: S, iso6346: S, time: S, rssi: S, cgi: S,
    #[serde(rename = "ble-m")] ble_m: S,
    #[serde(rename = "bat-soc")] bat_soc: S,
    acc: S, temperature: S, humidity: S, pressure: S, door: S, gnss: S, latitude: S, longitude: S, altitude: S,
    speed: S, heading: S, nsat: S, hdop: S
} }

fn paper<T: DeserializeOwned>(name: &str) -> T {
    let corpus: serde_json::Value = serde_json::from_str(PAPER).expect("the corpus is JSON");
    serde_json::from_value(corpus["payloads"][name].clone()).expect("the corpus fits the struct")
}

fn container<T: DeserializeOwned>(_: &str) -> T {
    serde_json::from_str(CONTAINER).expect("the corpus fits the struct")
}
