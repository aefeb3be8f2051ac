//! Rows with deltas: packed messages that refer to earlier ones, which the gateway must have.

use super::gateway;
use crate::{
    Failure,
    chain::{Chain, End, Plan},
    cse,
    delta_sender::{self, Deltas},
    process,
    proxy::{Mode, Proxy},
    row::{Row, Scale},
};
use rusqlite::Connection;
use std::{
    collections::HashSet,
    path::Path,
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};
use tempfile::TempDir;

/// Number of connections.
const CONNECTIONS: usize = 8;

/// Kills the gateway under load, also between a commit and its answers.
pub fn killed(scale: Scale) -> Result<Row, Failure> {
    let (folder, deltas) = (TempDir::new()?, Arc::default());
    let plan = plan("deltas", folder.path(), "", &deltas)?;
    let row = gateway::killed_under(plan, scale.pick(3, 20), scale.pick(150, 400), scale)?;
    checked(row, &deltas, |refused| refused == 0)
}

/// Replaces the buffer by a copy from before half of the messages. The devices have acknowledgements of messages that are gone.
pub fn restored(scale: Scale) -> Result<Row, Failure> {
    let burst = scale.pick(150, 1000);
    let acme = cse::in_memory(scale);
    let proxy = Proxy::start(acme.address);
    proxy.set(Mode::Refuse);
    let (folder, deltas) = (TempDir::new()?, Arc::default());
    let plan = plan("restored", folder.path(), "", &deltas)?;
    let mut chain = Chain::start(plan, proxy.address)?;
    chain.fleet.release(burst);
    chain.fleet.wait_for(burst);
    chain.gateway.stop()?;
    let copy = folder.path().join("copy.sqlite3");
    std::fs::copy(chain.buffer(), &copy)?;
    chain.gateway.restart()?;
    chain.fleet.release(burst);
    chain.fleet.wait_for(2 * burst);
    chain.gateway.stop()?;
    chain.destroyed = since(&copy, chain.buffer())?;
    std::fs::copy(&copy, chain.buffer())?;
    chain.gateway.restart()?;
    chain.fleet.release(burst);
    proxy.set(Mode::Pass);
    let End { mut row, .. } = chain.finish(&acme)?;
    row.details = format!("the copy lacks {} messages", row.destroyed);
    // The messages that were destroyed were answered; those of the quarantine were sent again.
    checked(row, &deltas, |refused| refused > 0)
}

/// Restarts the devices, which forget which messages were acknowledged.
pub fn device_restarted(scale: Scale) -> Result<Row, Failure> {
    let (times, burst) = (scale.pick(3, 20), scale.pick(150, 400));
    let acme = cse::in_memory(scale);
    let (folder, deltas) = (TempDir::new()?, Arc::<Deltas>::default());
    let chain = Chain::start(plan("devices", folder.path(), "", &deltas)?, acme.address)?;
    for time in 0..times {
        chain.fleet.release(burst);
        chain.fleet.wait_for(time * burst + burst / 2);
        deltas.restarts.fetch_add(1, SeqCst);
    }
    let End { mut row, .. } = chain.finish(&acme)?;
    row.details = format!("restarted {times} times");
    checked(row, &deltas, |refused| refused == 0)
}

/// Lets the buffer get so full that retention drops references, and restarts the gateway, so that it does not have them in memory either.
/// The devices know of the acknowledgement of an earlier message than their last one, which always stays.
pub fn evicted(scale: Scale) -> Result<Row, Failure> {
    const FILLER: u64 = 12;
    let burst = scale.pick(24 * 6, 24 * 30);
    let acme = cse::in_memory(scale);
    let (folder, deltas) = (TempDir::new()?, Arc::new(Deltas { acknowledged_every: 4, ..Deltas::default() }));
    let plan = plan("evicted", folder.path(), "limit_bytes = 1048576\n", &deltas)?;
    let mut chain = Chain::start(plan, acme.address)?;
    chain.fleet.release(burst);
    chain.fleet.wait_for(burst);
    for n in 0..FILLER {
        fill(&chain.gateway.url(), n)?;
    }
    chain.others = FILLER;
    // Until then, the buffer is full and rejects messages; after 16 attempts, a device drops its reference on its own.
    process::until("everything is delivered", Duration::from_secs(120), || {
        chain.gateway.has_delivered().then_some(())
    })?;
    chain.gateway.stop()?;
    chain.gateway.restart()?;
    chain.fleet.release(burst);
    let End { mut row, stats, .. } = chain.finish(&acme)?;
    row.details = format!(
        "{} messages dropped from a full buffer after their delivery, and counted as stored",
        stats["dropped"]
    );
    checked(row, &deltas, |refused| refused > 0)
}

/// The plan of a gateway whose devices send deltas; `buffer` are further settings of the buffer.
fn plan(
    application: &'static str,
    folder: &Path,
    buffer: &str,
    deltas: &Arc<Deltas>,
) -> Result<Plan, Failure> {
    let inputs = format!("{buffer}{}", delta_sender::schema(folder)?);
    let deltas = Arc::clone(deltas);
    let senders =
        move |gateway: &crate::gateway::Gateway| Ok(delta_sender::senders(gateway, CONNECTIONS, &deltas));
    Ok(Plan { application, inputs, senders: Some(Box::new(senders)), ..Plan::default() })
}

/// Adds the counts of deltas to the row, and a problem if there were none, or if another number was refused than expected.
fn checked(mut row: Row, deltas: &Deltas, is_expected: impl Fn(u64) -> bool) -> Result<Row, Failure> {
    let (sent, refused) = deltas.counts();
    row.details += &format!("; {sent} deltas sent, {refused} refused and sent again without a reference");
    if sent < row.acknowledged / 4 || !is_expected(refused) || row.quarantined > refused {
        row.problems.push(format!("{}; {} in quarantine", row.details, row.quarantined));
    }
    Ok(row)
}

/// Sends a large message that is not one of the fleet, and waits until it is delivered.
fn fill(url: &str, n: u64) -> Result<(), Failure> {
    let body = serde_json::json!({"filler": "x".repeat(100_000)}).to_string();
    let url = format!("{url}/ingest/filler");
    process::until("a large message is stored", Duration::from_secs(60), || {
        let request = crate::sender::agent().post(&url).header("content-type", "application/json");
        let request = request.header("idempotency-key", format!("filler-{n}"));
        (crate::sender::status(request.send(&body)) == Some(204)).then_some(())
    })
}

/// The messages in the buffer `now` that are not in its earlier copy.
fn since(copy: &Path, now: &Path) -> Result<HashSet<(String, u64)>, Failure> {
    let last: i64 =
        Connection::open(copy)?.query_row("SELECT max(id) FROM messages", [], |row| row.get(0))?;
    let now = Connection::open(now)?;
    let mut statement = now.prepare("SELECT device, json FROM messages WHERE id > ?")?;
    let mut rows = statement.query([last])?;
    let mut found = HashSet::new();
    while let Some(row) = rows.next()? {
        let message: serde_json::Value = serde_json::from_str(&row.get::<_, String>(1)?)?;
        found.insert((row.get(0)?, message["n"].as_u64().ok_or("a message without a number")?));
    }
    Ok(found)
}
