//! How do I decode messages by their Content-Type, and report errors?
//!
//!     cargo run -p dunnage-formats --example content_type

use dunnage_formats::{Error, Id, Mapping, Reception, Value};

/// The memory that one decoded message may take.
const MEMORY: usize = 64 << 10;

fn decode(content_type: &str, body: &[u8]) -> Result<Value, Error> {
    let id = Id::from_media_type(content_type).unwrap_or(Id::Json);
    let reception = Reception { memory: MEMORY, ..Reception::default() };
    id.open(None, Mapping::Exact)?.decode_from(body, &reception)
}

fn main() {
    let requests: [(&str, &[u8]); 6] = [
        ("application/json; charset=utf-8", br#"{"celsius": 23.5}"#),
        ("application/cbor", b"\xa1\x67celsius\xf9\x4d\xe0"),
        ("application/senml+json", br#"[{"n":"celsius","v":23.5,"t":1700000000}]"#),
        ("application/x-www-form-urlencoded", b"celsius=23.5"),
        ("application/msgpack", b"\x81\xa7celsius"),
        ("application/vnd.dunnage.packed", b"\x01\x00"),
    ];
    for (content_type, body) in requests {
        match decode(content_type, body) {
            Ok(message) => println!("{content_type}: {message:?}"),
            // The kind is stable, and its text is for people.
            Err(error) => println!(
                "{content_type}: kind {}, offset {:?}: {}",
                error.kind(),
                error.offset(),
                error.message()
            ),
        }
    }
}
