//! What inputs and outputs of the gateway connect with: MQTT ([`mqtt`]), NATS ([`nats`]), and the files that hold their credentials and the
//! certificates that they trust ([`secret`]).
//!
//! The input from a broker and the output to a oneM2M CSE share the MQTT client; the listener for MQTT shares its packets. The input from a
//! NATS stream and the output to one agree on headers and subjects.

pub mod mqtt;
pub mod nats;
pub mod secret;
