//! How do I decode PSON from senders that I do not trust?
//!
//!     cargo run -p dunnage-pson --example limits

use dunnage_pson::{Options, Value};

fn main() {
    // At most 64 bytes and 4 levels, and only the canonical form.
    let options = Options::new().max_size(64).max_nesting(4).strict(true);
    let messages: [(&str, &[u8]); 6] = [
        ("a reading", b"\xc1\x87celsius\x18"),
        ("a text that ends early", b"\x85hold"),
        ("a map with the same key twice", b"\xc2\x81a\x01\x81a\x02"),
        ("five nested arrays", b"\xe1\xe1\xe1\xe1\xe0"),
        ("a byte after the message", b"\x18\x18"),
        ("too many bytes", &[0x80; 65]),
    ];
    for (name, message) in messages {
        match options.from_slice::<Value>(message) {
            Ok(value) => println!("{name}: {value:?}"),
            Err(error) => println!("{name}: {}, at byte {}", error.kind(), error.offset()),
        }
    }
}
