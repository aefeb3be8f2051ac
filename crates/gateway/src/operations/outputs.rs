//! The state of outputs.

use crate::state::GatewayState;
use dunnage_base::kind::Kind;
use dunnage_outputs::{Expressions, Status};
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
    /// Its expression for the messages that it delivers.
    #[schema(required)]
    pub when: Option<String>,
    /// Its expression for the end of an alarm.
    #[schema(required)]
    pub until: Option<String>,
    /// Its expression for what it delivers.
    #[schema(required)]
    pub map: Option<String>,
    /// Its dead letters.
    pub dead_letters: u64,
    /// Its progress; `null` if it is not running.
    #[schema(required)]
    pub status: Option<Status>,
}

/// Returns the state of each output of a gateway, and then of those that only have dead letters left.
pub fn outputs(state: &GatewayState) -> Vec<OutputObject> {
    let (totals, configuration) = (state.buffer().stats.totals(), &state.config.outputs);
    let object = |name: &str, state, dead_letters, status| {
        let configured = configuration.iter().find(|output| output.name == name);
        let Expressions { when, until, map } =
            configured.map(|output| output.expressions.clone()).unwrap_or_default();
        let kind = configured.map(|output| output.kind.key());
        OutputObject { name: name.into(), kind, state, when, until, map, dead_letters, status }
    };
    let running = state.outputs.statuses(totals.last_message_id).into_iter().map(|status| {
        let dead_letters = totals.dead_letters.get(&*status.output).copied().unwrap_or_default();
        object(&status.output.clone(), status.state, dead_letters, Some(status))
    });
    let mut all: Vec<_> = running.collect();
    for (name, dead_letters) in &*totals.dead_letters {
        if !all.iter().any(|output| output.name == *name) {
            all.push(object(name, "not running", *dead_letters, None));
        }
    }
    all
}
