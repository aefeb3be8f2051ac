//! Reads the messages to measure.

use crate::{
    failure::Failure,
    input::{self, Source},
};
use dunnage_formats::{Error, Json, Value};
use std::path::{Path, PathBuf};

/// The most messages that are read: compressing more would take longer than measuring their times.
const MAX_MESSAGES: usize = 10_000;
/// The most bytes of all messages together.
const MAX_TOTAL_BYTES: usize = 16 << 20;

/// Messages, and where each was read.
#[derive(Default)]
pub struct Messages {
    pub values: Vec<Value>,
    texts: Vec<Vec<u8>>,
    places: Vec<String>,
    total_bytes: usize,
}

impl Messages {
    /// Reads a message from each of the files, or one from every line with `lines`; from standard input if there is no file. Returns an error
    /// that names the file and the line of a message that is not JSON.
    pub fn read(files: &[PathBuf], lines: bool) -> Result<Messages, Failure> {
        let standard_input = [PathBuf::from("-")];
        let files = if files.is_empty() { &standard_input } else { files };
        let mut messages = Messages::default();
        for file in files {
            match lines {
                true => messages.read_lines(file)?,
                false => messages.read_file(file)?,
            }
        }
        match messages.values.is_empty() {
            true => Err(Failure::Failed("the input has no message".to_owned())),
            false => Ok(messages),
        }
    }

    fn read_file(&mut self, file: &Path) -> Result<(), Failure> {
        let source = Source::from(file.to_owned());
        let text = source.message(false)?;
        let value = Json
            .decode_sample(&text)
            .map_err(|error| source.blame(input::json_failure(error, &text, "--lines reads one per line")))?;
        self.push(text, value, source.to_string())
    }

    fn read_lines(&mut self, file: &Path) -> Result<(), Failure> {
        let source = Source::from(file.to_owned());
        let mut lines = source.open()?;
        let (mut line, mut number) = (Vec::new(), 0u64);
        while let read @ 1.. =
            input::line(&mut lines, false, &mut line).map_err(|failure| source.blame(failure))?
        {
            number += read;
            let place = format!("{source}: line {number}");
            let value = decode_line(&line).map_err(|error| Failure::about(&place, error))?;
            self.push(line.clone(), value, place)?;
        }
        Ok(())
    }

    fn push(&mut self, text: Vec<u8>, value: Value, place: String) -> Result<(), Failure> {
        self.total_bytes += text.len();
        if self.values.len() == MAX_MESSAGES || self.total_bytes > MAX_TOTAL_BYTES {
            let reason = "more than 10,000 messages or 16 MiB; measure a sample of them";
            return Err(Failure::about(place, reason));
        }
        self.texts.push(text);
        self.values.push(value);
        self.places.push(place);
        Ok(())
    }

    /// The file of the message with this index, and its line if every line is a message.
    pub fn place(&self, index: usize) -> &str {
        &self.places[index]
    }

    /// The failure of the message with this index, with its place.
    pub fn blame(&self, index: usize, what: &str, error: &Error) -> Failure {
        let error = error.clone().in_json(&self.texts[index]);
        Failure::about(&self.places[index], format!("{what}: {error}"))
    }
}

fn decode_line(line: &[u8]) -> Result<Value, Error> {
    input::within_limit(line)?;
    Json.decode_sample(line)
}
