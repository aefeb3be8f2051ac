//! The contents of the CSE, read through its API.

use crate::{Failure, acme::Acme, chain::Receiver, fleet, postgres::Postgres, row::Scale};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex},
};

/// The messages of a device in a CSE.
#[derive(Default)]
pub struct Delivered {
    /// The numbers of its messages, in the order of creation.
    pub numbers: Vec<u64>,
    /// Messages that ACME was creating when it was killed. They can be retrieved by name, but have no place in the order and may
    /// be missing from lists, because ACME writes an instance in several transactions.
    pub unfinished: Vec<u64>,
}

/// One CSE for all rows of the short form that do not kill it, because starting one takes seconds.
static SHARED: Mutex<Option<Arc<Acme>>> = Mutex::new(None);

/// A CSE that keeps everything in memory. Each row has its own application in it.
pub fn in_memory(scale: Scale) -> Arc<Acme> {
    match scale {
        Scale::Short => Arc::clone(SHARED.lock().unwrap().get_or_insert_with(|| Arc::new(Acme::in_memory()))),
        Scale::Long => Arc::new(Acme::in_memory()),
    }
}

/// Stops the shared CSE.
pub fn end() {
    *SHARED.lock().unwrap() = None;
}

/// A CSE that survives a kill, because its database is a separate process.
pub fn with_database() -> (Postgres, Acme) {
    let postgres = Postgres::start();
    // ACME cannot sort resources that it was creating when it was killed.
    let acme = Acme::start(&format!("{}[cse]\nsortDiscoveredResources=false\n", postgres.config()));
    (postgres, acme)
}

impl Receiver for Acme {
    fn count(&self, application: &str) -> u64 {
        let application = self.get(&format!("/cse-in/{application}?rcn=8&ty=3")).unwrap_or_default();
        let containers = application["m2m:cnt"].as_array().into_iter().flatten();
        containers.filter_map(|container| container["cni"].as_u64()).sum()
    }

    fn delivered(
        &self,
        application: &str,
        acknowledged: &BTreeMap<String, Vec<u64>>,
    ) -> Result<BTreeMap<String, Delivered>, Failure> {
        let read = |(device, numbers): (&String, &Vec<u64>)| {
            let container = format!("/cse-in/{application}/{device}");
            Ok((device.clone(), of_device(self, &container, device, numbers)?))
        };
        acknowledged.iter().map(read).collect()
    }
}

impl Receiver for Arc<Acme> {
    fn count(&self, application: &str) -> u64 {
        Acme::count(self, application)
    }

    fn delivered(
        &self,
        application: &str,
        acknowledged: &BTreeMap<String, Vec<u64>>,
    ) -> Result<BTreeMap<String, Delivered>, Failure> {
        Acme::delivered(self, application, acknowledged)
    }
}

fn of_device(acme: &Acme, container: &str, device: &str, acknowledged: &[u64]) -> Result<Delivered, Failure> {
    let children = acme.get(&format!("{container}?rcn=8&ty=4")).unwrap_or_default();
    let mut delivered = Delivered::default();
    let mut ordered = Vec::new();
    for instance in children["m2m:cin"].as_array().into_iter().flatten() {
        let number = instance["con"]["n"].as_u64().ok_or(format!("{instance} is not a message"))?;
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

/// The stable ID that the gateway derives from a message's key.
fn name(device: &str, number: u64) -> String {
    let hash = Sha256::new()
        .chain_update(device)
        .chain_update([0])
        .chain_update(fleet::key(device, number))
        .finalize();
    hash.iter().take(16).fold(String::from("k"), |name, byte| format!("{name}{byte:02x}"))
}
