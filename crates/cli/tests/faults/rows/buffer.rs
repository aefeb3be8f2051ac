//! Rows in which the disk damages the buffer.

use crate::{
    Failure,
    chain::{Chain, End, Plan},
    cse,
    damage::Pages,
    proxy::{Mode, Proxy},
    row::{Row, Scale},
};

/// Overwrites pages that hold no messages, once while the gateway is stopped and once while it runs. All messages are waiting for
/// the CSE.
pub fn damaged(scale: Scale) -> Result<Row, Failure> {
    let burst = scale.pick(150, 1500);
    let acme = cse::in_memory(scale);
    let proxy = Proxy::start(acme.address);
    proxy.set(Mode::Refuse);
    let mut chain = Chain::start(Plan { application: "damaged", ..Plan::default() }, proxy.address)?;
    chain.fleet.release(burst);
    chain.fleet.wait_for(burst);
    chain.gateway.kill()?;
    let stopped = destroy_interior(&chain)?;
    chain.gateway.restart()?;
    chain.fleet.release(burst);
    chain.fleet.wait_for(2 * burst);
    let running = destroy_interior(&chain)?;
    chain.fleet.release(burst);
    proxy.set(Mode::Pass);
    let End { mut row, stats, .. } = chain.finish(&acme)?;
    row.details = format!(
        "interior pages of the messages overwritten: {stopped} while the gateway was stopped, {running} while it ran; the gateway reports {} damages and {} lost messages",
        stats["damages"], stats["lost"]
    );
    if stats["lost"] != 0 || stats["damages"] == 0 {
        row.problems.push(row.details.clone());
    }
    Ok(row)
}

/// Overwrites a page full of messages that are waiting for the CSE. The gateway must report how many were in it.
pub fn destroyed(scale: Scale) -> Result<Row, Failure> {
    let burst = scale.pick(200, 1500);
    let acme = cse::in_memory(scale);
    let proxy = Proxy::start(acme.address);
    proxy.set(Mode::Refuse);
    let mut chain = Chain::start(Plan { application: "destroyed", ..Plan::default() }, proxy.address)?;
    chain.fleet.release(burst);
    chain.fleet.wait_for(burst);
    chain.gateway.kill()?;
    let pages = Pages::open(chain.buffer())?;
    let (page, destroyed) = pages.middle_page()?;
    pages.destroy(page)?;
    drop(pages);
    chain.gateway.restart()?;
    chain.fleet.release(burst);
    proxy.set(Mode::Pass);
    chain.destroyed = destroyed;
    let End { mut row, stats, .. } = chain.finish(&acme)?;
    row.details = format!(
        "a page with {} messages overwritten; the gateway reports {} lost messages",
        row.destroyed, stats["lost"]
    );
    if stats["lost"] != row.destroyed {
        row.problems.push(row.details.clone());
    }
    Ok(row)
}

fn destroy_interior(chain: &Chain) -> Result<usize, Failure> {
    let pages = Pages::open(chain.buffer())?;
    let interior = pages.interior()?;
    for page in &interior {
        pages.destroy(*page)?;
    }
    if interior.is_empty() { Err("the tree of the messages is one page".into()) } else { Ok(interior.len()) }
}
