//! C99 for a plain layout: a struct, and functions that write and read its bits.
//!
//! The output is a header and a source that need nothing else: what the message does not use is not in there. `plan` is the C side of the
//! layout, `build` makes it, `header`, `encode` and `decode` write it down, `support/` has the C that is the same for every schema.

mod build;
mod decode;
mod encode;
mod header;
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

/// What stands in the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// Their name without the ending: the schema's, in small letters.
    pub name: String,
    /// The text of the `.h`.
    pub header: String,
    /// The text of the `.c`.
    pub source: String,
}

/// The C of the messages of `layout`.
///
/// Errors: the parts of the schema that C cannot have, each with its path and what to change.
pub fn c(layout: &Layout, link: Option<Link<'_>>) -> Result<Files, Vec<Fault>> {
    let plan = plan(layout)?;
    let name = layout.name().to_lowercase();
    let header = header::header(&plan, layout, link);
    let source = source::source(&plan, layout, &name);
    Ok(Files { name, header, source })
}

/// The structs, members and constants of that C.
pub fn plan(layout: &Layout) -> Result<Plan, Vec<Fault>> {
    build::plan(layout)
}
