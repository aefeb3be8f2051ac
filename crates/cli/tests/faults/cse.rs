//! What the CSE has, asked through its own API.

use crate::{Failure, acme::Acme, postgres::Postgres, row::Scale};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// What a CSE has of each device: the numbers of the messages in the order in which they were created.
pub type Delivered = BTreeMap<String, Vec<u64>>;

/// One for all rows of the short form that do not kill it, as it takes seconds to start.
static SHARED: Mutex<Option<Arc<Acme>>> = Mutex::new(None);

/// One that keeps everything in memory. Each row has an application of its own in it.
pub fn in_memory(scale: Scale) -> Arc<Acme> {
    match scale {
        Scale::Short => Arc::clone(SHARED.lock().unwrap().get_or_insert_with(|| Arc::new(Acme::in_memory()))),
        Scale::Long => Arc::new(Acme::in_memory()),
    }
}

/// Ends the one that rows share.
pub fn end() {
    *SHARED.lock().unwrap() = None;
}

/// One that has after a kill what it had before, as its database is a process of its own.
pub fn with_database() -> (Postgres, Acme) {
    let postgres = Postgres::start();
    let acme = Acme::start(&postgres.config());
    (postgres, acme)
}

/// How many messages the containers of the application `ae` have.
pub fn count(acme: &Acme, ae: &str) -> u64 {
    let application = acme.get(&format!("/cse-in/{ae}?rcn=8&ty=3")).unwrap_or_default();
    let containers = application["m2m:cnt"].as_array().into_iter().flatten();
    containers.filter_map(|container| container["cni"].as_u64()).sum()
}

/// All messages of the application `ae`.
pub fn delivered(acme: &Acme, ae: &str) -> Result<Delivered, Failure> {
    let application = acme.get(&format!("/cse-in/{ae}?rcn=8&ty=3")).ok_or("the CSE has nothing")?;
    let mut delivered = Delivered::new();
    for container in application["m2m:cnt"].as_array().into_iter().flatten() {
        let device = container["rn"].as_str().ok_or("a container without name")?;
        let instances = acme.instances(&format!("/cse-in/{ae}/{device}"));
        let number = |content: &serde_json::Value| content["n"].as_u64();
        let numbers = instances.iter().map(|instance| number(&instance.content));
        let numbers =
            numbers.collect::<Option<_>>().ok_or(format!("{device} has an instance that is no message"))?;
        delivered.insert(device.to_owned(), numbers);
    }
    Ok(delivered)
}
