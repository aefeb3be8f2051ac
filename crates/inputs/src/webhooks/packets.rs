//! Requests that carry several messages. The answer is sent after all of them are on disk, as messages or in the quarantine.

use super::{Done, Hook, METRIC};
use crate::{
    Environment,
    provider::envelope::{Packet, Uplink, foreign},
};
use dunnage_access::Peer;
use dunnage_base::name::is_device;
use dunnage_buffer::Reservation;
use dunnage_ingest::{InFlight, Pending, RawMessage, Rejected};
use std::collections::HashSet;

/// Most messages that wait for their commit together.
const TOGETHER: usize = 256;

/// The messages of a request that are in the quarantine.
#[derive(Default)]
struct Quarantined {
    count: usize,
    /// Why the first of them is.
    first: Option<Rejected>,
}

impl Hook {
    /// Stores the messages of a request, in their order. Returns how many are in the quarantine. After an error, some of them may be
    /// stored; when the provider repeats the request, they are recognized by their IDs.
    ///
    /// A message that cannot be opened, or of a device as which the webhook may not send, is in the quarantine: the provider would repeat
    /// the whole request for ever.
    pub(super) async fn store_all(
        &self,
        env: &Environment,
        (request, peer): (&str, &Peer),
        packets: Vec<Packet>,
        room: Reservation,
    ) -> Result<(Done, usize), Rejected> {
        self.admit_all(env, peer, &packets)?;
        let together = TOGETHER.min(env.ingest.buffer.queue.capacity() / 2).max(1);
        let failed_batches = env.ingest.buffer.queue.failed_batches().count();
        let (mut pending, mut quarantined, mut count) = (Vec::new(), Quarantined::default(), 0);
        for packet in packets {
            let Some(message) = self.message(env, request, packet) else {
                env.metrics.event(self.rules.provider.name(), "empty");
                continue;
            };
            count += 1;
            match submit(env, message, failed_batches).await {
                Ok(submitted) => pending.push(submitted),
                Err(rejected) => {
                    self.commit(env, request, &mut pending, &mut quarantined).await?;
                    return Err(rejected);
                }
            }
            if pending.len() >= together {
                self.commit(env, request, &mut pending, &mut quarantined).await?;
            }
        }
        self.commit(env, request, &mut pending, &mut quarantined).await?;
        drop(room);
        let word = match (count, quarantined.count) {
            (0, _) => "ignored",
            (_, 0) => "stored",
            _ => "quarantined",
        };
        Ok(((word, quarantined.first), quarantined.count))
    }

    /// Counts the request against the limits of each of its devices, once: a request over a limit would exceed it again when it is repeated.
    fn admit_all(&self, env: &Environment, peer: &Peer, packets: &[Packet]) -> Result<(), Rejected> {
        let opened = packets.iter().filter_map(|packet| packet.opened.as_ref().ok());
        let devices: HashSet<&str> = opened.map(|uplink| self.rules.device(uplink)).collect();
        let known = devices.into_iter().filter(|device| is_device(device) && self.may_send(device));
        for device in known {
            if let Err(denied) = env.ingest.limits.admit(peer, device) {
                drop(env.ingest.receive());
                return Err(denied.into());
            }
        }
        Ok(())
    }

    /// Makes a message of a packet; `None` if it has no content.
    fn message(&self, env: &Environment, request: &str, packet: Packet) -> Option<RawMessage<'static>> {
        let Packet { raw, opened } = packet;
        let uplink = match opened.and_then(|uplink| self.permitted(env, uplink)) {
            Ok(uplink) => uplink,
            Err(rejected) => {
                let input = (METRIC, &*self.name, None);
                return Some(self.rules.unopened(&env.ingest, input, raw.into(), rejected));
            }
        };
        let with = (&**env.ingest.profiles.load(), env.ingest.message_limit_bytes());
        let message = self.rules.message(with, &self.name, None, &uplink)?;
        let device = self.rules.device(&uplink).to_owned();
        Some(self.raw(env, request, (&device, message), uplink.payload))
    }

    /// Returns the message if the webhook may send as its device.
    fn permitted(&self, env: &Environment, uplink: Uplink) -> Result<Uplink, Rejected> {
        let device = self.rules.device(&uplink);
        if !is_device(device) {
            return Err(Rejected::bad_device("the device ID"));
        }
        if !self.may_send(device) {
            let detail = format!("this webhook may not send as {device:?}");
            let denied: Rejected = env.ingest.access.refuse_device(detail).into();
            // In the quarantine, it is an envelope that could not be opened.
            return Err(foreign(denied.detail));
        }
        Ok(uplink)
    }

    /// Waits until the submitted messages are on disk, all of them even if one cannot be written.
    async fn commit(
        &self,
        env: &Environment,
        request: &str,
        pending: &mut Vec<Pending>,
        quarantined: &mut Quarantined,
    ) -> Result<(), Rejected> {
        let mut not_written = None;
        for submitted in pending.drain(..) {
            match submitted.commit().await {
                Ok(()) => {}
                Err(rejected) if rejected.is_temporary() => not_written = Some(rejected),
                Err(rejected) => {
                    env.ingest.reject(&env.ingest.metrics.inputs.of(&self.name), request, &rejected);
                    quarantined.count += 1;
                    quarantined.first.get_or_insert(rejected);
                }
            }
        }
        not_written.map_or(Ok(()), Err)
    }
}

async fn submit(
    env: &Environment,
    message: RawMessage<'static>,
    failed_batches: u64,
) -> Result<Pending, Rejected> {
    let mut in_flight: InFlight<'_> = env.ingest.receive();
    let mut room = env.ingest.buffer.queue.reserve_in_order(failed_batches);
    room.grow(message.raw.len())?;
    env.ingest.submit(&mut in_flight, message, room).await
}
