//! The short form of the attacks: nobody who attacks the gateway enters it, stops others, takes its memory, or has it acknowledge what is lost.

#![allow(clippy::unwrap_used)]

use std::process::Command;

fn bears(target: &str) {
    let attack = Command::new(env!("CARGO_BIN_EXE_dunnage-bench-load"))
        .args(["attack", "--short", "--target", target])
        .output()
        .unwrap();
    let told = String::from_utf8([attack.stdout, attack.stderr].concat()).unwrap();
    assert!(attack.status.success(), "{told}");
}

#[test]
fn what_is_acknowledged_is_found_though_the_files_are_harmed() {
    bears("files");
}

#[test]
fn bodies_that_never_end_stop_nobody() {
    bears("half-sent");
}

#[test]
fn nobody_becomes_local_by_what_a_request_says() {
    bears("host");
}

#[test]
fn idle_connections_and_event_streams_stop_nobody() {
    bears("idle");
}

#[test]
fn readers_of_old_pages_stop_no_output() {
    bears("paging");
}

#[test]
fn messages_that_grow_take_no_more_memory_than_there_is_for_them() {
    bears("bombs");
}
