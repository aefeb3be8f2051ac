//! Decodes messages with the vendor's codec of their profile, on the threads of codecs.

use crate::{
    decoded::{Counts, Decoded, json},
    metrics::Metrics,
    origin,
    profiles::{Chosen, Rule, settings::Numbers},
    rejected::{Code, Rejected},
};
use dunnage_buffer::Provenance;
use dunnage_formats::Kind;
use dunnage_schema::Model;
use dunnage_vendor_codec::{Error, Job, Output, Pool};
use tokio::sync::oneshot;

/// What runs and counts codecs.
pub struct Codecs<'i> {
    /// The threads.
    pub pool: &'i Pool,
    /// The counts.
    pub metrics: &'i Metrics,
}

/// Decodes and validates `raw`, which arrived on `port`. The port of a message without one is that of its origin, in which the message
/// keeps it: without the port, the bytes could not be decoded again.
pub async fn decode(
    chosen: &Chosen,
    codecs: &Codecs<'_>,
    provenance: &mut Provenance,
    port: Option<u8>,
    raw: &[u8],
) -> Result<Decoded, Rejected> {
    let Some((rule, codec)) = chosen.rule().and_then(|rule| Some((rule, rule.codec.as_ref()?))) else {
        return Err(Rejected::decoder_failed());
    };
    let Some(schema) = chosen.codecs(provenance.schema.as_deref()) else {
        let detail = format!("there is no schema {:?}", provenance.schema.as_deref().unwrap_or_default());
        return Err(Rejected::new(Code::UnknownSchema, detail));
    };
    if provenance.schema.is_none() {
        provenance.schema.clone_from(&schema.schema);
    }
    let port = port.or_else(|| origin::port(provenance.origin.as_deref()));
    if let Some(port) = port {
        provenance.origin = origin::with(provenance.origin.take(), origin::PORT, port);
    }
    let job = Job {
        codec: codec.clone(),
        bytes: raw.to_vec(),
        port,
        received_at: provenance.received_at,
        lenient: rule.numbers == Numbers::Lenient,
    };
    let (done, result) = oneshot::channel();
    // The receiver is gone if the sender has disconnected; nobody needs the result then.
    codecs.pool.decode(job, move |result| drop(done.send(result)));
    let result = result.await.map_err(|_| Rejected::decoder_failed())?;
    codecs.metrics.run(codec.file(), name_of(&result));
    decoded(schema.model.as_ref(), rule, provenance, result)
}

fn name_of(result: &Result<Output, Error>) -> &'static str {
    match result {
        Ok(output) if output.warnings.is_empty() => "ok",
        Ok(_) => "warning",
        Err(error) if error.kind == Kind::Limit => "limit",
        Err(_) => "error",
    }
}

fn decoded(
    model: Option<&Model>,
    rule: &Rule,
    provenance: &mut Provenance,
    result: Result<Output, Error>,
) -> Result<Decoded, Rejected> {
    let Output { data, warnings, nulls } = result.map_err(|error| {
        let code = match error.kind {
            Kind::Type | Kind::Range => Code::NotRepresentable,
            _ => Code::Malformed,
        };
        let pointer = Some(error.pointer.clone()).filter(|pointer| !pointer.is_empty());
        Rejected { kind: Some(error.kind.as_str()), pointer, ..Rejected::new(code, error.to_string()) }
    })?;
    if let Some(model) = model {
        model.validate(&data).map_err(|violation| {
            let pointer = Some(violation.pointer().to_owned());
            let file = rule.codec.as_ref().map_or("", |codec| codec.file());
            let detail = format!("{file}: {}", violation.message());
            Rejected { kind: Some("schema"), pointer, ..Rejected::new(Code::Schema, detail) }
        })?;
    }
    if !warnings.is_empty() {
        provenance.origin = origin::with(provenance.origin.take(), origin::WARNINGS, warnings);
    }
    let counts = Counts { nulls, ..Counts::default() };
    let json = json(&data)?;
    Ok(Decoded { json, layout: None, apart: false, candidate: None, counts, left_out: Vec::new() })
}
