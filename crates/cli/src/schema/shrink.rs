//! `dunnage schema shrink`: makes messages smaller with what was seen.

use super::table;
use crate::{
    failure::{Failure, complain},
    input::{self, Source},
    link_id::LinkId,
    output::{self, printable},
    sequences,
};
use clap::Args;
use comfy_table::{Attribute, Cell};
use dunnage_links::Link;
use dunnage_packed::{Decision, Saving, Sizes, Value, fitted, savings, shrunk};
use dunnage_schema::{SchemaError, shrink::Change};
use std::{
    collections::HashMap,
    io::{self, BufRead, IsTerminal, Write},
    path::PathBuf,
};

/// Most changes of a field that are listed.
const LISTED: usize = 3;
const COLUMNS: [table::Column; 5] = [
    table::text("field"),
    table::number("largest"),
    table::number("seen"),
    table::text("change"),
    table::text("schema"),
];

/// Make the messages of a schema smaller, with messages that were seen
///
/// Lists for each field the changes that save most, each with the bytes of the largest message with it, of the largest one
/// that was seen, and the line of the schema. With a change, other messages are rejected later: texts become enumerations,
/// ranges and lengths shrink to those of the messages or near them, times get a notation. Some changes round.
///
/// With --link it makes the changes that the link needs to carry every message, and writes the schema to standard output.
/// Those that later messages are least likely to break come first: enumerations of states and notations of times, then ranges
/// with headroom, enumerations of identifiers, and ranges and lengths as seen. On a terminal it asks before each, and
/// about others if one is refused. Otherwise it makes those that round nothing; if the link needs more, it lists them and the
/// exit code is 1.
#[derive(Args)]
pub struct Shrink {
    /// A JSON Schema file, the name of a bundled schema, or - for standard input
    #[arg(value_name = "SCHEMA")]
    schema: String,
    #[command(flatten)]
    schemas: input::Schemas,
    /// File with one message per line, or CSV with a header
    #[arg(long, value_name = "FILE")]
    messages: PathBuf,
    /// Link that has to carry every message, of those in `dunnage plan --help`
    #[arg(long, value_name = "ID", value_parser = LinkId, hide_possible_values = true)]
    link: Option<&'static Link>,
}

impl Shrink {
    pub fn run(self) -> Result<(), Failure> {
        let (model, text) = self.schemas.model_and_text(&self.schema)?;
        let devices = sequences::read(&Source::from(self.messages.clone()), &model, None)?;
        let messages: Vec<Value> = devices.into_iter().flat_map(|device| device.messages).collect();
        match self.link {
            Some(link) => self.fit(link, &text, &messages),
            None => {
                let (before, savings) = savings(&text, &messages).map_err(|e| self.about(&e))?;
                let mut output = output::stdout();
                writeln!(output, "{}\n", sizes(&before))?;
                list(&mut output, &savings)
            }
        }
    }

    fn about(&self, error: &SchemaError) -> Failure {
        Failure::about(&self.schema, input::schema_reason(error))
    }

    /// Makes changes until the link carries every message.
    fn fit(&self, link: &Link, text: &str, messages: &[Value]) -> Result<(), Failure> {
        let Some(limit) = link.max_payload_bytes.map(|limit| limit as u64) else {
            let reason = format!("{} has no published limit, so there is nothing to fit", link.name);
            return Err(Failure::Failed(reason));
        };
        let asks = io::stdin().is_terminal() && io::stderr().is_terminal();
        let changed = if asks { asked(text, messages, limit) } else { made(text, messages, limit) };
        let (schema, after) = changed.map_err(|e| self.about(&e))?;
        if schema == text && after.fit(limit) {
            complain(format_args!(
                "{} carries every message already: {}; without --link, the changes that would save something are listed",
                link.name,
                sizes(&after)
            ));
        }
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{}", schema.trim_end())?;
        stdout.flush()?;
        if after.fit(limit) {
            return Ok(());
        }
        let (_, more) = savings(&schema, messages).map_err(|e| self.about(&e))?;
        let mut stderr = anstream::stderr().lock();
        list(&mut stderr, &more)?;
        complain(format_args!("{} carries {limit} bytes: {}", link.name, sizes(&after)));
        Err(Failure::Reported)
    }
}

/// Asks about the changes that `limit` needs, and about all others if one of these is refused. Returns the schema and its sizes.
fn asked(text: &str, messages: &[Value], limit: u64) -> Result<(String, Sizes), SchemaError> {
    let needed = fitted(text, messages, limit)?.made;
    say_alone(&needed, text, messages, limit)?;
    let (mut refused, mut stopped) = (Vec::new(), false);
    let mut decide = |before: &Sizes, saving: &Saving, is_asked: &dyn Fn(&Change) -> bool| {
        let change = &saving.change;
        if stopped || before.fit(limit) {
            return Decision::Stop;
        }
        if !is_asked(change) || refused.iter().any(|refused| is_same(refused, change)) {
            return Decision::Leave;
        }
        let choice = ask(saving);
        match choice {
            Decision::Leave => refused.push(change.clone()),
            Decision::Stop => stopped = true,
            _ => {}
        }
        choice
    };
    let is_needed = |change: &Change| needed.iter().any(|saving| is_same(&saving.change, change));
    let (text, _) = shrunk(text, messages, |before, saving| decide(before, saving, &is_needed))?;
    shrunk(&text, messages, |before, saving| decide(before, saving, &|_| true))
}

fn is_same(one: &Change, other: &Change) -> bool {
    (&one.pointer, &one.what) == (&other.pointer, &other.what)
}

/// Makes the changes that `limit` needs, and says which; then those that would do alone. Returns the schema and its sizes.
fn made(text: &str, messages: &[Value], limit: u64) -> Result<(String, Sizes), SchemaError> {
    let fitted = fitted(text, messages, limit)?;
    for Saving { change, sizes: after, .. } in &fitted.made {
        complain(format_args!("{}: {}: {}", change.field, change.what, sizes(after)));
    }
    say_alone(&fitted.made, text, messages, limit)?;
    Ok((fitted.schema, fitted.sizes))
}

/// Says which changes would do alone, if several are needed.
fn say_alone(needed: &[Saving], text: &str, messages: &[Value], limit: u64) -> Result<(), SchemaError> {
    if needed.len() > 1 {
        let (_, alone) = savings(text, messages)?;
        for Saving { change, .. } in alone.iter().filter(|saving| saving.sizes.fit(limit)).take(LISTED) {
            complain(format_args!("one change alone would also do: {}: {}", change.field, change.what));
        }
    }
    Ok(())
}

/// Asks on standard error whether to make a change.
fn ask(saving: &Saving) -> Decision {
    let mut stderr = anstream::stderr().lock();
    let change = &saving.change;
    let what = format!("{}: {}", change.field, change.what);
    let _ =
        writeln!(stderr, "{}\n  {}\n  {}", printable(&what), printable(&change.line), sizes(&saving.sizes));
    let _ = write!(stderr, "Make this change? [Y/n/q] ");
    let _ = stderr.flush();
    let mut answer = String::new();
    match io::stdin().lock().read_line(&mut answer) {
        Ok(1..) => match answer.trim() {
            "" | "y" | "Y" => Decision::Take,
            "q" => Decision::Stop,
            _ => Decision::Leave,
        },
        _ => Decision::Stop,
    }
}

/// Describes sizes: `23 bytes at most, 21 in these messages`.
fn sizes(sizes: &Sizes) -> String {
    match sizes.largest {
        Some(bits) => format!("{} bytes at most, {} in these messages", bits.div_ceil(8), sizes.seen),
        None => format!("no largest message, {} bytes in these messages", sizes.seen),
    }
}

/// Lists the best changes of each field, the best field first.
fn list(output: &mut impl Write, savings: &[Saving]) -> Result<(), Failure> {
    let mut of_field: HashMap<String, usize> = HashMap::new();
    let rows = savings.iter().filter_map(|Saving { change, sizes, .. }| {
        let count = of_field.entry(change.field.clone()).or_default();
        *count += 1;
        (*count <= LISTED).then(|| {
            [
                Cell::new(printable(&change.field)).add_attribute(Attribute::Bold),
                Cell::new(sizes.largest.map_or("none".to_owned(), |bits| bits.div_ceil(8).to_string())),
                Cell::new(sizes.seen),
                Cell::new(printable(&change.what)),
                Cell::new(printable(&change.line)),
            ]
        })
    });
    table::write(output, &COLUMNS, rows.collect::<Vec<_>>())?;
    Ok(output.flush()?)
}
