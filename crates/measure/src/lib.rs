//! Measures messages in every format: bytes, bytes after compression, and the time to encode and decode.
//!
//! ```
//! use dunnage_formats::{Id, Mapping};
//! use std::time::Duration;
//!
//! let message = Id::Json.open(None, Mapping::Exact)?.decode(br#"{"temperature":17.25}"#)?;
//! let rows = dunnage_measure::prepare(&[message], None).measure(Duration::from_millis(20), |_| ());
//! let pson = rows.iter().find(|row| row.format == "pson").expect("PSON needs no schema");
//! let measured = pson.outcome.as_ref().expect("PSON carries every message");
//! assert!(measured.lossless && measured.bytes == 18.0);
//! # Ok::<(), dunnage_formats::Error>(())
//! ```

mod candidate;
mod dictionary;
mod rows;
mod size;
mod timing;

pub use candidate::{Candidate, candidates};
pub use rows::{Impossible, Measured, Prepared, Row, prepare};
pub use size::{Sizes, separators, sizes};
pub use timing::{Task, Times, measure};
