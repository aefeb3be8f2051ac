//! Verifies JSON Web Tokens (RFC 7519) with RS256 (RFC 7518, 3.3). Other algorithms are rejected.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rustls_pki_types::{SubjectPublicKeyInfoDer, pem::PemObject};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;
use webpki::{RawPublicKeyEntity, ring::RSA_PKCS1_2048_8192_SHA256};

/// The key that Ground Control publishes in its documentation.
const GROUND_CONTROL: &str = include_str!("ground_control.pem");

/// The public key of a signer.
pub struct PublicKey(SubjectPublicKeyInfoDer<'static>);

#[derive(Deserialize)]
struct Header {
    alg: String,
}

impl PublicKey {
    /// Returns the key that Ground Control publishes.
    pub fn of_ground_control() -> Result<PublicKey, String> {
        PublicKey::parse(GROUND_CONTROL)
    }

    /// Reads a key from a PEM file.
    pub fn read(file: &Path) -> Result<PublicKey, String> {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        PublicKey::parse(&text).map_err(|e| format!("{}: {e}", file.display()))
    }

    fn parse(pem: &str) -> Result<PublicKey, String> {
        let key = SubjectPublicKeyInfoDer::from_pem_slice(pem.as_bytes()).map_err(|e| e.to_string())?;
        RawPublicKeyEntity::try_from(&key).map_err(|e| e.to_string())?;
        Ok(PublicKey(key))
    }

    /// Returns the claims of `token`. Fails unless it is signed with this key.
    pub fn claims(&self, token: &str) -> Result<Map<String, Value>, &'static str> {
        const SHAPE: &str = "the JWT is not valid";
        let (signed, signature) = token.rsplit_once('.').ok_or(SHAPE)?;
        let (header, claims) = signed.split_once('.').ok_or(SHAPE)?;
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| SHAPE);
        let header: Header = serde_json::from_slice(&decode(header)?).map_err(|_| SHAPE)?;
        if header.alg != "RS256" {
            return Err("the JWT must be signed with RS256");
        }
        let key = RawPublicKeyEntity::try_from(&self.0).map_err(|_| SHAPE)?;
        key.verify_signature(RSA_PKCS1_2048_8192_SHA256, signed.as_bytes(), &decode(signature)?)
            .map_err(|_| "the JWT's signature is wrong")?;
        serde_json::from_slice(&decode(claims)?).map_err(|_| SHAPE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of docs.rock7.com, "Push API".
    const TOKEN: &str = include_str!("../../../gateway/tests/webhooks/rock7.jwt");

    #[test]
    fn the_example_that_the_provider_publishes_is_signed_with_the_key_that_it_publishes() {
        let key = PublicKey::of_ground_control().unwrap();
        let claims = key.claims(TOKEN.trim()).unwrap();
        assert_eq!(claims["imei"], "300434062929540");
        assert_eq!(claims["momsn"], "70154871");
    }

    #[test]
    fn what_was_changed_is_refused() {
        let key = PublicKey::of_ground_control().unwrap();
        let token = TOKEN.trim();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let (header, claims) = signed.split_once('.').unwrap();
        let other = URL_SAFE_NO_PAD.encode(r#"{"imei":"300434062929541"}"#);
        let none = URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#);
        let hs256 = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256"}"#);
        for bad in [
            format!("{header}.{other}.{signature}"),
            format!("{none}.{claims}."),
            format!("{none}.{claims}.{signature}"),
            format!("{hs256}.{claims}.{signature}"),
            format!("{header}.{claims}."),
            format!("{header}.{claims}.{}", &signature[..signature.len() - 4]),
            format!("{header}.{claims}"),
            String::new(),
            "..".into(),
        ] {
            assert!(key.claims(&bad).is_err(), "{bad}");
        }
    }
}
