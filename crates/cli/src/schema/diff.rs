//! `dunnage schema diff`: whether a new schema may replace an old one.

use super::packed::Packed;
use crate::{
    failure::{Failure, complain},
    input, output,
};
use anstyle::{AnsiColor, Style};
use clap::Args;
use dunnage_schema::{Change, diff};
use serde::Serialize;
use std::io::Write;

const BOLD: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
/// The highest slot number.
const LAST_SLOT: u8 = 63;

/// Check whether a new schema may replace an old one
///
/// compatible: the layout and the slot are the same; each reads the other's messages. new slot: x-dunnage-slot differs,
/// so receivers distinguish the layouts and must keep the old one; the exit code is 1 if the layouts are the same, because
/// then nothing is gained. forbidden: the layouts differ but have the same slot, so receivers would read wrong values; the
/// exit code is 1.
///
/// Each change is marked "+" if messages valid against the old schema are valid against the new one, and "-" if some may
/// not be, decided from the keywords.
#[derive(Args)]
pub struct Diff {
    /// The old schema: a JSON Schema file, the name of a bundled schema, or - for standard input
    #[arg(value_name = "OLD")]
    old: String,
    /// The new schema
    #[arg(value_name = "NEW")]
    new: String,
    #[command(flatten)]
    schemas: input::Schemas,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Compatible,
    NewSlot,
    Forbidden,
}

/// The report of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    verdict: Verdict,
    old: &'a Packed,
    new: &'a Packed,
    changes: Vec<Difference<'a>>,
    keeps_old_messages: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_slot: Option<u8>,
}

#[derive(Serialize)]
struct Difference<'a> {
    field: &'a str,
    change: &'a str,
    keeps_old_messages: bool,
}

impl Diff {
    pub fn run(self) -> Result<(), Failure> {
        let (old, new) = (self.schemas.model(&self.old)?, self.schemas.model(&self.new)?);
        let changes = diff(&old, &new);
        let packed = |model, name| Ok::<_, Failure>(Packed::of(&input::layout(model, name)?));
        let (old, new) = (packed(&old, &self.old)?, packed(&new, &self.new)?);
        let verdict = match (old.fingerprint == new.fingerprint, old.slot == new.slot) {
            (true, true) => Verdict::Compatible,
            (_, false) => Verdict::NewSlot,
            (false, true) => Verdict::Forbidden,
        };
        let next_slot = (verdict == Verdict::Forbidden).then(|| next_slot(old.slot));
        let keeps = changes.iter().all(|change| change.keeps);
        let mut output = output::stdout();
        if self.json {
            let changes = changes.iter().map(|change| Difference {
                field: &change.field,
                change: &change.text,
                keeps_old_messages: change.keeps,
            });
            let report = Report {
                verdict,
                old: &old,
                new: &new,
                changes: changes.collect(),
                keeps_old_messages: keeps,
                next_slot,
            };
            serde_json::to_writer(&mut output, &report).map_err(std::io::Error::from)?;
            writeln!(output)?;
        } else {
            write_verdict(&mut output, verdict, &old, &new)?;
            write_changes(&mut output, &changes)?;
            let all = if keeps {
                "every message valid against the old schema is valid against the new one"
            } else {
                "some messages valid against the old schema may be invalid against the new one"
            };
            writeln!(output, "\n{all}")?;
        }
        output.flush()?;
        let same_layout = old.fingerprint == new.fingerprint;
        match next_slot {
            None if verdict == Verdict::NewSlot && same_layout => complain(format_args!(
                "{}: the same layout under another slot: receivers that have only one of the two reject the messages of the \
                 other; set \"x-dunnage-slot\": {} again, or keep both schemas",
                self.new, old.slot
            )),
            None => return Ok(()),
            Some(slot) => complain(format_args!(
                "{}: another layout under the same slot {}: receivers would read wrong values without an error; \
                 set \"x-dunnage-slot\": {slot}, if no other layout of these devices has it, and keep the old schema beside it for \
                 the gateway, as NAME.SUFFIX.json",
                self.new, old.slot
            )),
        }
        Err(Failure::Reported)
    }
}

/// The slot after `slot`; 1 after the last.
fn next_slot(slot: u8) -> u8 {
    if slot < LAST_SLOT { slot + 1 } else { 1 }
}

fn write_verdict(
    output: &mut impl Write,
    verdict: Verdict,
    old: &Packed,
    new: &Packed,
) -> Result<(), Failure> {
    let (style, word, why) = match verdict {
        Verdict::NewSlot if old.fingerprint == new.fingerprint => {
            (BAD, "new slot", "the same layout under another slot")
        }
        Verdict::Compatible => (GOOD, "compatible", "the same layout"),
        Verdict::NewSlot => (GOOD, "new slot", "another layout under another slot"),
        Verdict::Forbidden => (BAD, "forbidden", "another layout under the same slot"),
    };
    writeln!(output, "{style}{word}{style:#}: {why}\n")?;
    for (name, packed) in [("old", old), ("new", new)] {
        writeln!(output, "{name}  slot {}  fingerprint {}  {}", packed.slot, packed.short(), packed.bytes())?;
    }
    Ok(())
}

fn write_changes(output: &mut impl Write, changes: &[Change]) -> Result<(), Failure> {
    if !changes.is_empty() {
        writeln!(output)?;
    }
    for Change { field, text, keeps, .. } in changes {
        let sign = if *keeps { '+' } else { '-' };
        writeln!(output, "{sign} {BOLD}{field}{BOLD:#}: {text}")?;
    }
    Ok(())
}
