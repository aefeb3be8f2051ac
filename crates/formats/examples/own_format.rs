//! How do I add a format?
//!
//!     cargo run -p dunnage-formats --example own_format
//!
//! A format of your own program implements the trait, and the other formats convert to and from it. A format of Dunnage is a file in
//! `src/` and a row in `id.rs`; `CONTRIBUTING.md` lists the other places.

use dunnage_formats::{Cbor, Error, Format, Kind, Reception, Value};

/// Lines of `name=number`, as simple loggers write them.
struct Lines;

impl Format for Lines {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        let fault = |kind, reason| Err(Error::of_value(kind, "", reason)); // the message itself is at fault
        let Value::Map(entries) = message else { return fault(Kind::Type, "only a map has lines") };
        let mut text = String::new();
        for (key, value) in entries {
            match value {
                Value::U64(_) | Value::I64(_) | Value::F64(_) if !key.contains(['=', '\n']) => {}
                // A format never changes a value that it cannot represent.
                _ => return fault(Kind::Type, "a line has a name and a number"),
            }
            let number =
                String::from_utf8(dunnage_formats::Json.round_trip(value)?.bytes).unwrap_or_default();
            text.push_str(&format!("{key}={number}\n"));
        }
        out.extend(text.into_bytes()); // only now, so that an error leaves `out` as it was
        Ok(())
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| Error::new(Kind::Malformed, error.valid_up_to(), "text that is not UTF-8"))?;
        let mut entries: Vec<(String, Value)> = Vec::new();
        let mut start = 0;
        for whole in text.split_inclusive('\n') {
            let line = whole.trim_end_matches(['\r', '\n']);
            let fault = |at: usize, reason| Error::new(Kind::Malformed, at, reason);
            let (key, number) = line.split_once('=').ok_or_else(|| fault(start, "a line without ="))?;
            if entries.iter().any(|(known, _)| known == key) {
                return Err(fault(start, "duplicate name"));
            }
            let at = start + key.len() + 1;
            let number = dunnage_formats::Json
                .decode_from(number.as_bytes(), reception)
                .map_err(|error| error.at_offset(at))?;
            entries.push((key.to_owned(), number));
            start += whole.len();
        }
        Ok(Value::Map(entries))
    }
}

fn main() -> Result<(), Error> {
    let message = Lines.decode(b"celsius=23.5\nvolt=3.30\n")?;
    let mut bytes = Vec::new();
    Cbor.encode(&message, &mut bytes)?;
    println!("{message:?} has {} bytes in CBOR", bytes.len());
    println!("{:?}", Lines.decode(b"celsius=23.5\nvolt=x\n").map_err(|error| error.to_string()));
    println!("{:?}", Lines.encode(&Value::from("text"), &mut bytes).map_err(|error| error.to_string()));
    Ok(())
}
