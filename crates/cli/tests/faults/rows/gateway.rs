//! Rows in which the gateway is killed.

use crate::{
    Failure,
    chain::{Chain, End, Plan},
    cse,
    row::{Row, Scale},
};

/// Kills the gateway in the middle of bursts, while it also delivers.
pub fn killed(scale: Scale) -> Result<Row, Failure> {
    let plan = Plan { application: "killed", ..Plan::default() };
    killed_under(plan, scale.pick(3, 20), scale.pick(100, 400), scale)
}

/// Kills the gateway of `plan` `kills` times, each time in the middle of a burst of `burst` messages, and between a commit and
/// its answers.
pub fn killed_under(plan: Plan, kills: u64, burst: u64, scale: Scale) -> Result<Row, Failure> {
    let acme = cse::in_memory(scale);
    let mut chain = Chain::start(plan, acme.address)?;
    let mut unacknowledged = 0;
    for kill in 0..kills {
        chain.fleet.release(burst);
        chain.fleet.wait_for(kill_point(kill, burst));
        unacknowledged += chain.pause_before_an_answer()?;
        chain.gateway.kill()?;
        chain.gateway.restart()?;
    }
    let End { mut row, sent, stats } = chain.finish(&acme)?;
    row.details = format!(
        "killed {kills} times; {unacknowledged} messages were stored but not yet acknowledged at a kill; {} requests were cut and repeated; \
         {} repeated messages were recognized as duplicates by their keys",
        sent.cut, stats["duplicates"]
    );
    Ok(row)
}

/// Kills the CSE and then the gateway, and restarts both: alternately the gateway first and the CSE first.
pub fn killed_with_the_cse(scale: Scale) -> Result<Row, Failure> {
    let (kills, burst) = (scale.pick(2, 6), scale.pick(60, 300));
    let (_database, mut acme) = cse::with_database();
    let mut chain = Chain::start(Plan { application: "both", ..Plan::default() }, acme.address)?;
    for kill in 0..kills {
        chain.fleet.release(burst);
        chain.wait_until_delivered(&acme, 2 * kill * burst + burst / 2);
        acme.kill();
        chain.fleet.release(burst);
        chain.fleet.wait_for(kill_point(2 * kill + 1, burst));
        chain.gateway.kill()?;
        if kill % 2 == 0 {
            chain.gateway.restart()?;
            acme.restart();
        } else {
            acme.restart();
            chain.gateway.restart()?;
        }
    }
    let End { mut row, sent, .. } = chain.finish(&acme)?;
    row.details = format!(
        "both killed {kills} times; {} requests were cut and repeated; incomplete in the CSE: {}",
        sent.cut, row.unfinished
    );
    Ok(row)
}

/// The number of answered messages at which to kill the gateway in burst `number`: at another point of each burst, with a request
/// in flight on every connection.
pub fn kill_point(number: u64, burst: u64) -> u64 {
    number * burst + burst * (1 + number * 7 % 10) / 12
}
