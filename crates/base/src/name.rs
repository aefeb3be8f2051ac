//! IDs of devices, schemas and links (`spec/ingest.md`, "Names"), and their patterns.

/// Longest name, in bytes.
pub const MAX_NAME: usize = 64;

/// Longest device ID, in bytes.
pub const MAX_DEVICE: usize = 128;

/// Whether `id` may be the ID of a device: 1 to 128 bytes of UTF-8 without control characters.
pub fn is_device(id: &str) -> bool {
    (1..=MAX_DEVICE).contains(&id.len()) && !id.contains(char::is_control)
}

/// Whether `name` may name a schema, a link, or a part of the configuration: 1 to 64 of `A-Z a-z 0-9 . _ : -`, the first a letter or a digit.
pub fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() <= MAX_NAME
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"._:-".contains(b))
}

/// Longest idempotency key, in bytes.
pub const MAX_KEY: usize = 128;

/// Whether `key` may be an idempotency key: 1 to 128 visible ASCII characters.
pub fn is_key(key: &str) -> bool {
    (1..=MAX_KEY).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic())
}

/// Returns whether `name` matches `pattern`, where `*` matches any number of any characters.
pub fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(head) else { return false };
    let Some((middle, last)) = tail.rsplit_once('*') else { return rest.ends_with(tail) };
    let Some(mut rest) = rest.strip_suffix(last) else { return false };
    middle.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_the_specification_says() {
        for name in ["LMCU1231237", "urn:imei:356938035643809", "a.b_c-d", "0", &"x".repeat(64)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".", "..", "-a", "a b", "a/b", "é", "a\0", "a%", &"x".repeat(65)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn a_device_may_have_any_name() {
        for id in [
            "LMCU1231237",
            "Schlafzimmer Bett",
            "entrée",
            "upstairs/lamp",
            "!a1b2c3d4",
            "-",
            "..",
            "温度",
            &"x".repeat(128),
        ] {
            assert!(is_device(id), "{id}");
        }
        for id in ["", "a\0", "a\n", "\u{7f}", "\u{85}", &"é".repeat(65)] {
            assert!(!is_device(id), "{id:?}");
        }
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name) in [
            ("*", "anything"),
            ("LMCU*", "LMCU1"),
            ("LMCU*", "LMCU"),
            ("*7", "LMCU7"),
            ("L*U*7", "LMCU17"),
            ("a*b*c", "abbc"),
            ("a**c", "abc"),
            ("same", "same"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("LMCU*", "XMCU"),
            ("*7", "78"),
            ("aa*aa", "aaa"),
            ("a*b*c", "acb"),
            ("a*bb*b", "abb"),
            ("same", "samex"),
        ] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}
