//! The schemas of `spec/schemas`, embedded.

const BUNDLED: [(&str, &str); 1] = [("container", include_str!("../../../spec/schemas/container.json"))];

/// Name and text of every schema in `spec/schemas`.
pub fn bundled() -> &'static [(&'static str, &'static str)] {
    &BUNDLED
}

/// The text of the schema called `name`: `container` for `spec/schemas/container.json`.
pub fn bundled_named(name: &str) -> Option<&'static str> {
    BUNDLED.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}
