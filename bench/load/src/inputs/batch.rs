//! HTTP requests with several messages each.

use super::http::Request;
use crate::{Failure, payload::Payload};
use flate2::{Compression, write::GzEncoder};
use std::{collections::BTreeMap, io::Write};

/// Messages in a request.
pub const MESSAGES: usize = 64;
/// Number of clients: few enough that all their messages fit into the gateway's queue at once.
pub const CLIENTS: usize = 64;

/// How messages are combined in a request.
#[derive(Debug, Clone, Copy)]
pub struct Framing {
    /// The name in the results.
    pub name: &'static str,
    format: &'static str,
    content_type: &'static str,
    gzip: bool,
}

/// The measured framings.
const FRAMINGS: [Framing; 4] = [
    Framing { name: "http, NDJSON", format: "json", content_type: "application/x-ndjson", gzip: false },
    Framing {
        name: "http, NDJSON in gzip",
        format: "json",
        content_type: "application/x-ndjson",
        gzip: true,
    },
    Framing {
        name: "http, CBOR sequence",
        format: "cbor",
        content_type: "application/cbor-seq",
        gzip: false,
    },
    Framing {
        name: "http, length-prefixed",
        format: "packed",
        content_type: "application/vnd.dunnage.batch; format=packed",
        gzip: false,
    },
];

/// The framings of a format.
pub fn framings(format: &str) -> impl Iterator<Item = Framing> {
    FRAMINGS.into_iter().filter(move |framing| framing.format == format)
}

/// A request for each device. It repeats the device's messages until there are [`MESSAGES`].
pub fn requests(framing: Framing, payload: &Payload) -> Result<Vec<Request>, Failure> {
    let mut devices: BTreeMap<&str, Vec<&[u8]>> = BTreeMap::new();
    for (device, body) in &payload.bodies {
        devices.entry(device).or_default().push(body);
    }
    let mut headers = format!("content-type: {}\r\n", framing.content_type);
    if framing.gzip {
        headers += "content-encoding: gzip\r\n";
    }
    let request = |(device, messages): (&str, Vec<&[u8]>)| {
        let mut body = Vec::new();
        messages.into_iter().cycle().take(MESSAGES).for_each(|message| framing.add(message, &mut body));
        if framing.gzip {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&body)?;
            body = encoder.finish()?;
        }
        Ok(Request::post(&format!("/ingest/{device}"), &headers, &body))
    };
    devices.into_iter().map(request).collect()
}

impl Framing {
    fn add(self, message: &[u8], body: &mut Vec<u8>) {
        if self.format == "packed" {
            let mut length = message.len();
            while length > 0x7f {
                body.push(length as u8 | 0x80);
                length >>= 7;
            }
            body.push(length as u8);
        }
        body.extend(message);
        if self.format == "json" {
            body.push(b'\n');
        }
    }
}
