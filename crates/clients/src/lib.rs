//! The clients with which inputs and outputs of the gateway connect: MQTT ([`mqtt`]), NATS ([`nats`]) and
//! Kafka ([`kafka`]), and the files that hold their
//! credentials and trusted certificates ([`secret`]).
//!
//! The broker input and the outputs to MQTT, oneM2M and downlinks share the MQTT client; the MQTT listener shares its packets. The NATS input and the NATS output
//! agree on headers and subjects. [`connector`] makes connections to brokers of settings.

pub mod connector;
pub mod kafka;
pub mod mqtt;
pub mod nats;
pub mod secret;
