//! Mistakes in configuration files, with their places.

use std::fmt;

/// A mistake in a configuration file or in the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The file, or the environment variable.
    pub origin: String,
    /// Line and column, from 1, if they are known.
    pub place: Option<(usize, usize)>,
    /// The key, like `http.listen` or `profile[2].schema`; empty if no key is at fault.
    pub key: String,
    /// The cause.
    pub message: String,
}

/// `dunnage.toml:3:1: http.listen: what is wrong`.
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistake { origin, place, key, message } = self;
        f.write_str(origin)?;
        if let Some((line, column)) = place {
            write!(f, ":{line}:{column}")?;
        }
        if !key.is_empty() {
            write!(f, ": {key}")?;
        }
        // Messages of parsers may have several lines.
        write!(f, ": {}", message.replace('\n', " "))
    }
}
