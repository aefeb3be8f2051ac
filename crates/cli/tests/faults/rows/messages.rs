//! Rows with invalid messages.

use crate::{
    Failure,
    chain::{Chain, End, Plan},
    cse,
    fleet::Shape,
    row::{Row, Scale},
};

/// Truncates every hundredth message.
pub fn malformed(scale: Scale) -> Result<Row, Failure> {
    let messages = scale.pick(300, 3000);
    let acme = cse::in_memory(scale);
    let shape = Shape { malformed_every: 100, ..Shape::default() };
    let chain = Chain::start(Plan { application: "malformed", shape, ..Plan::default() }, acme.address)?;
    chain.fleet.release(messages);
    let End { mut row, sent, .. } = chain.finish(&acme)?;
    row.details = format!(
        "{} malformed messages were answered 400; {} are in quarantine",
        sent.malformed, row.quarantined
    );
    if sent.malformed != messages / 100 || row.quarantined != sent.malformed {
        row.problems.push(row.details.clone());
    }
    Ok(row)
}
