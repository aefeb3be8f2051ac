//! Who may call a webhook: whoever knows a token, or has signed the request.

use super::{Provider, Settings, jwt::PublicKey, token::Tokens};
use std::path::PathBuf;

/// What tells who may call.
pub enum Guard {
    /// A token in a header.
    Tokens(Tokens),
    /// The provider's signature.
    Signature(PublicKey),
}

/// Where that is.
pub enum Secret {
    /// In a file of tokens.
    Tokens(PathBuf),
    /// In a file with a public key.
    Key(PathBuf),
    /// In the program: the key that Ground Control publishes.
    Published,
}

impl Secret {
    /// That of a webhook with `settings`.
    pub fn of(settings: &Settings) -> Result<Secret, String> {
        let Settings { provider, token_file, key_file, .. } = settings;
        match (token_file, provider, key_file) {
            (Some(file), _, None) => Ok(Secret::Tokens(file.clone())),
            (None, Provider::Rockblock, None) => Ok(Secret::Published),
            (None, Provider::Rockblock, Some(file)) => Ok(Secret::Key(file.clone())),
            (Some(_), Provider::Rockblock, Some(_)) => {
                Err("key_file: with a token_file, no signature is looked at".into())
            }
            (_, _, Some(_)) => Err(format!("key_file: {} signs nothing", provider.name())),
            (None, _, None) => Err(format!("token_file: {} needs one", provider.name())),
        }
    }

    /// Reads it.
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
