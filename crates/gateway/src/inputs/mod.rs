//! Inputs: each makes readings of what arrives and acknowledges them once they are durable.

pub mod body;
pub mod content_type;
pub mod decode;
pub mod http;
pub mod read;
pub mod take;
