//! `dunnage schema infer --codec`: infers the schema of what a vendor's codec returns.

mod decode;
mod mutate;
mod report;

use super::closed::closed;
use crate::{
    codec::examples::{self, Example, Function},
    failure::Failure,
    input,
};
use clap::Args;
use decode::{Decoded, Outcomes};
use dunnage_formats::Value;
use dunnage_packed::with_slot;
use dunnage_schema::{Model, infer_decoded};
use dunnage_vendor_codec::{Codec, Engine};
use mutate::mutations;
use std::{
    collections::HashSet,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// The most mutated frames.
const MOST_FRAMES: i64 = 100_000;

/// The options with a codec.
#[derive(Args)]
pub struct FromCodec {
    /// JavaScript of a vendor's codec: infers the schema of what it returns
    #[arg(long, value_name = "FILE", requires = "examples", conflicts_with_all = ["files", "lines"])]
    pub codec: Option<PathBuf>,
    /// Examples of the codec, as `dunnage codec check` reads them
    #[arg(long, value_name = "FILE", requires = "codec")]
    examples: Option<PathBuf>,
    /// Mutated frames that the codec decodes, too
    #[arg(long, value_name = "N", default_value_t = 2000, requires = "codec", value_parser = clap::value_parser!(u32).range(..=MOST_FRAMES))]
    frames: u32,
    /// Seed of the mutations
    #[arg(long, value_name = "N", default_value_t = 1, requires = "codec")]
    seed: u64,
}

/// The messages that the codec returned.
struct Messages {
    /// Of the examples that it decodes.
    examples: Vec<Decoded>,
    /// Of mutated frames, without warnings.
    mutated: Vec<Decoded>,
}

impl FromCodec {
    /// Infers the schema, and writes it to standard output after the report on standard error.
    pub fn run(&self, codec: &Path, title: Option<&str>, closed: bool) -> Result<(), Failure> {
        let name = codec.display().to_string();
        let loaded = Codec::read(codec).map_err(|error| Failure::Failed(error.to_string()))?;
        let mut engine = Engine::new(loaded);
        let examples = self.uplinks()?;
        let decoded = decode::examples(&mut engine, &name, &examples)?;
        let frames: Vec<_> = decoded.iter().map(|decoded| decoded.frame.clone()).collect();
        let mutated = mutations(&frames, &of_each_form(&decoded), self.frames as usize, self.seed);
        let (mutated, outcomes) = decode::mutated(&mut engine, &name, mutated)?;
        let messages = Messages { examples: decoded, mutated };
        let title = title.map(str::to_owned).or_else(|| input::title(codec));
        messages.infer(&name, examples.len(), &outcomes, title.as_deref(), closed)
    }

    fn uplinks(&self) -> Result<Vec<Example>, Failure> {
        // Required with a codec.
        let path = self.examples.clone().unwrap_or_default();
        let mut examples = examples::read(&path)?;
        examples.retain(|example| example.function == Function::DecodeUplink);
        match examples.is_empty() {
            true => Err(Failure::about(path.display(), "there are no examples of uplinks")),
            false => Ok(examples),
        }
    }
}

/// Returns the first example of each form: its port, its length, and the keys of its message.
fn of_each_form(examples: &[Decoded]) -> Vec<usize> {
    let mut forms = HashSet::new();
    let form = |Decoded { frame, message, .. }: &Decoded| {
        let mut keys = Vec::new();
        add_keys(message, &mut keys);
        (frame.port, frame.bytes.len(), keys)
    };
    (0..examples.len()).filter(|at| forms.insert(form(&examples[*at]))).collect()
}

fn add_keys(value: &Value, keys: &mut Vec<String>) {
    match value {
        Value::Map(entries) => entries.iter().for_each(|(key, value)| {
            keys.push(key.clone());
            add_keys(value, keys);
        }),
        Value::Array(items) => items.iter().for_each(|item| add_keys(item, keys)),
        _ => {}
    }
}

impl Messages {
    fn infer(
        &self,
        codec: &str,
        examples: usize,
        outcomes: &Outcomes,
        title: Option<&str>,
        is_closed: bool,
    ) -> Result<(), Failure> {
        let texts = |decoded: &'_ [Decoded]| -> Vec<String> {
            decoded.iter().map(|decoded| decoded.text.clone()).collect()
        };
        let inferred = infer_decoded(&texts(&self.examples), &texts(&self.mutated), title)
            .map_err(|error| Failure::about(codec, error))?;
        let failed = |error| Failure::about("the inferred schema", error);
        let mut schema = inferred.schema.clone();
        let mut notes = anstream::stderr().lock();
        report::outcomes(&mut notes, examples, self.examples.len(), outcomes);
        report::notes(&mut notes, &inferred);
        let model = Model::compile(&schema).map_err(failed)?;
        let (accepted, rejected) = report::accepted(&model, &self.mutated);
        if let Some(violation) = rejected {
            report::rejected(&mut notes, self.mutated.len() - accepted.len(), self.mutated.len(), &violation);
        }
        if is_closed {
            let all: Vec<Value> = self
                .examples
                .iter()
                .chain(accepted.iter().copied())
                .map(|decoded| decoded.message.clone())
                .collect();
            let (narrow, note) = closed(&schema, &all).map_err(failed)?;
            report::line(&mut notes, "closed", &note);
            schema = narrow;
        }
        let schema = with_slot(&schema).map_err(failed)?;
        let is_equal = report::sizes(&mut notes, &schema, &self.examples, &accepted).map_err(failed)?;
        let mut output = io::stdout().lock();
        writeln!(output, "{schema}")?;
        output.flush()?;
        if is_equal { Ok(()) } else { Err(Failure::Reported) }
    }
}
