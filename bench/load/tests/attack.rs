//! The short form of the attacks. An attacker must not gain access, block other clients, exhaust memory, or make the gateway acknowledge
//! messages that are lost.

#![allow(clippy::unwrap_used)]

use std::process::Command;

fn withstands(target: &str) {
    let attack = Command::new(env!("CARGO_BIN_EXE_dunnage-bench-load"))
        .args(["attack", "--short", "--target", target])
        .output()
        .unwrap();
    let printed = String::from_utf8([attack.stdout, attack.stderr].concat()).unwrap();
    assert!(attack.status.success(), "{printed}");
}

#[test]
fn acknowledged_messages_survive_damage_to_the_buffer_files() {
    withstands("files");
}

#[test]
fn unfinished_bodies_do_not_block_other_clients() {
    withstands("half-sent");
}

#[test]
fn a_request_cannot_claim_to_be_local() {
    withstands("host");
}

#[test]
fn idle_connections_and_event_streams_do_not_block_other_clients() {
    withstands("idle");
}

#[test]
fn readers_of_old_pages_do_not_stop_the_output() {
    withstands("paging");
}

#[test]
fn messages_that_expand_stay_within_the_memory_limit() {
    withstands("bombs");
}
