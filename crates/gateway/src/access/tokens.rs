//! The tokens of a running gateway: read from their file, found by their hashes.

use super::book::{Book, Fingerprint, Mistaken, Token};
use crate::check::{Document, Mistake, Wrong};
use serde::de::DeserializeOwned;
use std::{collections::HashMap, io::ErrorKind, path::Path};

/// All tokens that peers may bring.
#[derive(Default)]
pub struct Tokens {
    /// The hash table's own hash has a random key, so that nobody can tell where in it an entry is.
    all: HashMap<Fingerprint, Token>,
}

/// A file of tokens or keys that cannot be used; the mistake has its place.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TokensError(pub Mistake);

impl Tokens {
    /// Those of `tokens`.
    pub fn new(tokens: impl IntoIterator<Item = Token>) -> Tokens {
        Tokens { all: tokens.into_iter().map(|token| (token.fingerprint, token)).collect() }
    }

    /// Reads the file `path`. One that is not there has no tokens.
    pub fn load(path: &Path) -> Result<Tokens, TokensError> {
        let (tokens, mistakes) = read(path);
        match mistakes.into_iter().next() {
            Some(mistake) => Err(TokensError(mistake)),
            None => Ok(Tokens::new(tokens)),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The token that `credential` is at `now`, or what to say of it.
    pub fn find(&self, credential: &str, now: i64) -> Result<&Token, &'static str> {
        let fingerprint = Fingerprint::of_credential(credential);
        let token = fingerprint.and_then(|fingerprint| self.all.get(&fingerprint));
        let token = token.ok_or("the token is not known")?;
        match token.until.is_some_and(|until| until.is_over(now)) {
            true => Err("the token has ended"),
            false => Ok(token),
        }
    }
}

/// The tokens of the file `path` that can be used, and everything that is wrong with it.
pub fn read(path: &Path) -> (Vec<Token>, Vec<Mistake>) {
    read_tables(path, "token", |book: Book| book.tokens())
}

/// What `entries` finds that can be used in the file `path` of `[[table]]`, and everything that is wrong with it. A file that is not
/// there has nothing.
pub fn read_tables<B: DeserializeOwned + Default, T>(
    path: &Path,
    table: &str,
    entries: impl FnOnce(B) -> (Vec<T>, Vec<Mistaken>),
) -> (Vec<T>, Vec<Mistake>) {
    let origin = path.display().to_string();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => return Default::default(),
        Err(e) => {
            let mistake = Mistake { origin, place: None, key: String::new(), message: e.to_string() };
            return (Vec::new(), vec![mistake]);
        }
    };
    let (document, book, wrong) = Document::read::<B>(&text);
    let (found, mistaken) = entries(book);
    (found, mistakes(&origin, table, &document, wrong, mistaken))
}

/// Everything that is wrong with the file `origin` of `[[table]]`, in its order.
fn mistakes(
    origin: &str,
    table: &str,
    document: &Document<'_>,
    mut wrong: Vec<Wrong>,
    mistaken: Vec<Mistaken>,
) -> Vec<Mistake> {
    wrong.extend(mistaken.into_iter().map(|Mistaken { index, key, message }| {
        let (key, at) = document.find(&[table, &index.to_string(), key]);
        Wrong { at, key, message }
    }));
    let keys: Vec<_> = wrong.iter().map(|wrong| format!("{}.", wrong.key)).collect();
    // A table that lacks what was wrong in it is not worth telling.
    let told = |wrong: &Wrong| {
        !keys.iter().any(|key| key.starts_with(&format!("{}.", wrong.key)) && key.len() > wrong.key.len() + 1)
    };
    wrong.retain(told);
    wrong.sort_by_key(|wrong| wrong.at);
    let mistakes = wrong.into_iter().map(|Wrong { at, key, message }| Mistake {
        origin: origin.to_owned(),
        place: at.map(|at| document.place(at)),
        key,
        message,
    });
    mistakes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Right, Until};

    fn mistakes(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.toml");
        std::fs::write(&path, text).unwrap();
        let prefix = format!("{}:", path.display());
        read(&path).1.iter().map(|m| m.to_string().replace(&prefix, "")).collect()
    }

    #[test]
    fn a_file_that_is_not_there_has_no_tokens() {
        assert!(Tokens::load(Path::new("/nowhere/tokens.toml")).unwrap().is_empty());
    }

    #[test]
    fn a_token_ends() {
        let until: Until = "2027-01-31T08:00:00Z".parse().unwrap();
        let (token, secret) = Token::make("a", Right::Read, Some(until)).unwrap();
        let tokens = Tokens::new([token]);
        let end = 1_801_382_400_000_000;
        assert!(tokens.find(&secret, end - 1).is_ok());
        assert_eq!(tokens.find(&secret, end).unwrap_err(), "the token has ended");
        assert_eq!(tokens.find("dn_", 0).unwrap_err(), "the token is not known");
    }

    #[test]
    fn mistakes_have_line_and_key() {
        let hash = "0".repeat(64);
        let other = "1".repeat(64);
        let text = format!(
            "[[token]]\nname = 'a'\nhash = '12'\nread = true\n\
             [[token]]\nname = 'b'\nhash = '{hash}'\ndevice = 'a b'\n\
             [[token]]\nname = 'c'\nhash = '{other}'\nread = true\nuntil = 08:00:00\n\
             [[token]]\nname = 'd'\nhash = '{}'\n",
            "2".repeat(64)
        );
        let found = mistakes(&text);
        assert!(found.iter().any(|m| m.starts_with("3:8: token[1].hash: a hash has 64")), "{found:#?}");
        assert!(
            found.iter().any(|m| m.starts_with("8:1: token[2].device: must be a device's id")),
            "{found:#?}"
        );
        assert!(found.iter().any(|m| m.starts_with("13:9: token[3].until: must be a day")), "{found:#?}");
        assert!(found.iter().any(|m| m.contains("token[4].device: a token needs device")), "{found:#?}");
        assert_eq!(found.len(), 4, "{found:#?}");
    }

    #[test]
    fn names_and_hashes_are_there_once() {
        let entry = |name: &str, digit: &str| {
            format!("[[token]]\nname = '{name}'\nhash = '{}'\nread = true\n", digit.repeat(64))
        };
        let found = mistakes(&(entry("a", "0") + &entry("a", "1") + &entry("b", "0")));
        assert_eq!(
            found,
            [
                "6:1: token[2].name: another token has this name",
                "11:1: token[3].hash: another token has this hash"
            ]
        );
    }
}
