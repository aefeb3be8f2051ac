//! PSON wire v2: a compact, self-describing message format for small links.
//!
//! A PSON message is a JSON message, or one with bytes in it, in fewer bytes and without text to parse. `spec/pson.md`
//! of this project is normative; this crate runs all of its vectors.
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
//! them as methods, for other limits, strict decoding and shorter floats. A message of any shape is a [`Value`].
//!
//! # Without serde and without an allocator
//!
//! A [`Writer`] writes item by item into a buffer of the caller's, and a [`Reader`] reads item by item from one:
//!
//! ```
//! use dunnage_pson::{Reader, Writer};
//!
//! # fn main() -> Result<(), dunnage_pson::Error> {
//! let mut buffer = [0; 32];
//! let mut writer = Writer::to_slice(&mut buffer);
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
//! # Errors
//!
//! Every error has a [`Kind`] and a byte offset, which are the same in every library of this project:
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
//! - `alloc`: [`Value`], writing into a `Vec<u8>`. Without it, looking for a key that stands twice takes quadratic time
//!   in maps of more than 16 keys, which the size limit bounds.
//! - `std`: [`to_writer`]; implies `alloc`.
//! - `serde`: everything that takes or gives types that implement serde's traits, with or without `alloc`.
//!
//! # Design decisions
//!
//! **A number is a number.** It is written in the form that its value asks for, not its Rust type: `48.0_f64` is the integer
//! 48, `23.5_f64` is binary32. It is read as any type that holds it exactly; reading 300 as `u8` or 1.03 as `f32` is a
//! `range` error. Only [`Floats::Single`] loses anything, and it has to be asked for.
//!
//! **Canonical out, lenient in.** Encoders write canonical form only. Decoders accept what other encoders may write,
//! unless they are [`strict`](Options::strict).
//!
//! **A key that stands twice is malformed**, in a [`Value`], a `HashMap` and a struct. A struct refuses the second of two fields
//! that it knows by itself (serde's derive calls it a duplicate field) and is relied on to do so; the deserializer watches the
//! other keys. Only a [`Reader`], which hands out one item at a time, does not see it.
//!
//! **Keys are text.** As in serde_json, integers, booleans, characters and variants without content become text as keys and
//! come back; anything else as a key is a `type` error. Only the shortest form of an integer is one, so that no two keys become the same.
//!
//! **Types of serde.** Enums are tagged from outside, as serde_json does it: `"Variant"` or `{"Variant": content}`. `None`, `()` and
//! unit structs are `null`, tuples are arrays, newtypes are what they hold. Structs are maps, never arrays. `&[u8]` is bytes
//! only through types that ask for bytes, such as those of serde_bytes; a `Vec<u8>` is an array. The format does not count as human-readable.
//!
//! **Memory follows the bytes that are there.** Counts are promises: at most 16 elements are reserved in advance. The reader and
//! skipping use a stack of levels of their own and never recurse; serde's types do, at most as deep as
//! [`max_nesting`](Options::max_nesting) allows.
//!
//! **Errors are a pointer.** A `Result` that may hold one is passed around at every step on the way to success, so where there is
//! an allocator the error itself is behind a box.
//!
//! **No unsafe code**, here and in the whole workspace.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
mod budget;
#[cfg(feature = "serde")]
mod de;
mod decode;
#[cfg(feature = "alloc")]
mod document;
mod encode;
mod error;
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
#[cfg(feature = "serde")]
pub use de::from_slice;
pub use decode::Item;
pub use error::{Error, Kind};
pub use options::{Floats, Options};
pub use reader::{Reader, Type};
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
