//! The row in which messages are published to an MQTT broker, and the gateway is killed.

use super::gateway::kill_point;
use crate::{
    Failure,
    chain::{Chain, End, Plan, Receiver},
    cse::Delivered,
    mosquitto::Mosquitto,
    row::{Row, Scale},
    subscriber::Subscriber,
};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

/// Kills the gateway in the middle of bursts, while it also publishes.
pub fn gateway_killed(scale: Scale) -> Result<Row, Failure> {
    let (kills, burst) = (scale.pick(3, 20), scale.pick(200, 600));
    let broker = Mosquitto::start();
    let subscriber = Subscriber::new(broker.port);
    let output =
        format!("[[output]]\nname = \"broker\"\n[output.mqtt]\nurl = \"mqtt://127.0.0.1:{}\"\n", broker.port);
    let mut chain = Chain::start_with(Plan::default(), output)?;
    for kill in 0..kills {
        chain.fleet.release(burst);
        chain.fleet.wait_for(kill_point(kill, burst));
        chain.gateway.kill()?;
        chain.gateway.restart()?;
    }
    let End { mut row, sent, .. } = chain.finish(&subscriber)?;
    let publications = subscriber.received().len();
    let repeated = publications - distinct(&subscriber);
    row.details = format!(
        "killed {kills} times; {} requests were cut and repeated; {repeated} of {publications} publications repeat an earlier one, and have its Dunnage-Name",
        sent.cut
    );
    Ok(row)
}

/// The number of publications with a name of their own.
fn distinct(subscriber: &Subscriber) -> usize {
    let received = subscriber.received();
    let names =
        received.iter().filter_map(|publish| publish.user.iter().find(|(key, _)| key == "Dunnage-Name"));
    names.map(|(_, name)| name.clone()).collect::<HashSet<_>>().len()
}

/// A publication counts if none before it has its name.
impl Receiver for Subscriber {
    fn count(&self, _application: &str) -> u64 {
        distinct(self) as u64
    }

    fn delivered(
        &self,
        _application: &str,
        acknowledged: &BTreeMap<String, Vec<u64>>,
    ) -> Result<BTreeMap<String, Delivered>, Failure> {
        let mut delivered: BTreeMap<String, Delivered> =
            acknowledged.keys().map(|device| (device.clone(), Delivered::default())).collect();
        let mut names = HashSet::new();
        for publish in self.received() {
            let property = |key: &str| {
                let found = publish.user.iter().find(|(known, _)| known == key);
                found.map(|(_, value)| value.clone()).ok_or(format!("{publish:?} has no {key}"))
            };
            let value: Value = serde_json::from_slice(&publish.payload)?;
            let number = value["n"].as_u64().ok_or(format!("{value} is not a message"))?;
            if names.insert(property("Dunnage-Name")?) {
                delivered.entry(property("Dunnage-Device")?).or_default().numbers.push(number);
            }
        }
        Ok(delivered)
    }
}
