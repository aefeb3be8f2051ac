//! C99 for a plain layout: a struct, and functions that write and read its bits.
//!
//! The output is a header and a source for each schema, and `support/`, the C that all schemas of a program share. `plan` is the C side of the
//! layout, `build` makes it, `header`, `macros`, `structs`, `initial`, `encode` and `decode` write it down.

mod build;
mod decode;
mod encode;
mod header;
mod initial;
mod macros;
mod names;
mod number;
mod pattern;
mod plan;
mod shrink;
mod source;
mod structs;
mod union;

pub use number::{Count, Whole};
pub use plan::*;
pub use shrink::{Share, shares};

use dunnage_packed::Layout;

/// The limit of a link, for the assertion that every message fits.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// The name for people.
    pub name: &'a str,
    /// Bytes of its largest message.
    pub limit: usize,
}

/// What else than the schema decides what the C is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// A link that every message has to fit.
    pub link: Option<Link<'a>>,
    /// What all names begin with, made by [`prefix`].
    pub prefix: &'a str,
}

/// What stands in the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// Their name without the ending: the struct's, in small letters.
    pub name: String,
    /// The text of the `.h`.
    pub header: String,
    /// The text of the `.c`.
    pub source: String,
}

/// The files that all generated messages of a program share: names and texts.
pub const SUPPORT: [(&str, &str); 2] = [
    ("dunnage_message.h", include_str!("support/dunnage_message.h")),
    ("dunnage_message.c", include_str!("support/dunnage_message.c")),
];

/// The C of the messages of `layout`; it needs [`SUPPORT`] beside it.
///
/// Errors: the parts of the schema that C cannot have, each with its path and what to change.
pub fn c(layout: &Layout, options: Options<'_>) -> Result<Files, Vec<Fault>> {
    let plan = build::plan(layout, options.prefix)?;
    let name = plan.name.to_lowercase();
    let header = header::header(&plan, layout, options.link);
    let source = source::source(&plan, layout, &name);
    Ok(Files { name, header, source })
}

/// The structs, members and constants of that C, without a prefix.
pub fn plan(layout: &Layout) -> Result<Plan, Vec<Fault>> {
    build::plan(layout, "")
}

/// `text` as the prefix of names: `acme` and `acme_` are `acme_`. Errors: it cannot begin a name.
pub fn prefix(text: &str) -> Result<String, String> {
    let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err(
            "a prefix is letters and digits of ASCII and underscores, and begins with a letter".into()
        );
    }
    let stem = text.trim_end_matches('_');
    if stem.eq_ignore_ascii_case("dunnage") {
        return Err("the prefix dunnage belongs to the code that all messages share".into());
    }
    Ok(format!("{stem}_"))
}
