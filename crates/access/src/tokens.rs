//! The tokens of a running gateway, found by their hashes.

use super::{
    tables::read_tables,
    token_file::{Fingerprint, Right, Token, TokenFile, Unique},
};
use dunnage_base::Mistake;
use std::{
    collections::HashMap,
    path::Path,
    sync::atomic::{AtomicI64, Ordering},
};

/// All valid tokens.
#[derive(Default)]
pub struct Tokens {
    /// The places of the tokens in `grants`. The table hashes its keys again with a random seed, so that nobody can predict where an entry
    /// is.
    places: HashMap<Fingerprint, u32>,
    /// In the order of their names.
    grants: Vec<Grant>,
}

/// The rights that a token grants.
#[derive(Debug)]
pub struct Grant {
    /// The name of the token, for people.
    pub name: Box<str>,
    /// The right that it grants.
    pub right: Right,
    /// When it expires, in microseconds since 1970.
    pub until: Option<i64>,
    used: LastUse,
}

/// When a token or a key was last used since the start, in microseconds since 1970; 0 for never.
#[derive(Debug, Default)]
pub struct LastUse(AtomicI64);

impl LastUse {
    /// Sets it to `now`.
    pub fn set(&self, now: i64) {
        self.0.store(now, Ordering::Relaxed);
    }

    /// Returns it, or `None` for never.
    pub fn get(&self) -> Option<i64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|used| *used != 0)
    }

    /// Takes over the last use of an earlier one.
    pub fn carry(&self, before: &LastUse) {
        self.set(before.get().unwrap_or_default());
    }
}

impl Grant {
    /// Returns when the token was last accepted since the start, in microseconds since 1970.
    pub fn last_used(&self) -> Option<i64> {
        self.used.get()
    }

    /// Notes that the token is accepted at `now`.
    pub(super) fn used(&self, now: i64) {
        self.used.set(now);
    }
}

/// A token or key file that cannot be used, with the place of the mistake.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TokensError(pub Mistake);

impl Tokens {
    /// Collects `tokens`.
    pub fn new(tokens: impl IntoIterator<Item = Token>) -> Tokens {
        let mut tokens: Vec<_> = tokens.into_iter().collect();
        tokens.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let (mut places, mut grants) =
            (HashMap::with_capacity(tokens.len()), Vec::with_capacity(tokens.len()));
        for Token { name, fingerprint, right, until } in tokens {
            places.insert(fingerprint, grants.len() as u32);
            let until = until.map(|until| until.micros());
            grants.push(Grant { name: name.into(), right, until, used: LastUse::default() });
        }
        Tokens { places, grants }
    }

    /// Reads the file `path`. A missing file has no tokens.
    pub fn load(path: &Path) -> Result<Tokens, TokensError> {
        let (tokens, mistakes) = read(path);
        match mistakes.into_iter().next() {
            Some(mistake) => Err(TokensError(mistake)),
            None => Ok(Tokens::new(tokens)),
        }
    }

    /// Whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.grants.is_empty()
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.grants.len()
    }

    /// Returns what `credential` grants at `now`, in microseconds since 1970, or the reason why it grants nothing.
    pub fn find(&self, credential: &str, now: i64) -> Result<&Grant, &'static str> {
        let fingerprint = Fingerprint::of_credential(credential);
        let place = fingerprint.and_then(|fingerprint| self.places.get(&fingerprint));
        let token = place.and_then(|place| self.grants.get(*place as usize)).ok_or("the token is unknown")?;
        match token.until.is_some_and(|until| now >= until) {
            true => Err("the token has expired"),
            false => Ok(token),
        }
    }

    /// Returns the tokens whose names come after `name`, in the order of their names.
    pub fn after(&self, name: &str) -> &[Grant] {
        &self.grants[self.grants.partition_point(|grant| &*grant.name <= name)..]
    }

    /// Takes over when the tokens that are also in `before` were last used.
    pub fn carry(&self, before: &Tokens) {
        for (fingerprint, place) in &self.places {
            let earlier = before.places.get(fingerprint).and_then(|place| before.grants.get(*place as usize));
            if let (Some(now), Some(earlier)) = (self.grants.get(*place as usize), earlier) {
                now.used.carry(&earlier.used);
            }
        }
    }
}

/// Returns the valid tokens of the file `path`, and all its mistakes.
pub fn read(path: &Path) -> (Vec<Token>, Vec<Mistake>) {
    let mut unique = Unique::default();
    read_tables(path, "token", |file: TokenFile| unique.tokens(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scope, Until};

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
        let (token, secret) = Token::make("a", Right::Read(Scope::EVERYTHING), Some(until)).unwrap();
        let tokens = Tokens::new([token]);
        let end = 1_801_382_400_000_000;
        assert!(tokens.find(&secret, end - 1).is_ok());
        assert_eq!(tokens.find(&secret, end).unwrap_err(), "the token has expired");
        assert_eq!(tokens.find("dn_", 0).unwrap_err(), "the token is unknown");
    }

    #[test]
    fn tokens_are_listed_by_name_and_keep_their_last_use() {
        let make = |name: &str| Token::make(name, Right::Read(Scope::EVERYTHING), None).unwrap();
        let ((b, secret), (a, _), (c, _)) = (make("b"), make("a"), make("c"));
        let before = Tokens::new([b.clone(), a.clone()]);
        before.find(&secret, 0).unwrap().used(7);
        let tokens = Tokens::new([b, c, a]);
        tokens.carry(&before);
        let listed =
            |after| tokens.after(after).iter().map(|g| (&*g.name, g.last_used())).collect::<Vec<_>>();
        assert_eq!(listed(""), [("a", None), ("b", Some(7)), ("c", None)]);
        assert_eq!(listed("a"), [("b", Some(7)), ("c", None)]);
        assert_eq!(listed("c"), []);
    }

    #[test]
    fn mistakes_have_line_and_key() {
        let hash = "0".repeat(64);
        let other = "1".repeat(64);
        let text = format!(
            "[[token]]\nname = 'a'\nhash = '12'\nread = true\n\
             [[token]]\nname = 'b'\nhash = '{hash}'\ndevice = ''\n\
             [[token]]\nname = 'c'\nhash = '{other}'\nread = true\nuntil = 08:00:00\n\
             [[token]]\nname = 'd'\nhash = '{}'\n",
            "2".repeat(64)
        );
        let found = mistakes(&text);
        assert!(found.iter().any(|m| m.starts_with("3:8: token[1].hash: must be 64")), "{found:#?}");
        assert!(
            found.iter().any(|m| m.starts_with("8:1: token[2].device: \"\" is not a valid device ID")),
            "{found:#?}"
        );
        assert!(found.iter().any(|m| m.starts_with("13:9: token[3].until: must be a date")), "{found:#?}");
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

    /// Writes a file of `count` tokens, each for one device.
    fn write_many(path: &Path, count: usize) {
        let mut text = String::from("# Devices.\n");
        for n in 0..count {
            text += &format!("\n[[token]]\nname = \"t{n}\"\nhash = \"{n:064x}\"\ndevice = \"buoy-{n}\"\n");
        }
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn ten_times_as_many_tokens_take_about_ten_times_as_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.toml");
        let time = |count| {
            write_many(&path, count);
            let begun = std::time::Instant::now();
            assert_eq!(Tokens::load(&path).unwrap().len(), count);
            begun.elapsed()
        };
        let (few, many) = (time(2000), time(20_000));
        // A comparison of each with all others would take a hundred times as long.
        assert!(many < 40 * few, "{few:?} {many:?}");
    }

    #[test]
    fn a_mistake_among_many_has_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.toml");
        write_many(&path, 3000);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(
            &path,
            text.replace("name = \"t2998\"", "name = \"t7\"").replace("= \"t2999\"", "= t"),
        )
        .unwrap();
        let (tokens, mistakes) = read(&path);
        let found: Vec<_> = mistakes.iter().map(|m| (m.place.unwrap(), m.key.clone())).collect();
        assert_eq!(found[0], ((2 + 2998 * 5 + 2, 1), "token[2999].name".to_owned()), "{mistakes:?}");
        assert_eq!(found[1].0.0, 2 + 2999 * 5 + 1, "{mistakes:?}");
        assert!(tokens.len() >= 2998);
    }
}
