//! Power failures. Everything that a gateway writes is recorded (`recorder.c`) while devices send. For a moment of the recording, the disk is
//! made again as a power failure could leave it: with all that was synchronized, and with some of what was written since (`replay.rs`).
//! A gateway is started on it. Every message that was acknowledged before that moment must be in the buffer and in the files of each
//! output, once.

mod recording;
mod replay;

use crate::{
    Failure, agent,
    gateway::{Gateway, ProcessSettings},
    process,
    row::Scale,
    tools::tool,
};
use recording::Call;
use replay::LOSSES;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::Path,
    process::Command,
    time::{Duration, SystemTime},
};

/// The stores whose messages are counted: the buffer and the kinds of files.
const STORES: [&str; 4] = ["buffer", "ndjson", "csv", "parquet"];
const LIMIT: Duration = Duration::from_secs(60);

/// The acknowledged messages that were found in one store, over all power failures.
#[derive(Debug, Default, Clone)]
pub struct Count {
    pub acknowledged: u64,
    pub found: u64,
    pub lost: u64,
    pub twice: u64,
    /// Lines of files that are not whole.
    pub damaged: u64,
}

impl Count {
    /// Whether every acknowledged message was found once, in whole files.
    pub fn is_right(&self) -> bool {
        self.acknowledged > 0 && self.lost + self.twice + self.damaged == 0
    }
}

/// Records one gateway, and counts the messages after many power failures. Returns the number of failures, and the counts by store.
pub fn measure(scale: Scale) -> Result<(usize, BTreeMap<&'static str, Count>), Failure> {
    let rounds = scale.pick(10, 300);
    let recorded = tempfile::tempdir()?;
    let (calls, acknowledged) = record(&recorded.path().canonicalize()?, scale.pick(2, 6))?;
    let is_sync = |call: &Call| matches!(call.kind, recording::Kind::Sync { .. });
    let syncs: Vec<usize> = (0..calls.len()).filter(|at| is_sync(&calls[*at])).collect();
    let mut random = fastrand::Rng::with_seed(scale.pick(33, 34));
    let disks = tempfile::tempdir()?;
    let mut expected = Vec::new();
    for round in 0..rounds {
        let folder = disks.path().join(round.to_string());
        fs::create_dir(&folder)?;
        let (loss, strict) = (LOSSES[round % LOSSES.len()], round / LOSSES.len() % 2 == 1);
        // Just before a synchronization, most is missing.
        let moment = match round % 2 {
            0 => random.usize(calls.len() / 8..calls.len()),
            _ => syncs[random.usize(syncs.len() / 8..syncs.len())],
        };
        replay::write(&calls[..moment], loss, strict, &mut random, &folder)?;
        restart(&folder).map_err(|e| format!("round {round}, {loss:?}, strict: {strict}: {e}"))?;
        let before = calls[moment].at;
        let sent = acknowledged.iter().filter(|(_, at)| *at < before).map(|(n, _)| *n);
        expected.push((loss, strict, sent.collect::<BTreeSet<u64>>()));
    }
    let found = find(disks.path(), rounds)?;
    let mut counts = BTreeMap::new();
    for (round, (loss, strict, sent)) in expected.iter().enumerate() {
        for store in STORES {
            let (damaged, here) = found.get(&(round, store)).ok_or("a store was not read")?;
            let distinct: BTreeSet<u64> = here.iter().copied().collect();
            let lost = sent.difference(&distinct).count() as u64;
            let twice = (here.len() - distinct.len()) as u64;
            if lost + twice + damaged > 0 {
                println!(
                    "round {round}, {loss:?}, strict: {strict}, {store}: {lost} lost, {twice} twice, {damaged} damaged lines"
                );
            }
            let count: &mut Count = counts.entry(store).or_default();
            count.acknowledged += sent.len() as u64;
            count.found += sent.len() as u64 - lost;
            count.lost += lost;
            count.twice += twice;
            count.damaged += damaged;
        }
    }
    Ok((rounds, counts))
}

/// The counts as a table.
pub fn markdown(counts: &BTreeMap<&str, Count>) -> String {
    let mut text =
        "| store | acknowledged | found | lost | twice | damaged lines |\n|---|--:|--:|--:|--:|--:|\n"
            .to_owned();
    for store in STORES {
        let Count { acknowledged, found, lost, twice, damaged } =
            counts.get(store).cloned().unwrap_or_default();
        // Writing to a String does not fail.
        let _ = writeln!(text, "| {store} | {acknowledged} | {found} | {lost} | {twice} | {damaged} |");
    }
    text
}

/// The configuration of the outputs. The names of their folders are those of the stores.
fn config() -> String {
    let mut config = "[buffer]\npath = \"data/buffer.sqlite3\"\n".to_owned();
    for kind in &STORES[1..] {
        let _ = write!(
            config,
            "[[output]]\nname = \"{kind}\"\n[output.files]\npath = \"{kind}\"\nkind = \"{kind}\"\n"
        );
    }
    config + "readable_after_seconds = 1\n"
}

/// Messages that were acknowledged, each with the time in microseconds since 1970.
type Acknowledged = Vec<(u64, u64)>;

/// Runs a gateway in `folder` that is killed while devices send. Returns its writes, and the acknowledged messages with the time.
fn record(folder: &Path, seconds: u64) -> Result<(Vec<Call>, Acknowledged), Failure> {
    let outside = tempfile::tempdir()?;
    let recording = outside.path().join("recording");
    let environment = vec![
        ("LD_PRELOAD", recording::recorder(outside.path())?.display().to_string()),
        ("DUNNAGE_RECORD_FOLDER", folder.display().to_string()),
        ("DUNNAGE_RECORD", recording.display().to_string()),
    ];
    let settings = ProcessSettings { environment, ..ProcessSettings::default() };
    let mut gateway = Gateway::start(folder, &config(), settings)?;
    let url = gateway.url();
    let acknowledged = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..8)
            .map(|sender| {
                scope.spawn({
                    let url = &url;
                    move || send(url, sender)
                })
            })
            .collect();
        std::thread::sleep(Duration::from_secs(seconds));
        gateway.kill().map(|()| senders.into_iter().flat_map(|sender| sender.join().unwrap()).collect())
    })?;
    Ok((recording::read(&recording, folder)?, acknowledged))
}

/// Sends messages of different sizes until the gateway does not answer.
fn send(url: &str, sender: u64) -> Acknowledged {
    let agent = agent();
    let mut acknowledged = Vec::new();
    for n in (0..).map(|n| 8 * n + sender) {
        let length = if n % 30 == 0 { 20_000 } else { 13 * (n % 40) as usize };
        let body = format!("{{\"n\":{n},\"text\":\"{}\"}}", "x".repeat(length));
        let request = agent.post(format!("{url}/ingest/device-{sender}"));
        match request.header("content-type", "application/json").send(&body) {
            Ok(answer) if answer.status() == 204 => {
                let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
                acknowledged.push((n, now.as_micros() as u64));
            }
            Ok(answer) => panic!("{}", answer.status()),
            Err(_) => break,
        }
    }
    acknowledged
}

/// Starts a gateway on the disk in `folder`, and stops it when every output has every message.
fn restart(folder: &Path) -> Result<(), Failure> {
    let mut gateway = Gateway::start(folder, &config(), ProcessSettings::default())?;
    process::until("every output has every message", LIMIT, || {
        let lags = gateway.output_lags();
        (lags.len() == STORES.len() - 1 && lags.iter().all(|lag| *lag == 0)).then_some(())
    })
    .map_err(|e| format!("{e}\n{}", process::tail(&gateway.log())))?;
    gateway.stop()
}

/// The damaged lines and the numbers of all messages, by round and store.
type Found = BTreeMap<(usize, &'static str), (u64, Vec<u64>)>;

/// Reads every store of every round.
fn find(disks: &Path, rounds: usize) -> Result<Found, Failure> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/power/find.py");
    let output = Command::new(tool("venv/bin/python")).arg(script).arg(disks).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let mut found = Found::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let [round, store, damaged, numbers] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err(format!("an unknown line: {line}").into());
        };
        let store = STORES.into_iter().find(|known| *known == store).ok_or("an unknown store")?;
        let numbers =
            numbers.split(',').filter(|n| !n.is_empty()).map(str::parse).collect::<Result<_, _>>()?;
        found.insert((round.parse()?, store), (damaged.parse()?, numbers));
    }
    if found.len() == rounds * STORES.len() { Ok(found) } else { Err("a round was not read".into()) }
}
