//! Datagrams at a fixed rate. They are not acknowledged, so the results are the messages in the buffer, and the datagrams that the kernel and
//! the gateway dropped.

use crate::{
    Failure,
    datagrams::{self, Socket},
    payload::Payload,
    report::Report,
    results::{About, Results},
    server::{Running, Server},
};
use rusqlite::Connection;
use std::{
    net::{SocketAddr, UdpSocket},
    path::Path,
    time::{Duration, Instant},
};

/// Offered datagrams per second.
const RATES: [u64; 3] = [20_000, 60_000, 180_000];
/// Length of a run.
const LENGTH: Duration = Duration::from_secs(2);
/// Delay between two bursts of the sender.
const SLOT: Duration = Duration::from_micros(200);
/// Timeout for processing all sent datagrams.
const PATIENCE: Duration = Duration::from_secs(20);
/// The byte of each format (spec/ingest.md, "UDP").
const FORMATS: [(&str, u8); 2] = [("cbor", 3), ("packed", 14)];

const CONFIG: &str = "[[input]]\nname = \"udp\"\n[input.udp]\nlisten = \"127.0.0.1:0\"\n";

/// The results of a run, in datagrams.
struct Measurement {
    seconds: f64,
    sent: u64,
    /// Datagrams that the kernel dropped, and datagrams that the gateway dropped.
    kernel: u64,
    gateway: u64,
    stored: u64,
    cpu_us: f64,
}

/// Prints a row for each format and rate.
pub async fn measure(
    payloads: &[Payload],
    results: &mut Results,
    report: &mut Report,
) -> Result<(), Failure> {
    report.line(&format!(
        "\n**Datagrams**: bare datagrams that were stored at each offered rate, and where the others were dropped; runs of {} s, one sender.\n",
        LENGTH.as_secs()
    ));
    report.line("| format | offered/s | sent/s | stored/s | stored, % | dropped by the kernel, % | by the gateway, % | cpu |");
    report.line("|---|--:|--:|--:|--:|--:|--:|--:|");
    for (name, byte) in FORMATS {
        let payload = payloads.iter().find(|payload| payload.name == name).ok_or("no such format")?;
        for rate in RATES {
            let measurement = tokio::task::block_in_place(|| run(payload, byte, rate))?;
            measurement.row(name, rate, results, report);
        }
    }
    Ok(())
}

fn run(payload: &Payload, format: u8, rate: u64) -> Result<Measurement, Failure> {
    let datagram = |(device, body): &(String, Vec<u8>)| {
        [&[format, device.len() as u8], device.as_bytes(), body.as_slice()].concat()
    };
    let datagrams: Vec<_> = payload.bodies.iter().map(datagram).collect();
    let folder = tempfile::tempdir()?;
    let running = Running::start_with(Server::Dunnage, folder.path(), CONFIG)?;
    let input = running.input("udp")?;
    let (sent, seconds) = send(input, &datagrams, rate)?;
    let (kernel, gateway) = wait_until_counted(&running, input, sent)?;
    let processor_seconds = running.processor_seconds()?;
    running.stop()?;
    let stored = stored(folder.path())?;
    if stored + kernel + gateway != sent {
        return Err(format!("{sent} sent, {stored} stored, {kernel} and {gateway} dropped").into());
    }
    let cpu_us = 1e6 * processor_seconds / (stored as f64).max(1.0);
    Ok(Measurement { seconds, sent, kernel, gateway, stored, cpu_us })
}

/// Sends `rate` datagrams per second, or as many as possible, for [`LENGTH`]. Returns their number and the seconds that they took.
fn send(input: SocketAddr, datagrams: &[Vec<u8>], rate: u64) -> std::io::Result<(u64, f64)> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.connect(input)?;
    let mut next = datagrams.iter().cycle();
    let begun = Instant::now();
    let mut sent = 0;
    while begun.elapsed() < LENGTH {
        let due = rate * begun.elapsed().as_micros() as u64 / 1_000_000;
        // A late sender makes up for at most 1 ms at once.
        for datagram in next.by_ref().take((due - sent).min(rate / 1000) as usize) {
            socket.send(datagram)?;
            sent += 1;
        }
        if sent >= due {
            std::thread::sleep(SLOT);
        }
    }
    Ok((sent, begun.elapsed().as_secs_f64()))
}

/// Waits until all `sent` datagrams are accounted for. Returns how many the kernel dropped, and how many the gateway.
fn wait_until_counted(running: &Running, input: SocketAddr, sent: u64) -> Result<(u64, u64), Failure> {
    let begun = Instant::now();
    loop {
        let Socket { waiting, dropped } = datagrams::socket(input)?;
        let counts = running.counts()?;
        if waiting == 0 && counts.stored + counts.quarantined + counts.refused + dropped == sent {
            return Ok((dropped, counts.refused));
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("not all datagrams are accounted for: {sent} sent, {dropped} dropped by the kernel, {counts:?}").into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Counts the messages in the buffer of a stopped gateway.
pub fn stored(folder: &Path) -> Result<u64, Failure> {
    let connection = Connection::open(folder.join("buffer.sqlite3"))?;
    Ok(connection.query_row("SELECT count(*) FROM messages", [], |row| row.get(0))?)
}

impl Measurement {
    fn row(&self, format: &str, rate: u64, results: &mut Results, report: &mut Report) {
        let second = |count: u64| (count as f64 / self.seconds).round();
        let share = |count: u64| (1000.0 * count as f64 / self.sent as f64).round() / 10.0;
        let Measurement { sent, kernel, gateway, stored, cpu_us, .. } = *self;
        report.line(&format!(
            "| {format} | {rate} | {} | {} | {:.1} | {:.1} | {:.1} | {cpu_us:.1} |",
            second(sent),
            second(stored),
            share(stored),
            share(kernel),
            share(gateway)
        ));
        let target = format!("{rate} datagrams a second");
        let about = About { target: &target, format, library: Server::Dunnage.name() };
        results.add(&about, "rps", second(stored), "1/s");
        results.add(&about, "stored_share", share(stored), "%");
        results.add(&about, "kernel_dropped_share", share(kernel), "%");
        results.add(&about, "gateway_dropped_share", share(gateway), "%");
        results.add(&about, "cpu_us", (cpu_us * 10.0).round() / 10.0, "µs");
    }
}
