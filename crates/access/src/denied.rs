//! Reasons to deny access, and their counter.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};

/// Why a peer is denied access. Nothing of its message has been stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    /// It has no valid token or key; the text is the reason, for people.
    Unauthorized(String),
    /// Its token or key does not give this right.
    Forbidden(String),
    /// It has reached a limit.
    TooMany {
        /// The limit, for people.
        detail: String,
        /// When it may try again, in seconds.
        seconds: u32,
    },
    /// Its HTTP request has no valid `Host`.
    BadHost(String),
}

impl Denied {
    /// Returns the code, as it appears in metrics and problems.
    pub fn code(&self) -> &'static str {
        match self {
            Denied::Unauthorized(_) => "unauthorized",
            Denied::Forbidden(_) => "forbidden",
            Denied::TooMany { .. } => "too-many",
            Denied::BadHost(_) => "host",
        }
    }
}

/// The label of [`Refusals`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByProblem {
    problem: &'static str,
}

/// Counts denied access, by [`Denied::code`].
#[derive(Debug, Clone, Default)]
pub struct Refusals(Family<ByProblem, Counter>);

impl Refusals {
    /// Counts one denial.
    pub fn count(&self, denied: &Denied) {
        self.0.get_or_create(&ByProblem { problem: denied.code() }).inc();
    }

    /// Adds the counter to `registry` under the name `name`.
    pub fn register(&self, registry: &mut Registry, name: &str, help: &str) {
        registry.register(name, help, self.0.clone());
    }
}
