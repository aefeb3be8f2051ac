//! Skips an item without recursion.

use crate::{
    Error,
    decode::{Decoder, Item},
    levels::{Level, Levels},
};

/// Skips the next item with everything in it. Checks everything except duplicate keys.
pub(crate) fn skip(decoder: &mut Decoder<'_>) -> Result<(), Error> {
    let Some(level) = skip_one(decoder)? else { return Ok(()) };
    let room = decoder.room;
    let mut levels = Levels::new(room);
    levels.push(level);
    while levels.depth() > 0 {
        if levels.current.left == 0 {
            levels.pop();
            continue;
        }
        decoder.room = levels.room();
        let opened = if levels.current.at_key() { decoder.key().map(|_| None) } else { skip_one(decoder) };
        levels.current.left -= 1;
        match opened {
            Ok(Some(level)) => {
                levels.push(level);
            }
            Ok(None) => {}
            Err(error) => {
                decoder.room = room;
                return Err(error);
            }
        }
    }
    decoder.room = room;
    Ok(())
}

/// Skips one item, or only the header of a map or array. In that case, returns the level that it opens.
fn skip_one(decoder: &mut Decoder<'_>) -> Result<Option<Level>, Error> {
    let header = decoder.at;
    Ok(match decoder.item()? {
        Item::Map(n) => Some(Level { left: decoder.items_of_map(n), header, is_map: true }),
        Item::Array(n) => Some(Level { left: decoder.items_of_array(n), header, is_map: false }),
        _ => None,
    })
}
