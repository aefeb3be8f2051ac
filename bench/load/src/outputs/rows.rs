//! Rows per second of the container's message in PostgreSQL, beside a service in Node that inserts in batches. The server is on the same
//! machine, with its data on the disk of the temporary folder, and synchronizes each commit.

use super::{Filled, deliver, median};
use crate::{
    Failure, node,
    payload::Payload,
    report::Report,
    results::{About, Results},
};
use dunnage_test_support::postgres::Postgres;
use std::{io::Write, path::Path, process::Command};

const DATABASE: &str = "postgres";

/// Prints a row for each.
pub fn measure(filled: &Filled, rounds: usize, report: &mut Report) -> Result<(), Failure> {
    node::install()?;
    let lines = filled.folder.path().join("lines");
    write_lines(&filled.payload, &lines)?;
    let server = Postgres::start_with(&["fsync=on"]);
    let (mut ours, mut peers) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        server.query(DATABASE, "DROP TABLE IF EXISTS container, peer");
        ours.push(gateway(&server, filled, round)?);
        server.query(DATABASE, "CREATE TABLE peer (LIKE container INCLUDING ALL)");
        server.query(DATABASE, "TRUNCATE container");
        server.query(DATABASE, "CHECKPOINT");
        peers.push(peer(&server, &lines, filled.messages)?);
    }
    show(&ours, &peers, report)
}

/// Lets a gateway write a row for each message. Returns its rows per second.
fn gateway(server: &Postgres, filled: &Filled, round: usize) -> Result<f64, Failure> {
    let output = format!("[output.postgres]\nurl = {:?}\ncreate = true\n", server.url(DATABASE));
    let (rate, _) = deliver(filled, &format!("rows-{round}"), &output, &[])?;
    match count(server, "container") {
        rows if rows == filled.messages => Ok(rate),
        rows => Err(format!("{rows} of {} messages are rows", filled.messages).into()),
    }
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

fn show(ours: &[f64], peers: &[f64], report: &mut Report) -> Result<(), Failure> {
    report.line("**Rows**: the container's message in PostgreSQL, 23 columns, beside a service in Node (`pg`, 1,000 rows a statement).\n");
    report.line("| | rows/s | slowest | fastest |\n|---|--:|--:|--:|");
    let mut results = Results::of("rows");
    for (name, library, rates) in [("dunnage", "dunnage", ours), ("Node, pg", "pg", peers)] {
        let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let fastest = rates.iter().copied().fold(0.0, f64::max);
        let rate = median(rates);
        report.line(&format!("| {name} | {rate:.0} | {slowest:.0} | {fastest:.0} |"));
        let about = About { target: "PostgreSQL", format: "json", library };
        results.add_runs(&about, "rps", rate.round(), rates, "1/s");
    }
    report.line(&format!("\n{:.1} times the peer.", median(ours) / median(peers)));
    results.save()
}
