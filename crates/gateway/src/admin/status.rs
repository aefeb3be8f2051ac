//! `GET /status`: the state and the counts of the gateway.

use super::Admin;
use crate::operations::{
    outputs::{OutputObject, outputs},
    storage,
};
use axum::{Json, extract::State};
use dunnage_base::clock::{self, rfc3339};
use dunnage_buffer::Use;
use dunnage_inputs::Problem;
use serde::Serialize;
use std::{net::SocketAddr, path::PathBuf, sync::Arc};

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
    queue: storage::Queue,
    quarantine: storage::Quarantine,
    outputs: Vec<Output>,
}

#[derive(Serialize)]
struct Buffer {
    path: PathBuf,
    #[serde(flatten)]
    state: storage::Buffer,
}

/// A running output.
#[derive(Serialize)]
struct Output {
    #[serde(flatten)]
    status: dunnage_outputs::Status,
    state: &'static str,
    /// Its dead letters.
    undelivered: u64,
}

impl Output {
    fn of(OutputObject { status, state, dead_letters, .. }: OutputObject) -> Option<Output> {
        Some(Output { status: status?, state, undelivered: dead_letters })
    }
}

/// Handles `GET /status`.
pub(super) async fn status(State(admin): State<Arc<Admin>>) -> Result<Json<Status>, Problem> {
    let state = &admin.state;
    let quarantine = storage::quarantine(state, &state.buffer().readers.of(Use::Admin)).await?;
    let totals = state.buffer().stats.totals();
    let uptime = clock::now().saturating_sub(state.started_at) / 1_000_000;
    Ok(Json(Status {
        version: env!("CARGO_PKG_VERSION"),
        started_at: rfc3339(state.started_at),
        uptime_seconds: uptime.try_into().unwrap_or_default(),
        address: state.address,
        received: totals.received(),
        decoded: totals.stored + totals.duplicates,
        stored: totals.stored,
        duplicates: totals.duplicates,
        quarantined: totals.quarantined,
        refused: totals.refused,
        dropped: totals.dropped,
        lost: totals.lost,
        damages: totals.damages,
        devices: totals.devices,
        buffer: Buffer { path: state.config.buffer.path.clone(), state: storage::buffer(state) },
        queue: storage::queue(state),
        quarantine,
        outputs: outputs(state).into_iter().filter_map(Output::of).collect(),
    }))
}
