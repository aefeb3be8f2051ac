//! What a register of 100,000 devices costs: memory, and time of a lookup by external ID, in random order.
//!
//! `cargo run --release -p dunnage-register --example lookup`

use dunnage_register::{Record, Register};
use std::{fs, hint::black_box, time::Instant};

const DEVICES: u64 = 100_000;
const LOOKUPS: u64 = 10_000_000;

/// Resident memory of this process in bytes, as Linux counts it.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or_default() * 4096
}

fn record(n: u64) -> Result<Record, String> {
    let tags = format!(r#"{{"site":"site-{}","kind":"soil"}}"#, n % 50);
    Record::from_json(&format!(
        r#"{{"device":"sensor-{n}","name":"Sensor {n}","tags":{tags},"external_ids":["70b3d57e{n:08x}"]}}"#
    ))
}

fn main() -> Result<(), String> {
    let before = resident();
    let register = Register::new((0..DEVICES).map(record).collect::<Result<_, _>>()?);
    let bytes = resident() - before;
    println!("{DEVICES} devices: {:.1} MB, {} bytes each", bytes as f64 / 1e6, bytes / DEVICES);
    let ids: Vec<String> = (0..DEVICES).map(|n| format!("70b3d57e{:08x}", n * 48_271 % DEVICES)).collect();
    let begun = Instant::now();
    for n in 0..LOOKUPS {
        black_box(register.find(&ids[(n % DEVICES) as usize]));
    }
    println!("a lookup: {:.0} ns", begun.elapsed().as_nanos() as f64 / LOOKUPS as f64);
    Ok(())
}
