//! `dunnage codec check`: compares what a codec returns with examples.

use crate::{
    codec::{
        difference::differences,
        examples::{self, Example, Function},
    },
    failure::{Failure, complain},
    output::{self, counted},
};
use clap::Args;
use dunnage_formats::Value;
use dunnage_vendor_codec::{Codec, Engine, Error, Input};
use std::{io::Write, path::PathBuf};

/// Check a codec, and run its examples
///
/// Examples are a YAML file of the LoRaWAN device repository (uplinkDecoder, downlinkEncoder and downlinkDecoder, each with examples), or a
/// file with a JSON object per line: {"port":1,"bytes":"0a0b","data":{"level":1}}, with errors in place of data if the codec must reject
/// the bytes; warnings and received_at are optional. A file named .json may also have an array of these objects, of the examples of ThingPark's catalogue or of those of ChirpStack's device profiles, or what the YAML has. Numbers are compared as numbers (2 is 2.0), and the order of keys does not count.
/// Each difference is printed with its example and its place; the exit code is then 1. Without examples, checks the syntax of the codec and
/// that it can be loaded.
#[derive(Args)]
pub struct Check {
    /// JavaScript of the codec
    #[arg(value_name = "FILE")]
    codec: PathBuf,
    /// File with examples
    #[arg(long, value_name = "FILE")]
    examples: Option<PathBuf>,
}

impl Check {
    pub fn run(self) -> Result<(), Failure> {
        let codec = Codec::read(&self.codec).map_err(|error| Failure::Failed(error.to_string()))?;
        let mut out = output::stdout();
        let Some(path) = &self.examples else {
            writeln!(out, "{}: the codec can be loaded", self.codec.display())?;
            return Ok(out.flush()?);
        };
        let examples = examples::read(path)?;
        let mut engine = Engine::new(codec);
        let mut failed = 0_u64;
        for example in &examples {
            let wrong = differences_of(&mut engine, example);
            failed += u64::from(!wrong.is_empty());
            wrong.iter().for_each(|wrong| complain(format!("{}: {wrong}", example.place)));
        }
        let (all, equal) = (examples.len() as u64, examples.len() as u64 - failed);
        writeln!(
            out,
            "{}: {}, {equal} equal, {failed} different",
            self.codec.display(),
            counted(all, "example")
        )?;
        out.flush()?;
        if failed > 0 { Err(Failure::Reported) } else { Ok(()) }
    }
}

/// Runs an example, and returns how the result differs from the expected one.
pub fn differences_of(engine: &mut Engine, example: &Example) -> Vec<String> {
    let input = Input { lenient: true, ..Input::new(&example.bytes, example.port, example.received_at) };
    let outcome = match example.function {
        Function::DecodeUplink => engine.decode_uplink(&input).map(|output| (output.data, output.warnings)),
        Function::DecodeDownlink => {
            engine.decode_downlink(&input).map(|output| (output.data, output.warnings))
        }
        Function::EncodeDownlink => return encode(engine, example),
    };
    compare(example, outcome, |expected, data| {
        differences(&expected.get("data").cloned().unwrap_or(Value::Null), data)
    })
}

fn encode(engine: &mut Engine, example: &Example) -> Vec<String> {
    let outcome = engine.encode_downlink(&example.data, example.received_at).map(|downlink| {
        let bytes = ("bytes".to_owned(), array(downlink.bytes));
        let port = downlink.port.map(|port| ("fPort".to_owned(), Value::U64(port.into())));
        (Value::Map([bytes].into_iter().chain(port).collect()), downlink.warnings)
    });
    let of_data = |expected: &Value, got: &Value| {
        let bytes = expected.get("bytes").map(|value| examples::bytes(value).map_or(value.clone(), array));
        let port = expected.get("fPort").cloned();
        let both = [("bytes", bytes), ("fPort", port)].into_iter();
        let both = both.filter_map(|(key, value)| Some((key.to_owned(), value?)));
        differences(&Value::Map(both.collect()), got)
    };
    compare(example, outcome, of_data)
}

fn array(bytes: Vec<u8>) -> Value {
    Value::Array(bytes.into_iter().map(|byte| Value::U64(byte.into())).collect())
}

fn compare(
    example: &Example,
    outcome: Result<(Value, Vec<String>), Error>,
    differences: impl Fn(&Value, &Value) -> Vec<String>,
) -> Vec<String> {
    let errors = texts(example.output.get("errors"));
    match outcome {
        Err(error) if errors.is_empty() => vec![describe(&error)],
        Err(error) if error.message == errors.join("; ") => Vec::new(),
        Err(error) => vec![format!("expected the errors {errors:?}, got {}", describe(&error))],
        Ok(_) if !errors.is_empty() => vec![format!("expected the errors {errors:?}, got a message")],
        Ok((data, warnings)) => {
            let mut wrong = differences(&example.output, &data);
            let expected = example.output.get("warnings").map(|warnings| texts(Some(warnings)));
            if let Some(expected) = expected.filter(|expected| *expected != warnings) {
                wrong.push(format!("expected the warnings {expected:?}, got {warnings:?}"));
            }
            wrong
        }
    }
}

/// Describes an error, with the place in the file or in the result.
pub fn describe(error: &Error) -> String {
    match error.pointer.is_empty() {
        true => error.to_string(),
        false => format!("{}: {}: {}", error.file, error.pointer, error.message),
    }
}

/// Returns the texts of an array, or a single one.
fn texts(value: Option<&Value>) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(text).collect(),
        Some(other) => text(other).into_iter().collect(),
        None => Vec::new(),
    }
}
