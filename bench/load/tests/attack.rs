//! The short form of two attacks; `make nightly` makes all of them at length. An attacker must not gain access or stop an output.

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
fn a_request_cannot_claim_to_be_local() {
    withstands("host");
}

#[test]
fn readers_of_old_pages_do_not_stop_the_output() {
    withstands("paging");
}
