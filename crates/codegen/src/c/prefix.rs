//! The prefix of the names in generated C.

use std::{fmt, str::FromStr};

/// The prefix of all names in generated C: none, or an identifier that ends with an underscore.
///
/// ```
/// use dunnage_codegen::c::Prefix;
/// let prefix: Prefix = "acme".parse()?; // or "acme_"
/// assert_eq!(prefix.to_string(), "acme_");
/// assert!("3com".parse::<Prefix>().is_err()); // no identifier begins with a digit
/// assert!("dunnage".parse::<Prefix>().is_err()); // the prefix of the shared code
/// assert_eq!(Prefix::default().to_string(), "");
/// # Ok::<(), dunnage_codegen::c::PrefixError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prefix(String);

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Prefix, PrefixError> {
        let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let stem = text.trim_end_matches('_');
        if !is_name {
            return Err(PrefixError(
                "a prefix is letters and digits of ASCII and underscores, and begins with a letter",
            ));
        }
        if stem.eq_ignore_ascii_case("dunnage") {
            return Err(PrefixError("the prefix dunnage belongs to the code that all messages share"));
        }
        Ok(Prefix(format!("{stem}_")))
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The reason why a text is not a [`Prefix`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefixError(&'static str);

impl fmt::Display for PrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for PrefixError {}
