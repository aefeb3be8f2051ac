//! Rows in which a provider posts messages repeatedly.

use crate::{
    Failure,
    chain::{Chain, End, Plan},
    cse,
    disk::Disk,
    fleet::Shape,
    row::{Row, Scale},
    rows::machine::{fill_under_load, on_disk},
    sender::{Sender, Senders, agent, status},
};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use tempfile::TempDir;

/// A provider that posts every callback twice, and repeats those answered 503, while the disk fills up.
pub fn repeated(scale: Scale) -> Result<Row, Failure> {
    let (times, burst) = (scale.pick(1, 4), scale.pick(150, 500));
    let acme = cse::in_memory(scale);
    let folder = TempDir::new()?;
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, TOKEN)?;
    let inputs = format!(
        "[[input]]\nname = \"sat\"\n[input.webhook]\nprovider = \"astrocast\"\nformat = \"json\"\ntoken_file = {tokens:?}\n"
    );
    let disk = Disk::mount(&folder.path().join("disk"))?;
    let connections = Shape::default().connections;
    let plan = Plan {
        application: "hook",
        inputs,
        senders: Some(Box::new(move |gateway| Ok(Provider::senders(&gateway.url(), connections)))),
        ..on_disk(&disk)
    };
    let chain = Chain::start(plan, acme.address)?;
    fill_under_load(&chain, &disk, times, burst)?;
    let End { mut row, sent, stats } = chain.finish(&acme)?;
    row.details = format!(
        "every callback was sent at least twice; {} were answered 503; {} were recognized as duplicates",
        sent.unavailable, stats["duplicates"]
    );
    if stats["duplicates"].as_u64().is_none_or(|known| known < row.acknowledged) {
        row.problems.push(row.details.clone());
    }
    Ok(row)
}

const TOKEN: &str = "a-token-of-the-provider";

/// A client that posts Astrocast's push notifications.
struct Provider {
    agent: ureq::Agent,
    url: String,
}

impl Provider {
    fn senders(url: &str, connections: usize) -> Senders {
        let one =
            |_| Box::new(Provider { agent: agent(), url: format!("{url}/hooks/sat") }) as Box<dyn Sender>;
        (0..connections).map(one).collect()
    }

    fn post(&self, callback: &str) -> Option<u16> {
        let request = self.agent.post(&self.url).header("content-type", "application/json");
        status(request.header("authorization", format!("Bearer {TOKEN}")).send(callback))
    }
}

impl Sender for Provider {
    fn send(&mut self, device: &str, key: &str, body: &str) -> Option<u16> {
        let data = BASE64_STANDARD.encode(body);
        let callback = format!(
            "{{\"messageGuid\":\"{key}\",\"deviceGuid\":\"{device}\",\"createdDate\":\"2026-01-01T00:00:00Z\",\"data\":\"{data}\"}}"
        );
        match (self.post(&callback)?, self.post(&callback)?) {
            (200, 200) => Some(204),
            // If one of the two callbacks was not accepted, the provider posts the message again.
            (200, other) | (other, _) => Some(other),
        }
    }
}
