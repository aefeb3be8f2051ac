//! Authorizes the callers of a webhook, by a token or by a signature of the request.

use super::{Settings, hmac::Secrets, token::Tokens};
use crate::provider::{Provider, jwt::PublicKey};
use std::path::PathBuf;

/// How a webhook authorizes its callers.
pub enum Guard {
    /// A token in a header.
    Tokens(Tokens),
    /// The provider's signature.
    Signature(PublicKey),
    /// An HMAC of the body in a header.
    Hmac(Secrets),
}

/// Where the tokens or the key come from.
pub enum Secret {
    /// A file of tokens.
    Tokens(PathBuf),
    /// A file with a public key.
    Key(PathBuf),
    /// The key that Ground Control publishes, which is part of the program.
    Published,
    /// A file of secrets for an HMAC.
    Hmac(PathBuf),
}

impl Secret {
    /// Returns the source that `settings` name. An error says which setting is wrong.
    pub fn of(settings: &Settings) -> Result<Secret, String> {
        let Settings { provider, token_file, key_file, hmac_file, .. } = settings;
        match (hmac_file, provider, token_file.as_ref().or(key_file.as_ref())) {
            (None, _, _) => {}
            (Some(file), Provider::Generic, None) => return Ok(Secret::Hmac(file.clone())),
            (Some(_), Provider::Generic, Some(_)) => {
                return Err("hmac_file: must not be set together with token_file or key_file".into());
            }
            (Some(_), _, _) => return Err(format!("hmac_file: {} signs no bodies", provider.name())),
        }
        match (token_file, provider, key_file) {
            (Some(file), _, None) => Ok(Secret::Tokens(file.clone())),
            (None, Provider::Rockblock, None) => Ok(Secret::Published),
            (None, Provider::Rockblock, Some(file)) => Ok(Secret::Key(file.clone())),
            (Some(_), Provider::Rockblock, Some(_)) => {
                Err("key_file: must not be set together with token_file, as tokens replace signatures".into())
            }
            (_, _, Some(_)) => Err(format!("key_file: {} signs nothing; set token_file", provider.name())),
            (None, _, None) => Err(format!("token_file: must be set for {}", provider.name())),
        }
    }

    /// Reads the tokens or the key.
    pub fn read(&self) -> Result<Guard, String> {
        match self {
            Secret::Tokens(file) => {
                Tokens::read(file).map(Guard::Tokens).map_err(|e| format!("token_file: {e}"))
            }
            Secret::Key(file) => {
                PublicKey::read(file).map(Guard::Signature).map_err(|e| format!("key_file: {e}"))
            }
            Secret::Hmac(file) => Secrets::read(file).map(Guard::Hmac).map_err(|e| format!("hmac_file: {e}")),
            Secret::Published => PublicKey::of_ground_control().map(Guard::Signature),
        }
    }
}
