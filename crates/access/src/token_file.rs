//! The token file: `[[token]]` with name, hash, right and expiry.
//!
//! A token has 256 random bits; the file has its SHA-256. A slow password hash protects secrets that can be guessed, but guessing one of
//! these would take 2^255 attempts. A salt protects equal secrets and those in dictionaries, and random tokens are neither. Without a salt,
//! a token can be looked up by its hash, in the same time for any number of tokens.

use super::scope::Scope;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use dunnage_base::{
    clock,
    hex::{hex, unhex},
    name::is_device,
};
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom, SystemRandom},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, HashSet},
    hash::Hasher,
    io,
};
use subtle::ConstantTimeEq;
use time::{Date, Month, PrimitiveDateTime, Time, UtcOffset};
use toml::value::Datetime;

/// The prefix of all tokens, by which people and secret scanners recognize them.
const PREFIX: &str = "dn_";
/// The random bytes of a token, and the bytes of its hash.
const BYTES: usize = 32;
/// Characters of a token.
const LENGTH: usize = PREFIX.len() + (BYTES * 4).div_ceil(3);

/// The token file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenFile {
    /// Its tokens.
    #[serde(default, rename = "token")]
    pub tokens: Vec<Entry>,
}

/// `[[token]]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name, for people.
    pub name: String,
    /// SHA-256 of the token, in hexadecimal digits.
    pub hash: Fingerprint,
    /// The devices that it may send as, or with `read` those that it may read: an ID, where `*` matches any characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Whether it may read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read: bool,
    /// Whether it may operate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operate: bool,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// The tags of the devices that it may read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

/// A token without its secret.
#[derive(Debug, Clone)]
pub struct Token {
    /// Its name, for people.
    pub name: String,
    /// The hash of its secret.
    pub fingerprint: Fingerprint,
    /// The right that it grants.
    pub right: Right,
    /// When it expires.
    pub until: Option<Until>,
}

/// The right that a token grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Right {
    /// Send as the devices that match a pattern.
    Send(String),
    /// Read the API and the page of these devices; with all of them, also the metrics and what else is about the whole gateway.
    Read(Scope),
    /// Read everything, and change the quarantine and the dead letters.
    Operate,
}

impl Right {
    /// Whether it may send as `device`.
    pub fn sends_as(&self, device: &str) -> bool {
        matches!(self, Right::Send(pattern) if dunnage_base::name::fits(pattern, device))
    }

    /// Whether it may send.
    pub fn sends(&self) -> bool {
        matches!(self, Right::Send(_))
    }

    /// Returns the devices that it may read; `None` if it may not read.
    pub fn reads(&self) -> Option<&Scope> {
        match self {
            Right::Send(_) => None,
            Right::Read(scope) => Some(scope),
            Right::Operate => Some(&Scope::EVERYTHING),
        }
    }

    /// Whether it may change the quarantine and the dead letters.
    pub fn operates(&self) -> bool {
        *self == Right::Operate
    }
}

impl std::fmt::Display for Right {
    /// Writes it as lists of tokens show it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Right::Send(pattern) => write!(f, "send as {pattern}"),
            Right::Read(scope) if scope.is_everything() => f.write_str("read"),
            Right::Read(scope) => write!(f, "read {scope}"),
            Right::Operate => f.write_str("operate"),
        }
    }
}

/// A mistake in the file.
#[derive(Debug)]
pub struct Mistaken {
    /// The index of the token, from 0.
    pub index: usize,
    /// Its key.
    pub key: &'static str,
    /// Why.
    pub message: String,
}

impl Token {
    /// Creates a token. Returns it with its secret, which is stored nowhere. Fails if the machine has no source of random numbers.
    pub fn make(name: &str, right: Right, until: Option<Until>) -> io::Result<(Token, String)> {
        let mut bytes = [0; BYTES];
        let random = SystemRandom::new().fill(&mut bytes);
        random.map_err(|_| io::Error::other("the system has no source of random numbers"))?;
        let secret = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes));
        let fingerprint = Fingerprint::of(&secret);
        Ok((Token { name: name.into(), fingerprint, right, until }, secret))
    }

    /// Returns the token of an existing `secret`. Fails if `secret` does not have the form of a token.
    pub fn of(secret: &str, name: &str, right: Right, until: Option<Until>) -> Result<Token, String> {
        let fingerprint = Fingerprint::of_credential(secret);
        let fingerprint = fingerprint
            .ok_or_else(|| format!("token: must be {PREFIX} and {} characters", LENGTH - PREFIX.len()))?;
        Ok(Token { name: name.into(), fingerprint, right, until })
    }

    /// Returns its entry in the file.
    pub fn entry(&self) -> Entry {
        let (device, tags) = match &self.right {
            Right::Send(pattern) => (Some(&**pattern), BTreeMap::new()),
            Right::Read(scope) => {
                let tags = scope.tags().map(|(key, value)| (key.to_owned(), value.to_owned()));
                (scope.device(), tags.collect())
            }
            Right::Operate => (None, BTreeMap::new()),
        };
        Entry {
            name: self.name.clone(),
            hash: self.fingerprint,
            device: device.map(str::to_owned),
            read: matches!(self.right, Right::Read(_)),
            operate: self.right == Right::Operate,
            until: self.until,
            tags,
        }
    }
}

/// The names and hashes seen so far: each must be unique in its file.
#[derive(Default)]
pub struct Unique {
    names: HashSet<String>,
    hashes: HashSet<Fingerprint>,
}

impl Unique {
    /// Returns the valid tokens of `file`, and the mistakes in the others. Names and hashes of earlier calls count as taken.
    pub fn tokens(&mut self, file: TokenFile) -> (Vec<Token>, Vec<Mistaken>) {
        let (mut tokens, mut mistakes): (Vec<Token>, Vec<Mistaken>) = Default::default();
        for (index, entry) in file.tokens.into_iter().enumerate() {
            let mut wrong =
                |key, message: &str| mistakes.push(Mistaken { index, key, message: message.into() });
            if !dunnage_base::name::is_name(&entry.name) {
                wrong("name", "must be 1 to 64 of A-Z a-z 0-9 . _ : -");
            } else if !self.names.insert(entry.name.clone()) {
                wrong("name", "another token has this name");
            }
            if !self.hashes.insert(entry.hash) {
                wrong("hash", "another token has this hash");
            }
            let right = match right(entry.device, entry.read, entry.operate, entry.tags) {
                Ok(right) => right,
                Err((key, message)) => {
                    wrong(key, &message);
                    continue;
                }
            };
            tokens.push(Token { name: entry.name, fingerprint: entry.hash, right, until: entry.until });
        }
        (tokens, mistakes)
    }
}

/// Returns the right of a token. The error is the key that is not valid, and why.
pub(super) fn right(
    device: Option<String>,
    read: bool,
    operate: bool,
    tags: BTreeMap<String, String>,
) -> Result<Right, (&'static str, String)> {
    let wrong = |key, message: &str| Err((key, message.to_owned()));
    match (device, read, operate) {
        (_, true, true) => wrong("read", "a token that may operate may read, too: leave read out"),
        (Some(_), false, true) => wrong("operate", "a token that operates is for all devices"),
        (_, false, _) if !tags.is_empty() => wrong("tags", "only a token that reads is for tags"),
        (None, false, true) => Ok(Right::Operate),
        (device, true, false) => Scope::new(device, tags).map(Right::Read),
        (Some(pattern), false, false) if is_pattern(&pattern) => Ok(Right::Send(pattern)),
        (Some(pattern), false, false) => Err((
            "device",
            format!("{pattern:?} is not a valid device ID, in which * stands for any characters"),
        )),
        (None, false, false) => {
            wrong("device", "a token needs device = \"PATTERN\", read = true or operate = true")
        }
    }
}

/// Returns whether `pattern` is valid: a device ID, in which `*` matches any characters.
pub fn is_pattern(pattern: &str) -> bool {
    is_device(pattern)
}

/// SHA-256 of a token, compared in constant time. Timing would reveal little anyway: an attacker who chooses tokens does not choose their
/// hashes.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint([u8; BYTES]);

impl Fingerprint {
    /// Hashes a token.
    pub fn of(secret: &str) -> Fingerprint {
        let mut bytes = [0; BYTES];
        bytes.copy_from_slice(digest(&SHA256, secret.as_bytes()).as_ref());
        Fingerprint(bytes)
    }

    /// Hashes a credential. Returns `None` if it does not have the form of a token.
    pub fn of_credential(credential: &str) -> Option<Fingerprint> {
        (credential.len() == LENGTH && credential.starts_with(PREFIX)).then(|| Fingerprint::of(credential))
    }

    /// Returns its first 8 digits, by which people tell tokens apart.
    pub fn short(&self) -> String {
        hex(&self.0[..4])
    }
}

impl std::fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.short())
    }
}

impl PartialEq for Fingerprint {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Fingerprint {}

impl std::hash::Hash for Fingerprint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(&self.0);
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let bytes = unhex(&text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Fingerprint).ok_or_else(|| {
            format!("must be {} hexadecimal digits; `dunnage gateway token new` writes them", 2 * BYTES)
        })
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> String {
        hex(&fingerprint.0)
    }
}

/// When a token or key expires: a point in time, or the end of a day in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Datetime", into = "Datetime")]
pub struct Until {
    written: Datetime,
    micros: i64,
}

impl Until {
    /// Returns the point in time, in microseconds since 1970.
    pub fn micros(&self) -> i64 {
        self.micros
    }

    /// Whether it has passed at `now`, in microseconds since 1970.
    pub fn is_over(&self, now: i64) -> bool {
        now >= self.micros
    }

    /// Whether it has passed.
    pub fn has_passed(&self) -> bool {
        self.is_over(clock::now())
    }

    /// Returns the point in time, as RFC 3339.
    pub fn text(&self) -> String {
        clock::rfc3339(self.micros)
    }
}

impl std::str::FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Until, String> {
        text.parse::<Datetime>().map_err(|_| MOMENT.to_owned()).and_then(Until::try_from)
    }
}

const MOMENT: &str = "must be a date (2027-01-31) or a time with its offset (2027-01-31T08:00:00Z)";

impl TryFrom<Datetime> for Until {
    type Error = String;

    fn try_from(written: Datetime) -> Result<Until, String> {
        moment(&written).map(|micros| Until { written, micros }).ok_or_else(|| MOMENT.into())
    }
}

impl From<Until> for Datetime {
    fn from(until: Until) -> Datetime {
        until.written
    }
}

fn moment(written: &Datetime) -> Option<i64> {
    let date = written.date?;
    let month = Month::try_from(date.month).ok()?;
    let date = Date::from_calendar_date(date.year.into(), month, date.day).ok()?;
    let moment = match (written.time, written.offset) {
        (None, None) => PrimitiveDateTime::new(date.next_day()?, Time::MIDNIGHT).assume_utc(),
        (Some(time), Some(offset)) => {
            // `Time` has no second 60: a leap second becomes the second before it.
            let second = time.second.unwrap_or(0).min(59);
            let time = Time::from_hms(time.hour, time.minute, second).ok()?;
            let seconds = match offset {
                toml::value::Offset::Z => 0,
                toml::value::Offset::Custom { minutes } => i32::from(minutes) * 60,
            };
            PrimitiveDateTime::new(date, time).assume_offset(UtcOffset::from_whole_seconds(seconds).ok()?)
        }
        _ => return None,
    };
    i64::try_from(moment.unix_timestamp_nanos() / 1000).ok()
}

#[cfg(test)]
mod tests;
