//! What messages cost in memory that are small on the wire and large once they are decoded.

use crate::support::{agent, child, post};

/// How many messages are sent at the same time, and how many values each has.
const MESSAGES: usize = 10;
const VALUES: u32 = 1_000_000;
/// What they may take in all, in MiB: SECURITY.md says how it comes about.
const BOUND: u64 = 176;

#[test]
#[ignore = "not a test: the gateway of the tests that start this program again"]
fn serve_in_child() {
    child::serve_with(|folder, config| {
        let path = folder.join("files");
        let output = format!("name = 'files'\n[files]\npath = {path:?}\nkind = 'csv'");
        config.outputs.push(toml::from_str(&output).unwrap());
    });
}

#[test]
fn messages_of_a_million_values_each_stay_within_the_bound_of_memory() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = child::start(module_path!(), folder.path(), "");
    let before = gateway.peak();
    // An array of 32-bit length in MessagePack, each value in a byte.
    let message = [&[0xdd][..], &VALUES.to_be_bytes(), &vec![0xc0; VALUES as usize]].concat();
    std::thread::scope(|scope| {
        for n in 0..MESSAGES {
            let (url, message) = (format!("{}/ingest/d{n}", gateway.url), &message);
            scope.spawn(move || {
                let agent = agent();
                loop {
                    let answer = post(&agent, &url, "application/msgpack", message);
                    if answer.status != 503 {
                        break assert_eq!(answer.status, 204, "{}", answer.text);
                    }
                    std::thread::sleep(std::time::Duration::from_millis(100));
                }
            });
        }
    });
    let taken = (gateway.peak() - before) >> 20;
    println!("{taken} MiB");
    assert!(taken <= BOUND, "{taken} MiB");
    gateway.kill();
}
