//! Changes the key file of DTLS.

use super::{
    Until,
    edit::{EditError, check_name, import_rows, moment, replace},
    keys::{self, Key, KeyEntry, KeyFile},
    tables::read_tables,
    token_file::is_pattern,
};
use dunnage_base::name::is_name;
use serde::Deserialize;
use std::{
    collections::HashSet,
    io::{Read, Write},
    path::Path,
};

const HEAD: &str = "\
# Written by `dunnage gateway key`, which leaves comments out. These are the keys themselves: nobody but the gateway may read this file.
";

/// Returns the keys of the file `path`. A missing file has no keys.
pub fn list(path: &Path) -> Result<Vec<Key>, EditError> {
    let (keys, mistakes) = keys::read(path);
    match mistakes.first() {
        Some(mistake) => Err(EditError::Mistaken(mistake.to_string())),
        None => Ok(keys),
    }
}

/// Adds a key to the file `path` for the devices of `pattern`. Returns its name and secret. Without a name it gets a random one.
pub fn add(
    path: &Path,
    name: Option<&str>,
    pattern: &str,
    until: Option<Until>,
) -> Result<(String, String), EditError> {
    if !is_pattern(pattern) {
        let message = format!("{pattern:?} is not a valid device ID, in which * stands for any characters");
        return Err(EditError::Asked(message));
    }
    if let Some(name) = name.filter(|name| !is_name(name)) {
        return Err(EditError::Asked(format!("the name {name:?} must be 1 to 64 of A-Z a-z 0-9 . _ : -")));
    }
    change(path, |entries| {
        let (secret, random) =
            keys::make().map_err(|source| EditError::Write { path: path.into(), source })?;
        let name = name.map_or(random, str::to_owned);
        if entries.iter().any(|other| other.name == name) {
            return Err(EditError::Asked(format!("a key named {name:?} already exists")));
        }
        let device = pattern.to_owned();
        entries.push(KeyEntry { name: name.clone(), device, secret: Some(secret.clone()), hex: None, until });
        Ok((name, secret))
    })
}

/// A row of the import.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(default)]
    name: String,
    device: String,
    #[serde(default)]
    until: String,
    #[serde(default)]
    secret: String,
    #[serde(default)]
    hex: String,
}

/// Adds a key to the file `path` for each of `rows`, CSV with a header: `name`, `device`, `until`, and `secret` or `hex` for an existing
/// key. Writes name and key of each to `secrets`, as CSV. Returns the number of keys. All of them are added, or none.
pub fn import(path: &Path, rows: impl Read, secrets: impl Write) -> Result<usize, EditError> {
    change(path, |entries| {
        let mut names: HashSet<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        import_rows(rows, secrets, "key", |row: Row| {
            let until = moment(&row.until)?;
            if !is_pattern(&row.device) {
                return Err(format!("device: {:?} is not a valid device ID", row.device));
            }
            let some = |text: String| (!text.is_empty()).then_some(text);
            let (mut secret, hex) = (some(row.secret), some(row.hex));
            let mut name = row.name;
            if (secret.is_none() && hex.is_none()) || name.is_empty() {
                let (made, random) = keys::make().map_err(|e| e.to_string())?;
                secret = secret.or_else(|| hex.is_none().then_some(made));
                name = some(name).unwrap_or(random);
            }
            check_name(&name, &mut names)?;
            let entry = KeyEntry { name: name.clone(), device: row.device, secret, hex, until };
            keys::check(&entry).map_err(|(key, message)| format!("{key}: {message}"))?;
            let shown = entry.secret.clone().or_else(|| entry.hex.clone()).unwrap_or_default();
            entries.push(entry);
            Ok((name, shown))
        })
    })
}

/// Removes the key `name` from the file `path`, or sets its expiry to `until`.
pub fn revoke(path: &Path, name: &str, until: Option<Until>) -> Result<(), EditError> {
    change(path, |entries| {
        let found = entries.iter().position(|entry| entry.name == name);
        let at = found.ok_or_else(|| EditError::Asked(format!("there is no key {name:?}")))?;
        match until {
            Some(_) => entries[at].until = until,
            None => drop(entries.remove(at)),
        }
        Ok(())
    })
}

fn change<T>(
    path: &Path,
    edit: impl FnOnce(&mut Vec<KeyEntry>) -> Result<T, EditError>,
) -> Result<T, EditError> {
    replace(path, HEAD, || {
        let mut keys = entries(path)?;
        let answer = edit(&mut keys)?;
        Ok((answer, KeyFile { keys }))
    })
}

/// Returns the entries of the file `path` as they are written there. Fails if any is invalid.
fn entries(path: &Path) -> Result<Vec<KeyEntry>, EditError> {
    list(path)?;
    let (entries, mistakes) = read_tables(path, "key", |file: KeyFile| (file.keys, Vec::new()));
    match mistakes.first() {
        Some(mistake) => Err(EditError::Mistaken(mistake.to_string())),
        None => Ok(entries),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Keys;

    #[test]
    fn keys_are_made_listed_and_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state").join("keys.toml");
        assert!(list(&path).unwrap().is_empty());
        let (name, secret) = add(&path, Some("buoy-7"), "buoy-*", None).unwrap();
        let (other, another) = add(&path, None, "*", Some("2027-01-31".parse().unwrap())).unwrap();
        assert_eq!((&*name, secret.len(), other.len()), ("buoy-7", 22, 8));
        assert_ne!(secret, another);
        assert!(add(&path, Some("buoy-7"), "*", None).unwrap_err().to_string().contains("already"));
        assert!(add(&path, Some("a b"), "*", None).unwrap_err().to_string().contains("must be 1 to 64"));
        assert!(add(&path, None, "a\n", None).unwrap_err().to_string().contains("not a valid device ID"));
        let keys = Keys::load(&path).unwrap();
        assert_eq!(keys.find(b"buoy-7").unwrap().secret(), secret.as_bytes());
        revoke(&path, "buoy-7", Some("2020-01-01T00:00:00Z".parse().unwrap())).unwrap();
        assert_eq!(Keys::load(&path).unwrap().find(b"buoy-7").unwrap_err(), "the key has expired");
        revoke(&path, "buoy-7", None).unwrap();
        assert!(revoke(&path, "buoy-7", None).unwrap_err().to_string().contains("no key \"buoy-7\""));
        assert_eq!(list(&path).unwrap().len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_the_file() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.toml");
        let hex = "[[key]]\nname = 'a'\ndevice = '*'\nhex = '000102030405060708090a0b0c0d0e0f'\n";
        std::fs::write(&path, hex).unwrap();
        add(&path, None, "*", None).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        // Existing entries stay as they were.
        assert!(
            std::fs::read_to_string(&path).unwrap().contains("hex = \"000102030405060708090a0b0c0d0e0f\"")
        );
    }

    #[test]
    fn keys_are_imported_all_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.toml");
        let import = |rows: &str| {
            let mut secrets = Vec::new();
            let count = import(&path, rows.as_bytes(), &mut secrets).map_err(|e| e.to_string());
            count.map(|count| (count, String::from_utf8(secrets).unwrap()))
        };
        let rows = "name,device,secret,hex\na,buoy-1,abcdefghijklmnop,\nb,buoy-2,,000102030405060708090a0b0c0d0e0f\n,buoy-3,,\n";
        let (count, secrets) = import(rows).unwrap();
        assert_eq!((count, secrets.lines().count()), (3, 4));
        assert!(secrets.contains("a,abcdefghijklmnop\n"), "{secrets}");
        let keys = Keys::load(&path).unwrap();
        assert_eq!(keys.find(b"b").unwrap().secret(), (0..16).collect::<Vec<u8>>());
        assert_eq!(keys.len(), 3);
        for (rows, error) in [
            ("name,device,secret\nc,d,short\n", "line 2: secret: must be 16 to 64 bytes"),
            ("name,device,hex\nc,d,0g\n", "line 2: hex: must be hexadecimal digits"),
            ("name,device\nc,d\na,d\n", "line 3: name: \"a\" already exists"),
            ("name,secret\nc,abcdefghijklmnop\n", "device"),
        ] {
            let message = import(rows).unwrap_err();
            assert!(message.contains(error), "{rows}: {message}");
            assert_eq!(Keys::load(&path).unwrap().len(), 3);
        }
    }
}
