//! The order of system calls: a message is written to the log, the log is synchronized, and only then the 204 goes out.

use crate::support::{JSON, agent, child};
use std::collections::HashMap;

/// A system call, with the numbers of the lines of the trace where it begins and ends.
#[derive(Debug)]
struct Call {
    name: String,
    arguments: String,
    begins: usize,
    ends: usize,
    result: String,
}

/// Parses the output of `strace -f -o`: one line per call, or two if calls of other threads came between.
fn parse_trace(trace: &str) -> Vec<Call> {
    let (mut calls, mut open) = (Vec::new(), HashMap::new());
    for (number, line) in trace.lines().enumerate() {
        let (thread, line) = line.split_once(' ').unwrap();
        let line = line.trim_start();
        if line.starts_with("<... ") {
            let index: usize = open.remove(thread).expect("a call that has begun");
            let call: &mut Call = &mut calls[index];
            call.ends = number;
            call.result = line.rsplit_once("= ").unwrap().1.to_owned();
        } else if let Some((name, rest)) = line.split_once('(') {
            let begun = rest.strip_suffix("<unfinished ...>");
            if begun.is_some() {
                open.insert(thread.to_owned(), calls.len());
            }
            let (arguments, result) = match begun {
                Some(arguments) => (arguments, "?"),
                None => rest.rsplit_once("= ").unwrap_or((rest, "?")),
            };
            let (name, arguments, result) = (name.to_owned(), arguments.to_owned(), result.to_owned());
            calls.push(Call { name, arguments, begins: number, ends: number, result });
        }
    }
    calls
}

fn is_synchronization(call: &Call) -> bool {
    call.name == "fsync" || call.name == "fdatasync"
}

/// Returns how many messages were acknowledged without a synchronization of the log between their write and their 204.
fn count_early_acknowledgements(calls: &[Call], markers: &[String]) -> usize {
    let is_log = |call: &&Call| call.arguments.split(',').next().unwrap().contains("buffer.sqlite3-wal>");
    markers
        .iter()
        .filter(|marker| {
            let has_marker =
                |call: &&Call| call.name.contains("write") && call.arguments.contains(&***marker);
            let written = calls.iter().filter(is_log).find(has_marker).expect("the message is in the log");
            let sent = |call: &&Call| {
                call.arguments.contains("204 No Content") && call.arguments.contains(&***marker)
            };
            let sent = calls.iter().find(sent).expect("the message is acknowledged");
            !calls.iter().filter(is_log).any(|call| {
                is_synchronization(call)
                    && call.result == "0"
                    && call.begins > written.ends
                    && call.ends < sent.begins
            })
        })
        .count()
}

#[test]
fn the_log_is_synchronized_before_a_message_is_acknowledged() {
    const CLIENTS: usize = 6;
    const MESSAGES: usize = 12;
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let traced = "fdatasync,fsync,write,writev,sendto,sendmsg,pwrite64";
    let strace =
        format!("exec strace -f -qq -y -s 20000 -e trace={traced} -o '{}' \"$0\" \"$@\"", trace.display());
    let gateway = child::start(folder.path(), &strace);
    let url = format!("{}/ingest/d", gateway.url);
    // Each marker is a request ID, which is in the answer, and a message, which is in the log.
    let markers: Vec<_> = (0..CLIENTS * MESSAGES).map(|n| format!("marker-{n:04}")).collect();
    std::thread::scope(|scope| {
        for client in markers.chunks(MESSAGES) {
            let url = &url;
            scope.spawn(move || {
                let agent = agent();
                for marker in client {
                    let request = agent.post(url).header("content-type", JSON).header("x-request-id", marker);
                    assert_eq!(request.send(format!("\"{marker}\"")).unwrap().status(), 204);
                }
            });
        }
    });
    gateway.stop();

    let mut calls = parse_trace(&std::fs::read_to_string(&trace).unwrap());
    assert_eq!(count_early_acknowledgements(&calls, &markers), 0);
    // In the same trace without the synchronizations, every acknowledgement is early.
    calls.retain(|call| !is_synchronization(call));
    assert_eq!(count_early_acknowledgements(&calls, &markers), markers.len());
}
