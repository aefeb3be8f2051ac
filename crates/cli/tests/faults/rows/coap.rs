//! Rows with CoAP clients, from aiocoap.

use super::gateway;
use crate::{
    Failure,
    chain::{Chain, End, Plan},
    cse,
    gateway::Gateway,
    lossy::Lossy,
    row::{Row, Scale},
    script::Script,
};
use std::net::UdpSocket;

/// Number of clients, each in its own process.
const CLIENTS: usize = 4;

/// Kills the gateway. Its clients learn from ICMP that the port is closed, and send again with the same key.
pub fn killed(scale: Scale) -> Result<Row, Failure> {
    let (port, inputs) = coap()?;
    let senders = move |_: &Gateway| Script::senders("coap_sender.py", &[port.to_string()], CLIENTS);
    let plan = Plan { application: "coap", inputs, senders: Some(Box::new(senders)), ..Plan::default() };
    gateway::killed_under(plan, scale.pick(2, 10), scale.pick(60, 300), scale)
}

/// Puts a network that loses, duplicates and reorders datagrams between aiocoap and the gateway.
pub fn lossy(scale: Scale) -> Result<Row, Failure> {
    // Most of a message's time is waiting: a duplicated request is acknowledged with an empty message, and its response, sent
    // later on the gateway's own timers, can be lost as well.
    let (messages, clients) = scale.pick((24, 12), (300, 24));
    let acme = cse::in_memory(scale);
    let (port, inputs) = coap()?;
    let network = Lossy::start(([127, 0, 0, 1], port).into(), 1);
    let to = network.address.port().to_string();
    let senders = move |_: &Gateway| Script::senders("coap_sender.py", &[to], clients);
    let plan = Plan { application: "lossy", inputs, senders: Some(Box::new(senders)), ..Plan::default() };
    let chain = Chain::start(plan, acme.address)?;
    chain.fleet.release(messages);
    let End { mut row, sent, stats } = chain.finish(&acme)?;
    let [lost, duplicated, reordered] = network.counts();
    row.details = format!(
        "{lost} datagrams lost, {duplicated} duplicated, {reordered} reordered; {} messages were repeated after CoAP had given up; {} repeated messages were recognized as duplicates",
        sent.cut, stats["duplicates"]
    );
    Ok(row)
}

fn coap() -> Result<(u16, String), Failure> {
    let port = UdpSocket::bind("127.0.0.1:0")?.local_addr()?.port();
    Ok((port, format!("[[input]]\nname = \"coap\"\n[input.coap]\nlisten = \"127.0.0.1:{port}\"\n")))
}
