//! The answers of crates/pson, which are the expected ones.

use dunnage_conform::words;
use dunnage_pson::{Error, Item, Kind, Options, Reader, Value};

/// The text after `ok`, or the error.
pub type Answer = Result<String, Error>;

/// Formats an answer as a line.
pub fn line(answer: Answer) -> String {
    match answer {
        Ok(told) if told.is_empty() => "ok".into(),
        Ok(told) => format!("ok{told}"),
        Err(error) => format!("error {} {}", error.kind(), error.offset()),
    }
}

pub fn decode(message: &[u8], options: Options) -> Answer {
    let mut told = String::new();
    words::value(&mut told, &options.from_slice(message)?, false);
    Ok(told)
}

pub fn walk(message: &[u8], options: Options) -> Answer {
    let mut told = String::new();
    let mut reader = options.reader(message)?;
    item(&mut reader, &mut told)?;
    reader.finish()?;
    Ok(told)
}

pub fn skip(message: &[u8], options: Options) -> Answer {
    let mut reader = options.reader(message)?;
    reader.skip()?;
    reader.finish()?;
    Ok(String::new())
}

pub fn find(message: &[u8], key: &str, options: Options) -> Answer {
    let mut told = String::new();
    let mut reader = options.reader(message)?;
    reader.enter_map()?;
    if reader.find(key)? {
        item(&mut reader, &mut told)?;
    } else {
        told.push_str(" absent");
    }
    reader.leave()?;
    reader.finish()?;
    Ok(told)
}

/// Appends the next item and everything in it. Recursion is bounded by the nesting limit.
fn item(reader: &mut Reader<'_>, out: &mut String) -> Result<(), Error> {
    out.push(' ');
    match reader.item()? {
        Item::Unsigned(n) => words::number(out, 'i', n),
        Item::Negative(n) if n > 1 << 63 => out.push_str("i<"),
        Item::Negative(n) => words::number(out, 'i', -i128::from(n)),
        Item::Float(f) => words::float(out, f),
        Item::Bool(b) => out.push(if b { 't' } else { 'f' }),
        Item::Null => out.push('n'),
        Item::Text(text) => words::chars(out, 's', text.as_bytes()),
        Item::Bytes(bytes) => words::chars(out, 'b', bytes),
        Item::Array(n) => {
            words::number(out, 'a', n);
            while reader.more() {
                item(reader, out)?;
            }
            reader.leave()?;
        }
        Item::Map(n) => {
            words::number(out, 'm', n);
            while reader.more() {
                out.push(' ');
                words::chars(out, 's', reader.key()?.as_bytes());
                item(reader, out)?;
            }
            reader.leave()?;
        }
    }
    Ok(())
}

/// The types that `read` supports.
pub const TYPES: [&str; 14] =
    ["bool", "null", "str", "bytes", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64"];

/// Reads the message as `read_as`, which is one of [`TYPES`], in brackets for an array.
pub fn read(message: &[u8], read_as: &str, options: Options) -> Answer {
    let mut told = String::new();
    let mut reader = options.reader(message)?;
    match read_as.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        None => one(&mut reader, read_as, &mut told)?,
        Some(element) => {
            let mut count = 0;
            let mut elements = String::new();
            reader.enter_array()?;
            while reader.more() {
                one(&mut reader, element, &mut elements)?;
                count += 1;
            }
            reader.leave()?;
            told = format!(" a{count}{elements}");
        }
    }
    reader.finish()?;
    Ok(told)
}

fn one(reader: &mut Reader<'_>, read_as: &str, out: &mut String) -> Result<(), Error> {
    let value = match read_as {
        "bool" => Value::Bool(reader.bool()?),
        "null" => reader.null().map(|()| Value::Null)?,
        "str" => reader.text()?.into(),
        "bytes" => Value::Bytes(reader.bytes()?.into()),
        "u8" => Value::U64(reader.u8()?.into()),
        "u16" => Value::U64(reader.u16()?.into()),
        "u32" => Value::U64(reader.u32()?.into()),
        "u64" => Value::U64(reader.u64()?),
        "i8" => i64::from(reader.i8()?).into(),
        "i16" => i64::from(reader.i16()?).into(),
        "i32" => i64::from(reader.i32()?).into(),
        "i64" => reader.i64()?.into(),
        "f32" => Value::F64(reader.f32()?.into()),
        "f64" => Value::F64(reader.f64()?),
        _ => return Err(Error::new(Kind::Type, 0, "no such type")),
    };
    words::value(out, &value, false);
    Ok(())
}
