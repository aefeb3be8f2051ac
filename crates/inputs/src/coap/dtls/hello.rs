//! Parses a ClientHello, the first message of a handshake, as far as the verification of the client's address needs (RFC 6347, 4.2.1).
//!
//! The answer to a ClientHello without a valid cookie is computed from its bytes alone, and nothing is stored. The library supports
//! cookies, too, but with a secret for each handshake, which the server would have to store for every sender of a datagram. Therefore this
//! module
//! verifies the cookie, and a handshake of the library begins afterwards. The library counts messages, so it is given a first ClientHello
//! that it has never seen, from [`Hello::before`], and accepts the cookie that was verified here (`library.rs`).

use ring::hmac;
use std::{net::SocketAddr, time::Instant};

/// The header sizes of a record and of a handshake message, in bytes.
const RECORD: usize = 13;
const MESSAGE: usize = 12;
/// The record type of handshake messages.
const HANDSHAKE: u8 = 22;
/// The version in a HelloVerifyRequest, regardless of the negotiated one (RFC 6347, 4.2.1), and the version in records.
const DTLS_1_0: [u8; 2] = [0xfe, 0xff];
const DTLS_1_2: [u8; 2] = [0xfe, 0xfd];
const CLIENT_HELLO: u8 = 1;
const HELLO_VERIFY_REQUEST: u8 = 3;
/// TLS_PSK_WITH_AES_128_CCM_8 (RFC 6655, 4), which RFC 7252 requires with pre-shared keys (9.1.3.1).
const PSK_AES128_CCM_8: [u8; 2] = [0xc0, 0xa8];
/// The position of the random bytes in a ClientHello, between the version and the session ID.
const RANDOM: std::ops::Range<usize> = 2..34;
/// How many HelloVerifyRequests a client may have received: one, and more if its cookie was too old.
const MAX_VERIFY_REQUESTS: u16 = 4;
/// The size of a cookie in bytes.
pub const COOKIE: usize = 32;
/// A cookie is valid for at least this many seconds, and for at most twice as many.
const PERIOD: u64 = 60;

/// A ClientHello that is complete in its datagram.
#[derive(Debug, Clone, Copy)]
pub struct Hello<'a> {
    /// The number of the handshake message, which equals the number of HelloVerifyRequests before it.
    pub sequence: u16,
    /// The client's random bytes, which distinguish handshakes.
    pub random: [u8; 32],
    /// The cookie; empty at first.
    pub cookie: &'a [u8],
    /// The version, the random bytes and the session id.
    head: &'a [u8],
    /// The bytes after the cookie.
    tail: &'a [u8],
}

impl<'a> Hello<'a> {
    /// Parses a datagram that begins with a ClientHello. Returns `None` for any other, and for a fragment: a ClientHello has to fit into
    /// a datagram.
    pub fn read(datagram: &'a [u8]) -> Option<Hello<'a>> {
        let length = u16::from_be_bytes(*datagram.get(11..)?.first_chunk()?);
        let (kind, epoch) = (datagram[0], &datagram[3..5]);
        let message = datagram.get(RECORD..RECORD + usize::from(length))?;
        let body = message.get(MESSAGE..)?;
        let (whole, offset, here) = (&message[1..4], &message[6..9], &message[9..12]);
        let is_hello = kind == HANDSHAKE && epoch == [0, 0] && message[0] == CLIENT_HELLO;
        if !is_hello || offset != [0; 3] || whole != here || number(whole) != body.len() {
            return None;
        }
        let session = usize::from(*body.get(RANDOM.end)?);
        let (head, rest) = body.split_at_checked(RANDOM.end + 1 + session)?;
        let (length, rest) = rest.split_first()?;
        let (cookie, tail) = rest.split_at_checked(usize::from(*length))?;
        let random = *head.get(RANDOM)?.first_chunk()?;
        let sequence = u16::from_be_bytes([message[4], message[5]]);
        Some(Hello { sequence, random, cookie, head, tail })
    }

    /// Returns whether the client has the one cipher suite that this server has. The library rejects a ClientHello without a suite that
    /// it knows.
    pub fn has_suite(&self) -> bool {
        let length = self.tail.first_chunk().map_or(0, |length| usize::from(u16::from_be_bytes(*length)));
        let suites = self.tail.get(2..2 + length).unwrap_or_default();
        suites.chunks_exact(2).any(|suite| suite == PSK_AES128_CCM_8)
    }

    /// Returns whether the library can be given the messages before this one.
    pub fn can_begin(&self) -> bool {
        (1..=MAX_VERIFY_REQUESTS).contains(&self.sequence)
    }

    /// Returns a HelloVerifyRequest with `cookie`. Its record has the number of its message, because the records of the handshake
    /// continue from there.
    pub fn verify_request(&self, cookie: &[u8; COOKIE]) -> Vec<u8> {
        let body = [&DTLS_1_0[..], &[COOKIE as u8], cookie].concat();
        datagram(HELLO_VERIFY_REQUEST, self.sequence, &body)
    }

    /// Returns the ClientHello number `sequence`, which preceded this one and had no cookie.
    pub fn before(&self, sequence: u16) -> Vec<u8> {
        datagram(CLIENT_HELLO, sequence, &[self.head, &[0], self.tail].concat())
    }
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// Returns a record with a handshake message.
fn datagram(kind: u8, sequence: u16, body: &[u8]) -> Vec<u8> {
    let [_, length @ ..] = (body.len() as u32).to_be_bytes();
    let [high, low] = sequence.to_be_bytes();
    let message = [&[kind][..], &length, &[high, low], &[0; 3], &length, body].concat();
    record(HANDSHAKE, sequence.into(), &message)
}

/// Returns a record that is not encrypted.
pub fn record(kind: u8, sequence: u64, content: &[u8]) -> Vec<u8> {
    let [_, _, sequence @ ..] = sequence.to_be_bytes();
    let length = (content.len() as u16).to_be_bytes();
    [&[kind][..], &DTLS_1_2, &[0, 0], &sequence, &length, content].concat()
}

/// Makes and verifies cookies, which prove that a client receives datagrams at its address.
pub struct Cookies {
    key: hmac::Key,
    begun: Instant,
}

impl Cookies {
    /// Creates cookies that nobody else can make. Fails if the machine has no source of random numbers.
    pub fn new(now: Instant) -> Result<Cookies, String> {
        let random = ring::rand::SystemRandom::new();
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &random);
        Ok(Cookies { key: key.map_err(|_| "the machine has no source of random numbers")?, begun: now })
    }

    /// Returns the cookie for a client at `address` with `random`.
    pub fn make(&self, address: SocketAddr, random: &[u8; 32], now: Instant) -> [u8; COOKIE] {
        let mut cookie = [0; COOKIE];
        cookie.copy_from_slice(hmac::sign(&self.key, &said(address, random, self.period(now))).as_ref());
        cookie
    }

    /// Returns whether `cookie` was made for this client, in this period or the one before.
    pub fn is_good(&self, cookie: &[u8], address: SocketAddr, random: &[u8; 32], now: Instant) -> bool {
        let now = self.period(now);
        let verify = |period| hmac::verify(&self.key, &said(address, random, period), cookie).is_ok();
        verify(now) || now > 0 && verify(now - 1)
    }

    fn period(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.begun).as_secs() / PERIOD
    }
}

fn said(address: SocketAddr, random: &[u8; 32], period: u64) -> Vec<u8> {
    [&period.to_be_bytes()[..], random, address.to_string().as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn hello(cookie: &[u8]) -> Vec<u8> {
        let body = [
            &[0xfe, 0xfd][..],
            &[7; 32],
            &[2, 8, 8],
            &[cookie.len() as u8],
            cookie,
            &[0, 2, 0xc0, 0xa8, 1, 0],
        ];
        datagram(CLIENT_HELLO, 1, &body.concat())
    }

    #[test]
    fn a_hello_is_read_and_told_without_its_cookie() {
        let bytes = hello(&[9; 32]);
        let read = Hello::read(&bytes).unwrap();
        assert_eq!((read.sequence, read.random, read.cookie), (1, [7; 32], &[9; 32][..]));
        let before = read.before(0);
        let first = Hello::read(&before).unwrap();
        assert_eq!((first.sequence, first.random, first.cookie), (0, [7; 32], &b""[..]));
        assert_eq!((first.head, first.tail), (read.head, read.tail));
        assert!(read.can_begin() && !first.can_begin() && read.has_suite());
        for end in 0..bytes.len() {
            assert!(Hello::read(&bytes[..end]).is_none(), "{end}");
        }
        // A fragment.
        let mut piece = bytes.clone();
        piece[RECORD + 8] = 1;
        assert!(Hello::read(&piece).is_none());
        assert!(first.verify_request(&[1; 32]).len() <= hello(b"").len());
    }

    #[test]
    fn a_cookie_is_for_one_address_and_a_minute_or_two() {
        let now = Instant::now();
        let cookies = Cookies::new(now).unwrap();
        let at = |port: u16| SocketAddr::from(([192, 0, 2, 1], port));
        let cookie = cookies.make(at(1), &[7; 32], now);
        let later = |seconds| now + Duration::from_secs(seconds);
        assert!(cookies.is_good(&cookie, at(1), &[7; 32], later(PERIOD)));
        assert!(!cookies.is_good(&cookie, at(1), &[7; 32], later(2 * PERIOD)));
        assert!(!cookies.is_good(&cookie, at(2), &[7; 32], now));
        assert!(!cookies.is_good(&cookie, at(1), &[8; 32], now));
        assert!(
            !cookies.is_good(&cookie[1..], at(1), &[7; 32], now)
                && !cookies.is_good(b"", at(1), &[7; 32], now)
        );
        assert!(!Cookies::new(now).unwrap().is_good(&cookie, at(1), &[7; 32], now));
    }
}
