//! Access over HTTP: rights to send and read, with tokens, limits and proxies.

mod local;
mod requests;
mod tokens;

use crate::support::{Answer, JSON, Running, answer};

const MESSAGE: &[u8] = br#"{"temperature":17.25}"#;

/// Names and values of request headers.
type Headers<'a> = &'a [(&'a str, &'a str)];

fn post(gateway: &Running, device: &str, headers: Headers) -> Answer {
    let url = gateway.url(&format!("/ingest/{device}"));
    let request = gateway.agent.post(url).header("content-type", JSON);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    answer(request.send(MESSAGE).unwrap())
}

fn get(gateway: &Running, path: &str, headers: Headers) -> Answer {
    let request = gateway.agent.get(gateway.url(path));
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    answer(request.call().unwrap())
}
