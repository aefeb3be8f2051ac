//! `dunnage schema infer`: from samples to a schema.

use crate::{failure::Failure, input};
use anstyle::Style;
use clap::Args;
use dunnage_formats::{Id, Mapping};
use dunnage_schema::{Inferred, infer};
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
};

/// Most bytes of all samples together.
const MAX_BYTES: usize = 64 << 20;
const BOLD: Style = Style::new().bold();

/// Infer a schema from messages
///
/// The schema goes to standard output, and what was guessed to standard error, a line for each guess: ranges
/// with headroom, decimals as they are written, notations of numbers and times in text, patterns of identifiers,
/// choices, what is optional. All messages given obey the schema. The more messages, the better the guess: 20 or
/// more tell what is chance and what is not.
#[derive(Args)]
pub struct Infer {
    /// Files with a JSON message each; - is standard input
    #[arg(value_name = "MESSAGE.json", required = true)]
    files: Vec<PathBuf>,
    /// A message a line; empty lines are skipped
    #[arg(long)]
    lines: bool,
    /// The schema's title, which gives generated code its name
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,
}

/// The messages, and where each comes from.
#[derive(Default)]
struct Samples {
    texts: Vec<String>,
    origins: Vec<String>,
    bytes: usize,
}

impl Infer {
    pub fn run(self) -> Result<(), Failure> {
        let mut samples = Samples::default();
        for path in &self.files {
            if self.lines {
                samples.add_lines(path)?;
            } else {
                samples.add(path.display().to_string(), input::message_file(path)?)?;
            }
        }
        let inferred = infer(&samples.texts, self.title.as_deref()).map_err(|error| {
            let origin = error.sample().and_then(|index| samples.origins.get(index));
            origin.map_or_else(|| Failure::Failed(error.to_string()), |origin| Failure::about(origin, &error))
        })?;
        print(&inferred)
    }
}

impl Samples {
    fn add_lines(&mut self, path: &Path) -> Result<(), Failure> {
        let mut source: Box<dyn BufRead> = if path.as_os_str() == "-" {
            Box::new(io::stdin().lock())
        } else {
            let file = File::open(path).map_err(|e| Failure::about(path.display(), e))?;
            Box::new(BufReader::new(file))
        };
        let (mut line, mut number) = (Vec::new(), 0u64);
        while input::line(&mut source, false, &mut line)? {
            number += 1;
            if !line.trim_ascii().is_empty() {
                self.add(format!("{}: line {number}", path.display()), std::mem::take(&mut line))?;
            }
        }
        Ok(())
    }

    /// Adds the message `bytes`, if it is one.
    fn add(&mut self, origin: String, bytes: Vec<u8>) -> Result<(), Failure> {
        Id::Json.open(None, Mapping::Exact)?.decode(&bytes).map_err(|e| Failure::about(&origin, e))?;
        let text = String::from_utf8(bytes).map_err(|e| Failure::about(&origin, e))?;
        self.bytes += text.len();
        if self.bytes > MAX_BYTES {
            let limit = MAX_BYTES >> 20;
            return Err(Failure::about(&origin, format!("all messages together have more than {limit} MiB")));
        }
        self.texts.push(text);
        self.origins.push(origin);
        Ok(())
    }
}

/// The notes first, so that the schema stands last on a terminal.
fn print(inferred: &Inferred) -> Result<(), Failure> {
    let mut notes = anstream::stderr().lock();
    for note in &inferred.notes {
        // When standard error is closed there is nobody to read them.
        let _ = writeln!(notes, "{BOLD}{}{BOLD:#}: {}", printable(&note.field), printable(&note.text));
    }
    let mut output = io::stdout().lock();
    writeln!(output, "{}", inferred.schema)?;
    Ok(output.flush()?)
}

/// `text` with control characters escaped: names come from messages, and must not command a terminal.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}
