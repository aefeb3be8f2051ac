//! From bytes to the JSON that is stored, or to what is wrong with them.

use crate::{problem::Problem, profile::Codecs, view};
use axum::http::StatusCode;
use dunnage_formats::{Error, Format, Id, Kind};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Decodes `bytes`, checks them against the schema, and answers the message as JSON.
pub fn decode(codecs: &Codecs, format: Id, bytes: &[u8]) -> Result<String, Problem> {
    let codec = codecs.get(format).map_err(|e| unusable(codecs, format, e))?;
    let message = run(codec, bytes)?.map_err(|e| undecodable(&e))?;
    // What a schema drives has been checked against it already.
    if let Some(model) = codecs.model.as_ref().filter(|_| !format.needs_schema()) {
        model.validate(&message).map_err(|violation| {
            let mut problem = Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "schema",
                "Breaks the schema",
                violation.message(),
            );
            problem.kind = Some("schema");
            problem.pointer = Some(violation.pointer().to_owned());
            problem
        })?;
    }
    view::to_json(&message).map_err(|e| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "unwritable", "Cannot be stored", e.to_string())
    })
}

/// The codecs stand on many libraries. One that panics costs its message and not the gateway.
fn run(codec: &dyn Format, bytes: &[u8]) -> Result<Result<dunnage_formats::Value, Error>, Problem> {
    catch_unwind(AssertUnwindSafe(|| codec.decode(bytes))).map_err(|_| {
        let detail = "the decoder failed on this message; it is kept in the quarantine";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "decoder", "Decoder failed", detail)
    })
}

fn undecodable(error: &Error) -> Problem {
    // Well-formed, but not a message that the schema or a message in memory can be: 422. All else: 400.
    let (status, name, title) = match error.kind() {
        Kind::Type | Kind::Range => {
            (StatusCode::UNPROCESSABLE_ENTITY, "not-representable", "Not representable")
        }
        _ => (StatusCode::BAD_REQUEST, "malformed", "Malformed message"),
    };
    let mut problem = Problem::new(status, name, title, error.message());
    problem.kind = Some(error.kind().as_str());
    problem.offset = Some(error.offset());
    problem
}

fn unusable(codecs: &Codecs, format: Id, error: &Error) -> Problem {
    let detail = match &codecs.schema {
        None if format.needs_schema() => {
            format!(
                "{format} is read with a schema: name one with ?schema=NAME, or give the device a profile"
            )
        }
        None => format!("{format}: {}", error.message()),
        Some(schema) => {
            format!("{format} cannot carry messages of the schema {schema:?}: {}", error.message())
        }
    };
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media-type", "Unsupported media type", detail)
}
