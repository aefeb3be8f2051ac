//! Invariants of a CoAP port with DTLS, for any datagrams besides those of a client with a key.

use super::{
    Library, Sessions,
    client::{Client, config},
};
use crate::metrics::Handshakes;
use dunnage_access::{Access, AccessSettings, Keys, Refusals, Tokens, keys::KeyFile};
use std::{
    collections::HashSet,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, LazyLock},
    time::Instant,
};

const KEYS: &str = r#"{"key":[{"name":"a","device":"*","secret":"a-key-of-some-bytes"}]}"#;
/// How many bytes more than it sent an address may receive for a ClientHello without a cookie.
const HELLO: usize = 64;

static ACCESS: LazyLock<Arc<Access>> = LazyLock::new(|| {
    let keys: KeyFile = serde_json::from_str(KEYS).unwrap_or_else(|error| unreachable!("{error}"));
    let keys = Keys::new(keys.keys(&mut HashSet::new()).0);
    Arc::new(Access::new(&AccessSettings::default(), Tokens::default(), keys, Refusals::default()))
});
// Shared, because each creation tests all of the cryptography.
static LIBRARY: LazyLock<Library> = LazyLock::new(|| match Library::new(Arc::clone(&ACCESS)) {
    Ok(library) => library,
    Err(error) => unreachable!("{error}"),
});
static CLIENT: LazyLock<Arc<dimpl::Config>> = LazyLock::new(|| config("a", "a-key-of-some-bytes"));

fn at(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// Runs a sequence of events. In `bytes`, each is a byte that selects the event, followed by its arguments.
pub fn check(mut bytes: &[u8]) {
    let now = Instant::now();
    let Ok(mut sessions) = Sessions::with(Arc::clone(&ACCESS), LIBRARY.clone(), Handshakes::default(), now)
    else {
        unreachable!("the machine has random numbers")
    };
    let mut client = Client::new(at(1), Arc::clone(&CLIENT), now);
    let (mut sent, mut said): (Vec<Vec<u8>>, u32) = Default::default();
    while let Some((what, rest)) = bytes.split_first() {
        let (argument, rest) = rest.split_at(rest.len().min(usize::from(*what >> 4)));
        bytes = rest;
        let before = sessions.sessions.len();
        let from = at(1 + u16::from(what >> 3 & 1));
        match what & 7 {
            // The client continues.
            0 | 1 => sent.extend(client.outgoing()),
            // It sends a message.
            2 => {
                said += u32::from(client.dtls.send_application_data(&said.to_be_bytes()).is_ok());
                sent.extend(client.outgoing());
            }
            // Its last datagram arrives, or an earlier one.
            3 => give(&mut sessions, sent.last().cloned(), from, now),
            4 => give(&mut sessions, sent.get(usize::from(first(argument))).cloned(), from, now),
            // Its last datagram arrives with some bytes changed, or truncated.
            5 => give(&mut sessions, Some(damaged(sent.last(), argument)), from, now),
            // Arbitrary bytes arrive, as a record or not.
            6 => give(&mut sessions, Some(super::hello::record(first(argument), 7, argument)), from, now),
            _ => give(&mut sessions, Some(argument.to_vec()), from, now),
        }
        for (to, datagram) in std::mem::take(&mut sessions.outgoing) {
            if to == client.address {
                client.take(&datagram);
            }
        }
        assert!(sessions.handshakes.len() <= 1 && sessions.sessions.len() <= 1);
        // Nobody can end the session of another.
        assert!(sessions.sessions.len() >= before);
    }
    // The messages are those that the client sent, without duplicates or foreign ones.
    let mut came: Vec<_> = sessions.messages.drain(..).collect();
    came.sort_by(|(_, a), (_, b)| a.cmp(b));
    assert!(came.windows(2).all(|pair| pair[0].1 != pair[1].1), "{came:?}");
    for (endpoint, message) in came {
        assert_eq!(endpoint.address, client.address);
        let number = message.try_into().map(u32::from_be_bytes);
        assert!(number.is_ok_and(|number| number < said));
    }
    // Other clients can still connect.
    assert!(Client::new(at(3), Arc::clone(&CLIENT), now).connect(&mut sessions, now).is_some());
}

/// Returns a datagram with bytes changed by the pairs in `how`, and truncated if a byte follows them.
fn damaged(datagram: Option<&Vec<u8>>, how: &[u8]) -> Vec<u8> {
    let mut datagram = datagram.cloned().unwrap_or_default();
    for pair in how.chunks_exact(2) {
        let place = usize::from(pair[0]) % datagram.len().max(1);
        datagram.get_mut(place).into_iter().for_each(|byte| *byte ^= pair[1]);
    }
    if let [end] = how.chunks_exact(2).remainder() {
        datagram.truncate((*end).into());
    }
    datagram
}

/// A datagram arrives. An address that has not been verified is sent hardly more bytes than that.
fn give(sessions: &mut Sessions, datagram: Option<Vec<u8>>, from: SocketAddr, now: Instant) {
    let Some(datagram) = datagram else { return };
    sessions.datagram(&datagram, from, now);
    let answered: usize = sessions.outgoing.iter().map(|(_, datagram)| datagram.len()).sum();
    if from == at(2) {
        assert!(answered <= datagram.len() + HELLO, "{answered} for {}", datagram.len());
    }
}

fn first(argument: &[u8]) -> u8 {
    argument.first().copied().unwrap_or_default()
}
