//! Runs a codec on examples and on mutated frames.

use super::mutate::Frame;
use crate::{
    codec::{check, examples::Example},
    failure::{Failure, complain},
    input,
    output::counted,
};
use dunnage_formats::{Format, Json, Kind, Value};
use dunnage_vendor_codec::{Engine, Error, Input, Output};

/// The number of frames over a limit after which no more are decoded: each may take 100 ms.
const LIMITS: u64 = 20;

/// A message that the codec returned.
pub struct Decoded {
    pub frame: Frame,
    pub message: Value,
    /// The message as JSON.
    pub text: String,
}

/// The outcomes of decoding mutated frames.
#[derive(Debug, Default)]
pub struct Outcomes {
    pub frames: usize,
    pub decoded: u64,
    /// The codec returned a message with warnings.
    pub warned: u64,
    /// The codec threw, or returned errors.
    pub failed: u64,
    /// The result has NaN, or another value that no message has.
    pub unsuitable: u64,
    /// The codec exceeded a limit, and the first error of this kind.
    pub limited: u64,
    pub limit: Option<String>,
    /// Frames that were not decoded, because too many exceeded a limit.
    pub skipped: usize,
}

/// Decodes examples. Says which of them differ from what the codec returns, and goes on.
///
/// # Errors
/// The codec decodes none of them.
pub fn examples(engine: &mut Engine, codec: &str, examples: &[Example]) -> Result<Vec<Decoded>, Failure> {
    let mut decoded = Vec::new();
    let mut first = None;
    let mut limited = 0;
    for example in examples {
        let differences = check::differences_of(engine, example);
        for difference in &differences {
            complain(format_args!("warning: {}: {difference}", example.place));
        }
        let Example { bytes, port, received_at, .. } = example;
        let frame = Frame { bytes: bytes.clone(), port: *port, received_at: *received_at };
        let outcome = run(engine, &frame).map_err(|error| (error.kind, check::describe(&error)));
        match outcome.and_then(|output| read(frame, output.data).map_err(|why| (Kind::Type, why))) {
            Ok(message) => decoded.push(message),
            Err((kind, why)) => {
                if differences.is_empty() && example.output.get("errors").is_none() {
                    complain(format_args!("warning: {}: left out: {why}", example.place));
                }
                limited += u64::from(kind == Kind::Limit);
                first.get_or_insert_with(|| format!("{}: {why}", example.place));
            }
        }
        if limited == LIMITS {
            let reason =
                format!("given up, as {limited} examples exceeded a limit: {}", first.unwrap_or_default());
            return Err(Failure::about(codec, reason));
        }
    }
    match decoded.is_empty() {
        true => Err(Failure::Failed(format!(
            "{codec}: the codec decodes none of {}: {}",
            counted(examples.len() as u64, "example"),
            first.unwrap_or_default()
        ))),
        false => Ok(decoded),
    }
}

/// Decodes mutated frames. Returns the messages without warnings.
///
/// # Errors
/// The messages together are too large.
pub fn mutated(
    engine: &mut Engine,
    codec: &str,
    frames: Vec<Frame>,
) -> Result<(Vec<Decoded>, Outcomes), Failure> {
    let mut outcomes = Outcomes { frames: frames.len(), ..Outcomes::default() };
    let (mut decoded, mut bytes) = (Vec::new(), 0);
    for (done, frame) in frames.into_iter().enumerate() {
        if outcomes.limited == LIMITS {
            outcomes.skipped = outcomes.frames - done;
            break;
        }
        let message =
            run(engine, &frame).map(|output| (output.warnings.is_empty(), read(frame, output.data)));
        match message {
            Ok((true, Ok(message))) => {
                outcomes.decoded += 1;
                bytes += message.text.len();
                decoded.push(message);
            }
            Ok((false, Ok(_))) => outcomes.warned += 1,
            Ok((_, Err(_))) => outcomes.unsuitable += 1,
            Err(error) => match error.kind {
                Kind::Limit => {
                    outcomes.limited += 1;
                    outcomes.limit.get_or_insert_with(|| check::describe(&error));
                }
                Kind::Type | Kind::Range => outcomes.unsuitable += 1,
                _ => outcomes.failed += 1,
            },
        }
        if bytes > input::MAX_ALL {
            let reason =
                format!("all messages together exceed {} MiB: use fewer --frames", input::MAX_ALL >> 20);
            return Err(Failure::about(codec, reason));
        }
    }
    Ok((decoded, outcomes))
}

fn run(engine: &mut Engine, frame: &Frame) -> Result<Output, Error> {
    engine.decode_uplink(&Input::new(&frame.bytes, frame.port, frame.received_at))
}

/// Writes a message as JSON, which has no bytes.
fn read(frame: Frame, message: Value) -> Result<Decoded, String> {
    let mut text = Vec::new();
    Json.encode(&message, &mut text).map_err(|error| error.to_string())?;
    let text = String::from_utf8(text).map_err(|error| error.to_string())?;
    Ok(Decoded { frame, message, text })
}
