//! Clients of DTLS that send what is not valid: half of them records, and the others messages in a session.

use super::{client::Client, mutate::mutate};
use crate::{channel::Channel, dtls::Session};
use std::io;
use tokio::net::UdpSocket;

/// Where the ones and the others are. Whoever breaks handshakes off keeps others of his address from getting further.
const OF_RECORDS: &str = "127.0.0.1:0";
const OF_MESSAGES: &str = "127.0.0.3:0";
/// How often the ones look what there is to send, and most messages of the others, before they begin anew.
const TURNS: usize = 64;
const MESSAGES: usize = 256;
/// Most bytes of a message.
const LONGEST: usize = 1500;

/// What the client `number` does.
pub async fn run(mut client: Client, number: u64) -> io::Result<()> {
    loop {
        let left =
            if number.is_multiple_of(2) { records(&mut client).await? } else { messages(&mut client).await };
        if left.is_none() {
            return Ok(());
        }
    }
}

/// Opens a session and says what is no message in it; `None` if all frames are sent.
async fn messages(client: &mut Client) -> Option<()> {
    let key = client.attack.keys.first();
    // It comes to nothing if a datagram of it is dropped again and again.
    let Ok(mut channel) = Channel::open(client.attack.address, OF_MESSAGES, key).await else {
        return Some(());
    };
    for _ in 0..MESSAGES {
        let mut frame = client.frame().await?;
        frame.truncate(LONGEST);
        if channel.send(&frame).await.is_err() {
            break;
        }
    }
    Some(())
}

/// Asks for a session, with the right key or another, and talks in it. After each datagram goes a changed one; while it waits for an
/// answer, what it has sent last.
async fn records(client: &mut Client) -> io::Result<Option<()>> {
    let socket = UdpSocket::bind(OF_RECORDS).await?;
    socket.connect(client.attack.address).await?;
    let mut session = Session::new(client.random.pick(&client.attack.keys));
    let mut last = Vec::new();
    for _ in 0..TURNS {
        let message = client.random.pick(&client.attack.frames.valid).bytes();
        let is_refused = session.connected && session.say(&message).is_err();
        let Ok((new, _)) = session.outgoing() else { break };
        if is_refused {
            break;
        }
        let is_waiting = new.is_empty();
        for datagram in new {
            // An error is that of an earlier datagram, or that of a server that is gone, which is seen elsewhere.
            let _ = socket.send(&datagram).await;
            last = datagram;
            if changed(client, &socket, &last).await.is_none() {
                return Ok(None);
            }
        }
        if is_waiting && changed(client, &socket, &last).await.is_none() {
            return Ok(None);
        }
        let mut answer = [0; 2048];
        while let Ok(length) = socket.try_recv(&mut answer) {
            let _ = session.take(&answer[..length]);
        }
    }
    Ok(Some(()))
}

/// Sends `datagram` with a change, as the next frame; `None` if all are sent.
async fn changed(client: &mut Client, socket: &UdpSocket, datagram: &[u8]) -> Option<()> {
    client.turn().await?;
    let mut frame = datagram.to_vec();
    if client.attack.mutated {
        mutate(&mut frame, &client.attack.frames.valid, &mut client.random);
    }
    let _ = socket.send(&frame).await;
    Some(())
}
