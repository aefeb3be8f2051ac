//! Input of the commands: messages, as bytes or hex, and schemas.

use crate::failure::Failure;
use clap::Args;
use dunnage_formats::{Csv, Error, Format, Json, Kind, MAX_BYTES, Value, line_and_column};
use dunnage_packed::Layout;
use dunnage_schema::{Folders, Model, Options, SchemaError, alike, read_text};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;
use std::{
    fmt,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

/// Maximum size of hex text in bytes: two digits and a space per byte.
const HEX_LIMIT: usize = 3 * MAX_BYTES;

/// Maximum size of many messages together, in bytes.
pub const MAX_ALL: usize = 64 << 20;

/// The file name of standard input.
const STDIN: &str = "-";

/// Locks standard input. It can be read only once, so a second call returns a usage error.
fn stdin() -> Result<io::StdinLock<'static>, Failure> {
    static IS_TAKEN: AtomicBool = AtomicBool::new(false);
    match IS_TAKEN.swap(true, Ordering::Relaxed) {
        false => Ok(io::stdin().lock()),
        true => {
            let reason = "standard input can be read only once: use a file for the message or the schema";
            Err(Failure::Usage(reason.to_owned()))
        }
    }
}

/// Where a command reads its message: a file, or standard input when that is `-` or none is given.
#[derive(Debug, Clone, Args)]
pub struct Source {
    /// File to read; standard input if omitted or -
    #[arg(value_name = "FILE")]
    path: Option<PathBuf>,
}

impl Source {
    /// The path of the file, or `None` for standard input.
    pub fn file(&self) -> Option<&Path> {
        self.path.as_deref().filter(|path| path.as_os_str() != STDIN)
    }

    /// Opens the file or standard input.
    pub fn open(&self) -> Result<Box<dyn BufRead>, Failure> {
        match self.file() {
            None => Ok(Box::new(stdin()?)),
            Some(path) => {
                let file = File::open(path).map_err(|e| Failure::about(path.display(), e))?;
                Ok(Box::new(BufReader::new(file)))
            }
        }
    }

    /// Reads everything as one message. With `hex`, the input is hex digits.
    pub fn message(&self, hex: bool) -> Result<Vec<u8>, Failure> {
        message(self.open()?, hex).map_err(|failure| self.blame(failure))
    }

    /// Reads everything, which may be many messages.
    pub fn all(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let read = self.open()?.take(MAX_ALL as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| Failure::about(self, error))?;
        match bytes.len() > MAX_ALL {
            true => Err(Failure::about(self, format!("all messages together exceed {} MiB", MAX_ALL >> 20))),
            false => Ok(bytes),
        }
    }

    /// An error in the CSV text `text`, with its line and column.
    pub fn csv_reason(&self, text: &str, error: &Error) -> String {
        let (line, column) = line_and_column(text, error.offset().unwrap_or_default());
        format!("{self}: line {line}, column {column}: {}: {}", error.kind(), error.reason())
    }

    /// Adds the name of the file to a failure.
    pub fn blame(&self, failure: Failure) -> Failure {
        match (failure, self.file()) {
            (Failure::Failed(reason), Some(path)) => Failure::about(path.display(), reason),
            (other, _) => other,
        }
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Source {
        Source { path: Some(path) }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file() {
            Some(path) => path.display().fmt(f),
            None => f.write_str("standard input"),
        }
    }
}

/// The failure to read `bytes` as one JSON message. If they hold several messages, the error includes `way_out`.
pub fn json_failure(error: impl fmt::Display, bytes: &[u8], way_out: &str) -> Failure {
    Failure::Failed(match holds_several(bytes) {
        true => format!("{error}: the input has more than one JSON message; {way_out}"),
        false if std::str::from_utf8(bytes).is_ok_and(Csv::has_header) => {
            format!("{error}; if this is CSV, `dunnage convert --from csv --to json` makes messages of it")
        }
        false => error.to_string(),
    })
}

/// Whether `bytes` begin with more than one JSON text.
fn holds_several(bytes: &[u8]) -> bool {
    let mut texts = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    matches!((texts.next(), texts.next()), (Some(Ok(_)), Some(Ok(_))))
}

/// Reads all of `source` as one message. With `hex`, the input is hex digits. Returns an error above the size limit.
pub fn message(source: impl Read, hex: bool) -> Result<Vec<u8>, Failure> {
    let limit = if hex { HEX_LIMIT } else { MAX_BYTES };
    let mut bytes = Vec::new();
    source.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(|e| Failure::about("input", e))?;
    if hex {
        bytes = from_hex(&bytes)?;
    }
    within_limit(&bytes)?;
    Ok(bytes)
}

/// Reads the next message into `line`: a line, without its line end. Returns the number of lines read, 0 at the end of the input. In a text
/// format, blank lines are skipped. A line of hex may be empty.
///
/// A line that is too long for a message is cut just above the limit, and [`within_limit`] then rejects it.
pub fn line(source: &mut impl BufRead, hex: bool, line: &mut Vec<u8>) -> Result<u64, Failure> {
    let mut lines = 0;
    loop {
        if !any_line(source, hex, line)? {
            return Ok(0);
        }
        lines += 1;
        // A line that was cut may go on.
        if hex || line.len() > MAX_BYTES || !line.trim_ascii().is_empty() {
            return Ok(lines);
        }
    }
}

fn any_line(source: &mut impl BufRead, hex: bool, line: &mut Vec<u8>) -> Result<bool, Failure> {
    let limit = if hex { HEX_LIMIT } else { MAX_BYTES } as u64 + 2;
    line.clear();
    let failed = |e| Failure::about("input", e);
    let read = source.by_ref().take(limit).read_until(b'\n', line).map_err(failed)?;
    if line.last() != Some(&b'\n') && read as u64 == limit {
        source.skip_until(b'\n').map_err(failed)?;
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        line.pop_if(|end| *end == b'\r');
    }
    Ok(read > 0)
}

/// Returns an error if `bytes` exceed the size limit of a message.
pub fn within_limit(bytes: &[u8]) -> Result<(), Error> {
    if bytes.len() > MAX_BYTES {
        return Err(Error::new(Kind::Limit, MAX_BYTES, "a message has at most 1 MiB"));
    }
    Ok(())
}

/// Decodes hex digits and ignores white space between bytes. Error offsets refer to the text.
pub fn from_hex(text: &[u8]) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut high = None;
    for (offset, &character) in text.iter().enumerate() {
        if character.is_ascii_whitespace() {
            continue;
        }
        let digit = (character as char)
            .to_digit(16)
            .ok_or_else(|| Error::new(Kind::Malformed, offset, "not a hex digit"))? as u8;
        high = match high {
            None => Some(digit),
            Some(high) => {
                bytes.push(high << 4 | digit);
                None
            }
        };
    }
    match high {
        None => Ok(bytes),
        Some(_) => Err(Error::new(Kind::Truncated, text.len(), "the last byte has one hex digit")),
    }
}

/// Encodes bytes as two hex digits each, without spaces.
pub fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |n: u8| char::from(DIGITS[usize::from(n)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// How schemas are read.
#[derive(Debug, Clone, Default, Args)]
pub struct Schemas {
    /// Folder of files that a schema may refer to; repeatable
    #[arg(long = "schema-dir", value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// JSON file that maps the addresses in references to files: {"https://example.com/unit.json": "unit.json"}
    #[arg(long = "schema-map", value_name = "FILE")]
    map: Option<PathBuf>,
    /// Reject text that does not match its format (date-time, uuid, ipv4, ...); for packed messages, both sides need it
    #[arg(long)]
    assert_formats: bool,
}

impl Schemas {
    /// Compiles the schema `name`: a bundled schema, a file, or standard input for `-`. A schema without a title is named after
    /// its file.
    pub fn model(&self, name: &str) -> Result<Model, Failure> {
        self.model_and_text(name).map(|(model, _)| model)
    }

    /// The layout of the packed messages of the schema `name`.
    pub fn layout(&self, name: &str) -> Result<Layout, Failure> {
        layout(&self.model(name)?, name)
    }

    /// The same, with the text of the schema.
    pub fn model_and_text(&self, name: &str) -> Result<(Model, String), Failure> {
        let text = self.text(name)?;
        match self.compile(name, &text) {
            Ok(model) => Ok((model, text)),
            Err(error) => Err(Failure::about(name, schema_reason(&error))),
        }
    }

    /// The text of the schema `name`, bundled with the files in the folders that it refers to.
    pub fn text(&self, name: &str) -> Result<String, Failure> {
        let text = schema_text(name)?;
        let mut folders = Folders::new(&self.folders).map_err(|e| Failure::about("--schema-dir", e))?;
        if let Some(map) = &self.map {
            folders = folders.with_map(map).map_err(|e| Failure::about("--schema-map", e))?;
        }
        folders.bundle(Path::new(name), &text).map_err(|e| Failure::about(name, schema_reason(&e)))
    }

    /// Compiles `text`, the text of the schema `name`.
    pub fn compile(&self, name: &str, text: &str) -> Result<Model, SchemaError> {
        compile(name, text, Options { assert_formats: self.assert_formats, ..Options::default() })
    }
}

fn compile(name: &str, text: &str, options: Options) -> Result<Model, SchemaError> {
    let model = Model::compile_with(text, options)?;
    match title(Path::new(name)) {
        Some(title) if !is_titled(text) => Ok(model.with_title(&title)),
        _ => Ok(model),
    }
}

fn is_titled(schema: &str) -> bool {
    #[derive(Deserialize)]
    struct Titled {
        title: Option<String>,
    }
    let title = serde_json::from_str::<Titled>(schema).ok().and_then(|schema| schema.title);
    // Generated code needs a name with ASCII letters.
    title.is_some_and(|title| title.contains(|c: char| c.is_ascii_alphabetic()))
}

/// The title derived from a file name: `soil-node_2.schema.json` becomes `Soil node 2`.
pub fn title(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let stem = name.split('.').find(|part| !part.is_empty())?;
    let words = stem.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let title = words.collect::<Vec<_>>().join(" ");
    title.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| capital(&title))
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// Formats the error as `keyword: message at pointer`.
pub fn schema_reason(error: &SchemaError) -> String {
    match error.keyword() {
        "" => error.to_string(),
        keyword => format!("{keyword}: {error}"),
    }
}

/// The text of the schema `name`: a bundled schema, a file, or standard input for `-`.
pub fn schema_text(name: &str) -> Result<String, Failure> {
    if let Some(text) = dunnage_schema::bundled_named(name) {
        return Ok(text.to_owned());
    }
    let text = match name {
        STDIN => read_text(stdin()?),
        _ => File::open(name).and_then(read_text),
    };
    let text = text.map_err(|e| no_schema(name, &e))?;
    match dunnage_schema::has_keywords(&text) {
        true => Ok(text),
        false => Err(Failure::about(
            name,
            "this is not a schema: it has no JSON Schema keyword. `dunnage schema check SCHEMA MESSAGE` checks a message, \
             `dunnage schema infer MESSAGE` infers a schema from it",
        )),
    }
}

fn no_schema(name: &str, error: &io::Error) -> Failure {
    let bundled: Vec<_> = dunnage_schema::bundled().iter().map(|(name, _)| *name).collect();
    let meant = match alike(name, bundled.iter().copied()) {
        Some(meant) => format!("; did you mean {meant}?"),
        None => String::new(),
    };
    Failure::Failed(format!("schema {name}: {error}{meant} (bundled schemas: {})", bundled.join(", ")))
}

/// The messages under `examples` in `text`, the text of the schema `name`.
pub fn schema_examples(name: &str, text: &str) -> Result<Vec<Value>, Failure> {
    #[derive(Deserialize)]
    struct Schema<'a> {
        #[serde(borrow)]
        examples: Option<&'a RawValue>,
    }
    let schema: Schema = serde_json::from_str(text).map_err(|e| Failure::about(name, e))?;
    let examples = schema.examples.map(|examples| Json.decode(examples.get().as_bytes())).transpose();
    match examples.map_err(|e| Failure::about(format!("examples of {name}"), e))? {
        Some(Value::Array(examples)) => Ok(examples),
        _ => Ok(Vec::new()),
    }
}

/// The layout of the packed messages of `model`, the schema `name`.
pub fn layout(model: &Model, name: &str) -> Result<Layout, Failure> {
    Layout::new(model).map_err(|error| Failure::about(name, schema_reason(&error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_round_trips_and_ignores_white_space() {
        assert_eq!(from_hex(b"00 7f\nFf").unwrap(), [0, 0x7f, 0xff]);
        assert_eq!(to_hex(&[0, 0x7f, 0xff]), "007fff");
    }

    #[test]
    fn the_title_comes_from_the_file_name() {
        let of = |path: &str| title(Path::new(path));
        assert_eq!(of("logs/soil-node_2.schema.json").as_deref(), Some("Soil node 2"));
        assert_eq!(of("weather.jsonl").as_deref(), Some("Weather"));
        assert_eq!((of("-"), of("2026-05-01.jsonl"), of(".json")), (None, None, Some("Json".into())));
    }

    #[test]
    fn an_error_in_hex_has_its_offset() {
        assert_eq!(from_hex(b"00 xy").unwrap_err().offset(), Some(3));
        assert_eq!(from_hex(b"00f").unwrap_err().kind(), Kind::Truncated);
    }

    #[test]
    fn an_overlong_line_is_rejected_and_the_next_line_is_read() {
        let mut text = vec![b' '; MAX_BYTES + 9];
        text.extend_from_slice(b"\n{}\r\n\r\n \n1\n\n");
        let (mut source, mut got) = (text.as_slice(), Vec::new());
        assert_eq!(line(&mut source, false, &mut got).unwrap(), 1);
        assert_eq!(within_limit(&got).unwrap_err().kind(), Kind::Limit);
        assert_eq!(line(&mut source, false, &mut got).unwrap(), 1);
        assert_eq!(got, b"{}");
        assert_eq!(line(&mut source, false, &mut got).unwrap(), 3);
        assert_eq!(got, b"1");
        assert_eq!(line(&mut source, false, &mut got).unwrap(), 0);
    }

    #[test]
    fn a_message_at_the_size_limit_is_read() {
        assert_eq!(message(&vec![b'1'; MAX_BYTES][..], false).unwrap().len(), MAX_BYTES);
        assert!(message(&vec![b'1'; MAX_BYTES + 1][..], false).is_err());
    }
}
