//! The columns of a CSV text, as the tree of the message's fields.

use crate::{Kind, MAX_DEPTH};
use csv::StringRecord;
use dunnage_schema::{pointer, read_nearest, read_number};
use serde_json::Number;
use std::collections::HashSet;

/// Most columns.
const COLUMNS: usize = 4096;

pub struct Columns {
    width: usize,
    /// Whether names are JSON pointers.
    are_pointers: bool,
    root: Node,
    /// The pointer of each column that is part of the message, and its place.
    pointers: Vec<(String, usize)>,
}

/// A field, or the message.
#[derive(Default)]
struct Node {
    key: String,
    /// The column with its value.
    column: Option<usize>,
    parts: Vec<Node>,
    is_array: bool,
}

impl Columns {
    /// Makes the columns of a header. An error has the column at fault.
    pub fn new(names: &StringRecord) -> Result<Columns, (usize, Kind, String)> {
        if names.len() > COLUMNS {
            return Err((COLUMNS, Kind::Limit, format!("a header has at most {COLUMNS} columns")));
        }
        let are_pointers = names.iter().any(|name| name.trim().starts_with('/'));
        let mut columns =
            Columns { width: names.len(), are_pointers, root: Node::default(), pointers: Vec::new() };
        let mut known = HashSet::new();
        for (column, name) in names.iter().map(str::trim).enumerate() {
            if name.is_empty() || are_pointers && !name.starts_with('/') {
                continue;
            }
            if !known.insert(name) {
                return Err((column, Kind::Malformed, format!("duplicate column {name}")));
            }
            let pointer = if are_pointers { name.to_owned() } else { format!("/{}", pointer::escape(name)) };
            let keys: Vec<String> = pointer.split('/').skip(1).map(pointer::unescape).collect();
            if keys.len() > MAX_DEPTH {
                return Err((column, Kind::Limit, format!("a field is at most {MAX_DEPTH} deep")));
            }
            keys.into_iter().fold(&mut columns.root, Node::part).column = Some(column);
            columns.pointers.push((pointer, column));
        }
        columns.root.parts.iter_mut().for_each(Node::find_arrays);
        Ok(columns)
    }

    /// Returns how many fields a row has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the pointers of the columns that are part of the message, with their places.
    pub fn pointers(&self) -> impl Iterator<Item = (&str, usize)> {
        self.pointers.iter().map(|(pointer, column)| (pointer.as_str(), *column))
    }

    /// Returns the column with the value at `pointer`, with a part of it, or with what it is a part of.
    pub fn find(&self, pointer: &str) -> Option<usize> {
        let is_in = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let found = self.pointers.iter().find(|(column, _)| is_in(column, pointer) || is_in(pointer, column));
        found.filter(|_| !pointer.is_empty()).map(|(_, column)| *column)
    }

    /// Returns the JSON text of a row's message; `None` if it has no value. An error has the column at fault.
    pub fn message(&self, row: &StringRecord) -> Result<Option<String>, (usize, String)> {
        let mut json = String::new();
        Ok(self.write(&self.root, row, &mut json)?.then_some(json))
    }

    /// Appends the value of `node`; returns whether it has one.
    fn write(&self, node: &Node, row: &StringRecord, json: &mut String) -> Result<bool, (usize, String)> {
        let own = node
            .column
            .zip(node.column.and_then(|column| row.get(column)).filter(|cell| !cell.trim().is_empty()));
        let before = json.len();
        json.push(if node.is_array { '[' } else { '{' });
        let (mut is_first, mut missing) = (true, 0);
        for part in &node.parts {
            let mark = json.len();
            if !is_first {
                json.push(',');
            }
            match node.is_array {
                true => json.extend(std::iter::repeat_n("null,", missing)),
                false => json.push_str(&format!("{}:", text(&part.key))),
            }
            if self.write(part, row, json)? {
                (is_first, missing) = (false, 0);
            } else {
                json.truncate(mark);
                missing += 1;
            }
        }
        match own {
            Some((column, _)) if !is_first => {
                let (name, _) =
                    self.pointers.iter().find(|(_, place)| *place == column).cloned().unwrap_or_default();
                return Err((column, format!("{name} has a value, and so has a column below it")));
            }
            Some((_, cell)) => {
                json.truncate(before);
                json.push_str(&self.value(cell));
            }
            None if is_first => json.truncate(before),
            None => json.push(if node.is_array { ']' } else { '}' }),
        }
        Ok(own.is_some() || !is_first)
    }

    /// Returns the JSON text of a field that is not empty.
    fn value(&self, cell: &str) -> String {
        let bare = cell.trim();
        let is_empty = self.are_pointers && matches!(bare, "{}" | "[]");
        match is_empty || matches!(bare, "true" | "false" | "null") || is_number(bare) {
            true => bare.to_owned(),
            false => text(cell),
        }
    }
}

/// Returns whether `text` is a number of JSON. An integer that a value would round is probably an identifier.
fn is_number(text: &str) -> bool {
    let is_decimal = text.contains(['.', 'e', 'E']);
    text.parse::<Number>().is_ok()
        && (read_number(text).is_some() || is_decimal && read_nearest(text).is_some())
}

fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Node {
    /// Returns the part with this key.
    fn part(&mut self, key: String) -> &mut Node {
        let place = self.parts.iter().position(|part| part.key == key).unwrap_or(self.parts.len());
        if place == self.parts.len() {
            self.parts.push(Node { key, ..Node::default() });
        }
        &mut self.parts[place]
    }

    /// Makes arrays of the parts whose keys are 0, 1, 2 and so on.
    fn find_arrays(&mut self) {
        self.parts.iter_mut().for_each(Node::find_arrays);
        let mut indices: Vec<Option<usize>> = self.parts.iter().map(|part| part.key.parse().ok()).collect();
        indices.sort_unstable();
        self.is_array = !indices.is_empty() && indices.iter().enumerate().all(|(n, index)| *index == Some(n));
        if self.is_array {
            self.parts.sort_by_key(|part| part.key.parse::<usize>().ok());
        }
    }
}
