//! What the CSE has, asked through its own API.

use crate::{Failure, acme::Acme, fleet, postgres::Postgres, row::Scale};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex},
};

/// What a CSE has of a device.
#[derive(Default)]
pub struct Delivered {
    /// The numbers of its messages in the order in which they were created.
    pub numbers: Vec<u64>,
    /// Messages that ACME was killed in the midst of creating: retrieved by their names, but without a place in the order, and
    /// perhaps missing in lists, as ACME writes an instance in several transactions.
    pub unfinished: Vec<u64>,
}

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
    // It cannot sort resources that it was killed in the midst of creating.
    let acme = Acme::start(&format!("{}[cse]\nsortDiscoveredResources=false\n", postgres.config()));
    (postgres, acme)
}

/// How many messages the containers of the application `ae` have.
pub fn count(acme: &Acme, ae: &str) -> u64 {
    let application = acme.get(&format!("/cse-in/{ae}?rcn=8&ty=3")).unwrap_or_default();
    let containers = application["m2m:cnt"].as_array().into_iter().flatten();
    containers.filter_map(|container| container["cni"].as_u64()).sum()
}

/// What the application `ae` has of the messages that were acknowledged.
pub fn delivered(
    acme: &Acme,
    ae: &str,
    acknowledged: &BTreeMap<String, Vec<u64>>,
) -> Result<BTreeMap<String, Delivered>, Failure> {
    let read = |(device, numbers): (&String, &Vec<u64>)| {
        let container = format!("/cse-in/{ae}/{device}");
        Ok((device.clone(), of_device(acme, &container, device, numbers)?))
    };
    acknowledged.iter().map(read).collect()
}

fn of_device(acme: &Acme, container: &str, device: &str, acknowledged: &[u64]) -> Result<Delivered, Failure> {
    let children = acme.get(&format!("{container}?rcn=8&ty=4")).unwrap_or_default();
    let mut delivered = Delivered::default();
    let mut ordered = Vec::new();
    for instance in children["m2m:cin"].as_array().into_iter().flatten() {
        let number = instance["con"]["n"].as_u64().ok_or(format!("{instance} is no message"))?;
        match instance["st"].as_u64() {
            Some(place) => ordered.push((place, number)),
            None => delivered.unfinished.push(number),
        }
    }
    ordered.sort_unstable();
    delivered.numbers = ordered.into_iter().map(|(_, number)| number).collect();
    let listed: HashSet<_> = delivered.numbers.iter().chain(&delivered.unfinished).copied().collect();
    for number in acknowledged.iter().filter(|number| !listed.contains(number)) {
        let instance = acme.get(&format!("{container}/{}", name(device, *number)));
        if instance.is_some_and(|instance| instance["con"]["n"] == *number) {
            delivered.unfinished.push(*number);
        }
    }
    Ok(delivered)
}

/// What the gateway calls a device's message, by its key.
fn name(device: &str, number: u64) -> String {
    let hash = Sha256::new()
        .chain_update(device)
        .chain_update([0])
        .chain_update(fleet::key(device, number))
        .finalize();
    hash.iter().take(16).fold(String::from("k"), |name, byte| format!("{name}{byte:02x}"))
}
