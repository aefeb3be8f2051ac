//! Writes the members of a schema as JSON text.

use std::fmt::Display;

/// Members of a schema: keywords and their values as JSON text.
pub(super) struct Members(pub(super) Vec<(&'static str, String)>);

impl Members {
    pub(super) fn of(kind: &str) -> Members {
        Members(vec![("type", quoted(kind))])
    }

    pub(super) fn with(mut self, keyword: &'static str, value: impl Display) -> Members {
        self.0.push((keyword, value.to_string()));
        self
    }

    pub(super) fn object(self) -> String {
        let members: Vec<String> =
            self.0.iter().map(|(key, value)| format!("{}:{value}", quoted(key))).collect();
        format!("{{{}}}", members.join(","))
    }
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
