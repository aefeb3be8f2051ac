//! CoAP as in RFC 7252 and RFC 7959, datagram by datagram, and with third-party clients.

mod clients;
mod in_message;

use crate::support::{
    Running,
    coap::{Client, JSON, code_and_diagnostic, configure, gateway, is_changed, ping},
    start_with,
};
use coap_lite::{CoapOption, MessageClass, MessageType, Packet, RequestType};
use dunnage_gateway::{Right, Who, tokens};
use rusqlite::Connection;

const ACK: MessageType = MessageType::Acknowledgement;

/// Returns the stored messages, oldest first.
fn stored(gateway: &Running) -> Vec<String> {
    let connection = Connection::open(gateway.folder.path().join("buffer.sqlite3")).unwrap();
    let mut statement = connection.prepare("SELECT json FROM messages ORDER BY id").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn a_repeated_message_is_stored_once() {
    let (gateway, address) = gateway();
    let mut client = Client::new(address);
    let request = client.request("ingest/d?link=lorawan", JSON, b"{\"t\":1}");
    let first = client.exchange(&request);
    assert_eq!((first.header.get_type(), is_changed(&first)), (ACK, true));
    assert_eq!(first.header.message_id, request.header.message_id);
    assert_eq!(first.get_token(), request.get_token());
    for _ in 0..3 {
        assert_eq!(client.exchange(&request), first);
    }
    // A repeated request that was rejected gets the same answer.
    let bad = client.request("ingest/d", JSON, b"[1,");
    let rejected = client.exchange(&bad);
    assert_eq!(client.exchange(&bad), rejected);
    // The same message ID from another endpoint belongs to another message.
    let mut other = Client::new(address);
    let theirs = other.request("ingest/d", JSON, b"2");
    assert_eq!(theirs.header.message_id, request.header.message_id);
    assert!(is_changed(&other.exchange(&theirs)));
    // Messages with different message IDs but the same key are duplicates.
    for _ in 0..2 {
        assert_eq!(client.post("ingest/d?key=a", JSON, b"3").0, "2.04");
    }
    assert_eq!(stored(&gateway), ["{\"t\":1}", "2", "3"]);
    let message = &gateway.get_json("/api/devices/d/messages")["messages"][2];
    assert_eq!((&message["link"], &message["format"]), (&"lorawan".into(), &"json".into()));
    assert_eq!(message["origin"]["endpoint"], client.socket.local_addr().unwrap().to_string());
    let stats = gateway.get_json("/api/stats");
    let counts = ["received", "stored", "quarantined", "refused", "duplicates"]
        .map(|name| stats[name].as_u64().unwrap());
    assert_eq!(counts, [5, 3, 1, 0, 1]);
}

#[test]
fn a_non_confirmable_request_gets_a_non_confirmable_answer() {
    let (gateway, address) = gateway();
    let mut client = Client::new(address);
    let mut request = client.request("ingest/d", JSON, b"1");
    request.header.set_type(MessageType::NonConfirmable);
    let answer = client.exchange(&request);
    assert_eq!((answer.header.get_type(), is_changed(&answer)), (MessageType::NonConfirmable, true));
    assert_eq!(answer.get_token(), request.get_token());
    client.send(&request);
    client.expect_nothing();
    assert_eq!(stored(&gateway), ["1"]);
}

#[test]
fn senml_is_accepted_with_its_content_formats() {
    let (gateway, address) = gateway();
    let mut client = Client::new(address);
    let json = br#"[{"bn":"a","bt":1600000000,"v":1}]"#;
    let cbor = b"\x81\xa3\x21\x61a\x22\x1a\x5f\x5e\x10\x00\x02\x01";
    for (format, payload) in [(110, &json[..]), (111, &json[..json.len() - 1]), (112, cbor), (113, cbor)] {
        let (code, diagnostic) = client.post("ingest/d", format, payload);
        assert_eq!(code, "2.04", "{format}: {diagnostic}");
    }
    assert_eq!(stored(&gateway), [r#"[{"n":"a","t":1600000000,"v":1}]"#; 4]);
}

#[test]
fn a_message_without_a_format_has_that_of_its_profile() {
    let gateway = start_with(|config| {
        configure(config);
        config.profiles = vec![toml::from_str("device = 's'\nformats = ['json']").unwrap()];
    });
    let mut client = Client::new(gateway.gateway.input_address("coap").unwrap());
    let mut without = client.request("ingest/s", JSON, b"{\"t\":1}");
    without.clear_option(CoapOption::ContentFormat);
    assert!(is_changed(&client.exchange(&without)));
    for (device, format, code) in [("s", 42, "2.04"), ("d", 42, "4.15"), ("d", 0, "2.04"), ("d", 432, "2.04")]
    {
        let (found, diagnostic) = client.post(&format!("ingest/{device}"), format, b"{\"t\":2}");
        assert_eq!(found, code, "{device} {format}: {diagnostic}");
    }
    assert_eq!(stored(&gateway), ["{\"t\":1}", "{\"t\":2}", "\"{\\\"t\\\":2}\"", "{\"t\":2}"]);
}

#[test]
fn errors_have_kind_and_offset() {
    let (gateway, address) = gateway();
    let mut client = Client::new(address);
    let long_path = format!("ingest/{}", "d".repeat(129));
    for (path, format, payload, code, prefix) in [
        ("ingest/d", JSON, &b"[1,"[..], "4.00", "malformed kind=truncated offset=3: "),
        ("ingest/d", 60, b"\xa1\x61", "4.00", "malformed kind=truncated offset="),
        ("ingest/d?schema=nothing", JSON, b"1", "4.04", "unknown-schema: "),
        ("ingest/d?schema=container", JSON, b"{\"rssi\":1}", "4.22", "schema kind=schema offset=8 pointer="),
        ("ingest/d", 42, b"1", "4.15", "media-type: "),
        ("ingest/d", 43, b"1", "4.15", "media-type: "),
        ("ingest/d", 65001, b"\x01", "4.15", "media-type: "),
        (
            "ingest/d?schema=container&slot=7",
            65001,
            b"\x01",
            "4.22",
            "unknown-layout kind=range offset=0: slot 7 ",
        ),
        ("ingest/d?schema=container&slot=0", 65001, b"\x01", "4.15", "media-type: slot must be"),
        ("ingest/a\u{7f}", JSON, b"1", "4.00", "name: "),
        (&long_path, JSON, b"1", "4.00", "name: "),
        ("ingest/d?link=&schema=", JSON, b"1", "4.00", "name: "),
        ("ingest/d?key=", JSON, b"1", "4.00", "key: "),
        ("ingest/d?schma=weather", JSON, b"1", "4.00", "query: there is no parameter"),
        ("ingest/d?key=a&key=b", JSON, b"1", "4.00", "query: "),
        ("ingest", JSON, b"1", "4.04", "not-found: "),
        ("ingest/d/e", JSON, b"1", "4.04", "not-found: "),
        (".well-known/core", JSON, b"", "4.04", "not-found: "),
    ] {
        let (actual, diagnostic) = client.post(path, format, payload);
        assert_eq!(actual, code, "{path}: {diagnostic}");
        assert!(diagnostic.starts_with(prefix), "{path}: {diagnostic}");
    }
    assert!(stored(&gateway).is_empty());
    assert_eq!(gateway.get_json("/api/stats")["quarantined"], 9);
    assert_eq!(gateway.get_json("/api/stats")["refused"], 6);
}

#[test]
fn other_methods_and_critical_options_are_rejected() {
    let (_gateway, address) = gateway();
    let mut client = Client::new(address);
    for method in [RequestType::Get, RequestType::Put, RequestType::Delete, RequestType::Fetch] {
        let mut request = client.request("ingest/d", JSON, b"1");
        request.header.code = MessageClass::Request(method);
        assert_eq!(code_and_diagnostic(&client.exchange(&request)).0, "4.05");
    }
    let mut request = client.request("ingest/d", JSON, b"1");
    request.header.code = MessageClass::Reserved(0x1e);
    assert_eq!(code_and_diagnostic(&client.exchange(&request)).0, "4.05");
    for (option, code) in
        [(9, "4.02"), (65_001, "4.02"), (1, "4.02"), (35, "5.05"), (39, "5.05"), (2, "2.04"), (258, "2.04")]
    {
        let mut request = client.request("ingest/d", JSON, b"1");
        request.add_option(CoapOption::from(option), b"x".to_vec());
        assert_eq!(code_and_diagnostic(&client.exchange(&request)).0, code, "{option}");
    }
    // A non-confirmable request with a critical option gets a Reset (RFC 7252, 5.4.1).
    let mut request = client.request("ingest/d", JSON, b"1");
    request.header.set_type(MessageType::NonConfirmable);
    request.add_option(CoapOption::Unknown(65_001), b"x".to_vec());
    let answer = client.exchange(&request);
    assert_eq!((answer.header.get_type(), answer.header.code), (MessageType::Reset, MessageClass::Empty));
}

#[test]
fn pings_and_messages_that_are_not_requests_are_reset_or_ignored() {
    let (_gateway, address) = gateway();
    let mut client = Client::new(address);
    let answer = client.exchange(&ping(7));
    assert_eq!(answer.to_bytes().unwrap(), b"\x70\x00\x00\x07");
    let unwanted: [&[u8]; 6] =
        [b"", b"x", b"\x60\x00\x00\x07", b"\x50\x44\x00\x07", b"\x81\x02\x00\x07", b"{\"t\":1}"];
    for bytes in unwanted {
        client.socket.send(bytes).unwrap();
        client.expect_nothing();
    }
    for bytes in
        [&b"\x40\x44\x00\x08"[..], b"\x49\x02\x00\x08", b"\x40\x02\x00\x08\xff", b"\x40\x02\x00\x08\xf0"]
    {
        client.socket.send(bytes).unwrap();
        assert_eq!(client.receive().to_bytes().unwrap(), b"\x70\x00\x00\x08", "{bytes:02x?}");
    }
}

#[test]
fn an_answer_is_at_most_three_times_as_long_as_its_request() {
    let (_gateway, address) = gateway();
    let client = Client::new(address);
    let mut request = Packet::new();
    request.header.set_type(MessageType::Confirmable);
    request.header.code = MessageClass::Request(RequestType::Post);
    request.add_option(CoapOption::UriPath, b"x".to_vec());
    let answer = client.exchange(&request);
    assert_eq!(code_and_diagnostic(&answer), ("4.04".into(), "not-found: se".into()));
    assert!(answer.to_bytes().unwrap().len() <= 3 * request.to_bytes().unwrap().len());
}

#[test]
fn tokens_and_rate_limits_apply_to_coap() {
    let mut token = String::new();
    let gateway = start_with(|config| {
        configure(config);
        config.access.who = Who::Tokens;
        config.access.device_messages_per_minute = 2;
        token = tokens::add(&config.tokens(), Some("t"), Right::Send("buoy-*".into()), None).unwrap().1;
    });
    let mut client = Client::new(gateway.gateway.input_address("coap").unwrap());
    let (none, wrong) =
        (client.post("ingest/buoy-7", JSON, b"1"), client.post("ingest/buoy-7?token=x", JSON, b"1"));
    assert_eq!((&*none.0, &*wrong.0), ("4.01", "4.01"));
    assert!(none.1.starts_with("unauthorized: "), "{}", none.1);
    let other = client.post(&format!("ingest/other?token={token}"), JSON, b"1");
    assert!(other.0 == "4.03" && other.1.starts_with("forbidden: "), "{other:?}");
    let path = format!("ingest/buoy-7?token={token}");
    assert_eq!(client.post(&path, JSON, b"1").0, "2.04");
    assert_eq!(client.post(&path, JSON, b"2").0, "2.04");
    let request = client.request(&path, JSON, b"3");
    let answer = client.exchange(&request);
    assert_eq!(code_and_diagnostic(&answer).0, "4.29");
    assert!(answer.get_first_option(CoapOption::MaxAge).is_some());
    // A repeated request gets the same answer.
    assert_eq!(client.exchange(&request), answer);
    assert_eq!(stored(&gateway), ["1", "2"]);
}

#[test]
fn a_loopback_address_alone_does_not_give_access() {
    let (gateway, address) = gateway();
    let mut client = Client::new(address);
    assert_eq!(client.post("ingest/d", JSON, b"1").0, "2.04");
    // A token is checked even if the client does not need one.
    assert_eq!(client.post("ingest/d?token=wrong", JSON, b"1").0, "4.01");
    let mut post_with = |options: &[(CoapOption, &[u8])]| {
        let mut request = client.request("ingest/d", JSON, b"1");
        options.iter().for_each(|(option, value)| request.add_option(*option, value.to_vec()));
        code_and_diagnostic(&client.exchange(&request)).0
    };
    let port = address.port().to_be_bytes();
    assert_eq!(post_with(&[(CoapOption::UriHost, b"localhost"), (CoapOption::UriPort, &port)]), "2.04");
    assert_eq!(post_with(&[(CoapOption::UriHost, b"127.0.0.1")]), "2.04");
    for host in [&b"telemetry.example.org"[..], b"203.0.113.7", b"0.0.0.0", b"", b"\xff"] {
        assert_eq!(post_with(&[(CoapOption::UriHost, host)]), "4.01", "{}", host.escape_ascii());
    }
    assert_eq!(post_with(&[(CoapOption::UriPort, &[1])]), "4.01");
    gateway.stop();

    // Other machines can reach this listener, so a client on the loopback interface may be a proxy.
    let open = start_with(|config| {
        let input = "name = 'coap'\n[coap]\nlisten = '0.0.0.0:0'";
        config.inputs.push(toml::from_str(input).unwrap());
    });
    let port = open.gateway.input_address("coap").unwrap().port();
    let (code, detail) = Client::new(([127, 0, 0, 1], port).into()).post("ingest/d", JSON, b"1");
    assert!(code == "4.01" && detail.starts_with("unauthorized: "), "{code} {detail}");
    open.stop();
}

/// During a slow commit, the sender gets an empty acknowledgement; the answer follows after the commit.
#[test]
fn a_slow_commit_is_answered_separately() {
    let (gateway, address) = gateway();
    let mut client = Client::new(address);
    let database = Connection::open(gateway.folder.path().join("buffer.sqlite3")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let request = client.request("ingest/d", JSON, b"1");
    let acknowledgement = client.exchange(&request);
    assert_eq!(acknowledgement.to_bytes().unwrap(), b"\x60\x00\x00\x01");
    // A repeated request is acknowledged again at once, and stored once.
    assert_eq!(client.exchange(&request), acknowledgement);
    database.execute_batch("ROLLBACK").unwrap();
    let answer = client.receive();
    assert_eq!((answer.header.get_type(), is_changed(&answer)), (MessageType::Confirmable, true));
    assert_eq!(answer.get_token(), request.get_token());
    // The gateway sends the answer again until the client acknowledges it.
    assert_eq!(client.receive(), answer);
    let mut reply = ping(answer.header.message_id);
    reply.header.set_type(ACK);
    client.send(&reply);
    assert_eq!(client.exchange(&request), acknowledgement);
    assert_eq!(stored(&gateway), ["1"]);
}

/// A datagram that the network duplicated gets one answer, in the acknowledgement, if the commit takes less than a second.
#[test]
fn a_duplicated_datagram_gets_one_answer() {
    let (gateway, address) = gateway();
    let mut client = Client::new(address);
    let database = Connection::open(gateway.folder.path().join("buffer.sqlite3")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let request = client.request("ingest/d", JSON, b"1");
    client.send(&request);
    client.send(&request);
    database.execute_batch("ROLLBACK").unwrap();
    let answer = client.receive();
    assert_eq!((answer.header.get_type(), is_changed(&answer)), (ACK, true));
    assert_eq!(client.exchange(&request), answer);
    assert_eq!(stored(&gateway), ["1"]);
}

/// A message that could not be written is not acknowledged as stored.
#[test]
fn a_failed_commit_is_5_03_with_max_age() {
    let (gateway, address) = gateway();
    let mut client = Client::new(address);
    let database = Connection::open(gateway.folder.path().join("buffer.sqlite3")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let request = client.request("ingest/d", JSON, b"1");
    assert_eq!(client.exchange(&request).header.code, MessageClass::Empty);
    // The writer gives up after 5 s.
    let answer = client.receive();
    assert_eq!(code_and_diagnostic(&answer).0, "5.03");
    assert_eq!(answer.get_first_option(CoapOption::MaxAge), Some(&vec![1]));
    database.execute_batch("ROLLBACK").unwrap();
    assert!(stored(&gateway).is_empty());
}

#[test]
fn blocks_are_assembled() {
    let (gateway, address) = gateway();
    let mut client = Client::new(address);
    let text = format!("\"{}\"", "x".repeat(98));
    let mut answers = Vec::new();
    let mut last = None;
    for (n, part) in text.as_bytes().chunks(32).enumerate() {
        let mut request = client.request("ingest/d", JSON, part);
        let more = 32 * (n + 1) < text.len();
        request.add_option(CoapOption::Block1, vec![(n as u8) << 4 | u8::from(more) << 3 | 1]);
        let answer = client.exchange(&request);
        // A repeated block changes nothing.
        assert_eq!(client.exchange(&request), answer);
        assert_eq!(answer.get_option(CoapOption::Block1), request.get_option(CoapOption::Block1));
        answers.push(code_and_diagnostic(&answer).0);
        last = Some(request);
    }
    assert_eq!(answers, ["2.31", "2.31", "2.31", "2.04"]);
    assert_eq!(stored(&gateway), [text]);
    // The last block of a message that is complete already, and a block of a message over the size limit.
    let mut request = last.unwrap();
    request.header.message_id = 50_000;
    assert_eq!(code_and_diagnostic(&client.exchange(&request)).0, "4.08");
    let mut request = client.request("ingest/d", JSON, &[b' '; 16]);
    request.add_option(CoapOption::Block1, vec![8]);
    request.add_option(CoapOption::Size1, vec![0x10, 0, 1]);
    let answer = client.exchange(&request);
    assert_eq!(code_and_diagnostic(&answer).0, "4.13");
    assert_eq!(answer.get_first_option(CoapOption::Size1), Some(&vec![0x10, 0, 0]));
    let mut request = client.request("ingest/d", JSON, b"1");
    request.add_option(CoapOption::Block1, vec![7]);
    assert_eq!(code_and_diagnostic(&client.exchange(&request)).0, "4.00");
}
