//! HMAC-SHA256 (RFC 2104) of a request's body, in a header: in hexadecimal digits or base64, with or without `sha256=` before it.

use base64::{Engine, engine::general_purpose::STANDARD};
use dunnage_base::hex::unhex;
use ring::hmac::{HMAC_SHA256, Key, verify};
use std::path::Path;

/// The secrets of a webhook. While one is being replaced there are several.
pub struct Secrets(Vec<Key>);

impl Secrets {
    /// Reads the secrets of a file, in the form of tokens.
    pub fn read(file: &Path) -> Result<Secrets, String> {
        let key = |secret: &str| Key::new(HMAC_SHA256, secret.as_bytes());
        Ok(Secrets(super::token::lines(file)?.iter().map(|secret| key(secret)).collect()))
    }

    /// Returns whether `given` is the HMAC of `body` with one of the secrets. The time that this takes depends on their number alone.
    pub fn know(&self, given: &str, body: &[u8]) -> bool {
        let given = given.trim();
        let digits = given.strip_prefix("sha256=").unwrap_or(given);
        let Some(mac) = unhex(digits).filter(|mac| !mac.is_empty()).or_else(|| STANDARD.decode(digits).ok())
        else {
            return false;
        };
        self.0.iter().fold(false, |known, key| verify(key, body, &mac).is_ok() | known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2, with its key repeated to the shortest length of a secret.
    #[test]
    fn a_body_has_the_hmac_of_one_of_the_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secrets");
        std::fs::write(&file, "an-old-secret-0123\n# new\nJefeJefeJefeJefe\n").unwrap();
        let secrets = Secrets::read(&file).unwrap();
        let body = b"what do ya want for nothing?";
        let mac = ring::hmac::sign(&Key::new(HMAC_SHA256, b"JefeJefeJefeJefe"), body);
        let (digits, base64) = (dunnage_base::hex::hex(mac.as_ref()), STANDARD.encode(mac.as_ref()));
        for given in [digits.clone(), digits.to_uppercase(), format!("sha256={digits}"), base64] {
            assert!(secrets.know(&given, body), "{given}");
            assert!(!secrets.know(&given, b"another body"), "{given}");
        }
        for given in ["", "sha256=", "00", "zz", &digits[..62]] {
            assert!(!secrets.know(given, body), "{given}");
        }
    }
}
