//! Rows in which messages become rows of PostgreSQL, and the gateway, the server or both are killed.

use super::gateway::kill_point;
use crate::{
    Failure,
    chain::{Chain, End, Plan, Receiver},
    cse::Delivered,
    postgres::Postgres,
    process::until,
    row::{Row, Scale},
};
use std::{collections::BTreeMap, fs, path::Path, thread::sleep, time::Duration};
use tempfile::TempDir;

const SCHEMA: &str = r#"{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 0}, "text": {"type": "string"}}}"#;

/// Messages before the first kill. The table that they make gets a column with the order in which its rows were written.
const FIRST: u64 = 20;

/// Longest time for a replay, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Which processes are killed.
#[derive(Clone, Copy, PartialEq)]
enum Killed {
    Gateway,
    Server,
    Both,
}

pub fn gateway_killed(scale: Scale) -> Result<Row, Failure> {
    killed(scale, Killed::Gateway)
}

pub fn server_killed(scale: Scale) -> Result<Row, Failure> {
    killed(scale, Killed::Server)
}

pub fn both_killed(scale: Scale) -> Result<Row, Failure> {
    killed(scale, Killed::Both)
}

/// Kills in the middle of bursts, while rows are written.
fn killed(scale: Scale, whom: Killed) -> Result<Row, Failure> {
    let (kills, burst) = (scale.pick(3, 20), scale.pick(200, 600));
    let folder = TempDir::new()?;
    let mut server = Postgres::start_with(&["fsync=on"]);
    let plan = Plan { inputs: schema(folder.path())?, ..Plan::default() };
    let mut chain = Chain::start_with(plan, output(&server))?;
    chain.fleet.release(FIRST);
    chain.wait_until_delivered(&server, FIRST);
    server.query("postgres", "ALTER TABLE counted ADD COLUMN place bigserial");
    for kill in 0..kills {
        chain.fleet.release(burst);
        chain.fleet.wait_for(FIRST + kill_point(kill, burst));
        if whom != Killed::Gateway {
            server.kill();
        }
        if whom != Killed::Server {
            chain.gateway.kill()?;
        }
        // Alternately, the gateway finds a server that is down.
        if whom == Killed::Gateway || (whom == Killed::Both && kill % 2 == 0) {
            chain.gateway.restart()?;
        }
        if whom != Killed::Gateway {
            server.restart();
        }
        if whom == Killed::Both && kill % 2 == 1 {
            chain.gateway.restart()?;
        }
    }
    let End { mut row, sent, stats } = chain.finish(&server)?;
    let (reasons, repeated) = (&stats["outputs"][0]["retried"], &stats["outputs"][0]["duplicates"]);
    let retried: u64 =
        reasons.as_object().into_iter().flatten().filter_map(|(_, calls)| calls.as_u64()).sum();
    row.details = format!(
        "killed {kills} times; {} requests were cut and repeated; since its last start, the gateway retried {retried} calls, and {repeated} messages were rows already",
        sent.cut
    );
    Ok(row)
}

/// Loses all rows, and kills the gateway while it delivers them again.
pub fn replayed(scale: Scale) -> Result<Row, Failure> {
    let (kills, messages) = (scale.pick(3, 20), scale.pick(3000, 12_000));
    let folder = TempDir::new()?;
    let server = Postgres::start_with(&["fsync=on"]);
    let plan = Plan { inputs: schema(folder.path())?, ..Plan::default() };
    let mut chain = Chain::start_with(plan, output(&server))?;
    chain.fleet.release(FIRST);
    chain.wait_until_delivered(&server, FIRST);
    server.query("postgres", "ALTER TABLE counted ADD COLUMN place bigserial");
    chain.fleet.release(messages);
    chain.wait_until_delivered(&server, FIRST + messages);
    server.query("postgres", "TRUNCATE counted");
    chain.gateway.ask(&["output", "replay", "database", "--from", "2020-01-01T00:00:00Z"])?;
    let mut unfinished = 0;
    for kill in 0..kills {
        // Each time, a little more is delivered.
        sleep(Duration::from_millis(10 + 15 * (kill % 8)));
        chain.gateway.kill()?;
        unfinished += u64::from(server.count("") < FIRST + messages);
        chain.gateway.restart()?;
    }
    let state = || Some(chain.gateway.stats().ok()?["outputs"][0]["replay"]["state"] == "complete");
    until("the replay is complete", PATIENCE, || state().filter(|complete| *complete))?;
    let End { mut row, stats, .. } = chain.finish(&server)?;
    let repeated = &stats["outputs"][0]["duplicates"];
    row.details = format!(
        "killed {kills} times, {unfinished} of them before all rows were back; since its last start, {repeated} messages were rows already"
    );
    if unfinished == 0 {
        row.problems.push("no kill was in time".into());
    }
    Ok(row)
}

/// Writes the schema. Returns the configuration that gives it to all devices.
fn schema(folder: &Path) -> Result<String, Failure> {
    fs::write(folder.join("counted.json"), SCHEMA)?;
    Ok(format!("[schemas]\npath = {folder:?}\n[[profile]]\ndevice = \"*\"\nschema = \"counted\"\n"))
}

fn output(server: &Postgres) -> String {
    let url = server.url("postgres");
    format!("[[output]]\nname = \"database\"\n[output.postgres]\nurl = {url:?}\ncreate = true\n")
}

impl Receiver for Postgres {
    fn count(&self, _application: &str) -> u64 {
        // Before the first message there is no table, and after a kill there may be no server.
        let answer = self.psql("postgres", "SELECT count(*) FROM counted");
        String::from_utf8_lossy(&answer.stdout).trim().parse().unwrap_or_default()
    }

    fn delivered(
        &self,
        _application: &str,
        acknowledged: &BTreeMap<String, Vec<u64>>,
    ) -> Result<BTreeMap<String, Delivered>, Failure> {
        let mut delivered: BTreeMap<String, Delivered> =
            acknowledged.keys().map(|device| (device.clone(), Delivered::default())).collect();
        for line in self.query("postgres", "SELECT _device, n FROM counted ORDER BY place").lines() {
            let (device, number) = line.split_once('|').ok_or_else(|| format!("{line} is not a row"))?;
            delivered.entry(device.to_owned()).or_default().numbers.push(number.parse()?);
        }
        Ok(delivered)
    }
}
