//! `POST /ingest/{device}`: a message in the request body, with its format in the `Content-Type`.

pub mod batch;
pub mod body;
pub(crate) mod compressed;
pub mod extract;
pub mod problem;
pub mod request_id;
pub mod settings;

use self::{
    batch::{Batch, Framing},
    body::{ignore, receive},
    compressed::{coding, expand},
    extract::Segment,
    problem::{IngestProblems, Problem},
};
use crate::{Environment, HttpSettings, query};
use axum::{
    body::{Bytes, HttpBody},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use dunnage_access::{Peer, http::credential};
use dunnage_base::{
    clock,
    name::{is_device, is_key, is_name},
};
use dunnage_buffer::{Provenance, Sender};
use dunnage_formats::Id;
use dunnage_ingest::{
    Code, InFlight, RawMessage, Rejected,
    media_types::{ON_REQUEST, USUAL},
};
use std::{fmt::Display, sync::Arc};
use utoipa::ToSchema;

/// The input's name, in metrics and in the list of inputs.
pub const NAME: &str = "http";
/// The header that `key` reads.
static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

struct Parameters {
    schema: Option<String>,
    link: Option<String>,
}

/// A binary body.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "the OpenAPI document alone has it")]
struct Binary(Vec<u8>);

/// Stores a message, or a batch, of `device`.
#[utoipa::path(post, path = "/ingest/{device}", tag = "ingest",
    params(
        ("device" = String, Path, description = "The device's id, of at most 128 bytes.", pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]{1,128}$"),
        ("schema" = Option<String>, Query, description = "The message's schema.", pattern = "^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$"),
        ("link" = Option<String>, Query, description = "The link it came over.", pattern = "^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$"),
        ("Idempotency-Key" = Option<String>, Header, description = "What the sender calls the message, or the batch.", pattern = "^[!-~]{1,128}$"),
    ),
    request_body(description = "A message, or a batch: `spec/ingest.md`.", content(
        (serde_json::Value = "application/json"),
        (Binary = "application/msgpack"),
        (Binary = "application/cbor"),
        (Binary = "application/bson"),
        (serde_json::Value = "application/xml"),
        (serde_json::Value = "application/yaml"),
        (Binary = "application/x-protobuf"),
        (Binary = "application/avro"),
        (Binary = "application/vnd.apache.thrift.binary"),
        (Binary = "application/vnd.apache.thrift.compact"),
        (Binary = "application/vnd.dunnage.struct"),
        (Binary = "application/vnd.dunnage.struct+zlib"),
        (Binary = "application/vnd.dunnage.pson"),
        (Binary = "application/vnd.dunnage.packed"),
        (serde_json::Value = "application/senml+json"),
        (serde_json::Value = "application/sensml+json"),
        (Binary = "application/senml+cbor"),
        (Binary = "application/sensml+cbor"),
        (String = "application/x-ndjson"),
        (Binary = "application/cbor-seq"),
        (Binary = "application/vnd.dunnage.batch;format=packed"),
    )),
    responses(
    (status = 204, description = "All of it is durable."),
    (status = 207, description = "All of the batch is durable, some of it in the quarantine.", body = batch::Report),
    IngestProblems,
)
)]
pub async fn ingest(
    State(env): State<Arc<Environment>>,
    Segment(device): Segment,
    peer: Peer,
    request: Request,
) -> Response {
    answer(&env, &peer, device, request).await
}

/// Returns the device that `request` sends a message of: by POST or, where the settings allow it, by GET. Ignores IDs that need
/// percent-decoding; the router finds those.
pub fn device<'r, B>(request: &'r Request<B>, settings: &HttpSettings) -> Option<&'r str> {
    let name = request.uri().path().strip_prefix("/ingest/")?;
    let sends = request.method() == Method::POST || (settings.forms && request.method() == Method::GET);
    (sends && is_name(name)).then_some(name)
}

/// Receives the message of `device` in `request` from `peer`, and returns the response.
pub async fn answer<B>(env: &Environment, peer: &Peer, device: String, request: Request<B>) -> Response
where
    B: HttpBody<Data = Bytes, Error: Display> + Unpin,
{
    let mut in_flight = env.ingest.receive();
    let id = request_id::of(request.headers(), &env.ingest.request_ids);
    let answer = accept(env, &mut in_flight, peer, device, &id, request).await;
    if let Err(rejected) = &answer {
        env.ingest.reject(&env.ingest.metrics.inputs.of(NAME), &id, rejected);
    }
    let mut response = answer.map_err(Problem::from).into_response();
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert(&request_id::HEADER, id);
    }
    response
}

async fn accept<'e, B>(
    env: &'e Environment,
    in_flight: &mut InFlight<'e>,
    peer: &Peer,
    device: String,
    id: &str,
    request: Request<B>,
) -> Result<Response, Rejected>
where
    B: HttpBody<Data = Bytes, Error: Display> + Unpin,
{
    let (head, body) = request.into_parts();
    let is_query = head.method == Method::GET;
    let uri = if is_query { &Uri::default() } else { &head.uri };
    let asked = parameters(&device, uri).and_then(|asked| {
        env.ingest.authorize(peer, &device, credential(&head.headers).as_deref())?;
        if head.headers.get_all(header::CONTENT_TYPE).iter().nth(1).is_some() {
            return Err(Rejected::unsupported("a message must have at most one Content-Type"));
        }
        Ok((asked, key(&head.headers)?, coding(&head.headers)?))
    });
    let (Parameters { schema, link }, key, coding) = match asked {
        Ok(asked) => asked,
        Err(rejected) => {
            ignore(body, &env.http).await;
            return Err(rejected);
        }
    };
    let mut room = env.ingest.reserve();
    let sender = Sender { address: peer.address, device: Some(&device) };
    let raw = match (receive(body, &env.http, sender, &mut room).await?, coding) {
        (raw, None) => raw,
        (compressed, Some(coding)) => Box::pin(expand(&env.ingest, coding, compressed, &mut room)).await?,
    };
    let query = head.uri.query().unwrap_or_default();
    let raw = if is_query { Bytes::copy_from_slice(query.as_bytes()) } else { raw };
    let schema = schema.map(Into::into);
    let provenance =
        Provenance { schema, link, key, is_answered: true, ..Provenance::new(device, clock::now(), id) };
    let content_type =
        head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let content_type = if is_query { Id::Form.media_type() } else { content_type };
    let bad = match Framing::of(content_type) {
        Ok(Some(framing)) => {
            // Boxed because everything that is called here adds to the state of a connection, which is copied for each message.
            let batch = batch::store(&env.ingest, in_flight, Batch { peer, provenance, framing, raw, room });
            return Ok(Box::pin(batch).await?.into_response());
        }
        Ok(None) => unasked(env, &provenance.device, content_type),
        Err(rejected) => Some(rejected),
    };
    let content_type = content_type.to_owned().into();
    // The head is part of the connection's read buffer, which can be reused when nothing refers to it.
    drop(head);
    let meter = env.ingest.metrics.inputs.of(NAME);
    let message = RawMessage { input: NAME, meter, provenance, content_type, bad, raw };
    env.ingest.store(in_flight, message, room).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Rejects a message in a format that is accepted only where the operator asks for it. Tools send these types unless they are told
/// otherwise: a form is what `curl -d` makes of JSON.
fn unasked(env: &Environment, device: &str, content_type: &str) -> Option<Rejected> {
    let format = Id::from_media_type(content_type).filter(|format| ON_REQUEST.contains(format))?;
    if env.http.forms || env.ingest.profiles.load().lists(&device.into(), format) {
        return None;
    }
    let detail = format!(
        "{} is accepted only if [http] forms is true, or the device's profile lists the format {format}",
        format.media_type()
    );
    Some(Rejected::unsupported(detail).with_choice(format!("; other types are {}", *USUAL)))
}

/// Returns the `Idempotency-Key` header. The quotes of a structured field are optional. Of two headers, nobody knows which one counts.
fn key(headers: &HeaderMap) -> Result<Option<String>, Rejected> {
    let mut all = headers.get_all(&IDEMPOTENCY_KEY).iter();
    let Some(given) = all.next() else { return Ok(None) };
    if all.next().is_some() {
        return Err(Rejected::new(Code::Key, "a message must have at most one Idempotency-Key"));
    }
    let text = given.to_str().unwrap_or_default();
    let key = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
    is_key(key).then(|| Some(key.to_owned())).ok_or_else(|| Rejected::bad_key("Idempotency-Key"))
}

fn parameters(device: &str, uri: &Uri) -> Result<Parameters, Rejected> {
    if !is_device(device) {
        return Err(Rejected::bad_device("the device ID"));
    }
    if uri.query().is_none() {
        return Ok(Parameters { schema: None, link: None });
    }
    let mut parameters = Parameters { schema: None, link: None };
    for (name, value) in query::read(uri.query(), &["schema", "link"])? {
        *(if name == "schema" { &mut parameters.schema } else { &mut parameters.link }) = Some(value);
    }
    if parameters.schema.as_deref().is_some_and(|name| !is_name(name)) {
        return Err(Rejected::bad_id("schema"));
    }
    if parameters.link.as_deref().is_some_and(|name| !is_name(name)) {
        return Err(Rejected::bad_id("link"));
    }
    Ok(parameters)
}
