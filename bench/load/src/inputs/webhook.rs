//! Webhook requests of providers, each with a different message: the examples of the providers' documentation with another device, message ID
//! and payload.

use super::http::{NUMBER, Request};
use crate::{Failure, payload::Payload};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;
use std::{fmt::Write, path::Path};

/// The providers.
pub const PROVIDERS: [&str; 4] = ["astrocast", "chirpstack", "the-things-stack", "rockblock"];

/// The token that a provider sends.
const TOKEN: &str = "0123456789abcdef";

/// The configuration of a gateway with a webhook of `provider`, whose files are in `folder`.
pub fn config(provider: &str, format: &str, folder: &Path) -> Result<String, Failure> {
    let tokens = folder.join("tokens");
    std::fs::write(&tokens, TOKEN)?;
    Ok(format!(
        "[[input]]\nname = \"hook\"\n[input.webhook]\nprovider = {provider:?}\nformat = {format:?}\ntoken_file = {tokens:?}\n"
    ))
}

/// The requests of `provider` for the messages of `payload`.
pub fn requests(provider: &str, payload: &Payload) -> Result<Vec<Request>, Failure> {
    payload.bodies.iter().map(|(device, body)| request(provider, device, body)).collect()
}

fn request(provider: &str, device: &str, message: &[u8]) -> Result<Request, Failure> {
    let post = |target: &str, media: &str, body: &str| {
        let headers = format!("authorization: Bearer {TOKEN}\r\ncontent-type: {media}\r\n");
        Request::post(target, &headers, body.as_bytes())
    };
    let json = |target: &str, example: &str, changes: [(&str, &str); 3]| {
        Ok(post(target, "application/json", &changed(example, changes)?))
    };
    let data = &BASE64_STANDARD.encode(message);
    match provider {
        "astrocast" => json(
            "/hooks/hook",
            include_str!("../../../../crates/gateway/tests/webhooks/astrocast.json"),
            [("/deviceGuid", device), ("/messageGuid", NUMBER), ("/data", data)],
        ),
        "chirpstack" => json(
            "/hooks/hook?event=up",
            include_str!("../../../../crates/gateway/tests/webhooks/chirpstack-up.json"),
            [("/deviceInfo/devEui", device), ("/deduplicationId", NUMBER), ("/data", data)],
        ),
        "the-things-stack" => json(
            "/hooks/hook",
            include_str!("../../../../crates/gateway/tests/webhooks/the-things-stack-up.json"),
            [
                ("/end_device_ids/dev_eui", device),
                ("/correlation_ids/0", &format!("as:up:{NUMBER}")),
                ("/uplink_message/frm_payload", data),
            ],
        ),
        // Its counter (momsn) is the message's number.
        "rockblock" => {
            let mut body = format!(
                "imei={device}&serial=12345&momsn={NUMBER}&transmit_time=21-10-31+10%3A41%3A50&iridium_latitude=52.3867\
                 &iridium_longitude=0.2938&iridium_cep=8&device_type=ROCKBLOCK&data="
            );
            message.iter().try_for_each(|byte| write!(body, "{byte:02x}"))?;
            Ok(post("/hooks/hook", "application/x-www-form-urlencoded", &body))
        }
        other => Err(format!("unknown provider {other}").into()),
    }
}

/// The JSON object `example` with other texts at these JSON pointers. Fails if it lacks one of them.
fn changed(example: &str, changes: [(&str, &str); 3]) -> Result<String, Failure> {
    let mut object: Value = serde_json::from_str(example)?;
    for (pointer, text) in changes {
        *object.pointer_mut(pointer).ok_or("a JSON pointer is not in the example")? = text.into();
    }
    Ok(object.to_string())
}
