//! Makes a message, or an entry of the quarantine, of raw bytes and their provenance.

use super::decode::{Decoded, Encoding, decode, steps, takes_long};
use crate::{problem::Problem, profiles::Profiles, shared::Shared};
use axum::{body::Bytes, http::StatusCode};
use dunnage_buffer::{NewMessage, NewQuarantined, Provenance};
use dunnage_formats::{Kind, Reception};
use std::sync::Arc;

/// How many characters of a `Content-Type` the quarantine keeps.
const CONTENT_TYPE: usize = 256;

/// Decodes and validates `raw`. On failure, returns what the quarantine keeps, and the problem. `content_type` is what the sender gave,
/// and `encoding` is its meaning. The device's profile supplies the link and the schema if the sender names none.
pub async fn read(
    shared: &Arc<Shared>,
    mut provenance: Provenance,
    content_type: &str,
    encoding: Result<Encoding, Problem>,
    raw: Bytes,
) -> Result<NewMessage, (NewQuarantined, Problem)> {
    let profiles = shared.profiles.load_full();
    if let Some(rule) = profiles.rule(&provenance.device) {
        provenance.link = provenance.link.or_else(|| rule.link.clone());
        provenance.dedup_by_payload = rule.dedup_by_payload;
    }
    // The quarantine keeps the schema that the sender asked for. The profile may name another one when the message is decoded again.
    let asked = provenance.schema.clone();
    let decoded = match encoding {
        Err(problem) => Err(problem),
        Ok(encoding) => decode_as(shared, &profiles, &mut provenance, &encoding, &raw)
            .await
            .map(|decoded| (encoding.format, decoded)),
    };
    match decoded {
        Ok((format, Decoded { json, layout })) => {
            Ok(NewMessage { provenance, format: format.name(), raw, json, layout })
        }
        Err(problem) => {
            let content_type = content_type.chars().take(CONTENT_TYPE).collect();
            let reason = match &problem.pointer {
                Some(pointer) if !pointer.is_empty() => format!("{pointer}: {}", problem.detail),
                _ => problem.detail.clone(),
            };
            let (kind, offset) = (problem.kind.unwrap_or(problem.name()), problem.offset);
            provenance.schema = asked;
            Err((NewQuarantined { provenance, content_type, raw, kind, offset, reason }, problem))
        }
    }
}

async fn decode_as(
    shared: &Arc<Shared>,
    profiles: &Arc<Profiles>,
    provenance: &mut Provenance,
    encoding: &Encoding,
    raw: &Bytes,
) -> Result<Decoded, Problem> {
    let rule = profiles.rule(&provenance.device);
    let Some(codecs) = profiles.pick(rule, provenance.schema.as_deref()) else {
        let detail = format!("there is no schema {:?}", provenance.schema.as_deref().unwrap_or_default());
        return Err(Problem::new(StatusCode::NOT_FOUND, "unknown-schema", "Unknown schema", detail));
    };
    if provenance.schema.is_none() {
        provenance.schema.clone_from(&codecs.schema);
    }
    if let Some(rule) = rule {
        rule.check(encoding.format).map_err(Problem::unsupported)?;
    }
    let mut decoded = Err(Problem::decoder_failed());
    for step in steps(takes_long(codecs, encoding, raw)) {
        decoded = match step.turns {
            0 => decode(codecs, encoding, &reception(provenance, step.memory), raw),
            turns => {
                let _turns = shared.large.acquire_many(turns).await;
                let (profiles, from, memory) = (Arc::clone(profiles), provenance.clone(), step.memory);
                let (encoding, raw) = (encoding.clone(), raw.clone());
                let decoded = tokio::task::spawn_blocking(move || {
                    let codecs = profiles.pick(profiles.rule(&from.device), from.schema.as_deref())?;
                    Some(decode(codecs, &encoding, &reception(&from, memory), &raw))
                });
                decoded.await.ok().flatten().unwrap_or_else(|| Err(Problem::decoder_failed()))
            }
        };
        // The next step has more memory. Other limits fail there again, which is rare.
        if !decoded.as_ref().is_err_and(|problem| problem.kind == Some(Kind::Limit.as_str())) {
            break;
        }
    }
    decoded
}

fn reception(provenance: &Provenance, memory: usize) -> Reception<'_> {
    Reception { device: Some(&provenance.device), received_at: Some(provenance.received_at), memory }
}
