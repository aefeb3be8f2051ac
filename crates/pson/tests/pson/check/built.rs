//! A builder of values, which must find what the others find.

use dunnage_pson::{BuildError, Builder, Error, Options, Value};
use std::convert::Infallible;

/// Builds the value of `bytes`.
pub fn build(bytes: &[u8], options: Options) -> Result<Value, Error> {
    options.build(bytes, &mut Values).map_err(|error| match error {
        BuildError::Message(error) => error,
        BuildError::Builder(never) => match never {},
    })
}

struct Values;

impl<'de> Builder<'de> for Values {
    type Value = Value;
    type Key = &'de str;
    type Array = Vec<Value>;
    type Map = Vec<(String, Value)>;
    type Error = Infallible;

    fn null(&mut self) -> Result<Value, Infallible> {
        Ok(Value::Null)
    }

    fn bool(&mut self, b: bool) -> Result<Value, Infallible> {
        Ok(Value::Bool(b))
    }

    fn u64(&mut self, n: u64) -> Result<Value, Infallible> {
        Ok(Value::U64(n))
    }

    fn i64(&mut self, n: i64) -> Result<Value, Infallible> {
        assert!(n < 0);
        Ok(Value::I64(n))
    }

    fn f64(&mut self, f: f64) -> Result<Value, Infallible> {
        Ok(Value::from(f))
    }

    fn text(&mut self, text: &'de str) -> Result<Value, Infallible> {
        Ok(text.into())
    }

    fn bytes(&mut self, bytes: &'de [u8]) -> Result<Value, Infallible> {
        Ok(Value::Bytes(bytes.into()))
    }

    fn array(&mut self, _: usize) -> Result<Vec<Value>, Infallible> {
        Ok(Vec::new())
    }

    fn element(&mut self, array: &mut Vec<Value>, element: Value) -> Result<(), Infallible> {
        array.push(element);
        Ok(())
    }

    fn end_array(&mut self, array: Vec<Value>) -> Result<Value, Infallible> {
        Ok(Value::Array(array))
    }

    fn map(&mut self, _: usize) -> Result<Self::Map, Infallible> {
        Ok(Vec::new())
    }

    fn key(&mut self, key: &'de str) -> Result<&'de str, Infallible> {
        Ok(key)
    }

    fn entry(&mut self, map: &mut Self::Map, key: &'de str, value: Value) -> Result<bool, Infallible> {
        let new = map.iter().all(|(other, _)| other != key);
        map.push((key.into(), value));
        Ok(new)
    }

    fn end_map(&mut self, map: Self::Map) -> Result<Value, Infallible> {
        Ok(Value::Map(map))
    }
}
