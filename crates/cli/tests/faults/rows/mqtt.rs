//! Rows with MQTT clients, from paho.

use super::gateway;
use crate::{
    Failure,
    acme::free_port,
    chain::{Chain, End, Plan},
    cse,
    gateway::Gateway,
    mosquitto::Mosquitto,
    process,
    row::{Row, Scale},
    script::Script,
};
use std::{path::Path, time::Duration};
use tempfile::TempDir;

/// Number of clients, each in its own process.
const CLIENTS: usize = 4;

/// Kills the gateway. Its clients reconnect and resend unacknowledged messages.
pub fn killed(scale: Scale) -> Result<Row, Failure> {
    let port = free_port();
    let inputs = format!("[[input]]\nname = \"mqtt\"\n[input.mqtt]\nlisten = \"127.0.0.1:{port}\"\n");
    let senders = move |_: &Gateway| Script::senders("mqtt_sender.py", &[port.to_string()], CLIENTS);
    let plan = Plan { application: "mqtt", inputs, senders: Some(Box::new(senders)), ..Plan::default() };
    gateway::killed_under(plan, scale.pick(2, 10), scale.pick(60, 300), scale)
}

/// Restarts mosquitto, between the clients and the gateway, under load. It keeps its sessions in a file.
pub fn broker_restarted(scale: Scale) -> Result<Row, Failure> {
    let (times, burst) = (scale.pick(1, 5), scale.pick(100, 400));
    let acme = cse::in_memory(scale);
    let folder = TempDir::new()?;
    let log = folder.path().join("log");
    let more = format!("allow_anonymous true\nlog_type subscribe\nlog_dest file {}", log.display());
    let mut broker = Mosquitto::start_in(folder.path(), &more);
    let port = broker.port;
    let inputs = format!(
        "[[input]]\nname = \"yard\"\n[input.broker]\nurl = \"mqtt://127.0.0.1:{port}\"\nclient_id = \"dunnage\"\n\
         topics = [\"v1/{{device}}/{{format}}\"]\n"
    );
    let senders = move |_: &Gateway| Script::senders("mqtt_sender.py", &[port.to_string()], CLIENTS);
    let plan = Plan { application: "broker", inputs, senders: Some(Box::new(senders)), ..Plan::default() };
    let chain = Chain::start(plan, acme.address)?;
    wait_until_subscribed(&log, " v1/+/+")?;
    for time in 0..times {
        chain.fleet.release(burst);
        chain.fleet.wait_for(time * burst + burst / 3);
        broker.stop();
        broker.restart();
    }
    let End { mut row, stats, .. } = chain.finish(&acme)?;
    row.details = format!(
        "the broker was restarted {times} times; {} repeated messages were recognized as duplicates",
        stats["duplicates"]
    );
    Ok(row)
}

/// Waits until the log of the broker has a subscription that contains `topic`: a broker stores no messages for a client that has not subscribed yet.
pub fn wait_until_subscribed(log: &Path, topic: &str) -> Result<(), Failure> {
    process::until("the gateway subscribes", Duration::from_secs(60), || {
        let log = std::fs::read_to_string(log).unwrap_or_default();
        log.contains(topic).then_some(())
    })
}
