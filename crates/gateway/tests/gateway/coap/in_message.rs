//! Device IDs in messages, where the path has none.

use super::stored;
use crate::support::{
    coap::{Client, JSON, code_and_diagnostic, gateway, is_changed},
    start_with,
};
use coap_lite::CoapOption;
use dunnage_gateway::{Right, Who, tokens};

/// Sends `payload` in blocks of 32 bytes. Returns the code and the diagnostic of the last answer, or of the first that is an error.
fn post_in_blocks(client: &mut Client, path: &str, payload: &[u8]) -> (String, String) {
    let mut blocks = (0_u8..).zip(payload.chunks(32)).peekable();
    let mut last = Default::default();
    while let Some((n, block)) = blocks.next() {
        let mut request = client.request(path, JSON, block);
        let more = blocks.peek().is_some();
        request.add_option(CoapOption::Block1, vec![n << 4 | u8::from(more) << 3 | 1]);
        last = code_and_diagnostic(&client.exchange(&request));
        if !last.0.starts_with("2.") {
            break;
        }
    }
    last
}

#[test]
fn a_device_in_the_message_is_authorized_like_one_in_the_path() {
    let mut token = String::new();
    let gateway = start_with(|config| {
        let text = "name = 'coap'\n[coap]\nlisten = '127.0.0.1:0'\ndevice_at = '/imei'";
        config.inputs.push(toml::from_str(text).unwrap());
        config.access.who = Who::Tokens;
        config.access.device_messages_per_minute = 3;
        token = tokens::add(&config.tokens(), Some("t"), Right::Send("buoy-*".into()), None).unwrap().1;
    });
    let mut client = Client::new(gateway.gateway.input_address("coap").unwrap());
    let path = format!("ingest?token={token}");
    let message = br#"{"imei":"buoy-7","t":1}"#;
    assert_eq!(client.post(&path, JSON, message).0, "2.04");
    // Without a format, the message is JSON; in blocks, the device is known with the last one.
    let mut request = client.request(&path, JSON, message);
    request.clear_option(CoapOption::ContentFormat);
    assert!(is_changed(&client.exchange(&request)));
    let long = format!(r#"{{"t":"{}","imei":"buoy-7"}}"#, "x".repeat(100));
    assert_eq!(post_in_blocks(&mut client, &path, long.as_bytes()).0, "2.04");
    assert_eq!(client.post(&path, JSON, message).0, "4.29");
    // A token for one device does not store messages as another, whether the message fits in a datagram or not.
    let other = br#"{"t":"0123456789012345678901234567890123456789","imei":"ship-1"}"#;
    for answer in [client.post(&path, JSON, other), post_in_blocks(&mut client, &path, other)] {
        assert!(answer.0 == "4.03" && answer.1.contains("ship-1"), "{answer:?}");
    }
    for path in ["ingest", "ingest?token=wrong"] {
        assert_eq!(client.post(path, JSON, message).0, "4.01");
        assert_eq!(post_in_blocks(&mut client, path, message).0, "4.01");
    }
    let nameless = client.post(&path, JSON, b"{}");
    assert!(nameless.0 == "4.00" && nameless.1.contains("/imei"), "{nameless:?}");
    assert_eq!(client.post(&path, JSON, b"[").0, "4.00");
    let stored = stored(&gateway);
    assert!(stored.len() == 3 && stored.iter().all(|message| message.contains("buoy-7")), "{stored:?}");
}

#[test]
fn a_path_without_a_device_is_not_found_unless_messages_have_theirs() {
    let (_gateway, address) = gateway();
    assert_eq!(Client::new(address).post("ingest", JSON, br#"{"imei":"d"}"#).0, "4.04");
}
