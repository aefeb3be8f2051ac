//! Tokens that authorize the callers of a webhook.

use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::path::Path;
use subtle::{Choice, ConstantTimeEq};

/// The minimum length of a token.
const SHORTEST: usize = 16;

/// The tokens of a webhook. While a token is being replaced there are several. Only their hashes are kept in memory.
pub struct Tokens(Vec<[u8; 32]>);

impl Tokens {
    /// Reads the tokens of a file.
    pub fn read(file: &Path) -> Result<Tokens, String> {
        Ok(Tokens(lines(file)?.iter().map(|token| hash(token)).collect()))
    }

    /// Returns whether `given` is one of the tokens. The time that this takes does not depend on them.
    pub fn know(&self, given: &str) -> bool {
        let given = hash(given);
        self.0.iter().fold(Choice::from(0), |known, token| known | token.ct_eq(&given)).into()
    }
}

/// Returns the token in the query of a URL, `token=...`, for providers whose headers are not configurable.
pub fn of_query(query: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Query {
        token: Option<String>,
    }
    serde_urlencoded::from_str::<Query>(query).ok()?.token
}

/// Returns the tokens of a file, one per line. Skips empty lines and those that begin with `#`.
pub fn lines(file: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let tokens: Vec<String> = lines.map(str::to_owned).collect();
    let good = |token: &String| token.len() >= SHORTEST && token.bytes().all(|b| b.is_ascii_graphic());
    match tokens.is_empty() || !tokens.iter().all(good) {
        true => Err(format!(
            "{}: must have one token per line, of at least {SHORTEST} visible ASCII characters",
            file.display()
        )),
        false => Ok(tokens),
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}
