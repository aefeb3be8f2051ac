use super::*;

fn settings(text: &str) -> Result<Nats, String> {
    let text = format!("servers = [\"nats://127.0.0.1:1\"]\n{text}");
    Nats::new(&toml::from_str(&text).map_err(|e| e.to_string())?)
}

#[test]
fn every_device_id_has_its_own_subject() {
    let nats = settings("stream = \"S\"").unwrap();
    assert_eq!(nats.subject_of("urn:a.b"), "dunnage.urn:a%2Eb");
    let nats = settings("stream = \"S\"\nsubject = \"x.{partition}.{device}\"\npartitions = 1").unwrap();
    assert_eq!(nats.subject_of("d"), "x.0.d");
    assert_eq!(nats.stream(&Create::default()).subjects, ["x.*.*"]);
}

#[test]
fn errors_in_settings_begin_with_the_key() {
    for (text, key) in [
        ("stream = \"a.b\"", "stream"),
        ("stream = \"\"", "stream"),
        ("stream = \"S\"\nsubject = \"a.b\"", "subject"),
        ("stream = \"S\"\nsubject = \"a.x{device}\"", "subject"),
        ("stream = \"S\"\nsubject = \"a.>.{device}\"", "subject"),
        ("stream = \"S\"\nsubject = \"a..{device}\"", "subject"),
        ("stream = \"S\"\npartitions = 0", "partitions"),
        ("stream = \"S\"\nack_timeout_seconds = 0", "ack_timeout_seconds"),
    ] {
        let message = settings(text).err().unwrap();
        assert!(message.starts_with(key), "{message}");
    }
}

#[test]
fn raw_bytes_without_a_slot_have_it_in_their_media_type() {
    let mut message = Message { media_type: Some("application/vnd.dunnage.packed"), ..Message::default() };
    let content_type =
        |message: &Message, payload| headers(message, payload).get(header::CONTENT_TYPE).unwrap().to_string();
    assert_eq!(content_type(&message, Payload::Raw), "application/vnd.dunnage.packed");
    message.stored.origin = Some(r#"{"input":"lora","slot":7}"#.into());
    assert_eq!(content_type(&message, Payload::Raw), "application/vnd.dunnage.packed; slot=7");
    assert_eq!(content_type(&message, Payload::Json), "application/json");
}

#[test]
fn a_message_that_a_network_server_decoded_is_sent_as_json() {
    let text = "servers = ['nats://127.0.0.1:1']\nstream = 'S'\npayload = 'raw'";
    let nats = Nats::new(&toml::from_str(text).unwrap()).unwrap();
    let mut message = Message::default();
    message.stored.origin = Some(r#"{"input":"lora","provider":"chirpstack"}"#.into());
    assert_eq!(nats.payload_of(&message), Payload::Raw);
    message.stored.origin = Some(r#"{"input":"lora","payload":"decoded"}"#.into());
    assert_eq!(nats.payload_of(&message), Payload::Json);
}
