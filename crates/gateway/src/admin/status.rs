//! `GET /status`: the state and the counts of the gateway.

use super::Admin;
use axum::{Json, extract::State};
use dunnage_base::clock::{self, rfc3339};
use dunnage_buffer::Use;
use dunnage_inputs::Problem;
use dunnage_outputs::Breaker;
use serde::Serialize;
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

/// An output whose oldest message waits longer than this is behind.
const BEHIND_SECONDS: f64 = 10.0;

/// The counts are over the life of the buffer: `received` = `stored` + `duplicates` + `quarantined` + `refused`.
#[derive(Serialize)]
pub struct Status {
    version: &'static str,
    started_at: String,
    uptime_seconds: u64,
    address: SocketAddr,
    received: u64,
    /// Messages that were decoded and match their schema, if they have one.
    decoded: u64,
    stored: u64,
    duplicates: u64,
    quarantined: u64,
    refused: u64,
    /// Messages that were removed after every output was done with them.
    dropped: u64,
    /// Messages that could not be recovered from a damaged file.
    lost: u64,
    /// How often the buffer's file was damaged and recreated.
    damages: u64,
    devices: u64,
    buffer: Buffer,
    queue: Queue,
    quarantine: Quarantine,
    outputs: Vec<Output>,
}

#[derive(Serialize)]
struct Buffer {
    path: PathBuf,
    name: Arc<str>,
    /// Size of its file and the write-ahead log.
    bytes: u64,
    /// Limit of the used part of its file; 0 for no limit.
    limit_bytes: u64,
    /// Whether messages are refused because of the limit.
    full: bool,
    /// Whether the last transaction could be written.
    writable: bool,
}

#[derive(Serialize)]
struct Queue {
    messages: usize,
    limit_messages: usize,
    bytes: usize,
    limit_bytes: usize,
}

#[derive(Serialize)]
struct Quarantine {
    messages: u64,
    limit_messages: usize,
    bytes: u64,
    limit_bytes: usize,
}

/// An output.
#[derive(Serialize)]
struct Output {
    #[serde(flatten)]
    status: dunnage_outputs::Status,
    /// `delivering`, `behind`, `waiting` for messages, `breaker open` or `probing`.
    state: &'static str,
    /// Its dead letters.
    undelivered: u64,
}

impl Output {
    fn new(status: dunnage_outputs::Status, undelivered: u64) -> Output {
        let state = match status.breaker {
            Breaker::Open => "breaker open",
            Breaker::Probing => "probing",
            Breaker::Closed if status.lag_messages == 0 => "waiting",
            Breaker::Closed if status.age_seconds > BEHIND_SECONDS => "behind",
            Breaker::Closed => "delivering",
        };
        Output { status, state, undelivered }
    }
}

/// Handles `GET /status`.
pub(super) async fn status(State(admin): State<Arc<Admin>>) -> Result<Json<Status>, Problem> {
    let (state, config) = (&admin.state, &admin.config);
    let (messages, bytes) = state.ingest().readers.of(Use::Admin).quarantine_size().await?;
    let totals = state.ingest().stats.totals();
    let outputs = state.outputs.statuses(totals.last_message_id).into_iter();
    let outputs = outputs.map(|status| {
        let undelivered = totals.dead_letters.get(&*status.output).copied();
        Output::new(status, undelivered.unwrap_or_default())
    });
    let decoded = totals.stored + totals.duplicates;
    let uptime = clock::now().saturating_sub(state.started_at) / 1_000_000;
    Ok(Json(Status {
        version: env!("CARGO_PKG_VERSION"),
        started_at: rfc3339(state.started_at),
        uptime_seconds: uptime.try_into().unwrap_or_default(),
        address: admin.address,
        received: totals.received(),
        decoded,
        stored: totals.stored,
        duplicates: totals.duplicates,
        quarantined: totals.quarantined,
        refused: totals.refused,
        dropped: totals.dropped,
        lost: totals.lost,
        damages: totals.damages,
        devices: totals.devices,
        buffer: Buffer {
            path: config.buffer.path.clone(),
            name: totals.name,
            bytes: size(&config.buffer.path),
            limit_bytes: config.buffer.limit_bytes,
            full: state.ingest().queue.is_buffer_full(),
            writable: state.ingest().stats.is_writable(),
        },
        queue: Queue {
            messages: state.ingest().queue.depth(),
            limit_messages: state.ingest().queue.capacity(),
            bytes: state.ingest().queue.bytes(),
            limit_bytes: config.buffer.queue_bytes,
        },
        quarantine: Quarantine {
            messages,
            limit_messages: config.quarantine.messages,
            bytes,
            limit_bytes: config.quarantine.bytes,
        },
        outputs: outputs.collect(),
    }))
}

/// Returns the bytes of the SQLite file at `path` and of its write-ahead log.
fn size(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
    bytes(path) + bytes(Path::new(&log))
}
