//! The state of outputs.

use crate::state::GatewayState;
use dunnage_base::kind::Kind;
use dunnage_outputs::Status;
use serde::Serialize;
use utoipa::ToSchema;

/// An output.
#[derive(Serialize, ToSchema)]
pub struct OutputObject {
    /// Its name.
    pub name: String,
    /// Its kind in the configuration; `null` if the configuration no longer has it.
    #[schema(required)]
    pub kind: Option<&'static str>,
    /// That of its status, or `not running`.
    pub state: &'static str,
    /// Its dead letters.
    pub dead_letters: u64,
    /// Its progress; `null` if it is not running.
    #[schema(required)]
    pub status: Option<Status>,
}

/// Returns the state of each output of a gateway, and then of those that only have dead letters left.
pub fn outputs(state: &GatewayState) -> Vec<OutputObject> {
    let totals = state.buffer().stats.totals();
    let kind = |name: &str| {
        state.config.outputs.iter().find(|output| output.name == name).map(|output| output.kind.key())
    };
    let running = state.outputs.statuses(totals.last_message_id).into_iter().map(|status| OutputObject {
        kind: kind(&status.output),
        state: status.state,
        dead_letters: totals.dead_letters.get(&*status.output).copied().unwrap_or_default(),
        name: status.output.clone(),
        status: Some(status),
    });
    let mut all: Vec<_> = running.collect();
    for (name, dead_letters) in &*totals.dead_letters {
        if !all.iter().any(|output| output.name == *name) {
            let (name, dead_letters) = (name.clone(), *dead_letters);
            all.push(OutputObject {
                kind: kind(&name),
                state: "not running",
                dead_letters,
                name,
                status: None,
            });
        }
    }
    all
}
