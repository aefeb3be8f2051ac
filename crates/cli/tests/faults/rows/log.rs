//! Rows in which messages become records in a topic of Kafka, and the gateway or the broker is killed.

use super::gateway::kill_point;
use crate::{
    Failure,
    chain::{Chain, End, Plan, Receiver},
    cse::Delivered,
    kafka::{Kafka, Record},
    row::{Row, Scale},
};
use serde_json::Value;
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashSet},
    time::Duration,
};

const TOPIC: &str = "telemetry";

/// Kills the gateway in the middle of bursts, while it also writes records.
pub fn gateway_killed(scale: Scale) -> Result<Row, Failure> {
    let (kills, burst) = (scale.pick(3, 20), scale.pick(200, 600));
    let kafka = Log::start();
    let mut chain = Chain::start_with(Plan::default(), kafka.output())?;
    for kill in 0..kills {
        chain.fleet.release(burst);
        chain.fleet.wait_for(kill_point(kill, burst));
        chain.gateway.kill()?;
        chain.gateway.restart()?;
    }
    let End { mut row, sent, .. } = chain.finish(&kafka)?;
    let (records, repeated) = kafka.count();
    row.details = format!(
        "killed {kills} times; {} requests were cut and repeated; {repeated} of {records} records repeat an earlier one, and have its Dunnage-Name",
        sent.cut
    );
    Ok(row)
}

/// Kills the broker in the middle of bursts, and starts it again.
pub fn killed(scale: Scale) -> Result<Row, Failure> {
    let (kills, burst) = (scale.pick(2, 20), scale.pick(300, 600));
    let kafka = Log::start();
    let chain = Chain::start_with(Plan::default(), kafka.output())?;
    for kill in 0..kills {
        chain.fleet.release(burst);
        chain.fleet.wait_for(kill_point(kill, burst));
        kafka.0.borrow_mut().kill();
        std::thread::sleep(Duration::from_millis(500));
        kafka.0.borrow_mut().restart();
    }
    let End { mut row, .. } = chain.finish(&kafka)?;
    let (records, repeated) = kafka.count();
    row.details = format!(
        "killed {kills} times; {repeated} of {records} records repeat an earlier one, and have its Dunnage-Name"
    );
    Ok(row)
}

/// A broker with the topic.
struct Log(RefCell<Kafka>);

impl Log {
    fn start() -> Log {
        let kafka = Kafka::start(1 << 20);
        kafka.create(TOPIC, 3, 1, "");
        Log(RefCell::new(kafka))
    }

    fn output(&self) -> String {
        let brokers = self.0.borrow().address();
        format!("[[output]]\nname = \"log\"\n[output.kafka]\nbrokers = \"{brokers}\"\ntopic = \"{TOPIC}\"\n")
    }

    /// Returns the first record of each name, in the order of its partition.
    fn distinct(&self) -> Vec<Record> {
        let (records, mut names) = (self.0.borrow().records(TOPIC), HashSet::new());
        records.into_iter().filter(|record| names.insert(record.name.clone())).collect()
    }

    /// Returns the number of records, and of those that repeat an earlier one.
    fn count(&self) -> (usize, usize) {
        let records = self.0.borrow().records(TOPIC).len();
        (records, records - self.distinct().len())
    }
}

impl Receiver for Log {
    fn count(&self, _application: &str) -> u64 {
        self.distinct().len() as u64
    }

    fn delivered(
        &self,
        _application: &str,
        acknowledged: &BTreeMap<String, Vec<u64>>,
    ) -> Result<BTreeMap<String, Delivered>, Failure> {
        let mut delivered: BTreeMap<String, Delivered> =
            acknowledged.keys().map(|device| (device.clone(), Delivered::default())).collect();
        for record in self.distinct() {
            let value: Value = serde_json::from_slice(&record.value)?;
            let number = value["n"].as_u64().ok_or(format!("{value} is not a message"))?;
            delivered.entry(record.key).or_default().numbers.push(number);
        }
        Ok(delivered)
    }
}
