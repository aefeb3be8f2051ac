//! Authorizes the callers of a webhook, by a token or by a signature of the request.

use super::{Provider, Settings, jwt::PublicKey, token::Tokens};
use std::path::PathBuf;

/// How a webhook authorizes its callers.
pub enum Guard {
    /// A token in a header.
    Tokens(Tokens),
    /// The provider's signature.
    Signature(PublicKey),
}

/// Where the tokens or the key come from.
pub enum Secret {
    /// A file of tokens.
    Tokens(PathBuf),
    /// A file with a public key.
    Key(PathBuf),
    /// The key that Ground Control publishes, which is part of the program.
    Published,
}

impl Secret {
    /// Returns the source that `settings` name. An error says which setting is wrong.
    pub fn of(settings: &Settings) -> Result<Secret, String> {
        let Settings { provider, token_file, key_file, .. } = settings;
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
            Secret::Published => PublicKey::of_ground_control().map(Guard::Signature),
        }
    }
}
