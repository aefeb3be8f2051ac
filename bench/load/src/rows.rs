//! Rows per second of the container's message in PostgreSQL, beside a service in Node that inserts in batches. The server is on the same
//! machine, with its data on the disk of the temporary folder, and synchronizes each commit.

use crate::{
    Failure, catch_up, node,
    payload::{self, Payload},
    results::{About, Results},
    server::{Running, Server},
};
use dunnage_test_support::postgres::Postgres;
use std::{
    io::Write,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

/// Options of the measurement.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Messages in the buffer when the output starts
    #[arg(long, default_value_t = 300_000)]
    messages: u64,
    /// Runs of each, in turn; the medians are reported
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

const DATABASE: &str = "postgres";
/// A round without a new row for so long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// Prints a table, and writes `bench/results/rows.jsonl`.
pub async fn measure(plan: &Plan) -> Result<(), Failure> {
    tokio::task::block_in_place(|| compare(plan))
}

fn compare(plan: &Plan) -> Result<(), Failure> {
    node::install()?;
    let payloads = payload::all(1000)?;
    let json = payloads.iter().find(|payload| payload.name == "json").ok_or("there is no JSON")?;
    let folder = tempfile::tempdir()?;
    json.write_bodies(&folder.path().join("bodies"))?;
    catch_up::fill(plan.messages, (256, 3), json, folder.path())?;
    let lines = folder.path().join("lines");
    write_lines(json, &lines)?;
    let server = Postgres::start_with(&["fsync=on"]);
    let (mut ours, mut peers) = (Vec::new(), Vec::new());
    for round in 0..plan.rounds {
        server.query(DATABASE, "DROP TABLE IF EXISTS container, peer");
        ours.push(gateway(&server, folder.path(), round)?);
        server.query(DATABASE, "CREATE TABLE peer (LIKE container INCLUDING ALL)");
        server.query(DATABASE, "TRUNCATE container");
        server.query(DATABASE, "CHECKPOINT");
        peers.push(peer(&server, &lines, plan.messages)?);
    }
    report(&mut ours, &mut peers)
}

/// Starts a gateway whose output begins with the first message. Returns the rows per second until the last one.
fn gateway(server: &Postgres, folder: &Path, round: usize) -> Result<f64, Failure> {
    let url = server.url(DATABASE);
    let output =
        format!("[[output]]\nname = \"r{round}\"\n[output.postgres]\nurl = {url:?}\ncreate = true\n");
    let begun = Instant::now();
    let running = Running::start_with(Server::Dunnage, folder, &output)?;
    let stored = rusqlite::Connection::open(folder.join("buffer.sqlite3"))?.query_row(
        "SELECT count(*) FROM messages",
        [],
        |row| row.get::<_, u64>(0),
    )?;
    let (mut rows, mut last) = (0, Instant::now());
    while rows < stored {
        std::thread::sleep(Duration::from_millis(200));
        let now = count(server, "container");
        if now != rows {
            (rows, last) = (now, Instant::now());
        } else if last.elapsed() > PATIENCE {
            return Err(format!("{rows} of {stored} messages are rows").into());
        }
    }
    let rate = stored as f64 / begun.elapsed().as_secs_f64();
    running.stop()?;
    Ok(rate)
}

/// Lets the service insert as many messages. Returns its rows per second, without its start.
fn peer(server: &Postgres, lines: &Path, messages: u64) -> Result<f64, Failure> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/node/rows.js");
    let output = Command::new("node")
        .args([script, &server.url(DATABASE)])
        .arg(lines)
        .arg(messages.to_string())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let seconds: f64 = String::from_utf8_lossy(&output.stdout).trim().parse()?;
    match count(server, "peer") {
        rows if rows == messages => Ok(rows as f64 / seconds),
        rows => Err(format!("the service inserted {rows} of {messages} rows").into()),
    }
}

fn count(server: &Postgres, table: &str) -> u64 {
    let answer = server.psql(DATABASE, &format!("SELECT count(*) FROM {table}"));
    // The table is missing until the first message.
    String::from_utf8_lossy(&answer.stdout).trim().parse().unwrap_or_default()
}

/// Writes a line per message: its device, a tab, and its JSON.
fn write_lines(payload: &Payload, path: &Path) -> Result<(), Failure> {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    for (device, body) in &payload.bodies {
        write!(file, "{device}\t")?;
        file.write_all(body)?;
        file.write_all(b"\n")?;
    }
    Ok(file.flush()?)
}

fn report(ours: &mut [f64], peers: &mut [f64]) -> Result<(), Failure> {
    ours.sort_by(f64::total_cmp);
    peers.sort_by(f64::total_cmp);
    let (our, peer) = (ours[ours.len() / 2], peers[peers.len() / 2]);
    println!("| | rows/s | slowest | fastest |\n|---|--:|--:|--:|");
    for (name, all, median) in [("dunnage", &*ours, our), ("Node, pg", &*peers, peer)] {
        println!("| {name} | {median:.0} | {:.0} | {:.0} |", all[0], all[all.len() - 1]);
    }
    println!("\n{:.1} times the peer", our / peer);
    let mut results = Results::of("rows");
    for (library, rate) in [("dunnage", our), ("pg", peer)] {
        results.add(&About { target: "PostgreSQL", format: "json", library }, "rps", rate.round(), "1/s");
    }
    results.save()
}
