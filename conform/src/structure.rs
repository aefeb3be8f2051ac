//! Fills the struct of README.md from a message.

use crate::answers::Answer;
use dunnage_conform::words;
use dunnage_pson::{DUPLICATE_KEY, Error, Kind, Options, Reader};

const KEYS: [&str; 11] = ["b", "u", "i", "l", "q", "f", "t", "v", "n", "a", "s"];
const INNER: [&str; 2] = ["x", "y"];

/// The keys of the struct and of the nested structs.
pub fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.into_iter().chain(INNER)
}

pub fn answer(message: &[u8], options: Options) -> Answer {
    let mut reader = options.reader(message)?;
    let told = fill(&mut reader, &KEYS, outer)?;
    reader.finish()?;
    Ok(told)
}

/// Reads the field with this index and formats it as words.
type Field = fn(&mut Reader<'_>, usize) -> Result<String, Error>;

fn fill(reader: &mut Reader<'_>, keys: &[&str], field: Field) -> Answer {
    let mut fields = vec![None; keys.len()];
    reader.enter_map()?;
    while reader.more() {
        let at = reader.offset();
        let key = reader.key()?;
        match keys.iter().position(|known| *known == key) {
            None => reader.skip()?,
            Some(i) if fields[i].is_some() => {
                return Err(Error::new(Kind::Malformed, at, DUPLICATE_KEY));
            }
            Some(i) => fields[i] = Some(field(reader, i)?),
        }
    }
    reader.leave()?;
    let mut told = String::from(" ");
    words::number(&mut told, 'm', fields.iter().flatten().count());
    for (key, field) in keys.iter().zip(fields) {
        if let Some(field) = field {
            told.push(' ');
            words::chars(&mut told, 's', key.as_bytes());
            told.push_str(&field);
        }
    }
    Ok(told)
}

fn inner(reader: &mut Reader<'_>, i: usize) -> Result<String, Error> {
    Ok(format!(" i{}", if i == 0 { i64::from(reader.u16()?) } else { reader.i8()?.into() }))
}

fn outer(reader: &mut Reader<'_>, i: usize) -> Result<String, Error> {
    let mut told = String::from(" ");
    match KEYS[i] {
        "b" => told.push(if reader.bool()? { 't' } else { 'f' }),
        "u" => words::number(&mut told, 'i', reader.u8()?),
        "i" => words::number(&mut told, 'i', reader.i16()?),
        "l" => words::number(&mut told, 'i', reader.u32()?),
        "q" => words::number(&mut told, 'i', reader.i64()?),
        "f" => words::float(&mut told, reader.f32()?.into()),
        "t" => words::chars(&mut told, 's', short_text(reader)?.as_bytes()),
        "v" => words::chars(&mut told, 'b', reader.bytes()?),
        "n" => told = fill(reader, &INNER, inner)?,
        "a" => told = list(reader, 4, |reader| Ok(format!(" i{}", reader.i8()?)))?,
        _ => told = list(reader, 2, |reader| fill(reader, &INNER, inner))?,
    }
    Ok(told)
}

fn short_text<'de>(reader: &mut Reader<'de>) -> Result<&'de str, Error> {
    let at = reader.offset();
    let text = reader.text()?;
    if text.len() > 7 || text.contains('\0') {
        return Err(Error::new(Kind::Range, at, "no room for this text"));
    }
    Ok(text)
}

fn list(reader: &mut Reader<'_>, most: usize, element: fn(&mut Reader<'_>) -> Answer) -> Answer {
    let mut elements = Vec::new();
    reader.enter_array()?;
    while reader.more() {
        if elements.len() == most {
            let at = reader.offset();
            reader.item()?;
            return Err(Error::new(Kind::Range, at, "no room for this element"));
        }
        elements.push(element(reader)?);
    }
    reader.leave()?;
    Ok(format!(" a{}{}", elements.len(), elements.concat()))
}
