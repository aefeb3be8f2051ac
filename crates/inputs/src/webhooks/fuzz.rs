//! Invariants of webhook requests, for any bytes.

use super::{
    Provider, astrocast,
    callback::{Body, Callback},
    chirpstack,
    jwt::PublicKey,
    origin::Stored,
    rockblock, the_things_stack,
};
use std::sync::LazyLock;

static KEY: LazyLock<Option<PublicKey>> = LazyLock::new(|| PublicKey::of_ground_control().ok());

/// Parses a request and checks the result. The first byte of `bytes` selects the provider and the content type.
pub fn check(bytes: &[u8]) {
    let Some((selector, bytes)) = bytes.split_first() else { return };
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let content_type =
        if selector & 8 == 0 { "application/json" } else { "application/x-www-form-urlencoded" };
    let body = Body { query: text, content_type, bytes };
    let (provider, callback) = match selector & 7 {
        0 => (Provider::Astrocast, astrocast::read(&body)),
        1 => (Provider::Chirpstack, chirpstack::read(&body)),
        2 => (Provider::TheThingsStack, the_things_stack::read(&body)),
        3 => (Provider::Rockblock, rockblock::read(&body, None)),
        _ => (Provider::Rockblock, rockblock::read(&body, KEY.as_ref())),
    };
    rockblock::token(text);
    let Ok(Callback::Uplink(uplink)) = callback else { return };
    assert!(!uplink.payload.is_empty() && uplink.payload.len() <= bytes.len());
    for id in [&uplink.device, &uplink.id] {
        assert!((1..=128).contains(&id.len()), "{id:?}");
    }
    let (message_id, origin) = (&*uplink.id, &uplink.origin);
    let provider_device = Some(&*uplink.device);
    let origin =
        Stored { input: "hook", provider: provider.name(), message_id, provider_device, origin }.to_json();
    let Some(Ok(serde_json::Value::Object(origin))) = origin.map(|text| serde_json::from_str(&text)) else {
        panic!("the origin is no object");
    };
    assert_eq!(origin["message_id"], *uplink.id);
    if let Some(position) = origin.get("position") {
        assert!(position["latitude"].as_f64().is_some_and(|degrees| degrees.abs() <= 90.0), "{position}");
    }
}
