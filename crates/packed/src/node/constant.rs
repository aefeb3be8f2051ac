//! A value that is always the same, which takes no bits: `spec/packed.md`, "Plain bodies".

use crate::encode::Encoder;
use crate::explain::Words;
use crate::wire::Sink;
use crate::{Error, json};
use dunnage_pson::{Kind, Value};
use dunnage_schema::same;

pub(super) fn carries(only: &Value, value: &Value) -> bool {
    same(only, value)
}

#[inline]
pub(super) fn write<S: Sink>(only: &Value, value: &Value, encoder: &mut Encoder<'_, S>) -> Result<(), Error> {
    if !same(only, value) {
        return Err(Error::new(Kind::Range, 0, "not the constant"));
    }
    encoder.values.take_known(value, 0)
}

pub(super) fn canonical(only: &Value, out: &mut String) {
    json::tagged("constant", out, |out| json::write(only, out));
}

pub(super) fn explain(only: &Value) -> Words {
    let mut text = String::new();
    json::write(only, &mut text);
    Words::says(&text, "always the same")
}
