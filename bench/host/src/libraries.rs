//! The compared codecs. Each is called as its documentation recommends, and encodes into a buffer that is reused.

use crate::payloads::Payload;
use serde::{Serialize, de::DeserializeOwned};
use std::hint::black_box;

/// A serde codec.
pub trait Library {
    /// The name of its crate.
    const NAME: &'static str;
    /// The format that it writes.
    const FORMAT: &'static str;

    /// Appends the bytes of `message` to `out`.
    fn encode<T: Serialize>(message: &T, out: &mut Vec<u8>);

    /// Decodes the message in `bytes`; its text is owned.
    fn decode<T: DeserializeOwned>(bytes: &[u8]) -> T;

    /// Decodes in the library's fastest way: text is borrowed from `bytes` where the library supports it.
    fn decode_best<P: Payload>(bytes: &[u8]);
}

macro_rules! library {
    ($type:ident $name:literal $format:literal,
     $message:ident $out:ident => $encode:expr,
     $bytes:ident => $decode:expr, $best:ty) => {
        #[doc = concat!("The crate ", $name, ".")]
        pub struct $type;

        impl Library for $type {
            const NAME: &'static str = $name;
            const FORMAT: &'static str = $format;

            #[inline]
            fn encode<T: Serialize>($message: &T, $out: &mut Vec<u8>) {
                $encode.expect("every payload can be encoded");
            }

            fn decode<T: DeserializeOwned>($bytes: &[u8]) -> T {
                $decode.expect("the encoded message can be decoded")
            }

            #[inline]
            fn decode_best<P: Payload>($bytes: &[u8]) {
                let message: $best = $decode.expect("the encoded message can be decoded");
                black_box(message);
            }
        }
    };
}

library! { Pson "dunnage-pson" "pson",
    message out => dunnage_pson::append(message, out),
    bytes => dunnage_pson::from_slice(bytes), P::Borrowed<'_>
}
library! { Msgpack "rmp-serde" "msgpack",
    // Structs are written as maps, as in every other format here; as arrays they would not be self-describing.
    message out => message.serialize(&mut rmp_serde::Serializer::new(out).with_struct_map()),
    bytes => rmp_serde::from_slice(bytes), P::Borrowed<'_>
}
library! { Ciborium "ciborium" "cbor",
    message out => ciborium::into_writer(message, out),
    // ciborium reads from a stream and cannot borrow.
    bytes => ciborium::from_reader(bytes), P::Owned
}
library! { Minicbor "minicbor-serde" "cbor",
    message out => message.serialize(&mut minicbor_serde::Serializer::new(out)),
    bytes => minicbor_serde::from_slice(bytes), P::Borrowed<'_>
}
library! { Bson "bson" "bson",
    message out => bson::serialize_to_buffer(message, out),
    bytes => bson::deserialize_from_slice(bytes), P::Borrowed<'_>
}
library! { Json "serde_json" "json",
    message out => serde_json::to_writer(out, message),
    bytes => serde_json::from_slice(bytes), P::Borrowed<'_>
}
