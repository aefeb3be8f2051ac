//! A row in which messages become points of InfluxDB, and the gateway and the server are killed.

use super::gateway::kill_point;
use crate::{
    Failure,
    chain::{Chain, End, Plan, Receiver},
    cse::Delivered,
    influx::Influx,
    row::{Row, Scale},
};
use std::{collections::BTreeMap, fs, path::Path};
use tempfile::TempDir;

const SCHEMA: &str =
    r#"{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 0}}}"#;
const DATABASE: &str = "telemetry";

/// Kills both in the middle of bursts, while points are written. Alternately, the gateway finds a server that is down.
pub fn both_killed(scale: Scale) -> Result<Row, Failure> {
    let (kills, burst) = (scale.pick(3, 20), scale.pick(200, 600));
    let folder = TempDir::new()?;
    let mut server = Influx::start();
    server.query("", &format!("CREATE DATABASE {DATABASE}"));
    let plan = Plan { inputs: schema(folder.path())?, ..Plan::default() };
    let mut chain = Chain::start_with(plan, output(&server))?;
    for kill in 0..kills {
        chain.fleet.release(burst);
        chain.fleet.wait_for(kill_point(kill, burst));
        server.kill();
        chain.gateway.kill()?;
        if kill % 2 == 0 {
            chain.gateway.restart()?;
        }
        server.restart();
        if kill % 2 == 1 {
            chain.gateway.restart()?;
        }
    }
    let End { mut row, sent, stats } = chain.finish(&server)?;
    let reasons = stats["outputs"][0]["retried"].as_object();
    let retried: u64 = reasons.into_iter().flatten().filter_map(|(_, calls)| calls.as_u64()).sum();
    row.details = format!(
        "killed {kills} times; {} requests were cut and repeated; since its last start, the gateway retried {retried} calls",
        sent.cut
    );
    Ok(row)
}

/// Writes the schema. Returns the configuration that gives it to all devices.
fn schema(folder: &Path) -> Result<String, Failure> {
    fs::write(folder.join("counted.json"), SCHEMA)?;
    Ok(format!("[schemas]\npath = {folder:?}\n[[profile]]\ndevice = \"*\"\nschema = \"counted\"\n"))
}

fn output(server: &Influx) -> String {
    let url = server.url(&format!("/write?db={DATABASE}"));
    format!("[[output]]\nname = \"points\"\n[output.influx]\nurl = {url:?}\n")
}

impl Receiver for Influx {
    fn count(&self, _application: &str) -> u64 {
        // After a kill there may be no server.
        let answer = self.ask(DATABASE, "SELECT count(n) FROM counted");
        answer
            .and_then(|answer| answer["results"][0]["series"][0]["values"][0][1].as_u64())
            .unwrap_or_default()
    }

    fn delivered(
        &self,
        _application: &str,
        acknowledged: &BTreeMap<String, Vec<u64>>,
    ) -> Result<BTreeMap<String, Delivered>, Failure> {
        let mut delivered: BTreeMap<String, Delivered> =
            acknowledged.keys().map(|device| (device.clone(), Delivered::default())).collect();
        for row in self.query(DATABASE, "SELECT device, n FROM counted ORDER BY time") {
            let device = row[1].as_str().ok_or("a point has no device")?.to_owned();
            let number = row[2].as_u64().ok_or("a point has no number")?;
            delivered.entry(device).or_default().numbers.push(number);
        }
        Ok(delivered)
    }
}
