//! Reads a TOML file of `[[table]]`s, one table after the other. A million of them take seconds, and little more memory than the result.

use super::token_file::Mistaken;
use dunnage_base::Mistake;
use dunnage_base::{Document, Wrong};
use serde::de::DeserializeOwned;
use std::{
    fs::File,
    io::{BufRead, BufReader, ErrorKind},
    path::Path,
};

/// Calls `entries` for each `[[table]]` of the file `path` in turn. Returns what it accepts, and all mistakes with their places. A missing
/// file is empty.
pub fn read_tables<B: DeserializeOwned + Default, T>(
    path: &Path,
    table: &str,
    mut entries: impl FnMut(B) -> (Vec<T>, Vec<Mistaken>),
) -> (Vec<T>, Vec<Mistake>) {
    let origin = path.display().to_string();
    let unreadable =
        |message: String| Mistake { origin: origin.clone(), place: None, key: String::new(), message };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Default::default(),
        Err(e) => return (Vec::new(), vec![unreadable(e.to_string())]),
    };
    let mut pieces = Pieces { from: BufReader::new(file), next: String::new(), line: 0 };
    let (mut found, mut mistakes, mut number) = (Vec::new(), Vec::new(), 0);
    loop {
        match pieces.next() {
            Ok(None) => return (found, mistakes),
            Ok(Some((text, line))) => {
                number += usize::from(is_begin(&text));
                let (some, wrong) = read_piece(&text, &origin, table, &mut entries);
                found.extend(some);
                mistakes.extend(wrong.into_iter().map(|mistake| of_file(mistake, table, number, line)));
            }
            Err(e) => {
                mistakes.push(unreadable(e.to_string()));
                return (found, mistakes);
            }
        }
    }
}

/// The pieces of a file: the text before the first array table, and each table.
struct Pieces {
    from: BufReader<File>,
    /// The first line of the next piece.
    next: String,
    /// The number of lines before it.
    line: usize,
}

impl Pieces {
    /// Returns the next piece, and the number of lines before it.
    fn next(&mut self) -> std::io::Result<Option<(String, usize)>> {
        let (mut text, begin) = (std::mem::take(&mut self.next), self.line);
        self.line += usize::from(!text.is_empty());
        loop {
            let length = text.len();
            if self.from.read_line(&mut text)? == 0 {
                return Ok((!text.is_empty()).then_some((text, begin)));
            }
            if length > 0 && is_begin(&text[length..]) {
                self.next = text.split_off(length);
                return Ok(Some((text, begin)));
            }
            self.line += 1;
        }
    }
}

fn is_begin(line: &str) -> bool {
    line.trim_start().starts_with("[[")
}

/// Parses one piece as if it were a whole file. Returns its valid entries and its mistakes.
fn read_piece<B: DeserializeOwned + Default, T>(
    text: &str,
    origin: &str,
    table: &str,
    entries: &mut impl FnMut(B) -> (Vec<T>, Vec<Mistaken>),
) -> (Vec<T>, Vec<Mistake>) {
    let (document, found, wrong, mistaken) = match toml::from_str(text) {
        Ok(file) => {
            let (found, mistaken) = entries(file);
            if mistaken.is_empty() {
                return (found, Vec::new());
            }
            (Document::read::<B>(text).0, found, Vec::new(), mistaken)
        }
        Err(_) => {
            let (document, file, wrong) = Document::read::<B>(text);
            let (found, mistaken) = entries(file);
            (document, found, wrong, mistaken)
        }
    };
    (found, mistakes(origin, table, &document, wrong, mistaken))
}

/// Corrects the number and the place of a mistake in table `number` of its file, which follows `lines` lines.
fn of_file(mistake: Mistake, table: &str, number: usize, lines: usize) -> Mistake {
    let key =
        mistake.key.replacen(&format!("{table}[1]"), &format!("{table}[{number}]"), usize::from(number > 0));
    Mistake { place: mistake.place.map(|(line, column)| (line + lines, column)), key, ..mistake }
}

/// Returns all mistakes in a document of `[[table]]`s, in its order.
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
    // Where a key was wrong and left out, do not also report that its table lacks it.
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
