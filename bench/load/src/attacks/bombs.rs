//! Small messages that are large once they are decoded, in every format.

use super::{Outcome, http};
use crate::Failure;
use dunnage_formats::{Id, Mapping, Value};
use dunnage_schema::Model;
use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
    time::Duration,
};
use tokio::{task::JoinSet, time::timeout};

/// Bytes that a body may have.
const LIMIT: usize = 1 << 20;
/// Senders at a time.
const SENDERS: usize = 60;
/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The schema of formats that need one: lists whose items take few bits or none.
const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["a"],
    "properties":{"a":{"type":"array","items":{"type":"boolean"}}}}"#;

/// Puts the schema where the gateway finds it.
pub fn schema(folder: &Path) -> std::io::Result<()> {
    std::fs::write(folder.join("bomb.json"), SCHEMA)
}

/// A body in a format.
struct Bomb {
    format: Id,
    body: Vec<u8>,
}

/// Has 60 senders send each of them at a time, as often as `more` says, and once at least.
pub async fn run(
    sources: &[IpAddr],
    address: SocketAddr,
    formats: Option<&[Id]>,
    more: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    let bombs = all(formats)?;
    let mut outcome = Outcome::default();
    for turn in 0.. {
        for bomb in &bombs {
            if turn > 0 && !more() {
                break;
            }
            burst(bomb, sources, address, &mut outcome).await?;
        }
        if !more() {
            break;
        }
    }
    outcome.told =
        format!("{} bodies of up to 1 MiB, {SENDERS} at a time, in {} kinds", outcome.sent, bombs.len());
    Ok(outcome)
}

async fn burst(
    bomb: &Bomb,
    sources: &[IpAddr],
    address: SocketAddr,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let mut senders = JoinSet::new();
    let query = if bomb.format.needs_schema() { "?schema=bomb" } else { "" };
    for number in 0..SENDERS {
        let target = format!("/ingest/bomb-{number}{query}");
        let (media, length) = (bomb.format.media_type(), bomb.body.len());
        let headers = format!("content-type: {media}\r\ncontent-length: {length}\r\n");
        let mut request = http::head("POST", &target, address, &headers).into_bytes();
        request.extend(&bomb.body);
        let source = sources[number % sources.len()];
        senders.spawn(async move { timeout(PATIENCE, http::once(source, address, &request)).await });
    }
    while let Some(answer) = senders.join_next().await {
        outcome.sent += 1;
        // A connection that breaks off is a refusal of a body whose head says enough.
        if answer?.is_err() {
            outcome.wrong(format!("{} is not answered in {PATIENCE:?}", bomb.format));
        }
    }
    Ok(())
}

/// Lists of so many things as fit: of nothing, of lists, and of letters.
fn all(formats: Option<&[Id]>) -> Result<Vec<Bomb>, Failure> {
    let model = Model::compile(SCHEMA)?;
    let wanted = |id: &Id| formats.is_none_or(|formats| formats.contains(id));
    let mut bombs = Vec::new();
    for format in Id::all().filter(wanted) {
        let items = match format.needs_schema() {
            true => vec![Value::Bool(false)],
            false => vec![Value::Null, Value::Array(Vec::new()), Value::Text("a".into())],
        };
        let codec = format.open(format.needs_schema().then_some(&model), Mapping::Exact)?;
        for item in items {
            let encode = |count| {
                let list = Value::Array(vec![item.clone(); count]);
                let mut body = Vec::new();
                let encoded = codec.encode(&Value::Map(vec![("a".into(), list)]), &mut body);
                encoded.map(|()| body).map_err(|e| format!("{format}: {e}"))
            };
            // What an item takes, measured, as formats differ; some take a bit.
            let taken = encode(4096)?.len();
            let count = (4096 * (LIMIT - 64) / taken).min(LIMIT);
            let Ok(body) = encode(count) else { continue };
            if body.len() <= LIMIT {
                bombs.push(Bomb { format, body });
            }
        }
    }
    Ok(bombs)
}
