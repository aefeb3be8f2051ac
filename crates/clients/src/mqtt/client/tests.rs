//! The client with brokers that misbehave. `tests/broker.rs` and `tests/onem2m.rs` test it with real ones.

use super::{Acknowledgement, Client, Error, Event, Limits, Options, Publication, Version, packet};
use bytes::Bytes;
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Connects a client to a broker whose first response is `answer`. Returns it with the broker's end of the connection.
async fn connected(answer: &[u8], keep_alive: Duration) -> (Result<Client, Error>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut options = Options::new(Version::V5, "c", "127.0.0.1", listener.local_addr().unwrap().port());
    options.keep_alive = keep_alive;
    let broker = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = [0; 2];
        stream.read_exact(&mut head).await.unwrap();
        stream.read_exact(&mut vec![0; usize::from(head[1])]).await.unwrap();
        stream.write_all(answer).await.unwrap();
        stream
    };
    let (client, stream) = tokio::join!(Client::connect(&options), broker);
    (client.map(|(client, _)| client), stream)
}

const ACCEPTED: [u8; 5] = [0x20, 3, 0, 0, 0];
/// Longer than any test.
const LONG: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn a_silent_broker_is_detected() {
    let (client, mut broker) = connected(&ACCEPTED, Duration::from_secs(1)).await;
    let silent = client.unwrap().next(true).await;
    assert!(matches!(silent, Err(Error::Silent)), "{silent:?}");
    let mut ping = [0; 2];
    broker.read_exact(&mut ping).await.unwrap();
    assert_eq!(ping, [0xc0, 0]);
}

#[tokio::test]
async fn errors_describe_invalid_and_negative_responses() {
    for (answer, expected) in [
        // As MQTT, the first two bytes declare a length of 84 bytes.
        (&[&b"HTTP/1.1 400 Bad Request\r\n"[..], &[b'x'; 84]].concat()[..], "does it support MQTT 5?"),
        (&[0x20, 2, 0, 1], "does it support MQTT 5?"),
        (&[0x20, 3, 0, 0x87, 0], "refused the connection: NotAuthorized"),
    ] {
        let (client, _broker) = connected(answer, LONG).await;
        let error = client.err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// A deadlock in which both sides wait for the other to read must not happen.
#[tokio::test]
async fn the_client_reads_while_the_broker_does_not() {
    let (client, mut broker) = connected(&ACCEPTED, LONG).await;
    let mut client = client.unwrap();
    let payload = vec![b'x'; 8 << 20];
    let id = client.publish("v1/d/json", &payload).unwrap().unwrap();
    let [high, low] = id.to_be_bytes();
    client.acknowledge(7);
    // The broker acknowledges before it has read anything.
    broker.write_all(&[0x40, 2, high, low]).await.unwrap();
    let event = client.next(true).await.unwrap();
    assert!(matches!(event, Event::Acknowledged(of, Acknowledgement::Taken) if of == id), "{event:?}");
    // The acknowledgement follows the message and is not written yet.
    assert_eq!(client.unwritten().collect::<Vec<_>>(), [7]);
    let mut received = Vec::new();
    let (_, read) = tokio::join!(client.close(), broker.read_to_end(&mut received));
    read.unwrap();
    assert!(received.ends_with(&[0x40, 2, 0, 7, 0xe0, 0]));
    assert_eq!(client.unwritten().count(), 0);
}

#[tokio::test]
async fn an_acknowledgement_may_be_a_refusal() {
    let (client, mut broker) = connected(&ACCEPTED, LONG).await;
    let mut client = client.unwrap();
    for (rest, expected) in [
        (&[][..], Acknowledgement::Taken),
        (&[0], Acknowledgement::Taken),
        (&[0x10], Acknowledgement::NoSubscriber),
        (&[0x87, 0], Acknowledgement::Refused(0x87, "NotAuthorized".into())),
        (&[0x97, 5, 0x1f, 0, 2, b'n', b'o'], Acknowledgement::Refused(0x97, "QuotaExceeded: no".into())),
        // mosquitto has this code, which the specification lists for other packets only.
        (&[0x95, 5, 0x1f, 0, 2, b'n', b'o'], Acknowledgement::Refused(0x95, "PacketTooLarge: no".into())),
        (&[0xfe], Acknowledgement::Refused(0xfe, "reason code 0xfe".into())),
    ] {
        let id = client.publish("t", b"").unwrap().unwrap();
        let length = 2 + u8::try_from(rest.len()).unwrap();
        let [high, low] = id.to_be_bytes();
        broker.write_all(&[&[0x40, length, high, low], rest].concat()).await.unwrap();
        let event = client.next(true).await.unwrap();
        assert!(matches!(&event, Event::Acknowledged(of, how) if *of == id && *how == expected), "{event:?}");
    }
}

#[tokio::test]
async fn the_limits_of_the_broker_are_known_and_kept() {
    let answer =
        [&[0x20, 18, 0, 0, 15][..], &[0x21, 0, 20, 0x24, 0, 0x25, 0, 0x27, 0, 0, 0, 100, 0x13, 0, 1]]
            .concat();
    let (client, mut broker) = connected(&answer, LONG).await;
    let mut client = client.unwrap();
    let expected = Limits {
        receive_maximum: 20,
        packet_bytes: 100,
        qos_1: false,
        retain: false,
        keep_alive: Some(Duration::from_secs(1)),
    };
    assert_eq!(client.limits(), expected);
    assert!(client.publish("t", &[b'x'; 92]).unwrap().is_some());
    let error = client.publish("t", &[b'x'; 93]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a message makes a packet of 101 bytes, and the broker accepts 100 at most"
    );
    // The broker's keep-alive is shorter than the client's, which is an hour.
    assert!(matches!(client.next(true).await, Err(Error::Silent)));
    let mut received = vec![0; 102];
    broker.read_exact(&mut received).await.unwrap();
    assert_eq!(received[100..], [0xc0, 0]);
}

#[tokio::test]
async fn a_publication_has_its_properties() {
    let (client, mut broker) = connected(&ACCEPTED, LONG).await;
    let mut client = client.unwrap();
    let publication = Publication {
        topic: "t".into(),
        payload: Bytes::from_static(b"1"),
        retain: true,
        content_type: Some("a/b".into()),
        user: vec![("k", "v".into())],
    };
    client.send(&publication).unwrap();
    client.close().await;
    let mut received = Vec::new();
    broker.read_to_end(&mut received).await.unwrap();
    let Some(Ok(packet::Packet::Publish(publish))) = packet::frame(&mut received[..].into(), 100)
        .unwrap()
        .map(|(first, body)| packet::read(Version::V5, first, &body))
    else {
        panic!("{received:?}");
    };
    assert_eq!((&*publish.topic, &*publish.payload, publish.retain), ("t", &b"1"[..], true));
    assert_eq!(publish.content_type.as_deref(), Some("a/b"));
    assert_eq!(publish.user, [("k".to_owned(), "v".to_owned())]);
}

#[tokio::test]
async fn a_connection_that_is_slow_is_kept() {
    let (client, mut broker) = connected(&ACCEPTED, Duration::from_secs(2)).await;
    let mut client = client.unwrap();
    let payload = vec![b'x'; 64 << 20];
    let id = client.publish("t", &payload).unwrap().unwrap();
    // It takes longer than a ping. What the network has taken over is read within one.
    let slow = async {
        let (mut part, mut left) = (vec![0; 1 << 20], payload.len());
        while left > 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            left = left.saturating_sub(broker.read(&mut part).await.unwrap());
        }
        let [high, low] = id.to_be_bytes();
        broker.write_all(&[0x40, 2, high, low]).await.unwrap();
    };
    let (event, ()) = tokio::join!(client.next(true), slow);
    assert!(matches!(event, Ok(Event::Acknowledged(of, _)) if of == id), "{event:?}");
}

#[tokio::test]
async fn an_answered_ping_is_an_event_and_the_will_is_published_before_the_end() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    for (version, accepted, end) in
        [(Version::V3, &[0x20, 2, 0, 0][..], &[0xe0, 0][..]), (Version::V5, &ACCEPTED[..], &[0xe0, 1, 4][..])]
    {
        let mut options = Options::new(version, "c", "127.0.0.1", listener.local_addr().unwrap().port());
        let payload = Bytes::from_static(b"dead");
        options.will = Some(Publication { topic: "will".into(), payload, ..Publication::default() });
        let broker = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = [0; 2];
            stream.read_exact(&mut head).await.unwrap();
            let mut connect = vec![0; usize::from(head[1])];
            stream.read_exact(&mut connect).await.unwrap();
            // A clean session, and a will of QoS 1 that is not retained (MQTT 3.1.1, section 3.1.2.3).
            assert_eq!(connect[7], 0b0000_1110);
            let will = packet::connect(head[0], &connect).unwrap().will.unwrap();
            assert_eq!((&*will.topic, &*will.payload), ("will", &b"dead"[..]));
            stream.write_all(accepted).await.unwrap();
            stream
        };
        let (client, mut broker) = tokio::join!(Client::connect(&options), broker);
        let (mut client, _) = client.unwrap();
        client.send_unacknowledged(&Publication { topic: "t".into(), ..Publication::default() }).unwrap();
        client.ping();
        broker.write_all(&[0xd0, 0]).await.unwrap();
        assert!(matches!(client.next(true).await, Ok(Event::Answered)));
        client.close().await;
        let mut received = Vec::new();
        broker.read_to_end(&mut received).await.unwrap();
        let without_properties = version == Version::V3;
        let publish =
            if without_properties { &[0x30, 3, 0, 1, b't'][..] } else { &[0x30, 4, 0, 1, b't', 0][..] };
        assert!(received.starts_with(&[publish, &[0xc0, 0, 0x32]].concat()), "{received:02x?}");
        assert!(received.ends_with(&[&b"dead"[..], end].concat()), "{received:02x?}");
    }
}
