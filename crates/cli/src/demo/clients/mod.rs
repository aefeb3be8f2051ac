//! The clients through which the fleet sends its messages, one file per input.

mod coap;
mod http;
mod mqtt;
mod satellite;

pub use http::Http;

use super::{
    input::Input,
    report::{Report, SCHEMA, TERRESTRIAL},
    tally::Outcome,
};
use crate::failure::Failure;
use coap::Coap;
use dunnage_gateway::{Config, Gateway};
use mqtt::Mqtt;
use satellite::Satellite;
use serde_json::json;
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

/// Names of the inputs in the configuration.
const TERMINAL: &str = "terminal";
const YARD: &str = "yard";
const PROVIDER: &str = "provider";

/// Adds to `config` all inputs of the demo, on free ports, and a profile with the schema for each of the device `patterns`. The profile has
/// the link of the yard, too: MQTT 3.1.1 cannot say it.
/// `data` is the gateway's folder, into which the provider's token is written.
pub fn configure(config: &mut Config, patterns: &BTreeSet<String>, data: &Path) -> Result<(), Failure> {
    let token = Satellite::agree(data)?;
    let anywhere = json!({ "listen": "127.0.0.1:0" });
    let profiles: Vec<_> = patterns
        .iter()
        .map(|device| json!({ "device": device, "schema": SCHEMA, "link": TERRESTRIAL }))
        .collect();
    let inputs = json!({
        "profile": profiles,
        "input": [
            { "name": TERMINAL, "coap": anywhere },
            { "name": YARD, "mqtt": anywhere },
            { "name": PROVIDER, "webhook": {
                "provider": "astrocast", "token_file": token, "header": satellite::HEADER, "format": "packed", "link": "astrocast"
            }}
        ]
    });
    let inputs: Config = serde_json::from_value(inputs).map_err(|e| Failure::about("demo", e))?;
    (config.profiles, config.inputs) = (inputs.profiles, inputs.inputs);
    Ok(())
}

/// The clients of all inputs.
pub struct Clients {
    pub http: Http,
    pub coap: Coap,
    pub mqtt: Mqtt,
    satellite: Satellite,
}

impl Clients {
    /// Creates the clients for a gateway that was started with the configuration from [`configure`].
    pub fn open(gateway: &Gateway, data: &Path, at_a_time: usize) -> Result<Clients, Failure> {
        let address = |name: &str| {
            let address = gateway.input_address(name).map(reachable);
            address.ok_or_else(|| Failure::Failed(format!("the input {name} has no address")))
        };
        let http = Http::new(reachable(gateway.address()), at_a_time);
        let hook = http.url(&format!("/hooks/{PROVIDER}"));
        Ok(Clients {
            coap: Coap::new(address(TERMINAL)?),
            mqtt: Mqtt::new(address(YARD)?),
            satellite: Satellite::new(http.clone(), hook, data)?,
            http,
        })
    }

    /// Sends a report through its input and waits for the acknowledgement.
    pub fn send(&self, report: &Report) -> Outcome {
        let acknowledged = match report.input {
            Input::Http => self.http.send(report),
            Input::Coap => self.coap.send(report),
            Input::Mqtt => self.mqtt.send(report),
            Input::Satellite => self.satellite.send(report),
        };
        Outcome::of(report, acknowledged)
    }
}

/// The address for clients on this machine: the loopback address if the gateway listens on all addresses.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
