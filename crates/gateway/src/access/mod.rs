//! Who may send as which device, and who may read: peers, and the tokens they bring.
//!
//! The rule is `[access] who`. Where it asks for a token, every way in brings the same two things to [`Access`]: the peer, and the
//! credential that its protocol carries. What a token may is in the file `[access] tokens` (`tokens.rs`).

mod book;
mod buckets;
pub mod edit;
pub mod edit_keys;
pub mod http;
pub mod keys;
mod limits;
mod settings;
mod tokens;

pub use book::{Right, Token, Until};
pub use keys::{Key, Keys};
pub use limits::{Limits, network};
pub use settings::{Settings, Who};
pub use tokens::{Tokens, TokensError, read};

use crate::{clock, config::Config, metrics::Refusals, name::MAX_NAME, problem::Problem};
use arc_swap::{ArcSwap, Guard};
use axum::http::StatusCode;
pub use buckets::Buckets;
use std::{net::IpAddr, sync::Arc};

/// Wrong tokens that an address may bring in a minute before it is told to come again later.
const FAILURES: u32 = 30;
/// Lines of the log about wrong tokens in a minute.
const LINES: u32 = 10;

/// Who is at the other end of a connection, or has sent a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its address.
    pub address: IpAddr,
    /// Whether it hands on what another sent, as far as one can see: a proxy, or a browser for another site's page.
    pub forwarded: bool,
}

impl Peer {
    /// A peer that speaks for itself.
    pub fn direct(address: IpAddr) -> Peer {
        Peer { address, forwarded: false }
    }

    /// Whether it is on this machine, at its address.
    fn is_loopback(&self) -> bool {
        self.address.to_canonical().is_loopback()
    }
}

/// Decides who may do what.
pub struct Access {
    who: Who,
    tokens: ArcSwap<Tokens>,
    keys: ArcSwap<Keys>,
    failures: Buckets<IpAddr>,
    lines: Buckets<()>,
    refusals: Refusals,
}

impl Access {
    /// The rule of `settings`, with `tokens` and `keys`. `refusals` counts whom it refuses.
    pub fn new(settings: &Settings, tokens: Tokens, keys: Keys, refusals: Refusals) -> Access {
        Access {
            who: settings.who,
            tokens: ArcSwap::from_pointee(tokens),
            keys: ArcSwap::from_pointee(keys),
            failures: Buckets::new(FAILURES),
            lines: Buckets::new(LINES),
            refusals,
        }
    }

    /// Replaces all tokens and keys.
    pub fn replace(&self, tokens: Tokens, keys: Keys) {
        self.tokens.store(Arc::new(tokens));
        self.keys.store(Arc::new(keys));
    }

    /// Whether `peer` needs no token.
    pub fn is_free(&self, peer: &Peer) -> bool {
        match self.who {
            Who::Anyone => true,
            Who::Loopback => !peer.forwarded && peer.is_loopback(),
            Who::Tokens => false,
        }
    }

    /// Refuses a peer that may not send as `device` with the token `credential`: 401 without a token that is valid, 403 with one
    /// for other devices, 429 after too many that are not. The refusal is counted here; nothing of the message has been kept.
    pub fn may_send(&self, peer: &Peer, device: &str, credential: Option<&str>) -> Result<(), Problem> {
        if self.is_free(peer) {
            return Ok(());
        }
        self.may(
            peer,
            credential,
            |right| right.sends_as(device),
            || format!("this token may not send as {device:?}"),
        )
    }

    /// Refuses a peer that may not read what is stored.
    pub fn may_read(&self, peer: &Peer, credential: Option<&str>) -> Result<(), Problem> {
        if self.is_free(peer) {
            return Ok(());
        }
        self.may(peer, credential, Right::reads, || "this token may send, and not read".into())
    }

    /// Refuses a peer that may send as no device at all, for protocols that ask for the credential before the device.
    pub fn may_connect(&self, peer: &Peer, credential: Option<&str>) -> Result<(), Problem> {
        if self.is_free(peer) {
            return Ok(());
        }
        self.may(peer, credential, Right::sends, || "this token may read, and not send".into())
    }

    /// The key of `identity`, or what to say of it in the log.
    pub fn key(&self, identity: &[u8]) -> Result<Arc<Key>, &'static str> {
        self.keys.load().find(identity).cloned()
    }

    /// How many keys there are.
    pub fn keys(&self) -> usize {
        self.keys.load().len()
    }

    /// Whether `key`, with which a session was made, is good still.
    pub fn holds(&self, key: &Key) -> bool {
        self.keys.load().find(key.name.as_bytes()).is_ok_and(|now| now.is(key))
    }

    /// Refuses a session that was made with `key` and may not send as `device`: 401 if the key has been taken away, 403 if it is
    /// for other devices. The refusal is counted here.
    pub fn may_send_by_key(&self, key: &Key, device: &str) -> Result<(), Problem> {
        let keys = self.keys.load();
        let problem = match keys.find(key.name.as_bytes()) {
            Ok(now) if !now.is(key) => unauthorized("the key is another now".into()),
            Ok(now) if crate::name::fits(&now.device, device) => return Ok(()),
            Ok(_) => forbidden(format!("this key may not send as {device:?}")),
            Err(detail) => unauthorized(detail.into()),
        };
        self.refusals.count(&problem);
        Err(problem)
    }

    /// `peer` could not show that it has the key of `identity`. That is counted, and is in the log.
    pub fn refuse_key(&self, peer: &Peer, identity: &[u8], detail: &str) {
        self.refusals.count(&unauthorized(detail.into()));
        if self.lines.take(&()).is_ok() {
            let identity = identity[..identity.len().min(MAX_NAME)].escape_ascii().to_string();
            tracing::warn!(address = %peer.address.to_canonical(), identity, detail, "a key is refused");
        }
    }

    fn may(
        &self,
        peer: &Peer,
        credential: Option<&str>,
        enough: impl Fn(&Right) -> bool,
        otherwise: impl Fn() -> String,
    ) -> Result<(), Problem> {
        let tokens: Guard<Arc<Tokens>> = self.tokens.load();
        let token = match credential {
            None if peer.is_loopback() && self.who == Who::Loopback => {
                Err("a token is needed, as this comes through a proxy or is not addressed to localhost"
                    .to_owned())
            }
            None => Err("a token is needed".to_owned()),
            Some(credential) => tokens.find(credential, clock::now()).map_err(str::to_owned),
        };
        let problem = match token {
            Ok(token) if enough(&token.right) => return Ok(()),
            Ok(_) => forbidden(otherwise()),
            Err(detail) => return Err(self.refuse_token(peer, credential.is_some(), detail)),
        };
        self.refusals.count(&problem);
        Err(problem)
    }

    /// What a peer is told that brought no valid token, here or to a door that has its own, and counts it. One that brings nothing is told
    /// what is needed. One that brings the wrong thing again and again is told to wait; a token that is valid is always taken, as
    /// others may be behind the same address.
    pub fn refuse_token(&self, peer: &Peer, tried: bool, detail: String) -> Problem {
        let problem = self.wrong(peer, tried, detail);
        self.refusals.count(&problem);
        problem
    }

    fn wrong(&self, peer: &Peer, tried: bool, detail: String) -> Problem {
        if tried {
            let address = peer.address.to_canonical();
            let failures = self.failures.take(&address);
            if self.lines.take(&()).is_ok() {
                tracing::warn!(%address, forwarded = peer.forwarded, detail, "a token is refused");
            }
            if let Err(seconds) = failures {
                return Problem::too_many("too many wrong tokens came from this address", seconds);
            }
        }
        unauthorized(detail)
    }
}

fn unauthorized(detail: String) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", "Unauthorized", detail)
}

fn forbidden(detail: String) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "forbidden", "Forbidden", detail)
}

/// Says in the log what an operator may not have meant: who needs a token, that there is none, or who may read them.
pub fn warn(config: &Config, tokens: &Tokens) {
    let address = config.http.listen;
    let open = !address.ip().to_canonical().is_loopback();
    match config.access.who {
        Who::Anyone if open => tracing::warn!(
            %address,
            "[access] who = \"anyone\": whoever reaches this address may send as any device and read everything"
        ),
        Who::Tokens | Who::Loopback if tokens.is_empty() && (open || config.access.who == Who::Tokens) => {
            tracing::warn!(
                %address,
                tokens = %config.tokens().display(),
                "there is no token, and peers that need one are answered 401: make one with `dunnage gateway token new`, or set \
                 [access] who = \"anyone\" behind a proxy that asks who they are"
            );
        }
        Who::Tokens | Who::Loopback if open && !config.http.tls => {
            tracing::warn!(
                %address,
                "tokens go over the network in the clear, unless a proxy in front has TLS: set [http] tls"
            );
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problem;

    fn peer(address: &str) -> Peer {
        Peer::direct(address.parse().unwrap())
    }

    fn access(who: Who) -> (Access, String, String) {
        let (sends, secret) = Token::make("a", Right::Send("buoy-*".into()), None).unwrap();
        let (reads, key) = Token::make("b", Right::Read, None).unwrap();
        let tokens = Tokens::new([sends, reads]);
        (
            Access::new(
                &Settings { who, ..Settings::default() },
                tokens,
                Keys::default(),
                Refusals::default(),
            ),
            secret,
            key,
        )
    }

    fn status(answer: Result<(), Problem>) -> u16 {
        answer.map_or_else(|problem| problem.status().as_u16(), |()| 204)
    }

    #[test]
    fn peers_on_the_loopback_address_are_free_unless_they_hand_on() {
        let (access, ..) = access(Who::Loopback);
        for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(status(access.may_send(&peer(address), "x", None)), 204, "{address}");
            let forwarded = Peer { forwarded: true, ..peer(address) };
            assert_eq!(status(access.may_send(&forwarded, "x", None)), 401, "{address}");
        }
        for address in ["10.0.0.1", "::", "0.0.0.0", "2001:db8::1", "::ffff:10.0.0.1"] {
            assert_eq!(status(access.may_send(&peer(address), "x", None)), 401, "{address}");
        }
    }

    #[test]
    fn a_token_has_one_right() {
        let (access, sends, reads) = access(Who::Tokens);
        let peer = peer("127.0.0.1");
        assert_eq!(status(access.may_send(&peer, "buoy-7", Some(&sends))), 204);
        assert_eq!(status(access.may_send(&peer, "ship", Some(&sends))), 403);
        assert_eq!(status(access.may_read(&peer, Some(&sends))), 403);
        assert_eq!(status(access.may_connect(&peer, Some(&sends))), 204);
        assert_eq!(status(access.may_send(&peer, "buoy-7", Some(&reads))), 403);
        assert_eq!(status(access.may_read(&peer, Some(&reads))), 204);
        assert_eq!(status(access.may_connect(&peer, Some(&reads))), 403);
        assert_eq!(status(access.may_read(&peer, None)), 401);
    }

    #[test]
    fn wrong_tokens_are_slowed_down_and_right_ones_behind_the_same_address_are_not() {
        let (access, sends, _) = access(Who::Tokens);
        let peer = peer("10.0.0.1");
        let wrong = |n: u32| format!("dn_{n:043}");
        let answers: Vec<_> =
            (0..=FAILURES).map(|n| status(access.may_send(&peer, "buoy-7", Some(&wrong(n))))).collect();
        assert!(answers[..FAILURES as usize].iter().all(|status| *status == 401), "{answers:?}");
        assert_eq!(answers[FAILURES as usize], 429);
        assert_eq!(status(access.may_send(&peer, "buoy-7", Some(&sends))), 204);
        let other = Peer::direct("10.0.0.2".parse().unwrap());
        assert_eq!(status(access.may_send(&other, "buoy-7", Some("wrong"))), 401);
    }

    #[test]
    fn no_peer_needs_a_token_where_anyone_may() {
        let (access, ..) = access(Who::Anyone);
        assert_eq!(status(access.may_read(&peer("10.0.0.1"), Some("wrong"))), 204);
    }
}
