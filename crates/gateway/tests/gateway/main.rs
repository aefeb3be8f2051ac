//! Tests of the gateway over its sockets, with third-party clients, brokers and servers. They are one program, because linking takes longer
//! than running most of them.

#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod access;
mod api;
mod balanced;
mod batch;
mod broker;
mod coap;
mod coaps;
mod compressed;
mod damage;
mod deltas;
mod downlinks;
mod duplicates;
mod durability;
mod envelopes;
mod expressions;
mod files;
mod fit;
mod fleet;
mod formats;
mod fsync;
mod in_place;
mod ingest;
mod kafka;
mod limits;
mod memory;
mod metrics;
mod mqtt;
mod nats;
mod nats_cluster;
mod nats_forwarders;
mod nginx;
mod onem2m;
mod onem2m_imitations;
mod openapi;
mod operations;
mod outputs;
mod outputs_http;
mod packed;
mod play;
mod postgres;
#[cfg(unix)]
mod profiles;
mod publications;
#[cfg(unix)]
mod quarantine;
mod register;
mod relay;
mod reload;
mod replay;
mod retention;
mod schemas;
mod scopes;
mod shares;
mod tls;
mod udp;
mod webhooks;
