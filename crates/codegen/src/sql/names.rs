//! Names and texts in SQL.

/// The longest name in PostgreSQL, in bytes.
pub(super) const LONGEST: usize = 63;

/// Returns the column of the field at `path`: the names of the objects around it and its own, with `__` between them.
///
/// A name that could be another field's, or one of the columns of every table, which begin with `_`, ends with a hash of the path instead.
/// So each field has the same column whatever other fields its schema has.
pub(super) fn column(path: &[String]) -> String {
    let is_plain = |name: &String| {
        !name.is_empty() && !name.starts_with('_') && !name.ends_with('_') && !name.contains("__")
    };
    let name = path.join("__");
    if path.iter().all(is_plain) { identifier(&name) } else { hashed(&name, &path.join("\0")) }
}

/// Returns `text` as a name: as it is if PostgreSQL can store it, else its beginning and a hash of the whole.
pub fn identifier(text: &str) -> String {
    match text.is_empty() || text.len() > LONGEST || text.contains('\0') {
        true => hashed(text, text),
        false => text.to_owned(),
    }
}

/// Returns the beginning of `name`, and a hash of `whole`.
fn hashed(name: &str, whole: &str) -> String {
    let beginning = name.floor_char_boundary(LONGEST - 9);
    format!("{}_{}", name[..beginning].replace('\0', ""), hash(whole))
}

/// Returns a name of at most `longest` bytes: `name`, or its beginning and a hash.
pub(super) fn shortened(name: &str, longest: usize) -> String {
    match name.len() > longest {
        true => format!("{}_{}", &name[..name.floor_char_boundary(longest - 9)], hash(name)),
        false => name.to_owned(),
    }
}

/// Returns a hash of `text` in 8 hexadecimal digits: FNV-1a of 64 bits, folded.
pub(super) fn hash(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}

/// Returns a name in quotes.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns a text in quotes.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace('\0', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &[&str]) -> String {
        column(&path.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn fields_have_their_names_and_parts_of_objects_those_of_the_objects_before() {
        assert_eq!(of(&["t"]), "t");
        assert_eq!(of(&["wind", "speed", "max"]), "wind__speed__max");
        assert_eq!(of(&["Größe \"x\""]), "Größe \"x\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(literal("it's"), "'it''s'");
    }

    #[test]
    fn no_two_fields_have_one_column() {
        let long = "é".repeat(40);
        let paths: [&[&str]; 12] = [
            &["a", "b"],
            &["a__b"],
            &["a_", "b"],
            &["a", "_b"],
            &["_name"],
            &[""],
            &["", ""],
            &["a\0b"],
            &["ab"],
            &[&long],
            &[&long, "x"],
            &["A"],
        ];
        let names: std::collections::HashSet<_> = paths.iter().map(|path| of(path)).collect();
        assert_eq!(names.len(), paths.len(), "{names:?}");
        assert!(names.iter().all(|name| (1..=63).contains(&name.len()) && !name.contains('\0')));
        assert!(!names.contains("_name"));
        assert_eq!(of(&["a__b"]), "a__b_7f0125c3");
    }
}
