//! DTLS clients that send invalid data: half of them invalid records, the others invalid messages in a session.

use super::{client::Client, mutate::mutate};
use crate::{channel::Channel, dtls::Session};
use std::io;
use tokio::net::UdpSocket;

/// The addresses of both kinds. Aborted handshakes can keep other clients at the same address from completing theirs.
const RECORDS_SOURCE: &str = "127.0.0.1:0";
const MESSAGES_SOURCE: &str = "127.0.0.3:0";
/// The limits before a client starts a new session: turns of a client that sends records, and messages of the others.
const MAX_TURNS: usize = 64;
const MAX_MESSAGES: usize = 256;
/// Maximum message size in bytes.
const MAX_SIZE: usize = 1500;

/// Runs the client `number` until all frames are sent. Even numbers send records, odd ones messages.
pub async fn run(mut client: Client, number: u64) -> io::Result<()> {
    loop {
        let more =
            if number.is_multiple_of(2) { records(&mut client).await? } else { messages(&mut client).await };
        if more.is_none() {
            return Ok(());
        }
    }
}

/// Opens a session and sends invalid messages in it. Returns `None` when all frames are sent.
async fn messages(client: &mut Client) -> Option<()> {
    let key = client.attack.keys.first();
    // The handshake fails if its datagrams are dropped repeatedly.
    let Ok(mut channel) = Channel::open(client.attack.address, MESSAGES_SOURCE, key).await else {
        return Some(());
    };
    for _ in 0..MAX_MESSAGES {
        let mut frame = client.frame().await?;
        frame.truncate(MAX_SIZE);
        if channel.send(&frame).await.is_err() {
            break;
        }
    }
    Some(())
}

/// Starts a session with the right or the wrong key, and sends messages in it. A mutated copy follows each datagram. While the session waits
/// for an answer, mutated copies of its last datagram are sent. Returns `None` when all frames are sent.
async fn records(client: &mut Client) -> io::Result<Option<()>> {
    let socket = UdpSocket::bind(RECORDS_SOURCE).await?;
    socket.connect(client.attack.address).await?;
    let mut session = Session::new(client.random.pick(&client.attack.keys));
    let mut last = Vec::new();
    for _ in 0..MAX_TURNS {
        let message = client.random.pick(&client.attack.frames.valid).bytes();
        let is_broken = session.connected && session.encrypt(&message).is_err();
        let Ok((new, _)) = session.outgoing() else { break };
        if is_broken {
            break;
        }
        let is_waiting = new.is_empty();
        for datagram in new {
            // An error belongs to an earlier datagram, or the server has ended, which other checks detect.
            let _ = socket.send(&datagram).await;
            last = datagram;
            if send_mutated_copy(client, &socket, &last).await.is_none() {
                return Ok(None);
            }
        }
        if is_waiting && send_mutated_copy(client, &socket, &last).await.is_none() {
            return Ok(None);
        }
        let mut answer = [0; 2048];
        while let Ok(length) = socket.try_recv(&mut answer) {
            let _ = session.process(&answer[..length]);
        }
    }
    Ok(Some(()))
}

/// Sends a mutated copy of `datagram` as the next frame; `None` if all frames are sent.
async fn send_mutated_copy(client: &mut Client, socket: &UdpSocket, datagram: &[u8]) -> Option<()> {
    client.wait_for_turn().await?;
    let mut frame = datagram.to_vec();
    if client.attack.mutated {
        mutate(&mut frame, &client.attack.frames.valid, &mut client.random);
    }
    let _ = socket.send(&frame).await;
    Some(())
}
