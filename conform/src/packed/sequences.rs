//! The sequences of `spec/vectors/packed/deltas.json`, asked of the C of modes 1 and 2.

use crate::modes::Compiled;
use anyhow::{Context, Result};
use dunnage_conform::notation::value;
use dunnage_packed::Layout;
use dunnage_schema::Model;
use serde::Deserialize;
use serde_json::Value as Json;
use std::fmt::Write as _;

#[derive(Deserialize)]
struct File {
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    name: String,
    schema: Json,
    #[serde(default)]
    pending: usize,
    #[serde(default)]
    steps: Vec<Step>,
}

/// A step of a sender. The receiver is not tested: C has only senders.
#[derive(Deserialize)]
#[serde(untagged)]
enum Step {
    Send { send: Json, hex: String },
    Acknowledge { acknowledge: String, news: bool },
    Forget {},
}

/// Compares the C of each sequence with its vector. Returns the number of wrong answers, after printing them.
pub fn compare() -> Result<usize> {
    let text = include_str!("../../../spec/vectors/packed/deltas.json");
    let file: File = serde_json::from_str(text)?;
    let sequences = file.vectors.iter().filter(|vector| !vector.steps.is_empty());
    let (mut asked, mut wrong) = (0, 0);
    for vector in sequences {
        let layout = Layout::new(&Model::compile(&vector.schema.to_string())?)?;
        let compiled = Compiled::new(&layout, vector.pending)?.context("no C for a vector")?;
        let (lines, expected) = requests(&layout, &vector.steps)?;
        let answers = compiled.ask(&lines)?;
        asked += expected.len();
        for (at, expected) in expected.iter().enumerate() {
            let answer = answers.get(at).map_or("nothing", String::as_str);
            if answer != expected {
                wrong += 1;
                println!("{}, step {at}: expected {expected}, answered {answer}", vector.name);
            }
        }
    }
    println!("C, modes 1 and 2: {asked} steps of the vectors of deltas, {wrong} wrong");
    Ok(wrong)
}

/// Returns the lines for the program and the expected answers.
fn requests(layout: &Layout, steps: &[Step]) -> Result<(String, Vec<String>)> {
    let (mut lines, mut expected) = (String::new(), Vec::new());
    for step in steps {
        let answer = match step {
            Step::Send { send, hex } => {
                let mut plain = Vec::new();
                layout.encode_without_statistics(&value(send)?, &mut plain)?;
                let plain: String = plain.iter().map(|byte| format!("{byte:02x}")).collect();
                writeln!(lines, "send {plain}")?;
                hex.clone()
            }
            Step::Acknowledge { acknowledge, news } => {
                writeln!(lines, "acked {}", u16::from_str_radix(acknowledge, 16)?)?;
                u8::from(*news).to_string()
            }
            Step::Forget {} => {
                writeln!(lines, "forget")?;
                String::new()
            }
        };
        expected.push(answer);
    }
    Ok((lines, expected))
}
