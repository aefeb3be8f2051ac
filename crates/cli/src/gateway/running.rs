//! Requests to a running gateway.

use crate::{
    failure::Failure,
    output::{self, printable},
};
use clap::Args;
use dunnage_gateway::AdminClient;
use serde::Serialize;
use serde_json::Value;
use std::{
    io::{self, Write},
    path::PathBuf,
};

/// Which gateway.
#[derive(Args)]
pub struct Which {
    /// Configuration file of the running gateway
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Which {
    /// Sends a GET request to the admin socket of the running gateway.
    pub fn get(&self, what: &str, query: &[(&str, String)]) -> Result<Value, Failure> {
        self.ask(async |client| client.get(what, query).await)
    }

    /// Sends a POST request to the admin socket of the running gateway.
    pub fn post(&self, what: &str, query: &[(&str, String)]) -> Result<Value, Failure> {
        self.ask(async |client| client.post(what, query).await)
    }

    /// Sends a POST request with a body to the admin socket of the running gateway.
    pub fn send(
        &self,
        what: &str,
        query: &[(&str, String)],
        body: impl Into<Vec<u8>>,
    ) -> Result<Value, Failure> {
        let body: Vec<u8> = body.into();
        self.ask(async |client| client.send(what, query, body).await)
    }

    fn ask(
        &self,
        question: impl AsyncFnOnce(AdminClient) -> Result<Value, dunnage_gateway::AdminError>,
    ) -> Result<Value, Failure> {
        let failed = |e: &dyn std::fmt::Display| Failure::Failed(e.to_string());
        let config = super::load(self.config.as_deref())?;
        let client = AdminClient::connect(&config).map_err(|e| failed(&e))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| Failure::about("cannot start the runtime", e))?;
        runtime.block_on(question(client)).map_err(|e| failed(&e))
    }
}

/// The query parameter that selects messages by their IDs; `None` if there are no IDs.
pub fn ids(ids: &[i64]) -> Option<(&'static str, String)> {
    let text = || ids.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    (!ids.is_empty()).then(|| ("ids", text()))
}

/// Fails if IDs were given and none of them was found in the list that `dunnage gateway COMMAND list` prints.
pub fn check_found(ids: &[i64], found: bool, command: &str) -> Result<(), Failure> {
    if found || ids.is_empty() {
        return Ok(());
    }
    let ids: Vec<_> = ids.iter().map(i64::to_string).collect();
    Err(Failure::Failed(format!(
        "no message in the list has the ID {}; `dunnage gateway {command} list` prints the list",
        ids.join(" or ")
    )))
}

/// Prints an answer as indented JSON.
pub fn print_json(answer: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(answer).map_err(|e| Failure::Failed(e.to_string()))?;
    Ok(writeln!(io::stdout().lock(), "{text}")?)
}

/// `value` as text that is safe for a terminal; `-` for null.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => printable(text),
        Value::Null => "-".into(),
        other => other.to_string(),
    }
}

/// The items of a JSON array; empty if `value` is not an array.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A count and what it counts: `1 message`, `2 messages`.
pub fn counted(count: &Value, noun: &str) -> String {
    output::counted(count.as_u64().unwrap_or_default(), noun)
}
