//! Astrocast's callbacks (docs.astrocast.com, "Push notifications"): JSON, the message in base64, a token in a configurable header.
//! Astrocast retries until the answer is 200.

use super::{
    envelope::{Content, Envelope, Uplink, base64, foreign},
    fields::Fields,
    ids::encoded,
    origin::{Origin, Position, time},
};
use dunnage_ingest::Rejected;

/// Opens a callback.
pub fn read(envelope: &Envelope<'_>) -> Result<Content, Rejected> {
    let push = Fields::read(envelope.bytes)?;
    if !push.has("/messageGuid") {
        // The callback reports that a device has received a command.
        return match push.text("/commandGuid") {
            Some(_) => Ok(Content::Event("command")),
            None => Err(foreign("the envelope has no messageGuid and deviceGuid")),
        };
    }
    let origin = Origin {
        sent_at: time(push.text("/createdDate").as_deref()),
        position: Position::new(push.number("/latitude"), push.number("/longitude")),
        ..Origin::default()
    };
    Ok(Content::uplink(Uplink {
        device: push.needed("/deviceGuid")?,
        id: Some(encoded(&push.needed("/messageGuid")?)),
        payload: base64(&push.text("/data").unwrap_or_default())?,
        origin,
        ..Uplink::default()
    }))
}
