//! Identifiers made from the keys and values of a schema.

use std::collections::{HashMap, HashSet};

/// The names in one scope, each used once.
///
/// Names that differ only in case or underscores count as equal, because code generated for some languages would spell them the same.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
    /// The suffix from which the search for a free one goes on, for names that were claimed more than once.
    next: HashMap<String, usize>,
}

impl Names {
    /// Returns `name`, with the smallest suffix from 2 on that makes it unique if it is already in use.
    pub(crate) fn claim(&mut self, name: &str) -> String {
        if self.taken.insert(folded(name)) {
            return name.to_owned();
        }
        let next = self.next.entry(folded(name)).or_insert(2);
        loop {
            let candidate = format!("{name}_{next}");
            *next += 1;
            if self.taken.insert(folded(&candidate)) {
                return candidate;
            }
        }
    }
}

/// Returns what names that count as equal have in common.
fn folded(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

/// Replaces everything but ASCII letters and digits with underscores, and makes the name start with a letter: `ble-m` becomes `ble_m`, and
/// `3d` becomes `f_3d`.
pub(crate) fn field(text: &str) -> String {
    let name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name
    } else {
        format!("f_{}", name.trim_start_matches('_'))
    }
}

/// Converts `text` to an identifier in upper case, for the values of an enumeration.
pub(crate) fn symbol(text: &str) -> String {
    let name: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("V{name}") }
}

/// Capitalises and joins the words of `text`, for records and enumerations: `ble-m` becomes `BleM`, and `3d` becomes `T3d`.
pub(crate) fn camel(text: &str) -> String {
    let mut name = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let (first, rest) = word.split_at(1);
        name.push_str(&first.to_ascii_uppercase());
        name.push_str(rest);
    }
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("T{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_identifiers() {
        assert_eq!(field("ble-m"), "ble_m");
        assert_eq!(field("3d"), "f_3d");
        assert_eq!(field("température"), "temp_rature");
        assert_eq!(field("_x"), "f_x");
        assert_eq!(field(""), "f_");
        assert_eq!(camel("bat-soc"), "BatSoc");
        assert_eq!(camel("3d"), "T3d");
        assert_eq!(symbol("not ok"), "NOT_OK");
        assert_eq!(symbol("06"), "V06");
    }

    #[test]
    fn a_name_is_given_out_once() {
        let mut names = Names::default();
        assert_eq!(names.claim("a_b"), "a_b");
        assert_eq!(names.claim("aB"), "aB_2");
        assert_eq!(names.claim("a_b"), "a_b_3");
    }

    #[test]
    fn many_equal_names_take_little_time() {
        let start = std::time::Instant::now();
        let mut names = Names::default();
        let last = (0..100_000).map(|_| names.claim("T")).last();
        assert_eq!(last.as_deref(), Some("T_100000"));
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }
}
