//! How do I read the messages of my own .proto?
//!
//!     cargo run -p dunnage-formats --example proto

use dunnage_formats::{Definition, Format, Json, Protobuf};
use std::error::Error;

/// `Definition::read` takes a file, with the folders of its imports.
const PROTO: &str = r#"
    syntax = "proto3";
    message Reading {
        float celsius = 1;
        sint32 signal = 2;
        enum Door { OPEN = 0; CLOSED = 1; }
        Door door = 3;
    }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let codec = Protobuf::from_definition(&Definition::of(PROTO, Some("Reading"))?, None)?;
    let uplink = b"\x0d\x00\x00\xbc\x41\x10\xbb\x01\x18\x01";
    let message = codec.decode(uplink)?;
    println!("{}", String::from_utf8(Json.round_trip(&message)?.bytes)?);

    for end in [2, 7] {
        let error = codec.decode(&uplink[..end]).err().ok_or("a prefix is not a message")?;
        println!("the first {end} bytes alone: {error}");
    }
    Ok(())
}
