//! IDs of messages as idempotency keys: visible ASCII characters, at most 128. Whatever a provider uses as ID has such a form, and two
//! different IDs never have the same.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use dunnage_base::name::MAX_KEY;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use ring::digest::{SHA256, digest};

/// What an ID must not have: characters that are not visible, the separator of parts, and that of encoded characters.
const IN_ID: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'@');

/// Returns `id`, percent-encoded.
pub fn encoded(id: &str) -> String {
    utf8_percent_encode(id, IN_ID).to_string()
}

/// Returns one ID of the parts that are unique only together.
pub fn joined<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    parts.into_iter().map(encoded).collect::<Vec<_>>().join("@")
}

/// Returns the ID of a message whose provider names it by nothing but its time and its bytes: the same message has it whenever it comes again.
pub fn of_content(time: &str, bytes: &[u8]) -> String {
    joined([time, &URL_SAFE_NO_PAD.encode(digest(&SHA256, bytes))])
}

/// Returns an encoded ID, or its hash if it is longer than a key may be.
pub fn bounded(id: String) -> String {
    if id.len() > MAX_KEY { hash(&id) } else { id }
}

/// Returns the key of the message with the encoded `id`, among those of `whose`, which has at most 80 bytes.
pub fn key(whose: &str, id: &str) -> String {
    let key = format!("{whose}:{id}");
    if key.len() > MAX_KEY { format!("{whose}:{}", hash(id)) } else { key }
}

/// Returns the hash of an encoded ID. No encoded ID has two percent signs in a row.
fn hash(id: &str) -> String {
    format!("%%{}", URL_SAFE_NO_PAD.encode(digest(&SHA256, id.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_base::name::is_key;
    use std::collections::HashSet;

    #[test]
    fn every_id_has_a_key_of_its_own() {
        let long = |end: char| "0123456789".repeat(12) + &end.to_string();
        let mut ids = vec![
            "7".into(),
            "a b".into(),
            "a%20b".into(),
            "a@b".into(),
            "a\nb".into(),
            "é".into(),
            long('a'),
            long('b'),
            long(' ').repeat(9),
            long('@').repeat(9),
        ];
        // An ID that looks like the key of another one.
        ids.push(bounded(encoded(&long(' ').repeat(9))));
        let whose = format!("generic:{}", "i".repeat(64));
        let keys: HashSet<_> = ids.iter().map(|id| key(&whose, &bounded(encoded(id)))).collect();
        assert_eq!(keys.len(), ids.len());
        assert!(keys.iter().all(|key| is_key(key)), "{keys:?}");
        assert_eq!(key("astrocast", &encoded("a1-b2")), "astrocast:a1-b2");
        assert_eq!(joined(["1@2", "3"]), "1%402@3");
        assert_ne!(joined(["1@2", "3"]), joined(["1", "2@3"]));
    }
}
