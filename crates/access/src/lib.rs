//! Access control: decides who may send as which device, and who may read.
//!
//! `[access] who` sets the rule. Every input passes the same two things to [`Access`]: the [`Peer`] and the credential that its protocol
//! carries. The rights of tokens come from the file `[access] tokens` (`tokens.rs`), the pre-shared keys of DTLS from `[access] keys`
//! (`keys.rs`). [`Limits`] bounds the messages of each device and address. [`tls`] has the certificates of the listeners.
//!
//! Each refusal is counted where it is made, and nothing of the refused message has been stored by then.

mod buckets;
mod denied;
pub mod edit;
pub mod edit_keys;
pub mod http;
pub mod keys;
mod limits;
mod owner;
mod peer;
mod scope;
mod settings;
mod tables;
pub mod tls;
mod token_file;
mod tokens;

pub use denied::{Denied, Refusals};
pub use keys::{Key, Keys};
pub use limits::Limits;
pub use peer::{Foreign, Listener, Peer, is_loopback_host};
pub use scope::Scope;
pub use settings::{AccessSettings, Who};
pub use token_file::{Right, Token, Until, is_pattern};
pub use tokens::{Grant, Tokens, TokensError, read};

use arc_swap::{ArcSwap, Guard};
pub use buckets::Buckets;
use dunnage_base::{clock, name::MAX_NAME, network};
use std::{net::IpAddr, sync::Arc, time::Duration};
use tokio::sync::watch;

/// Invalid tokens that an address may present in a minute. Further ones are answered 429.
const FAILURES: u32 = 30;
/// Most log lines about rejected tokens and keys in a minute.
const LINES: u32 = 10;
/// How often connections and subscriptions that last check that their token has not expired.
const EXPIRY_CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// Decides which peer may send, and which may read.
pub struct Access {
    who: Who,
    tokens: ArcSwap<Tokens>,
    keys: ArcSwap<Keys>,
    failures: Buckets<IpAddr>,
    lines: Buckets<()>,
    refusals: Refusals,
    /// Signals that a token may have become invalid: the tokens were replaced, or [`EXPIRY_CHECK_INTERVAL`] has passed.
    looks: watch::Sender<()>,
}

impl Access {
    /// Applies the rule of `settings` to `tokens` and `keys`. `refusals` counts what it denies.
    pub fn new(settings: &AccessSettings, tokens: Tokens, keys: Keys, refusals: Refusals) -> Access {
        Access {
            who: settings.who,
            tokens: ArcSwap::from_pointee(tokens),
            keys: ArcSwap::from_pointee(keys),
            failures: Buckets::new(FAILURES),
            lines: Buckets::new(LINES),
            refusals,
            looks: watch::Sender::new(()),
        }
    }

    /// Returns the tokens of now.
    pub fn tokens(&self) -> Arc<Tokens> {
        self.tokens.load_full()
    }

    /// Returns the keys of now.
    pub fn all_keys(&self) -> Arc<Keys> {
        self.keys.load_full()
    }

    /// Replaces all tokens and keys.
    pub fn replace(&self, tokens: Tokens, keys: Keys) {
        self.tokens.store(Arc::new(tokens));
        self.keys.store(Arc::new(keys));
        self.looks.send_replace(());
    }

    /// Signals once a minute, without end, that tokens may have expired.
    pub async fn look_again(self: Arc<Self>) {
        let mut intervals = tokio::time::interval(EXPIRY_CHECK_INTERVAL);
        loop {
            intervals.tick().await;
            self.looks.send_replace(());
        }
    }

    /// Returns a receiver that changes when [`Access::may_go_on`] should be asked again.
    pub fn looks(&self) -> watch::Receiver<()> {
        self.looks.subscribe()
    }

    /// Whether a peer that was admitted with `credential` may continue: its token must still be valid and have the `right`. A peer that was
    /// admitted without a token may continue.
    pub fn may_go_on(&self, credential: Option<&str>, right: impl Fn(&Right) -> bool) -> bool {
        let good =
            |token: &str| self.tokens.load().find(token, clock::now()).is_ok_and(|token| right(&token.right));
        credential.is_none_or(good)
    }

    /// Whether `peer` needs no token.
    fn is_free(&self, peer: &Peer) -> bool {
        match self.who {
            Who::Anyone => true,
            Who::Loopback => peer.is_this_machine(),
            Who::Tokens => false,
        }
    }

    /// Denies a peer that may not send as `device`: 401 without a valid token, 403 with a token for other devices, 429 after too many
    /// invalid tokens. Counts the refusal.
    ///
    /// Where no token is needed, a peer may omit it. One that it sends is checked nevertheless: otherwise a wrong token would go unnoticed
    /// until the device connects from another address.
    pub fn may_send(&self, peer: &Peer, device: &str, credential: Option<&str>) -> Result<(), Denied> {
        self.may(
            peer,
            credential,
            |right| right.sends_as(device),
            || format!("this token may not send as {device:?}"),
        )
    }

    /// Returns the devices that `peer` may read. Denies a peer that may read none.
    pub fn may_read(&self, peer: &Peer, credential: Option<&str>) -> Result<Scope, Denied> {
        if credential.is_none() && self.is_free(peer) {
            return Ok(Scope::EVERYTHING);
        }
        let otherwise = || "this token may send but not read".into();
        self.granted(peer, credential, |token| token.right.reads().cloned(), otherwise)
    }

    /// Returns the denial for a peer that may read a part of the devices, and asks for what is about all. Counts the refusal.
    pub fn refuse_part(&self) -> Denied {
        let denied = Denied::Forbidden(
            "this token reads a part of the devices, and this is about the whole gateway".into(),
        );
        self.refusals.count(&denied);
        denied
    }

    /// Returns the name of the token with which `peer` may change the gateway. Without a token, no peer may, regardless of `[access] who`.
    pub fn may_operate(&self, peer: &Peer, credential: Option<&str>) -> Result<String, Denied> {
        if credential.is_none() {
            let detail = "a token that may operate is required, as Authorization: Bearer TOKEN";
            return Err(self.refuse_token(peer, false, detail.into()));
        }
        let otherwise = || "this token may not operate".into();
        let name = |token: &Grant| token.right.operates().then(|| token.name.to_string());
        self.granted(peer, credential, name, otherwise)
    }

    /// Denies a peer whose token does not let it send as any device, for protocols that ask for the credential before the device.
    pub fn may_connect(&self, peer: &Peer, credential: Option<&str>) -> Result<(), Denied> {
        self.may(peer, credential, Right::sends, || "this token may not send".into())
    }

    /// Returns the key of `identity`, or the reason for the log.
    pub fn key(&self, identity: &[u8]) -> Result<Arc<Key>, &'static str> {
        self.keys.load().find(identity).cloned()
    }

    /// Returns the number of keys.
    pub fn keys(&self) -> usize {
        self.keys.load().len()
    }

    /// Whether `key`, with which a session was established, is still valid.
    pub fn holds(&self, key: &Key) -> bool {
        self.keys.load().find(key.name.as_bytes()).is_ok_and(|now| now.is(key))
    }

    /// Denies a session that was established with `key` and may not send as `device`: 401 if the key was removed, replaced or has expired,
    /// 403 if it is for other devices. Counts the refusal.
    pub fn may_send_by_key(&self, key: &Key, device: &str) -> Result<(), Denied> {
        let keys = self.keys.load();
        let denied = match keys.find(key.name.as_bytes()) {
            Ok(now) if !now.is(key) => Denied::Unauthorized("the key was replaced".into()),
            Ok(now) if dunnage_base::name::fits(&now.device, device) => {
                now.used();
                return Ok(());
            }
            Ok(_) => Denied::Forbidden(format!("this key may not send as {device:?}")),
            Err(detail) => Denied::Unauthorized(detail.into()),
        };
        self.refusals.count(&denied);
        Err(denied)
    }

    /// Returns the denial for a peer that may send, but not as this device; `detail` names the device. Counts the refusal.
    pub fn refuse_device(&self, detail: String) -> Denied {
        let denied = Denied::Forbidden(detail);
        self.refusals.count(&denied);
        denied
    }

    /// Counts that `peer` could not prove that it has the key of `identity`, and logs it.
    pub fn refuse_key(&self, peer: &Peer, identity: &[u8], detail: &str) {
        self.refusals.count(&Denied::Unauthorized(detail.into()));
        if self.lines.take(&()).is_ok() {
            let identity = identity[..identity.len().min(MAX_NAME)].escape_ascii().to_string();
            tracing::warn!(address = %peer.address.to_canonical(), identity, detail, "a key was rejected");
        }
    }

    fn may(
        &self,
        peer: &Peer,
        credential: Option<&str>,
        enough: impl Fn(&Right) -> bool,
        otherwise: impl Fn() -> String,
    ) -> Result<(), Denied> {
        if credential.is_none() && self.is_free(peer) {
            return Ok(());
        }
        self.granted(peer, credential, |token| enough(&token.right).then_some(()), otherwise)
    }

    /// Returns what `enough` finds in the valid token `credential`. Denies a peer without a valid token, or with one in which it finds
    /// nothing.
    fn granted<T>(
        &self,
        peer: &Peer,
        credential: Option<&str>,
        enough: impl Fn(&Grant) -> Option<T>,
        otherwise: impl Fn() -> String,
    ) -> Result<T, Denied> {
        let (tokens, now): (Guard<Arc<Tokens>>, _) = (self.tokens.load(), clock::now());
        let token = match (credential, peer.foreign) {
            (Some(credential), _) => tokens.find(credential, now).map_err(str::to_owned),
            (None, Some(foreign)) if peer.is_loopback() && self.who == Who::Loopback => {
                Err(format!("a token is required, because {}", foreign.reason()))
            }
            (None, _) => Err("a token is required".to_owned()),
        };
        let denied = match token {
            Ok(token) => match enough(token) {
                Some(found) => {
                    token.used(now);
                    return Ok(found);
                }
                None => Denied::Forbidden(otherwise()),
            },
            Err(detail) => return Err(self.refuse_token(peer, credential.is_some(), detail)),
        };
        self.refusals.count(&denied);
        Err(denied)
    }

    /// Returns the denial for a peer without a valid token, and counts it. Inputs with their own tokens use it too. `tried` says whether
    /// the peer sent a token: after too many invalid ones it is told to wait. A valid token is accepted nevertheless, because other clients
    /// may share the address.
    pub fn refuse_token(&self, peer: &Peer, tried: bool, detail: String) -> Denied {
        let denied = self.wrong(peer, tried, detail);
        self.refusals.count(&denied);
        denied
    }

    fn wrong(&self, peer: &Peer, tried: bool, detail: String) -> Denied {
        if tried {
            let address = peer.address.to_canonical();
            let failures = self.failures.take(&network(address));
            if self.lines.take(&()).is_ok() {
                tracing::warn!(%address, detail, "a token was rejected");
            }
            if let Err(seconds) = failures {
                return Denied::TooMany {
                    detail: "this address has sent too many invalid tokens".into(),
                    seconds,
                };
            }
        }
        Denied::Unauthorized(detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(address: &str) -> Peer {
        Peer::of_address(address.parse().unwrap())
    }

    fn access(who: Who) -> (Access, String, String) {
        let (sends, secret) = Token::make("a", Right::Send("buoy-*".into()), None).unwrap();
        let (reads, key) = Token::make("b", Right::Read(Scope::EVERYTHING), None).unwrap();
        let tokens = Tokens::new([sends, reads]);
        (
            Access::new(
                &AccessSettings { who, ..AccessSettings::default() },
                tokens,
                Keys::default(),
                Refusals::default(),
            ),
            secret,
            key,
        )
    }

    fn status(answer: Result<(), Denied>) -> u16 {
        let status = |denied| match denied {
            Denied::BadHost(_) => 400,
            Denied::Unauthorized(_) => 401,
            Denied::Forbidden(_) => 403,
            Denied::TooMany { .. } => 429,
        };
        answer.map_or_else(status, |()| 204)
    }

    #[test]
    fn peers_on_the_loopback_address_are_free_unless_they_hand_on() {
        let (access, ..) = access(Who::Loopback);
        for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(status(access.may_send(&peer(address), "x", None)), 204, "{address}");
            let forwarded = peer(address).unless(Some(Foreign::Forwarded));
            assert_eq!(status(access.may_send(&forwarded, "x", None)), 401, "{address}");
        }
        let open = Peer::of_listener([127, 0, 0, 1].into(), [0, 0, 0, 0].into());
        assert_eq!(status(access.may_send(&open, "x", None)), 401);
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
        assert_eq!(status(access.may_read(&peer, Some(&sends)).map(drop)), 403);
        assert_eq!(status(access.may_connect(&peer, Some(&sends))), 204);
        assert_eq!(status(access.may_send(&peer, "buoy-7", Some(&reads))), 403);
        assert_eq!(status(access.may_read(&peer, Some(&reads)).map(drop)), 204);
        assert_eq!(status(access.may_connect(&peer, Some(&reads))), 403);
        assert_eq!(status(access.may_read(&peer, None).map(drop)), 401);
    }

    #[test]
    fn a_token_that_reads_a_part_says_which() {
        let scope = Scope::new(Some("buoy-*".into()), Default::default()).unwrap();
        let (token, secret) = Token::make("a", Right::Read(scope.clone()), None).unwrap();
        let (access, ..) = access(Who::Loopback);
        access.replace(Tokens::new([token]), Keys::default());
        let peer = peer("127.0.0.1");
        assert_eq!(access.may_read(&peer, Some(&secret)), Ok(scope.clone()));
        assert_eq!(access.may_read(&peer, None), Ok(Scope::EVERYTHING));
        let goes_on = |scope: &Scope| access.may_go_on(Some(&secret), |right| right.reads() == Some(scope));
        assert!(goes_on(&scope) && !goes_on(&Scope::EVERYTHING));
        assert_eq!(status(access.may_operate(&peer, Some(&secret)).map(drop)), 403);
        assert_eq!(status(access.may_send(&peer, "buoy-7", Some(&secret))), 403);
    }

    #[test]
    fn nobody_operates_without_a_token_that_may() {
        let (operates, secret) = Token::make("olga", Right::Operate, None).unwrap();
        for who in [Who::Anyone, Who::Loopback, Who::Tokens] {
            let (access, sends, reads) = access(who);
            let tokens = Tokens::new([
                operates.clone(),
                Token::of(&sends, "a", Right::Send("*".into()), None).unwrap(),
                Token::of(&reads, "b", Right::Read(Scope::EVERYTHING), None).unwrap(),
            ]);
            access.replace(tokens, Keys::default());
            let peer = peer("127.0.0.1");
            let operate = |token: Option<&str>| access.may_operate(&peer, token);
            assert_eq!(status(operate(None).map(drop)), 401);
            assert_eq!(status(operate(Some("wrong")).map(drop)), 401);
            assert_eq!(status(operate(Some(&sends)).map(drop)), 403);
            assert_eq!(status(operate(Some(&reads)).map(drop)), 403);
            assert_eq!(operate(Some(&secret)).unwrap(), "olga");
            // An operator can read, but not send.
            assert_eq!(status(access.may_read(&peer, Some(&secret)).map(drop)), 204);
            assert_eq!(status(access.may_send(&peer, "buoy-7", Some(&secret))), 403);
            assert!(access.tokens().after("b")[0].last_used().is_some());
        }
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
        let other = Peer::of_address("10.0.0.2".parse().unwrap());
        assert_eq!(status(access.may_send(&other, "buoy-7", Some("wrong"))), 401);
        // An attacker with one address of an IPv6 network has all of them.
        let of_network = |n| Peer::of_address(IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, n]));
        let answers = (0..100).map(|n| status(access.may_send(&of_network(n), "buoy-7", Some("wrong"))));
        assert_eq!(answers.filter(|status| *status == 401).count(), FAILURES as usize);
    }

    #[test]
    fn no_peer_needs_a_token_where_anyone_may() {
        let (access, ..) = access(Who::Anyone);
        assert_eq!(status(access.may_read(&peer("10.0.0.1"), None).map(drop)), 204);
        assert_eq!(status(access.may_read(&peer("10.0.0.1"), Some("wrong")).map(drop)), 401);
    }
}
