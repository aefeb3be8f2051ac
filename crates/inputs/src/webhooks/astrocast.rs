//! Astrocast's callbacks (docs.astrocast.com, "Push notifications"): JSON, the message in base64, a token in a configurable header.
//! Astrocast retries until the answer is 200.

use super::{
    callback::{Body, Callback, base64, foreign},
    origin::{Origin, Position, time},
};
use dunnage_ingest::Rejected;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Push {
    message_guid: Option<String>,
    device_guid: Option<String>,
    created_date: Option<String>,
    latitude: Option<f64>,
    longitude: Option<f64>,
    data: Option<String>,
    command_guid: Option<String>,
}

/// Parses a callback.
pub fn read(body: &Body<'_>) -> Result<Callback, Rejected> {
    let push: Push = body.json()?;
    let (Some(device), Some(id)) = (push.device_guid, push.message_guid) else {
        // The callback reports that a device has received a command.
        return match push.command_guid {
            Some(_) => Ok(Callback::Event("command")),
            None => Err(foreign("the request has no messageGuid and deviceGuid")),
        };
    };
    let origin = Origin {
        sent_at: time(push.created_date.as_deref()),
        position: Position::new(push.latitude, push.longitude),
        ..Origin::default()
    };
    Callback::uplink(device, id, base64(push.data.as_deref().unwrap_or_default())?, origin)
}
