//! Paths of the parts of a message, for people: `position.altitude`, `readings[].t`, `tags.*`.

/// The place of a node directly below another one.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Place<'a> {
    /// That of the other node itself: the value of a nullable node or of a union.
    Same,
    /// Any element.
    Elements,
    /// The element with this index.
    Element(usize),
    /// The field with this name, or the number of a text that has this name.
    Field(&'a str),
    /// Any additional property.
    Additional,
}

impl Place<'_> {
    /// Returns the path of the place below `path`, which is empty for the whole message.
    pub fn below(self, path: &str) -> String {
        let name = match self {
            Place::Same => return path.to_owned(),
            Place::Elements => return format!("{path}[]"),
            Place::Element(index) => return format!("{path}[{index}]"),
            Place::Field(name) => name,
            Place::Additional => "*",
        };
        if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
    }
}

/// Returns the path as people read it: `$` for the whole message.
pub(crate) fn shown(path: &str) -> &str {
    if path.is_empty() { "$" } else { path }
}
