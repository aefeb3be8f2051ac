//! Invariants of webhook requests, for any bytes.

use crate::provider::{
    Provider,
    envelope::{Content, Envelope, Uplink},
    jwt::PublicKey,
    origin::Stored,
};
use dunnage_base::name::is_key;
use std::sync::LazyLock;

static KEY: LazyLock<Option<PublicKey>> = LazyLock::new(|| PublicKey::of_ground_control().ok());

/// Parses a request and checks the result. The first byte of `bytes` selects the provider and the content type.
pub fn check(bytes: &[u8]) {
    let Some((selector, bytes)) = bytes.split_first() else { return };
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let content_type =
        if selector & 8 == 0 { "application/json" } else { "application/x-www-form-urlencoded" };
    // Of ChirpStack's events, only those are interesting that have a message.
    let envelope = Envelope { event: None, content_type, headers: None, bytes };
    let (provider, key) = match selector & 7 {
        0 => (Provider::Astrocast, None),
        1 => (Provider::Chirpstack, None),
        2 => (Provider::TheThingsStack, None),
        3 => (Provider::Rockblock, None),
        5 => (Provider::Myriota, None),
        6 => (Provider::OneNce, None),
        7 => (Provider::Soracom, None),
        _ => (Provider::Rockblock, KEY.as_ref()),
    };
    super::token::of_query(text);
    match provider.open(&envelope, key, None) {
        Ok(Content::Uplink(uplink)) => check_uplink(provider, &uplink, bytes),
        Ok(Content::Packets(packets)) => {
            packets.iter().filter_map(|packet| packet.opened.as_ref().ok()).for_each(|uplink| {
                check_uplink(provider, uplink, bytes);
            });
        }
        Ok(Content::Event(_)) | Err(_) => {}
    }
}

fn check_uplink(provider: Provider, uplink: &Uplink, bytes: &[u8]) {
    assert!(uplink.payload.len() <= bytes.len());
    for id in uplink.id.iter() {
        assert!(is_key(id), "{id:?}");
    }
    let (message_id, origin) = (uplink.id.as_deref(), &uplink.origin);
    let provider_device = Some(&*uplink.device);
    let (input, provider, topic, decoded) = ("hook", provider.name(), None, uplink.decoded.as_deref());
    let stored = Stored { input, provider, message_id, provider_device, topic, origin, decoded };
    let origin = stored.to_json();
    let Some(Ok(serde_json::Value::Object(origin))) = origin.map(|text| serde_json::from_str(&text)) else {
        panic!("the origin is no object");
    };
    assert_eq!(origin.get("message_id").and_then(|id| id.as_str()), uplink.id.as_deref());
    if let Some(position) = origin.get("position") {
        assert!(position["latitude"].as_f64().is_some_and(|degrees| degrees.abs() <= 90.0), "{position}");
    }
}
