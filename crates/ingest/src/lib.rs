//! From raw bytes to a durable message. Inputs pass the received bytes to this crate, which does not know their protocols.
//!
//! A message passes four steps:
//!
//! 1. **Authorize.** [`Ingest::authorize`] asks whether the sender may send as this device, and whether it is within its limits.
//! 2. **Receive.** The input reserves memory for the bytes while they arrive ([`Ingest::reserve`]), and knows from then on whether there is
//!    room. [`Ingest::receive`] counts the message, also if its sender disconnects.
//!    From here on the message has the device ID of the register ([`Registered`]), if it named its device by another one.
//! 3. **Decode and validate.** The device's profile ([`profiles`]) chooses the codecs: those of its schema, and for packed messages the
//!    layout of their slot. Large messages wait for their turn, so that decoding takes bounded memory.
//! 4. **Submit.** The message goes to the buffer's writer. [`Pending::commit`] returns after the commit, when the input may acknowledge.
//!
//! A message that cannot be decoded is not lost: its raw bytes go into the quarantine, with the reason, in the same transaction as other
//! messages. The input then gets a [`Rejected`], which says what is wrong in a [`Code`] that each protocol maps to its own answers. A
//! rejection that [is temporary](Rejected::is_temporary) means that nothing was stored, and that the sender should try again.
//!
//! A delta is a packed message that refers to an earlier message of its device. It is decoded with messages that were committed
//! ([`Ingest::committed`]). One that arrives before the message to which it refers is in the quarantine, and is decoded again once that is
//! committed ([`Ingest::store_late_deltas`]).
//!
//! Inputs that cannot tell their sender to try again use [`Ingest::store_retrying`], which repeats the last two steps until the message is
//! on disk.
//!
//! # Example
//!
//! ```
//! use dunnage_access::{Access, AccessSettings, Keys, Limits, Peer, Refusals, Tokens};
//! use dunnage_buffer::*;
//! use dunnage_ingest::{profiles::Profiles, *};
//! use std::{net::{IpAddr, Ipv4Addr}, sync::Arc};
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("log.sqlite3");
//! # let buffer = BufferSettings { path, ..BufferSettings::default() };
//! # let quarantine = QuarantineSettings::default();
//! # let options = Options { buffer: &buffer, quarantine: &quarantine, formats: &["json"], outputs: vec![] };
//! // A buffer, as in the example of `dunnage_buffer`.
//! let (buffer, writer) = open(options, &|_device| false)?.start(1 << 16);
//! let writer = writer.spawn(())?;
//!
//! let settings = AccessSettings::default();
//! let refusals = Refusals::default();
//! let access = Access::new(&settings, Tokens::default(), Keys::default(), refusals.clone());
//! let limits = Limits::new(&settings, refusals);
//! let profiles = Arc::new(arc_swap::ArcSwap::from_pointee(Profiles::load(&Default::default(), &[])?));
//! let (access, register) = (Arc::new(access), Registered::default());
//! let ingest = Ingest::new(buffer, access, limits, profiles, register, Metrics::default());
//!
//! let peer = Peer::of_address(IpAddr::V4(Ipv4Addr::LOCALHOST));
//! ingest.authorize(&peer, "buoy", None)?;
//! let message = |content_type: &'static str, raw: &'static [u8]| RawMessage {
//!     input: "example",
//!     meter: ingest.metrics.inputs.of("example"),
//!     provenance: Provenance::new("buoy", 1_767_225_600_000_000, ingest.request_ids.next()),
//!     content_type: content_type.into(),
//!     bad: None,
//!     raw: raw.into(),
//! };
//! let mut in_flight = ingest.receive();
//! let room = ingest.reserve();
//! ingest.store(&mut in_flight, message("application/cbor", &[0xa1, 0x61, b't', 0x07]), room).await?;
//! assert_eq!(&*ingest.buffer.readers.after(0, 1).await?[0].json, r#"{"t":7}"#);
//!
//! // A truncated message goes into the quarantine.
//! let mut in_flight = ingest.receive();
//! let room = ingest.reserve();
//! let rejected = ingest.store(&mut in_flight, message("application/cbor", &[0xa1, 0x61]), room).await.unwrap_err();
//! assert_eq!((rejected.code, rejected.kind, rejected.offset), (Code::Malformed, Some("truncated"), Some(2)));
//! assert_eq!(ingest.buffer.stats.totals().quarantined, 1);
//!
//! ingest.buffer.close().await;
//! writer.join().expect("the writer ends");
//! # Ok(())
//! # }
//! ```

mod by_codec;
mod decode;
mod decoded;
mod delta;
mod encoding;
mod in_flight;
mod late;
pub mod media_types;
pub mod meter;
mod metrics;
mod origin;
pub mod profiles;
mod references;
mod registered;
mod rejected;
mod relayed;
mod request_ids;
mod requeue;
mod retry;
mod silence;
mod submit;

pub use decode::Turns;
pub use encoding::{CODEC, stored_formats};
pub use in_flight::InFlight;
pub use late::LateDeltas;
pub use meter::Meter;
pub use metrics::Metrics;
pub use origin::{DECODED_TYPE, is_decoded_elsewhere};
pub use references::References;
pub use registered::{RegisterSettings, Registered, Unknown};
pub use rejected::{Code, KEPT_KINDS, Rejected};
pub use request_ids::RequestIds;
pub use retry::Submitted;
pub use submit::{Pending, RawMessage};

use arc_swap::ArcSwap;
use dunnage_access::{Access, Limits, Peer};
use dunnage_base::clock;
use dunnage_buffer::{Buffer, Reservation};
use dunnage_vendor_codec::Pool;
use profiles::Profiles;
use std::sync::Arc;

/// The services with which inputs make messages durable.
pub struct Ingest {
    /// The rights to send and to read.
    pub access: Arc<Access>,
    /// The limits of messages per device and address.
    pub limits: Limits,
    /// The schemas and profiles. A reload replaces them.
    pub profiles: Arc<ArcSwap<Profiles>>,
    /// The register of devices.
    pub registered: Registered,
    /// Where messages become durable.
    pub buffer: Buffer,
    /// The metrics of all inputs together.
    pub metrics: Metrics,
    /// The source of request IDs.
    pub request_ids: RequestIds,
    /// The turns of large messages.
    pub turns: Turns,
    /// The threads of vendors' codecs.
    pub codecs: Pool,
    /// The messages to which deltas may refer.
    pub references: References,
    /// The deltas that arrived before the message to which they refer.
    pub late_deltas: LateDeltas,
}

impl Ingest {
    /// Creates what inputs need for the messages of one buffer.
    pub fn new(
        buffer: Buffer,
        access: Arc<Access>,
        limits: Limits,
        profiles: Arc<ArcSwap<Profiles>>,
        registered: Registered,
        metrics: Metrics,
    ) -> Ingest {
        Ingest {
            request_ids: RequestIds::new(&buffer.stats.totals().name, clock::now()),
            access,
            limits,
            profiles,
            registered,
            buffer,
            metrics,
            turns: Turns::default(),
            codecs: Pool::default(),
            references: References::default(),
            late_deltas: LateDeltas::default(),
        }
    }

    /// Returns the maximum size of a message, in bytes.
    pub fn message_limit_bytes(&self) -> usize {
        self.buffer.queue.shares().message
    }

    /// Checks whether `peer` may send as `device` with the token `credential`, and counts a message against its limits.
    pub fn authorize(&self, peer: &Peer, device: &str, credential: Option<&str>) -> Result<(), Rejected> {
        self.access.may_send(peer, device, credential)?;
        Ok(self.limits.admit(peer, device)?)
    }

    /// Counts a message as received. The message counts as refused if the result is dropped before it is queued.
    pub fn receive(&self) -> InFlight<'_> {
        InFlight::new(&self.buffer.stats)
    }

    /// Returns an empty reservation of memory for a message. It grows as bytes arrive.
    pub fn reserve(&self) -> Reservation {
        self.buffer.queue.reserve()
    }

    /// Watches the devices that the profiles want watched for silence. The buffer knows when they last sent.
    pub async fn watch_silence(&self) {
        silence::watch(&self.metrics.silence, &self.profiles.load_full(), &self.buffer.readers).await;
    }

    /// Counts a message that the input of `meter` received and rejected, and logs the reason for the request `request`.
    pub fn reject(&self, meter: &Meter, request: &str, rejected: &Rejected) {
        self.metrics.rejected(rejected.code);
        meter.rejected(&rejected.detail);
        let (problem, detail) = (rejected.code.as_str(), &rejected.detail);
        tracing::debug!(request, problem, detail, "a message was not stored");
    }
}
