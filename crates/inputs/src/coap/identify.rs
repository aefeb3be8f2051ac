//! The device of a message that names it itself, because its path does not.

use super::{endpoint::Endpoint, link::Link, request::Post};
use crate::device_at;
use dunnage_formats::Id;
use dunnage_ingest::{Ingest, Rejected};

/// Returns the ID of the device that sent `raw` with `post`. An ID in the message, at `pointer`, is authorized only now that the message is
/// complete, and the message is JSON unless `post` names its format.
pub fn identify(
    (link, ingest): (&Link, &Ingest),
    pointer: Option<&str>,
    from: Endpoint,
    post: &mut Post,
    raw: &[u8],
) -> Result<String, Rejected> {
    let pointer = match (post.device.take(), pointer) {
        (Some(device), _) => return Ok(device),
        (None, pointer) => pointer.unwrap_or_default(),
    };
    let device = device_at::device(raw, pointer)?;
    let peer = link.peer(from.address, post);
    link.may_send(&ingest.access, (from, &peer), post.token.as_deref(), Some(&device))?;
    ingest.limits.admit(&peer, &device)?;
    if post.content_type.is_empty() {
        post.content_type = Id::Json.media_type().to_owned();
    }
    Ok(device)
}
