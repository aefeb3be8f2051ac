//! Rows in which a network server publishes uplinks to a broker, which keeps them for the gateway.

use super::mqtt;
use crate::{
    Failure,
    chain::{Chain, End, Plan},
    cse,
    fleet::Shape,
    gateway::Gateway,
    mosquitto::Mosquitto,
    row::{Row, Scale},
    script::Script,
};
use std::{
    fmt::Write,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Number of publishers, each in its own process.
const PUBLISHERS: usize = 4;
/// The longest time until the gateway stores something of what the broker keeps.
const LIMIT: Duration = Duration::from_secs(60);

/// Kills the gateway while the broker hands over the uplinks that it kept. The broker repeats those that the gateway has not acknowledged, and
/// ChirpStack's deduplicationId tells which of them are stored.
pub fn killed(scale: Scale) -> Result<Row, Failure> {
    let (kills, burst) = (scale.pick(3, 20), scale.pick(150, 400));
    let acme = cse::in_memory(scale);
    let folder = TempDir::new()?;
    let log = folder.path().join("log");
    let more = format!(
        "allow_anonymous true\nmax_inflight_messages 0\nlog_type subscribe\nlog_dest file {}",
        log.display()
    );
    let broker = Mosquitto::start_in(folder.path(), &more);
    let port = broker.port;
    let senders = move |_: &Gateway| Script::senders("chirpstack_sender.py", &[port.to_string()], PUBLISHERS);
    let plan = Plan {
        application: "lora",
        inputs: input(port),
        senders: Some(Box::new(senders)),
        ..Plan::default()
    };
    let mut chain = Chain::start(plan, acme.address)?;
    mqtt::wait_until_subscribed(&log, " application/+/device/+/event/+")?;
    let mut kept = 0;
    for kill in 0..kills {
        chain.fleet.release(burst);
        chain.fleet.wait_for(kill * burst + burst / 3);
        kept += killed_with_messages_kept(&mut chain, kill * burst + 2 * burst / 3, kill)?;
        chain.gateway.restart()?;
    }
    let End { mut row, stats, .. } = chain.finish(&acme)?;
    row.details = format!(
        "killed {kills} times while mosquitto handed over {} uplinks on average; {} repeated uplinks were recognized by their \
         deduplicationId",
        kept / kills,
        stats["duplicates"]
    );
    // A few kills may all hit moments without a message between commit and acknowledgement.
    if scale == Scale::Long && stats["duplicates"].as_u64().is_none_or(|known| known == 0) {
        row.problems.push(row.details.clone());
    }
    Ok(row)
}

/// Lets the broker keep messages until `published` are published, and kills the gateway when it has stored some of them: a few milliseconds
/// later at each kill. Returns how many the broker kept.
fn killed_with_messages_kept(chain: &mut Chain, published: u64, kill: u64) -> Result<u64, Failure> {
    chain.gateway.pause()?;
    chain.fleet.wait_for(published);
    let before = chain.stored()?;
    let kept = chain.fleet.answered() - before;
    chain.gateway.resume()?;
    let begun = Instant::now();
    while chain.stored()? == before {
        if begun.elapsed() > LIMIT {
            return Err("the gateway stores nothing of what the broker kept".into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(kill % 5));
    chain.gateway.kill()?;
    Ok(kept)
}

/// The input, with the name of each device by its DevEUI.
fn input(port: u16) -> String {
    let mut input = format!(
        "[[input]]\nname = \"lora\"\n[input.broker]\nurl = \"mqtt://127.0.0.1:{port}\"\nclient_id = \"dunnage\"\nprovider = \"chirpstack\"\n\
         format = \"json\"\ntopics = [\"application/+/device/+/event/+\"]\n[input.broker.names]\n"
    );
    for device in 0..Shape::default().devices {
        // Writing to a String does not fail.
        let _ = writeln!(input, "70b3d57ed00{device:05x} = \"d{device:03}\"");
    }
    input
}
