//! Prints the memory of 1,000 profiles with 100 codecs of 307 lines, each of which has decoded messages.
//!
//!     cargo run --release -p dunnage-ingest --example codec_memory

use dunnage_ingest::profiles::{
    Profiles,
    settings::{Profile, SchemaSettings},
};
use dunnage_vendor_codec::{Job, Pool};
use std::{error::Error, fs, sync::mpsc, time::Instant};

const CODEC: &str = include_str!("../../vendor-codec/examples/room_sensor.js");
const CODECS: usize = 100;
const PROFILES: usize = 1_000;

/// The process's memory now and at its peak, in KiB, on Linux.
fn memory() -> Result<String, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let lines = status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    Ok(lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(", "))
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = |index: usize| folder.path().join(format!("{}.js", index % CODECS));
    for index in 0..CODECS {
        fs::write(path(index), format!("{CODEC}// {index}\n"))?;
    }
    println!("before: {}", memory()?);
    let profile = |index: usize| Profile {
        device: format!("room-{index}"),
        codec: Some(path(index)),
        ..Profile::default()
    };
    let all: Vec<_> = (0..PROFILES).map(profile).collect();
    let begun = Instant::now();
    let profiles = Profiles::load(&SchemaSettings::default(), &all)?;
    println!("{PROFILES} profiles, {CODECS} codecs, loaded in {:.1?}: {}", begun.elapsed(), memory()?);
    let (pool, (sender, receiver)) = (Pool::default(), mpsc::channel());
    for index in 0..PROFILES {
        let codec =
            profiles.rule(&format!("room-{index}").as_str().into()).and_then(|rule| rule.codec.clone());
        let codec = codec.ok_or("a profile has no codec")?;
        let job = Job { codec, bytes: vec![1, 0x75, 92], port: Some(85), received_at: 0, lenient: false };
        let sender = sender.clone();
        pool.decode(job, move |result| drop(sender.send(result)));
    }
    for _ in 0..PROFILES {
        receiver.recv()??;
    }
    println!("{PROFILES} messages decoded: {}", memory()?);
    Ok(())
}
