//! Generates C99 for a plain layout: a struct, and functions that write and read its bits.
//!
//! The output is a header and a source for each schema, and `support/`, the C code that all schemas of a program share. `plan` describes
//! the C side of the layout and `build` makes it; `header`, `macros`, `structs`, `initial`, `encode` and `decode` turn it into text.

mod alternative;
mod build;
mod decode;
mod device_checks;
mod encode;
mod fit;
mod header;
mod initial;
mod macros;
mod modes;
mod names;
mod number;
mod parts;
mod pattern;
mod place;
mod plan;
mod prefix;
mod put;
mod size_advice;
mod source;
mod structs;
mod tables;
mod union;

pub use device_checks::{DeviceCheck, device_checks};
pub use number::{Count, Whole};
pub use plan::*;
pub use prefix::{Prefix, PrefixError};
pub use size_advice::{Share, shares};

use dunnage_packed::Layout;

/// The size limit of a link, for the assertion that every message fits.
///
/// ```
/// # use dunnage_codegen::c;
/// # use dunnage_packed::Layout;
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "title": "Reading",
///     "type": "object",
///     "properties": {
///         "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
///         "door": {"enum": ["open", "closed"]}
///     },
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// let link = c::Link { name: "Sigfox", limit: 12 };
/// let files = c::c(&Layout::new(&model)?, &c::Options { link: Some(link), ..Default::default() }).unwrap();
/// assert!(files.header.contains("Sigfox")); // an assertion that the compiler checks
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// The link's name, for people.
    pub name: &'a str,
    /// The size of its largest message, in bytes.
    pub limit: usize,
}

/// Options of the generated C beside the schema.
#[derive(Debug, Clone, Default)]
pub struct Options<'a> {
    /// A link whose limit every message must fit.
    pub link: Option<Link<'a>>,
    /// The prefix of all names.
    pub prefix: Prefix,
    /// Whether messages that are too large for the link may be made smaller, by leaving out what the schema allows.
    pub fit: bool,
    /// Whether the code also writes messages in modes 1 and 2, for which the schema must have statistics.
    pub modes: bool,
}

/// The texts of the generated files.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Files {
    /// The file name without extension: the struct's name in lower case.
    pub name: String,
    /// The text of the `.h`.
    pub header: String,
    /// The text of the `.c`.
    pub source: String,
    /// The cost of modes 1 and 2, if the code has them.
    pub modes: Option<Cost>,
}

/// The cost of modes 1 and 2 beside code, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Flash of the tables of mode 1.
    pub prior_tables: usize,
    /// Flash of the further tables of mode 2.
    pub delta_tables: usize,
    /// RAM on the stack in mode 1: the record of the message.
    pub record: usize,
    /// RAM of the state of mode 2, while one message may wait for its acknowledgement.
    pub state: usize,
}

/// The names and texts of the files that all generated messages of a program share.
pub const SUPPORT: &[(&str, &str)] = &[
    ("dunnage_message.h", include_str!("support/dunnage_message.h")),
    ("dunnage_message.c", include_str!("support/dunnage_message.c")),
];

/// The name and text of the file that sources with modes 1 and 2 include.
pub const MODES: (&str, &str) = ("dunnage_modes.h", include_str!("support/dunnage_modes.h"));

/// Generates the C code for the messages of `layout`. It needs [`SUPPORT`] beside it, and [`MODES`] if it has modes 1 and 2.
///
/// # Errors
/// The parts of the schema that C cannot represent, each with its path and a remedy.
///
/// ```
/// use dunnage_codegen::c;
/// use dunnage_packed::Layout;
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "title": "Reading",
///     "type": "object",
///     "properties": {
///         "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
///         "door": {"enum": ["open", "closed"]}
///     },
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// let files = c::c(&Layout::new(&model)?, &c::Options::default()).unwrap();
/// assert_eq!(files.name, "reading"); // for reading.h and reading.c
/// assert!(files.header.contains("#define READING_MAX_SIZE"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn c(layout: &Layout, options: &Options<'_>) -> Result<Files, Vec<Fault>> {
    let plan = build::plan(layout, &options.prefix, options.modes)?;
    let modes = if options.modes { Some(modes::modes(layout)?) } else { None };
    let name = plan.name.to_lowercase();
    let header = header::header(&plan, layout, options, modes.as_ref());
    let source = source::source(&plan, layout, &name, modes.as_ref());
    Ok(Files { name, header, source, modes: modes.map(|modes| modes.cost) })
}

/// Returns the structs, members and constants of that C code, without a prefix.
///
/// # Errors
/// As those of [`c()`].
///
/// ```
/// use dunnage_codegen::c;
/// use dunnage_packed::Layout;
/// use dunnage_schema::Model;
///
/// let layout = Layout::new(&Model::compile(r#"{"type": "object", "properties": {"note": {"type": "string"}}, "additionalProperties": false}"#)?)?;
/// let faults = c::plan(&layout).unwrap_err();
/// assert_eq!(faults[0].to_string(), "note is text without a longest one: add maxLength, or an anchored pattern");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan(layout: &Layout) -> Result<Plan, Vec<Fault>> {
    build::plan(layout, &Prefix::default(), false)
}
