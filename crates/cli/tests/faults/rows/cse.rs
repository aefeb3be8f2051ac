//! Rows in which the CSE misbehaves.

use crate::{
    Failure,
    chain::{Chain, Plan},
    cse,
    proxy::{Mode, Proxy},
    row::{Row, Scale},
};
use std::{thread::sleep, time::Duration};

/// Kills ACME while it receives messages. Its database keeps running.
pub fn killed(scale: Scale) -> Result<Row, Failure> {
    let (kills, burst) = (scale.pick(1, 5), scale.pick(150, 600));
    let (_database, mut acme) = cse::with_database();
    let chain = Chain::start(Plan { application: "cse", ..Plan::default() }, acme.address)?;
    for kill in 0..kills {
        chain.fleet.release(burst);
        chain.wait_until_delivered(&acme, kill * burst + burst / 3);
        acme.kill();
        sleep(Duration::from_secs(1));
        acme.restart();
    }
    let mut row = chain.finish(&acme)?.row;
    row.details =
        format!("killed {kills} times while it received messages; incomplete in the CSE: {}", row.unfinished);
    Ok(row)
}

/// The CSE answers late, then not at all for longer than the gateway's timeout, then normally.
pub fn slow(scale: Scale) -> Result<Row, Failure> {
    let (messages, silences) = (scale.pick(200, 3000), scale.pick(1, 5));
    let acme = cse::in_memory(scale);
    let proxy = Proxy::start(acme.address);
    let plan = Plan { application: "slow", timeout_seconds: 2, ..Plan::default() };
    let chain = Chain::start(plan, proxy.address)?;
    for silence in 0..silences {
        proxy.set(Mode::Delay(Duration::from_millis(300)));
        chain.fleet.release(messages / silences);
        chain.wait_until_delivered(&acme, (messages / silences) * silence + 40);
        proxy.set(Mode::Stall);
        sleep(Duration::from_secs(4));
        proxy.set(Mode::Pass);
    }
    let mut row = chain.finish(&acme)?.row;
    row.details =
        format!("answers 300 ms late, and {silences} times no answer for 4 s; the gateway's timeout is 2 s");
    Ok(row)
}

/// The CSE accepts messages, but the connection is cut before the answer, or the answer is 500.
pub fn false_failures(scale: Scale) -> Result<Row, Failure> {
    let messages = scale.pick(200, 3000);
    let acme = cse::in_memory(scale);
    let proxy = Proxy::start(acme.address);
    let chain = Chain::start(Plan { application: "failures", ..Plan::default() }, proxy.address)?;
    proxy.set(Mode::CutAfterRequest { every: 5 });
    chain.fleet.release(messages);
    chain.wait_until_delivered(&acme, messages / 2);
    proxy.set(Mode::FailAfterRequest { every: 5 });
    chain.wait_until_delivered(&acme, messages);
    let mut row = chain.finish(&acme)?.row;
    row.details =
        format!("after {} successful creations, the connection was cut or the answer was 500", proxy.cuts());
    Ok(row)
}
