//! The playground: from pasted messages to a schema, the size in every format, bytes explained, costs over links, and code. The gateway has
//! its [`routes`] among its own, and `dunnage play` serves them alone ([`serve`]).
//!
//! The texts of a question are untrusted. `limits` says how much each may ask for; a schema reads no file and no network.

mod about;
mod answer;
mod bytes;
mod code;
mod limits;
mod messages;
mod mistake;
mod problems;
mod routes;
mod savings;
mod schema;
mod server;
mod trained;
mod worker;

pub use about::Process;
pub use routes::routes;
pub use server::serve;
pub use worker::{PROGRAM, work_if_asked};
