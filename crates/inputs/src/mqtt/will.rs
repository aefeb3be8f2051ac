//! Wills: the message that a client leaves in its CONNECT, for the case that its connection ends without DISCONNECT. Many devices cannot leave
//! theirs out.

use super::{Listener, Remote, message};
use dunnage_clients::mqtt::{
    packet::Publish,
    reason::{Reason, Refusal},
};
use std::sync::Arc;

/// The maximum size of a will in bytes: an idle connection keeps it in memory.
const MAX_BYTES: usize = 1 << 10;

/// Returns whether the will of `client` can become a message. One that cannot is dropped.
pub fn is_usable(listener: &Listener, client: &str, will: &Publish) -> bool {
    let address = listener.topics.address(&will.topic, message::is_typed(will), &will.payload);
    if address.is_err() && listener.topics.ignores(&will.topic) {
        return false;
    }
    let usable = match address {
        Ok(_) if size(will) <= MAX_BYTES => Ok(()),
        Ok(_) => Err(Refusal::new(Reason::TooLarge, format!("a will must not exceed {MAX_BYTES} bytes"))),
        Err(refusal) => Err(refusal),
    };
    usable.inspect_err(|refusal| listener.drop_will(client, &will.topic, refusal)).is_ok()
}

/// Returns how many bytes a will takes in memory.
fn size(will: &Publish) -> usize {
    let user = will.user.iter().map(|(name, value)| name.len() + value.len());
    let content_type = will.content_type.as_ref().map_or(0, String::len);
    will.topic.len() + will.payload.len() + content_type + user.sum::<usize>()
}

/// Stores the will of `client`, which connected with `credential`, as a message of its device. The rights and limits of its messages apply.
pub async fn store(
    listener: &Listener,
    (client, credential): (&str, Option<&str>),
    peer: &Remote,
    will: Publish,
) {
    let (topic, env) = (will.topic.clone(), &listener.env);
    let address = listener.topics.address(&topic, message::is_typed(&will), &will.payload);
    let allowed = address
        .and_then(|address| listener.may_send(&peer.peer, &address.device, credential).map(|()| address));
    match allowed {
        Ok(address) => {
            let input = (message::METRIC, Arc::clone(&listener.meter));
            let message = message::read(&env.ingest, input, &address, will);
            // A message that cannot be decoded is in the quarantine, and the gateway may stop before it is stored.
            let _ = env.ingest.store_retrying(message, &env.stopping).await;
        }
        Err(refusal) => listener.drop_will(client, &topic, &refusal),
    }
}
