//! The two errors: [`SchemaError`] for a schema that cannot be compiled, and [`Violation`] for a message that breaks its schema.

use std::fmt;

/// The reason why a schema was not compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    keyword: String,
    pointer: String,
    message: String,
}

impl SchemaError {
    /// Returns an error at `keyword` of the schema at the JSON pointer `schema`. An empty keyword means the schema itself.
    pub(crate) fn new(schema: &str, keyword: &str, message: impl Into<String>) -> Self {
        let pointer = if keyword.is_empty() { schema.to_owned() } else { join(schema, keyword) };
        SchemaError { keyword: keyword.to_owned(), pointer, message: message.into() }
    }

    /// Returns an error of the statistics of a schema, which only a layout can check.
    #[doc(hidden)]
    pub fn of_statistics(message: String) -> Self {
        SchemaError::new("", "x-dunnage-statistics", message)
    }

    /// Returns an error of a schema whose slot cannot come from the port, which only a layout can check.
    #[doc(hidden)]
    pub fn of_slot_from(message: &str) -> Self {
        SchemaError::new("", "x-dunnage-slot-from", message)
    }

    /// Returns an error of messages that a schema is to be changed for, but does not carry.
    #[doc(hidden)]
    pub fn of_messages(message: &str) -> Self {
        SchemaError::new("", "", message)
    }

    /// Moves the error to `token` below the keyword.
    pub(crate) fn below(mut self, token: impl fmt::Display) -> Self {
        self.pointer = join(&self.pointer, &token.to_string());
        self
    }

    /// The faulty keyword. Empty if no single keyword is at fault (not JSON, nested too deeply).
    pub fn keyword(&self) -> &str {
        &self.keyword
    }

    /// The position in the schema: a JSON pointer (RFC 6901). Empty for the whole schema.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The description, for people.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        write_pointer(f, &self.pointer)
    }
}

impl std::error::Error for SchemaError {}

/// The way in which a message breaks its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pointer: String,
    message: String,
    is_unknown_field: bool,
}

impl Violation {
    /// Returns a violation by the value that is being checked.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Violation { pointer: String::new(), message: message.into(), is_unknown_field: false }
    }

    /// Marks the violation as one by a field that the schema does not have.
    pub(crate) fn of_field(self) -> Self {
        Violation { is_unknown_field: true, ..self }
    }

    /// Whether the violation is a field that the schema does not have, rather than an invalid value.
    pub fn is_unknown_field(&self) -> bool {
        self.is_unknown_field
    }

    /// Moves the violation to the value under `token`. Called while the check returns from nested values.
    pub(crate) fn under(mut self, token: &str) -> Self {
        self.pointer.insert_str(0, &join("", token));
        self
    }

    /// The position of the invalid value: a JSON pointer (RFC 6901) into the message. Empty for the whole message.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The description, for people. It names the value and the limit.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        write_pointer(f, &self.pointer)
    }
}

impl std::error::Error for Violation {}

/// Appends an escaped reference token to `pointer`.
pub(crate) fn join(pointer: &str, token: &str) -> String {
    format!("{pointer}/{}", crate::pointer::escape(token))
}

fn write_pointer(f: &mut fmt::Formatter<'_>, pointer: &str) -> fmt::Result {
    if pointer.is_empty() { Ok(()) } else { write!(f, " at {pointer}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_escaped_as_rfc_6901_says() {
        let violation = Violation::new("is wrong").under("0").under("m~n").under("a/b");
        assert_eq!(violation.pointer(), "/a~1b/m~0n/0");
        assert_eq!(violation.to_string(), "is wrong at /a~1b/m~0n/0");
        assert_eq!(
            SchemaError::new("/properties/a~1b", "enum", "").below(2).pointer(),
            "/properties/a~1b/enum/2"
        );
    }

    #[test]
    fn the_whole_message_has_the_empty_pointer() {
        assert_eq!(Violation::new("is null").to_string(), "is null");
    }
}
