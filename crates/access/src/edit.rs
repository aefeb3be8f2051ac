//! Changes the token file. The key file shares its locking, writing and import.
//!
//! One process at a time changes a file. A change is written completely or not at all, and the file is readable by its owner alone.

use super::{
    token_file::{self, Right, Token, TokenFile, Until, is_pattern},
    tokens,
};
use dunnage_base::{folders, name::is_name};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error, MapAccess, Visitor},
};
use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

/// The beginning of the columns of tags.
const TAG: &str = "tag.";

const HEAD: &str = "\
# Written by `dunnage gateway token`, which leaves comments out. A token is kept as its SHA-256 only; whoever lost one makes another.
";

/// Why a file could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The existing file has a mistake; the text is the first one with its place.
    #[error("{0}")]
    Mistaken(String),
    /// The request is invalid.
    #[error("{0}")]
    Asked(String),
    /// The file cannot be written.
    #[error("{path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Returns the tokens of the file `path`. A missing file has no tokens.
pub fn list(path: &Path) -> Result<Vec<Token>, EditError> {
    let (tokens, mistakes) = tokens::read(path);
    match mistakes.first() {
        Some(mistake) => Err(EditError::Mistaken(mistake.to_string())),
        None => Ok(tokens),
    }
}

/// Adds a token to the file `path`. Returns it with its secret, which is stored nowhere. Without a name it gets the first digits of its
/// hash.
pub fn add(
    path: &Path,
    name: Option<&str>,
    right: Right,
    until: Option<Until>,
) -> Result<(Token, String), EditError> {
    if let Right::Send(pattern) = &right
        && !is_pattern(pattern)
    {
        let message = format!("{pattern:?} is not a valid device ID, in which * stands for any characters");
        return Err(EditError::Asked(message));
    }
    if let Some(name) = name.filter(|name| !is_name(name)) {
        return Err(EditError::Asked(format!("the name {name:?} must be 1 to 64 of A-Z a-z 0-9 . _ : -")));
    }
    change(path, |tokens| {
        let made = Token::make(name.unwrap_or_default(), right, until);
        let (mut token, secret) = made.map_err(|source| EditError::Write { path: path.into(), source })?;
        if name.is_none() {
            token.name = token.fingerprint.short();
        }
        if tokens.iter().any(|other| other.name == token.name) {
            return Err(EditError::Asked(format!("a token named {:?} already exists", token.name)));
        }
        tokens.push(token.clone());
        Ok((token, secret))
    })
}

/// The columns of an import, besides `tag.KEY`.
const COLUMNS: [&str; 6] = ["name", "device", "read", "operate", "until", "token"];

/// A row of an import: its cells by their columns. Empty cells are left out.
struct Row(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Row, D::Error> {
        struct OfMap;

        impl<'de> Visitor<'de> for OfMap {
            type Value = Row;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
                let (mut cells, mut columns) = (BTreeMap::new(), HashSet::new());
                while let Some((column, cell)) = map.next_entry::<String, String>()? {
                    if !COLUMNS.contains(&&*column) && !column.starts_with(TAG) {
                        let known = COLUMNS.join(", ");
                        return Err(A::Error::custom(format!(
                            "unknown column {column:?}; the columns are {known} and {TAG}KEY"
                        )));
                    }
                    if !columns.insert(column.clone()) {
                        return Err(A::Error::custom(format!("the column {column:?} is there twice")));
                    }
                    if !cell.is_empty() {
                        cells.insert(column, cell);
                    }
                }
                Ok(Row(cells))
            }
        }

        deserializer.deserialize_map(OfMap)
    }
}

impl Row {
    fn text(&self, column: &str) -> &str {
        self.0.get(column).map_or("", |cell| cell)
    }

    fn flag(&self, column: &str) -> Result<bool, String> {
        match self.text(column) {
            "true" => Ok(true),
            "" | "false" => Ok(false),
            _ => Err(format!("{column}: must be true or false")),
        }
    }

    fn right(&self) -> Result<Right, String> {
        let tags = self.0.iter().filter_map(|(column, cell)| Some((column.strip_prefix(TAG)?, cell)));
        let tags = tags.map(|(key, value)| (key.to_owned(), value.clone())).collect();
        token_file::right(self.0.get("device").cloned(), self.flag("read")?, self.flag("operate")?, tags)
            .map_err(|(key, message)| format!("{key}: {message}"))
    }

    fn token(&self) -> Result<(Token, String), String> {
        let (right, until) = (self.right()?, moment(self.text("until"))?);
        match self.text("token") {
            "" => Token::make(self.text("name"), right, until).map_err(|e| e.to_string()),
            secret => Ok((Token::of(secret, self.text("name"), right, until)?, secret.to_owned())),
        }
    }
}

/// Adds a token to the file `path` for each of `rows`, CSV with a header: `name`, `device`, `read` (true) or `operate` (true), `tag.KEY`
/// for the tags of a token that reads, `until`, and `token` for an existing secret. Writes name and secret of each to `secrets`, as CSV, before the file is changed, because the secrets are stored nowhere
/// else. Returns the number of tokens. All of them are added, or none.
pub fn import(path: &Path, rows: impl Read, secrets: impl Write) -> Result<usize, EditError> {
    change(path, |tokens| {
        let mut names: HashSet<String> = tokens.iter().map(|token| token.name.clone()).collect();
        let mut hashes: HashSet<_> = tokens.iter().map(|token| token.fingerprint).collect();
        let count = import_rows(rows, secrets, "token", |row: Row| {
            let (mut token, secret) = row.token()?;
            if token.name.is_empty() {
                token.name = token.fingerprint.short();
            }
            if !hashes.insert(token.fingerprint) {
                return Err("token: this token already exists".into());
            }
            check_name(&token.name, &mut names)?;
            let name = token.name.clone();
            tokens.push(token);
            Ok((name, secret))
        })?;
        Ok(count)
    })
}

/// Parses a cell with an expiry; an empty cell means no expiry.
pub(super) fn moment(cell: &str) -> Result<Option<Until>, String> {
    if cell.is_empty() {
        return Ok(None);
    }
    cell.parse().map(Some).map_err(|e| format!("until: {e}"))
}

/// Rejects an invalid name and one that is among `names`. Adds it to them.
pub(super) fn check_name(name: &str, names: &mut HashSet<String>) -> Result<(), String> {
    match is_name(name) {
        false => Err(format!("name: {name:?} must be 1 to 64 of A-Z a-z 0-9 . _ : -")),
        true if !names.insert(name.to_owned()) => Err(format!("name: {name:?} already exists")),
        true => Ok(()),
    }
}

/// Calls `add` for each of `rows`, and writes the name and secret that it returns to `secrets`, under a header. Returns the number of rows.
/// An error has the line of its row.
pub(super) fn import_rows<R: DeserializeOwned>(
    rows: impl Read,
    mut secrets: impl Write,
    kind: &str,
    mut add: impl FnMut(R) -> Result<(String, String), String>,
) -> Result<usize, EditError> {
    let mut rows = csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(rows);
    let mut list = csv::Writer::from_writer(Vec::new());
    let written = |e: csv::Error| EditError::Asked(format!("the {kind}s cannot be written: {e}"));
    list.write_record(["name", kind]).map_err(written)?;
    let (headers, mut record, mut count) = (rows.headers().cloned(), csv::StringRecord::new(), 0);
    let headers = headers.map_err(|e| EditError::Asked(e.to_string()))?;
    while rows.read_record(&mut record).map_err(|e| EditError::Asked(e.to_string()))? {
        let line = record.position().map_or(0, csv::Position::line);
        let failed = |message: String| EditError::Asked(format!("line {line}: {message}"));
        let row = record.deserialize(Some(&headers)).map_err(|e| failed(e.to_string()))?;
        let (name, secret) = add(row).map_err(failed)?;
        list.write_record([name, secret]).map_err(written)?;
        count += 1;
    }
    // Written only after all rows were valid.
    let list = list.into_inner().map_err(|e| written(e.into_error().into()))?;
    secrets.write_all(&list).and_then(|()| secrets.flush()).map_err(|e| written(e.into()))?;
    Ok(count)
}

/// Removes the token `name` from the file `path`, or sets its expiry to `until`.
pub fn revoke(path: &Path, name: &str, until: Option<Until>) -> Result<(), EditError> {
    change(path, |tokens| {
        let found = tokens.iter().position(|token| token.name == name);
        let at = found.ok_or_else(|| EditError::Asked(format!("there is no token {name:?}")))?;
        match until {
            Some(_) => tokens[at].until = until,
            None => drop(tokens.remove(at)),
        }
        Ok(())
    })
}

fn change<T>(
    path: &Path,
    edit: impl FnOnce(&mut Vec<Token>) -> Result<T, EditError>,
) -> Result<T, EditError> {
    replace(path, HEAD, || {
        let mut tokens = list(path)?;
        let answer = edit(&mut tokens)?;
        Ok((answer, TokenFile { tokens: tokens.iter().map(Token::entry).collect() }))
    })
}

/// Calls `edit` while it holds the lock of the folder, and replaces the file `path` with `head` and the result.
pub(super) fn replace<T, B: serde::Serialize>(
    path: &Path,
    head: &str,
    edit: impl FnOnce() -> Result<(T, B), EditError>,
) -> Result<T, EditError> {
    let failed = |source| EditError::Write { path: path.into(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    folders::create(folder).map_err(failed)?;
    let _alone = lock(folder).map_err(failed)?;
    let (answer, file) = edit()?;
    let text = toml::to_string(&file).map_err(|e| EditError::Mistaken(e.to_string()))?;
    write(path, folder, &format!("{head}\n{text}")).map_err(failed)?;
    Ok(answer)
}

/// Locks `folder`, so that one process at a time changes its files.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    if cfg!(not(unix)) {
        return Ok(None);
    }
    // The folder and not the file, which a rename replaces.
    let folder = File::open(folder)?;
    folder.lock()?;
    Ok(Some(folder))
}

/// Replaces the file `path` with `text` atomically.
fn write(path: &Path, folder: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = folder.join(name);
    match fs::remove_file(&new) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut options = File::options();
    // `create_new` does not follow a symlink that someone has put at this path.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    #[cfg(unix)]
    give_to_owner(&file, folder)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    folders::sync_above(path)
}

/// Gives a file that root has written to the owner of `folder`, as whom the gateway runs. It changes the open file, because that owner
/// could have replaced the one at the path.
#[cfg(unix)]
fn give_to_owner(file: &File, folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let (folder, made) = (fs::metadata(folder)?, file.metadata()?);
    if made.uid() == 0 && folder.uid() != 0 {
        fchown(file, Some(folder.uid()), Some(folder.gid()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
