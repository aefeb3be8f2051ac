//! Rows in which messages become Parquet objects in an S3 server, and the gateway is killed or the server is away.

use super::gateway::kill_point;
use crate::{
    Failure,
    chain::{Chain, End, Plan, Receiver},
    cse::Delivered,
    gateway::ProcessSettings,
    proxy::{Mode, Proxy},
    row::{Row, Scale},
    s3::{KEY, S3, SECRET},
};
use dunnage_test_support::wait::wait_until;
use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::RowAccessor,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs::File,
    net::SocketAddr,
    path::PathBuf,
    time::{Duration, Instant},
};

const BUCKET: &str = "lake";
/// How late each of the server's answers is. An object takes several, so that many kills are in the middle of one.
const LATE: Duration = Duration::from_millis(60);
/// The columns of every object that are read.
const ID: usize = 1;
const DEVICE: usize = 2;
const VALUE: usize = 11;

/// Kills while messages wait for their object, for a second after the start, and at different times in the requests for it.
pub fn gateway_killed(scale: Scale) -> Result<Row, Failure> {
    let (kills, burst) = (scale.pick(3, 20), scale.pick(200, 600));
    let server = S3::start();
    server.make(BUCKET);
    let proxy = Proxy::start(server.address);
    proxy.set(Mode::Delay(LATE));
    let mut chain = Chain::start_with(plan(), output(proxy.address))?;
    let mut half = 0;
    for kill in 0..kills {
        chain.fleet.release(burst);
        chain.fleet.wait_for(kill_point(kill, burst));
        std::thread::sleep(Duration::from_millis(700 + kill * 617 % 1000));
        chain.gateway.kill()?;
        // An object without a manifest was not yet delivered.
        let (objects, manifests): (Vec<_>, Vec<_>) =
            server.objects(BUCKET).into_keys().partition(|key| key.ends_with(".parquet"));
        half += objects.len() - manifests.len();
        chain.gateway.restart()?;
    }
    let End { mut row, sent, stats } = chain.finish(&server)?;
    let repeated = &stats["outputs"][0]["duplicates"];
    row.details = format!(
        "killed {kills} times, {half} times between an object and its manifest; {} requests were cut and repeated; {} objects; since its last start, {repeated} messages were in objects already",
        sent.cut,
        objects(&server).len()
    );
    Ok(row)
}

/// The server is killed before the messages are sent, and comes back when all of them wait in the buffer.
pub fn away(scale: Scale) -> Result<Row, Failure> {
    let messages = scale.pick(1000, 10_000);
    let mut server = S3::start();
    server.make(BUCKET);
    let chain = Chain::start_with(plan(), output(server.address))?;
    server.kill();
    let begun = Instant::now();
    chain.fleet.release(messages);
    chain.fleet.wait_for(messages);
    wait_until("a call is retried", || {
        chain
            .gateway
            .stats()
            .is_ok_and(|stats| stats["outputs"][0]["retried"]["connection"].as_u64() > Some(0))
    });
    let away = begun.elapsed().as_secs();
    server.restart();
    let End { mut row, stats, .. } = chain.finish(&server)?;
    let retried = &stats["outputs"][0]["retried"]["connection"];
    row.details = format!(
        "away for {away} s until all messages were stored; {retried} calls were retried; {} objects",
        objects(&server).len()
    );
    Ok(row)
}

fn plan() -> Plan {
    let environment =
        vec![("AWS_ACCESS_KEY_ID", KEY.to_owned()), ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned())];
    Plan {
        process_settings: ProcessSettings { environment, ..ProcessSettings::default() },
        ..Plan::default()
    }
}

fn output(address: SocketAddr) -> String {
    format!(
        "[[output]]\nname = \"lake\"\n[output.objects]\nurl = \"s3://{BUCKET}/a\"\nendpoint = \"http://{address}\"\n\
         kind = \"parquet\"\nreadable_after_seconds = 1\n"
    )
}

/// Returns the files of all objects except manifests.
fn objects(server: &S3) -> Vec<PathBuf> {
    let keys = server.objects(BUCKET).into_keys();
    keys.filter(|key| key.ends_with(".parquet")).map(|key| server.bucket(BUCKET).join(key)).collect()
}

impl Receiver for S3 {
    fn count(&self, _application: &str) -> u64 {
        let rows = |file: PathBuf| {
            let reader = SerializedFileReader::new(File::open(file).ok()?).ok()?;
            u64::try_from(reader.metadata().file_metadata().num_rows()).ok()
        };
        // One that is being written counts later.
        objects(self).into_iter().filter_map(rows).sum()
    }

    fn delivered(
        &self,
        _application: &str,
        acknowledged: &BTreeMap<String, Vec<u64>>,
    ) -> Result<BTreeMap<String, Delivered>, Failure> {
        let mut found = Vec::new();
        for file in objects(self) {
            for row in SerializedFileReader::new(File::open(file)?)?.get_row_iter(None)? {
                let row = row?;
                let value: Value = serde_json::from_str(row.get_string(VALUE)?)?;
                let number = value["n"].as_u64().ok_or("a message has no number")?;
                found.push((row.get_long(ID)?, row.get_string(DEVICE)?.clone(), number));
            }
        }
        found.sort();
        let mut delivered: BTreeMap<String, Delivered> =
            acknowledged.keys().map(|device| (device.clone(), Delivered::default())).collect();
        for (_, device, number) in found {
            delivered.entry(device).or_default().numbers.push(number);
        }
        Ok(delivered)
    }
}
