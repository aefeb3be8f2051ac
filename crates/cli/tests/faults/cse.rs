//! What the CSE has, asked through its own API.

use crate::{Failure, acme::Acme, postgres::Postgres};
use std::collections::BTreeMap;

/// What a CSE has of each device: the numbers of the messages in the order in which they were created.
pub type Delivered = BTreeMap<String, Vec<u64>>;

/// One that has after a kill what it had before, as its database is a process of its own.
pub fn with_database() -> Result<(Postgres, Acme), Failure> {
    let postgres = Postgres::start()?;
    let acme = Acme::start(&format!(
        "databaseType=postgresql\n[database.postgresql]\nhost=127.0.0.1\nport={}\ndatabase=acme\nrole=acme\npassword=none\n",
        postgres.port
    ));
    Ok((postgres, acme))
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
