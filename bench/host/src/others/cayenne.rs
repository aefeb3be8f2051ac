//! Cayenne Low Power Payload: a list of channels with sensor values, each with a type.
//!
//! A message fits if it is a flat object of numbers and booleans. Both ends know the schema, so a key is a channel: its number in the schema. A
//! number has the type of the quantity that its key names if that type holds it exactly, else the first other type that does.

use super::{failed, unfit};
use cayenne_lpp::{CayenneLPP, CayenneLPPScalar, CayenneLPPValue as Lpp};
use dunnage_formats::{Error, Format, Kind, Reception, Value};
use dunnage_schema::{Model, Type};

pub(super) const NOTE: &str = "flat objects of numbers and booleans only; a key is a channel, its number in the schema; a fraction \
    needs a type with its resolution";

/// The bytes of the longest value: channel, type and the four bytes of an integer.
const MAX_ITEM: usize = 6;

/// A type of Cayenne LPP that has one number.
struct Quantity {
    /// A part of the keys that name it; empty for the types that any key may have.
    name: &'static str,
    /// Steps per unit.
    scale: f64,
    /// The largest and smallest number of steps.
    steps: (i32, u32),
    value: fn(f32) -> Lpp,
}

const fn quantity(name: &'static str, scale: f64, steps: (i32, u32), value: fn(f32) -> Lpp) -> Quantity {
    Quantity { name, scale, steps, value }
}

const U8: (i32, u32) = (0, 255);
const I16: (i32, u32) = (-32768, 32767);
const U16: (i32, u32) = (0, 65535);

/// The named types first, then the others, the shortest first. Their resolutions are those of the crate's constants.
const QUANTITIES: [Quantity; 7] = [
    quantity("temperature", 10.0, I16, Lpp::Temperature),
    quantity("humidity", 2.0, U8, Lpp::RelativeHumidity),
    quantity("pressure", 10.0, U16, Lpp::BarometricPressure),
    quantity("voltage", 100.0, U16, Lpp::Voltage),
    quantity("", 1.0, U8, |n| Lpp::DigitalInput(n as u8)),
    quantity("", 100.0, I16, Lpp::AnalogInput),
    quantity("", 1.0, U16, |n| Lpp::Luminosity(n as u16)),
];

/// Cayenne LPP with the channels of one schema.
pub struct Cayenne {
    keys: Vec<String>,
}

impl Cayenne {
    /// Numbers the fields of `model`'s object.
    pub fn new(model: &Model) -> Cayenne {
        let keys = match model.root().bare() {
            Type::Object(object) => object.fields.iter().map(|field| field.name.clone()).collect(),
            _ => Vec::new(),
        };
        Cayenne { keys }
    }

    fn channel(&self, key: &str) -> Result<u8, Error> {
        let at = self.keys.iter().position(|known| known == key);
        let at = at.ok_or_else(|| unfit("the schema has no field of this name").under(key))?;
        u8::try_from(at).map_err(|_| unfit("a message has at most 256 channels").under(key))
    }
}

impl Format for Cayenne {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        let Value::Map(entries) = message else { return Err(unfit("only an object has channels")) };
        let mut buffer = vec![0; entries.len() * MAX_ITEM];
        let mut payload = CayenneLPP::new(&mut buffer);
        for (key, value) in entries {
            let channel = self.channel(key)?;
            let value = scalar(key, value).map_err(|error| error.under(key))?;
            payload.add_scalar(&CayenneLPPScalar { channel, value }).map_err(|e| failed(format!("{e:?}")))?;
        }
        out.extend_from_slice(payload.payload_slice());
        Ok(())
    }

    fn decode_from(&self, bytes: &[u8], _: &Reception<'_>) -> Result<Value, Error> {
        // The library reads from a buffer that it could write.
        let mut buffer = bytes.to_vec();
        let mut entries = Vec::new();
        for item in CayenneLPP::new(&mut buffer) {
            let item = item.map_err(|e| failed(format!("{e:?}")))?;
            let key = self.keys.get(usize::from(item.channel)).ok_or_else(|| unfit("an unknown channel"))?;
            entries.push((key.clone(), number(&item.value)?));
        }
        Ok(Value::Map(entries))
    }
}

fn scalar(key: &str, value: &Value) -> Result<Lpp, Error> {
    let number = match *value {
        Value::Bool(b) => return Ok(Lpp::Switch(b)),
        Value::F64(f) => f,
        Value::U64(_) | Value::I64(_) => value.as_integer().unwrap_or(0) as f64,
        _ => return Err(unfit(&format!("Cayenne LPP has no {}", value.type_name()))),
    };
    let fits = |quantity: &&Quantity| {
        let steps = (number * quantity.scale).round();
        (quantity.name.is_empty() || key.to_lowercase().contains(quantity.name))
            && (f64::from(quantity.steps.0)..=f64::from(quantity.steps.1)).contains(&steps)
            && steps / quantity.scale == number
    };
    match QUANTITIES.iter().find(fits) {
        Some(quantity) => {
            let steps = (number * quantity.scale).round();
            // The library truncates towards zero after a product in binary32, so it gets a quarter of a step more.
            let more = if quantity.scale == 1.0 { 0.0 } else { 0.25_f64.copysign(steps) };
            Ok((quantity.value)(((steps + more) / quantity.scale) as f32))
        }
        None => match (u32::try_from(number as i64), number.fract() == 0.0) {
            (Ok(n), true) => Ok(Lpp::GenericSensor(n)),
            _ => Err(Error::of_value(Kind::Range, "", "no type of Cayenne LPP holds this number exactly")),
        },
    }
}

fn number(value: &Lpp) -> Result<Value, Error> {
    // The decimal text of the binary32 has the digits of the step.
    let decimal = |n: &f32| n.to_string().parse::<f64>().map(Value::F64).map_err(failed);
    match value {
        Lpp::Switch(b) => Ok(Value::Bool(*b)),
        Lpp::DigitalInput(n) => Ok(Value::U64((*n).into())),
        Lpp::Luminosity(n) => Ok(Value::U64((*n).into())),
        Lpp::GenericSensor(n) => Ok(Value::U64((*n).into())),
        Lpp::AnalogInput(n)
        | Lpp::Temperature(n)
        | Lpp::RelativeHumidity(n)
        | Lpp::BarometricPressure(n)
        | Lpp::Voltage(n) => decimal(n),
        _ => Err(unfit("a type that the encoder writes")),
    }
}
