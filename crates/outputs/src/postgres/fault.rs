//! What an error of the server means: for a row, or for the output.

use crate::{Class, Failed};
use tokio_postgres::{
    Error,
    error::{DbError, SqlState},
};

/// Why rows were not written. None of them is in the table.
#[derive(Debug)]
pub enum Fault {
    /// A message of them is in a table already.
    Repeated,
    /// The server refuses a row: the line in what was copied, if it says so, from 0, and the reason.
    Row(Option<usize>, String),
    /// The server cannot write any rows, or any of a table.
    Server(Failed),
}

/// Returns the meaning of an error for rows that were written to `table`. `direct` tells whether they were written without a look at the key.
pub fn of(error: &Error, table: &str, direct: bool) -> Fault {
    let Some(db) = error.as_db_error() else { return Fault::Server(connection(error, "PostgreSQL")) };
    let code = db.code();
    if *code == SqlState::UNIQUE_VIOLATION && direct {
        return Fault::Repeated;
    }
    let class = &code.code()[..2];
    // A table that is divided has no partition for the row. The error is that of a condition, without one.
    let without_partition = *code == SqlState::CHECK_VIOLATION && db.constraint().is_none();
    if matches!(class, "22" | "23" | "44" | "54" | "P0") && !without_partition {
        return Fault::Row(line(db), format!("table {table}: {}", described(db)));
    }
    Fault::Server(server(db, table))
}

/// Returns the failure of a connection, or of a statement that is about no row. `shown` says of what.
pub fn connection(error: &Error, shown: &str) -> Failed {
    match error.as_db_error() {
        Some(db) => server(db, shown),
        None => Failed::retry(format!("{shown}: {}", crate::http::reason(error))).because(Class::Connection),
    }
}

fn server(db: &DbError, shown: &str) -> Failed {
    let code = db.code().code();
    let class = match &code[..2] {
        "08" => Class::Connection,
        "28" => Class::Denied,
        "42" if code == "42501" => Class::Denied,
        "42" | "3D" | "3F" | "23" => Class::Missing,
        "53" | "40" | "55" => Class::Busy,
        "57" if code == "57014" => Class::Timeout,
        "57" => Class::Connection,
        _ => Class::Failing,
    };
    Failed::retry(format!("{shown}: {}", described(db))).because(class)
}

/// Describes an error: its message, the column and its value if it says so, and its code.
fn described(db: &DbError) -> String {
    let column = db.column().map(|column| format!(", column {column:?}")).unwrap_or_default();
    // The context of a copy ends with the column and its value.
    let place = db.where_().and_then(|text| text.lines().find_map(|line| line.split_once("COPY ")));
    let place = place.map(|(_, place)| format!(" (at {place})")).unwrap_or_default();
    let detail = db.detail().filter(|_| place.is_empty() && column.is_empty());
    let detail = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
    let text = format!("{}{column}{detail}{place} [{}]", db.message(), db.code().code());
    text.replace(char::is_control, " ")
}

/// Returns the line of a copy that an error is about, from 0. Its name depends on the language of the server, so the first number counts.
fn line(db: &DbError) -> Option<usize> {
    let (_, place) = db.where_()?.split_once("COPY ")?;
    let mut parts = place.split([',', ':']).skip(1);
    let number: usize = parts.find_map(|part| part.split_whitespace().last()?.parse().ok())?;
    number.checked_sub(1)
}
