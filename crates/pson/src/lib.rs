//! PSON wire v2: a compact, self-describing message format for small links.
//!
//! PSON carries the same messages as JSON, and also bytes. It takes less space than JSON, and needs no parsing of text.
//! [spec/pson.md](https://github.com/dunnage/dunnage/blob/main/spec/pson.md) of this project is normative; this crate is tested with all of its vectors.
//!
//! # With serde
//!
#![cfg_attr(feature = "serde", doc = "```")]
#![cfg_attr(not(feature = "serde"), doc = "```ignore")]
//! #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
//! struct Reading<'a> {
//!     sensor: &'a str,
//!     celsius: f64,
//! }
//!
//! # fn main() -> Result<(), dunnage_pson::Error> {
//! let reading = Reading { sensor: "hold 2", celsius: 23.5 };
//! let bytes = dunnage_pson::to_vec(&reading)?;
//! assert_eq!(bytes, b"\xc2\x86sensor\x86hold 2\x87celsius\x40\x00\x00\xbc\x41");
//! assert_eq!(dunnage_pson::from_slice::<Reading>(&bytes)?, reading); // `sensor` is a part of `bytes`
//! # Ok(())
//! # }
//! ```
//!
//! [`to_vec`], [`append`], [`to_slice`], [`to_writer`] and [`measure`] encode, [`from_slice`] decodes. [`Options`] has
//! the same functions as methods, for other limits, strict decoding and shorter floats. A message of any shape is a [`Value`].
//!
//! # Without serde and without an allocator
//!
//! A [`Writer`] writes item by item into a buffer of the caller, and a [`Reader`] reads item by item from one:
//!
//! ```
//! use dunnage_pson::{Reader, Writer};
//!
//! # fn main() -> Result<(), dunnage_pson::Error> {
//! let mut buffer = [0; 32];
//! let mut writer = Writer::with_slice(&mut buffer);
//! writer.map(2).key("sensor").text("hold 2").key("celsius").f64(23.5);
//! let len = writer.finish()?; // checked once, at the end
//! assert_eq!(len, 28);
//!
//! let mut reader = Reader::new(&buffer[..len])?;
//! reader.enter_map()?;
//! assert!(reader.find("celsius")?);
//! assert_eq!(reader.f64()?, 23.5);
//! reader.leave()?;
//! reader.finish()?;
//! # Ok(())
//! # }
//! ```
//!
//! # Other representations
//!
//! A [`Builder`] makes values of any other type from a message, and an [`Encoder`] writes items from any other type. Both leave out
//! what a runtime with its own objects does itself; the Python library is made with them.
//!
//! # Errors
//!
//! Every error has a [`Kind`] and a byte offset. Both are the same in every library of this project:
//!
//! ```
//! use dunnage_pson::{Kind, Reader};
//!
//! # fn main() -> Result<(), dunnage_pson::Error> {
//! let error = Reader::new(b"\x85hold")?.text().unwrap_err(); // five bytes are promised, four are there
//! assert_eq!((error.kind(), error.offset()), (Kind::Truncated, 5));
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! `std` and `serde` are on by default.
//!
//! - `alloc`: [`Value`], [`Builder`] and [`Encoder`], and writing into a `Vec<u8>`. Without it, the search for duplicate keys takes quadratic time
//!   in maps of more than 16 keys, up to the size limit.
//! - `std`: [`to_writer`], with `serde`; implies `alloc`.
//! - `serde`: all functions for types that implement serde's traits, with or without `alloc`.
//!
//! # Design decisions
//!
//! **A number is a number.** The form of a number depends on its value, not on its Rust type: `48.0_f64` is written as the integer
//! 48, `23.5_f64` as binary32. A number can be read as any type that holds it exactly; reading 300 as `u8` or 1.03 as `f32` is a
//! `range` error. Only [`Floats::Single`] loses precision, and it is off by default.
//!
//! **Canonical out, lenient in.** Encoders write only canonical form. Decoders also accept other valid forms,
//! unless they are [`strict`](Options::strict).
//!
//! **A duplicate key is malformed**, in a [`Value`], a `HashMap` and a struct. A struct must reject a duplicate of a field that
//! it knows, as serde's derive does (duplicate field). The deserializer checks only the other keys.
//! A [`Reader`] returns one item at a time and does not detect duplicates.
//!
//! **Keys are text.** As in serde_json, integers, booleans, characters and variants without content are written as text when they
//! are keys, and can be read back. Any other key is a `type` error. Only the shortest form of an integer is accepted, so that two
//! different keys never become equal.
//!
//! **Types of serde.** Enums are externally tagged, as in serde_json: `"Variant"` or `{"Variant": content}`. `None`, `()` and
//! unit structs are `null`, tuples are arrays, and newtypes are their content. Structs are maps, never arrays. `&[u8]` is bytes
//! only in types that ask for bytes, such as those of serde_bytes; a `Vec<u8>` is an array. The format is not human-readable.
//!
//! **Memory is bounded by the input.** Counts are not trusted: at most 16 elements are reserved in advance. The reader and
//! skipping use their own stack of levels and never recurse. Types of serde do recurse, at most as deep as
//! [`max_nesting`](Options::max_nesting) allows.
//!
//! **Errors are boxed.** Every `Result` on the path to success has room for an error, so with an allocator an error is only
//! a pointer.
//!
//! **No unsafe code** in this crate: the lints of its workspace forbid it.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
mod budget;
#[cfg(feature = "alloc")]
mod build;
#[cfg(feature = "serde")]
mod de;
mod decode;
#[cfg(feature = "alloc")]
mod document;
mod encode;
mod error;
mod item_type;
#[cfg(any(feature = "serde", feature = "alloc"))]
mod keys;
mod levels;
mod number;
mod options;
mod reader;
#[cfg(feature = "serde")]
mod ser;
mod sink;
mod skip;
#[cfg(feature = "alloc")]
mod value;
#[cfg(all(feature = "alloc", feature = "serde"))]
mod value_serde;
mod wire;
mod writer;

#[cfg(feature = "alloc")]
pub use budget::Budget;
#[cfg(feature = "alloc")]
pub use build::{BuildError, Builder};
#[cfg(feature = "serde")]
pub use de::from_slice;
pub use decode::Item;
pub use encode::Encoder;
#[doc(hidden)]
pub use error::DUPLICATE_KEY;
pub use error::{Error, Kind};
pub use item_type::ItemType;
pub use options::{Floats, Options};
pub use reader::Reader;
#[cfg(all(feature = "std", feature = "serde"))]
pub use ser::to_writer;
#[cfg(all(feature = "alloc", feature = "serde"))]
pub use ser::{append, to_vec};
#[cfg(feature = "serde")]
pub use ser::{measure, to_slice};
#[cfg(feature = "alloc")]
pub use sink::Append;
pub use sink::{Buffer, Count, Sink};
#[cfg(feature = "alloc")]
pub use value::Value;
pub use writer::Writer;

/// The examples of the README are tests.
#[cfg(all(doctest, feature = "serde"))]
#[doc = include_str!("../README.md")]
struct Readme;
