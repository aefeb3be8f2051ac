//! The pre-shared keys of DTLS. A peer that has one may send as the devices that match its pattern.
//!
//! A handshake needs the key itself, so the file holds the keys in the clear, and only the gateway may read it.

use super::{Until, tables::read_tables, token_file::Mistaken, tokens::LastUse};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use dunnage_base::Mistake;
use dunnage_base::{clock, name::is_name};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, HashSet},
    io,
    ops::Bound,
    path::Path,
    sync::Arc,
};
use subtle::ConstantTimeEq;

/// Random bytes of a new key: the key length of the cipher.
const BYTES: usize = 16;
/// Minimum and maximum length of a key, in bytes. An attacker who records a handshake can try short keys offline (RFC 4279, 7.2).
const LENGTH: std::ops::RangeInclusive<usize> = 16..=64;

/// The key file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyFile {
    /// Its keys.
    #[serde(default, rename = "key")]
    pub keys: Vec<KeyEntry>,
}

/// `[[key]]`
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyEntry {
    /// The identity that the device sends.
    pub name: String,
    /// The devices that it may send as: an ID, where `*` matches any characters.
    pub device: String,
    /// The key as text; its bytes are the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// The key in hexadecimal digits, instead of `secret`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hex: Option<String>,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
}

impl std::fmt::Debug for KeyEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A key.
pub struct Key {
    /// The identity that the device sends.
    pub name: String,
    /// The devices that it may send as.
    pub device: String,
    /// When it expires.
    pub until: Option<Until>,
    secret: Vec<u8>,
    used: LastUse,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Key {
    /// Returns the bytes of the key.
    pub fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// Returns when a device last sent with the key since the start, in microseconds since 1970.
    pub fn last_used(&self) -> Option<i64> {
        self.used.get()
    }

    /// Notes that a device sends with the key now.
    pub(super) fn used(&self) {
        self.used.set(clock::now());
    }

    /// Whether `other` has the same name and secret. Compares the secret in constant time.
    pub fn is(&self, other: &Key) -> bool {
        self.name == other.name && bool::from(self.secret.ct_eq(&other.secret))
    }
}

/// Returns a new secret, 22 characters of base64url for 128 random bits, and a name of 8 hexadecimal digits. Fails if the machine has no
/// source of random numbers.
pub fn make() -> io::Result<(String, String)> {
    let mut bytes = [0; BYTES + 4];
    let random = SystemRandom::new().fill(&mut bytes);
    random.map_err(|_| io::Error::other("the system has no source of random numbers"))?;
    let (secret, name) = bytes.split_at(BYTES);
    Ok((URL_SAFE_NO_PAD.encode(secret), dunnage_base::hex::hex(name)))
}

impl KeyFile {
    /// Returns the valid keys, and the mistakes in the others. Adds their names to `names`, in which a name that is there already is a
    /// mistake.
    pub fn keys(&self, names: &mut HashSet<String>) -> (Vec<Key>, Vec<Mistaken>) {
        let (mut keys, mut mistakes): (Vec<Key>, Vec<Mistaken>) = Default::default();
        for (index, entry) in self.keys.iter().enumerate() {
            let mut wrong =
                |key, message: &str| mistakes.push(Mistaken { index, key, message: message.into() });
            if !is_name(&entry.name) {
                wrong("name", "must be 1 to 64 of A-Z a-z 0-9 . _ : -");
            } else if !names.insert(entry.name.clone()) {
                wrong("name", "another key has this name");
            }
            if !super::token_file::is_pattern(&entry.device) {
                wrong("device", "must be a device ID, in which * stands for any characters");
            }
            match bytes(entry) {
                Ok(secret) => {
                    let (name, device) = (entry.name.clone(), entry.device.clone());
                    keys.push(Key { name, device, until: entry.until, secret, used: LastUse::default() });
                }
                Err((key, message)) => wrong(key, message),
            }
        }
        (keys, mistakes)
    }
}

/// Rejects an entry whose key cannot be used. The error is the setting and the reason.
pub fn check(entry: &KeyEntry) -> Result<(), (&'static str, &'static str)> {
    bytes(entry).map(drop)
}

fn bytes(entry: &KeyEntry) -> Result<Vec<u8>, (&'static str, &'static str)> {
    let bytes = match (&entry.secret, &entry.hex) {
        (Some(text), None) if text.bytes().all(|b| b.is_ascii_graphic()) => text.clone().into_bytes(),
        (Some(_), None) => return Err(("secret", "must be visible ASCII characters; `hex` takes any bytes")),
        (None, Some(digits)) => {
            dunnage_base::hex::unhex(digits).ok_or(("hex", "must be hexadecimal digits"))?
        }
        (Some(_), Some(_)) => return Err(("hex", "a key must have `secret` or `hex`, not both")),
        (None, None) => return Err(("secret", "a key needs secret = \"TEXT\" or hex = \"DIGITS\"")),
    };
    let key = if entry.hex.is_some() { "hex" } else { "secret" };
    LENGTH.contains(&bytes.len()).then_some(bytes).ok_or((key, "must be 16 to 64 bytes"))
}

/// The keys of all devices, by name.
#[derive(Default)]
pub struct Keys {
    all: BTreeMap<String, Arc<Key>>,
}

impl Keys {
    /// Collects `keys`.
    pub fn new(keys: impl IntoIterator<Item = Key>) -> Keys {
        Keys { all: keys.into_iter().map(|key| (key.name.clone(), Arc::new(key))).collect() }
    }

    /// Reads the file `path`. A missing file has no keys.
    pub fn load(path: &Path) -> Result<Keys, super::TokensError> {
        let (keys, mistakes) = read(path);
        match mistakes.into_iter().next() {
            Some(mistake) => Err(super::TokensError(mistake)),
            None => Ok(Keys::new(keys)),
        }
    }

    /// Returns the number of keys.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the key of `identity`, or the reason for the operator.
    pub fn find(&self, identity: &[u8]) -> Result<&Arc<Key>, &'static str> {
        let name = std::str::from_utf8(identity).ok();
        let key = name.and_then(|name| self.all.get(name)).ok_or("there is no such key")?;
        match key.until.is_some_and(|until| until.is_over(clock::now())) {
            true => Err("the key has expired"),
            false => Ok(key),
        }
    }

    /// Iterates over the keys whose names come after `name`, in the order of their names.
    pub fn after<'k>(&'k self, name: &str) -> impl Iterator<Item = &'k Key> + use<'k> {
        let range = (Bound::Excluded(name), Bound::Unbounded);
        self.all.range::<str, _>(range).map(|(_, key)| &**key)
    }

    /// Takes over when the keys that are also in `before` were last used.
    pub fn carry(&self, before: &Keys) {
        for (name, key) in &self.all {
            if let Some(earlier) = before.all.get(name).filter(|earlier| earlier.is(key)) {
                key.used.carry(&earlier.used);
            }
        }
    }
}

/// Returns the valid keys of the file `path`, and all its mistakes.
pub fn read(path: &Path) -> (Vec<Key>, Vec<Mistake>) {
    let mut names = HashSet::new();
    read_tables(path, "key", |file: KeyFile| file.keys(&mut names))
}

/// Warns in the log if users other than its owner may read the key file `path`.
pub fn warn(path: &Path) {
    if is_open(path) {
        tracing::warn!(keys = %path.display(), "other users can read the key file; set its mode to 0600");
    }
}

/// Whether users other than its owner may access the file `path`.
#[cfg(unix)]
fn is_open(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).is_ok_and(|file| file.mode() & 0o077 != 0)
}

/// Other systems have no mode bits: returns false.
#[cfg(not(unix))]
fn is_open(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (Vec<Key>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.toml");
        std::fs::write(&path, text).unwrap();
        let (keys, mistakes) = read(&path);
        let prefix = format!("{}:", path.display());
        (keys, mistakes.iter().map(|m| m.to_string().replace(&prefix, "")).collect())
    }

    #[test]
    fn a_key_is_text_or_digits_and_is_not_shown() {
        let text = "[[key]]\nname = 'a'\ndevice = 'buoy-*'\nsecret = 'abcdefghijklmnop'\n\
                    [[key]]\nname = 'b'\ndevice = '*'\nhex = '000102030405060708090a0b0c0d0e0F'\nuntil = 2020-01-01\n";
        let (keys, mistakes) = found(text);
        assert!(mistakes.is_empty(), "{mistakes:?}");
        assert_eq!(keys[0].secret(), b"abcdefghijklmnop");
        assert_eq!(keys[1].secret(), (0..16).collect::<Vec<u8>>());
        let shown = format!("{keys:?} {:?}", toml::from_str::<KeyFile>(text).unwrap());
        assert!(!shown.contains("abcdef") && !shown.contains("0203"), "{shown}");
        let keys = Keys::new(keys);
        assert_eq!(keys.find(b"a").unwrap().name, "a");
        assert_eq!(keys.find(b"b").unwrap_err(), "the key has expired");
        for other in [&b""[..], b"A", b"\xff", b"a\0"] {
            assert_eq!(keys.find(other).unwrap_err(), "there is no such key");
        }
    }

    #[cfg(unix)]
    #[test]
    fn it_is_seen_whether_others_may_read_the_file() {
        use std::{fs, os::unix::fs::PermissionsExt};
        let file = tempfile::NamedTempFile::new().unwrap();
        for (mode, open) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_open(file.path()), open, "{mode:o}");
        }
    }

    #[test]
    fn mistakes_have_line_and_key() {
        let (keys, found) = found(
            "[[key]]\nname = 'a'\ndevice = ''\nsecret = 'abcdefghijklmnop'\n\
             [[key]]\nname = 'a'\ndevice = '*'\nsecret = 'short'\n\
             [[key]]\nname = 'c'\ndevice = '*'\nhex = '0g'\n\
             [[key]]\nname = 'd'\ndevice = '*'\n",
        );
        assert_eq!(keys.len(), 1);
        assert_eq!(
            found,
            [
                "3:1: key[1].device: must be a device ID, in which * stands for any characters",
                "6:1: key[2].name: another key has this name",
                "8:1: key[2].secret: must be 16 to 64 bytes",
                "12:1: key[3].hex: must be hexadecimal digits",
                "13:1: key[4].secret: a key needs secret = \"TEXT\" or hex = \"DIGITS\"",
            ]
        );
    }
}
