//! A value of a tree that refers to itself: `spec/packed.md`, "Layouts".

use crate::Error;
use crate::carries::Carrier;
use crate::decode::Decoder;
use crate::encode::Encoder;
use crate::json;
use crate::limits::Nesting;
use crate::open;
use crate::wire::{Sink, Source};
use dunnage_pson::Value;

pub(super) fn carries(at: usize, value: &Value, carrier: &Carrier<'_>) -> Result<bool, Error> {
    carrier.carries(carrier.definition(at), value)
}

pub(super) fn write<S: Sink>(
    at: usize,
    value: &Value,
    nesting: Nesting,
    encoder: &mut Encoder<'_, S>,
) -> Result<(), Error> {
    encoder.carrier.definition(at).write(value, nesting, encoder)
}

#[inline]
pub(super) fn read<S: Source>(
    at: usize,
    nesting: Nesting,
    decoder: &mut Decoder<'_, S>,
    out: &mut Value,
) -> Result<(), Error> {
    decoder.fill_counted(decoder.carrier.definition(at), nesting, out)
}

pub(super) fn canonical(at: usize, out: &mut String) {
    json::tagged("definition", out, |out| out.push_str(&at.to_string()));
}

pub(super) fn open_parts(path: &str, walk: &mut open::Walk) {
    walk.open(path, "refers to itself", "write the levels out that there are");
}
