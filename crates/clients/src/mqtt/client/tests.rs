//! The client with brokers that misbehave. `tests/broker.rs` and `tests/onem2m.rs` test it with real ones.

use super::{Acknowledgement, Client, Error, Event, Options, Version};
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
        (&[0x87, 0], Acknowledgement::Refused("NotAuthorized".into())),
        (&[0x97, 5, 0x1f, 0, 2, b'n', b'o'], Acknowledgement::Refused("QuotaExceeded: no".into())),
    ] {
        let id = client.publish("t", b"").unwrap().unwrap();
        let length = 2 + u8::try_from(rest.len()).unwrap();
        let [high, low] = id.to_be_bytes();
        broker.write_all(&[&[0x40, length, high, low], rest].concat()).await.unwrap();
        let event = client.next(true).await.unwrap();
        assert!(matches!(&event, Event::Acknowledged(of, how) if *of == id && *how == expected), "{event:?}");
    }
}
