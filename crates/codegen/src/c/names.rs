//! Identifiers that are valid in C and C++, and unique in their scope.

use crate::names;
use std::collections::{HashMap, HashSet};

/// The identifiers of one scope.
#[derive(Debug, Default)]
pub(super) struct Scope {
    taken: HashSet<String>,
    /// The suffix from which the search for a free name goes on, for stems that were claimed more than once.
    next: HashMap<String, usize>,
}

impl Scope {
    /// Returns `stem`, with the smallest suffix from `_2` on that makes it and its combinations with all `endings` new. All of these names
    /// become reserved.
    pub fn claim(&mut self, stem: &str, endings: &[&str]) -> String {
        let all = |stem: &str| -> Vec<String> {
            std::iter::once("")
                .chain(endings.iter().copied())
                .map(|ending| format!("{stem}{ending}"))
                .collect()
        };
        let is_free =
            |taken: &HashSet<String>, stem: &str| all(stem).iter().all(|name| !taken.contains(name));
        let mut candidate = stem.to_owned();
        if !is_free(&self.taken, stem) {
            // The search goes on where it ended for the same stem.
            let next = self.next.entry(stem.to_owned()).or_insert(2);
            while !is_free(&self.taken, &candidate) {
                candidate = format!("{stem}_{next}");
                *next += 1;
            }
        }
        self.taken.extend(all(&candidate));
        candidate
    }
}

/// Returns the name of a struct's member for the key `text`: `ble-m` becomes `ble_m`, `MODE` becomes `mode`, and `int` becomes `int_`.
pub(super) fn member(text: &str) -> String {
    let mut name = names::field(text);
    if !name.contains(|c: char| c.is_ascii_lowercase()) {
        // Headers of compilers and libraries define macros in capitals.
        name.make_ascii_lowercase();
    }
    if RESERVED.contains(&name.as_str()) { format!("{name}_") } else { name }
}

/// Returns the name of a struct type for `word`. One in capitals could be a macro of some header, so `NULL` becomes `Null`.
pub(super) fn type_word(word: &str) -> String {
    if word.len() < 2 || word.contains(|c: char| c.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let (first, rest) = word.split_at(1);
    format!("{first}{}", rest.to_ascii_lowercase())
}

/// Returns a word of a macro's name: `ble_m` becomes `BLE_M`, and `batSoc` becomes `BAT_SOC`.
pub(super) fn capitals(name: &str) -> String {
    let mut out = String::new();
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && after_lower {
            out.push('_');
        }
        after_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    }
    out
}

/// Keywords of C and C++, and macros that compilers predefine in their default modes.
const RESERVED: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "arm",
    "asm",
    "assert",
    "auto",
    "avr",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "errno",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "i386",
    "if",
    "inline",
    "int",
    "linux",
    "long",
    "mips",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "sparc",
    "static",
    "static_assert",
    "static_cast",
    "stderr",
    "stdin",
    "stdout",
    "struct",
    "sun",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unix",
    "unsigned",
    "using",
    "vax",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_members() {
        for (key, name) in
            [("ble-m", "ble_m"), ("int", "int_"), ("PORTB", "portb"), ("batSoc", "batSoc"), ("3d", "f_3d")]
        {
            assert_eq!(member(key), name);
        }
        assert_eq!(member("Class"), "Class");
        assert_eq!(["Weather", "NULL", "PORTB", "A"].map(type_word), ["Weather", "Null", "Portb", "A"]);
        assert_eq!(capitals("batSoc"), "BAT_SOC");
        assert_eq!(capitals("ContainerNumeric"), "CONTAINER_NUMERIC");
    }

    #[test]
    fn a_name_is_claimed_with_what_is_derived_from_it() {
        let mut scope = Scope::default();
        assert_eq!(scope.claim("A_X_MIN", &[]), "A_X_MIN");
        assert_eq!(scope.claim("A_X", &["_MIN", "_MAX"]), "A_X_2");
        assert_eq!(scope.claim("A_X_2_MAX", &[]), "A_X_2_MAX_2");
    }
}
