//! Turns what the engine throws into errors that name the codec's file and line.

use crate::{codec::Codec, error::Error, limits, realm::Limited, result::Failure};
use dunnage_pson::Kind;
use rquickjs::{Ctx, Function, Object, Value};

/// Returns the error of an exception that `ctx` has.
pub fn thrown<'js>(ctx: &Ctx<'js>, tools: &Object<'js>, limited: &Limited, codec: &Codec) -> Error {
    let value = ctx.catch();
    // Describing the exception may run the codec's code again, such as a getter, within the same time.
    let (described, stack) = describe(tools, &value);
    // Discards an exception of the description itself.
    let _ = ctx.catch();
    let line = line_of(&stack, &codec.file);
    if limited.is_late() {
        return late(limited, codec, line);
    }
    let limit = |what: &str| Error::new(Kind::Limit, &codec.file, line, what);
    match described.as_deref() {
        None | Some("InternalError: out of memory") => limit("the codec takes more than 16 MiB of memory"),
        // The engine throws null if it has no memory for an exception either.
        Some("the codec threw null") => {
            limit("the codec threw null, as the engine does when 16 MiB of memory are full")
        }
        Some("RangeError: Maximum call stack size exceeded" | "InternalError: stack overflow") => {
            limit("the codec takes more than 256 KiB of stack, as by a recursion without an end")
        }
        Some(text) => Error::new(Kind::Malformed, &codec.file, line, text),
    }
}

/// Returns the error of a result that was not read.
pub fn failed<'js>(
    failure: Failure,
    (ctx, tools): (&Ctx<'js>, &Object<'js>),
    limited: &Limited,
    codec: &Codec,
) -> Error {
    match failure {
        Failure::Thrown => thrown(ctx, tools, limited, codec),
        Failure::Reported(message) => Error::new(Kind::Malformed, &codec.file, None, &message),
        Failure::Unsuitable(kind, pointer, message) => {
            Error { pointer, ..Error::new(kind, &codec.file, None, &message) }
        }
    }
}

/// The codec took too long.
pub fn late(limited: &Limited, codec: &Codec, line: Option<u32>) -> Error {
    let message = format!("the codec takes more than {} ms of processor time", limited.allowed().as_millis());
    Error::new(Kind::Limit, &codec.file, line, &message)
}

/// The globals of the codec do not fit its memory.
pub fn out_of_memory(codec: &Codec) -> Error {
    Error::new(Kind::Limit, &codec.file, None, "the codec takes more than 16 MiB of memory")
}

/// Returns the text of what was thrown, if there is memory for one, and the stack of an error.
fn describe<'js>(tools: &Object<'js>, value: &Value<'js>) -> (Option<String>, String) {
    let stack =
        value.as_object().and_then(|object| object.get::<_, String>("stack").ok()).unwrap_or_default();
    let thrown = tools.get::<_, Function<'js>>("thrown");
    (thrown.and_then(|thrown| thrown.call((value.clone(), limits::TEXT))).ok(), stack)
}

/// Returns the line of the first place in `file` that `stack` names.
fn line_of(stack: &str, file: &str) -> Option<u32> {
    let at = stack.find(&format!("{file}:"))? + file.len() + 1;
    let digits = stack[at..].split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}
