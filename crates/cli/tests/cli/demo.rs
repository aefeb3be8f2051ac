use crate::run::{command, dunnage, terminate};
use crate::wait::wait_until;
use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Command, Stdio},
};

#[test]
fn the_fleet_reports_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    // The listener is dropped, so its port is free again.
    let listen = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let data = folder.path().to_str().unwrap();
    let mut demo = command(&["demo", "--containers", "12", "--data", data, "--listen", &listen]);
    demo.stderr(Stdio::piped());
    let mut child = demo.spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines().map(|line| line.unwrap());

    let welcome: Vec<String> = stdout.by_ref().take_while(|line| !line.starts_with("Ctrl-C")).collect();
    assert!(welcome.iter().any(|line| line.contains(&format!("http://{listen}"))), "{welcome:#?}");
    assert!(welcome.iter().any(|line| line.starts_with("smallest lossless: ")), "{welcome:#?}");
    let commands: Vec<&str> = welcome
        .iter()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|l| l.contains("curl") || l.contains(" convert "))
        .collect();
    assert_eq!(commands.len(), 3, "{welcome:#?}");
    let get = |path: &str| -> serde_json::Value {
        let body = ureq::get(format!("http://{listen}{path}")).call().unwrap().body_mut().read_to_vec();
        serde_json::from_slice(&body.unwrap()).unwrap()
    };
    wait_until("there are twice as many reports as containers", || {
        get("/api/stats")["stored"].as_u64() >= Some(24)
    });
    for message in get("/api/messages")["messages"].as_array().unwrap() {
        assert!(message["link"].is_string(), "{message}");
    }

    for (command, expected) in commands.iter().zip(["", r#""door":"open""#, r#""iso6346":"#]) {
        let output = Command::new("sh").args(["-euc", command]).output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
        assert!(String::from_utf8(output.stdout).unwrap().contains(expected), "{command}");
    }

    let has_addresses =
        |line: &str| ["coap://127.0.0.1:", "mqtt://127.0.0.1:"].iter().all(|scheme| line.contains(scheme));
    assert!(welcome.iter().any(|line| has_addresses(line)), "{welcome:#?}");

    terminate(&child);
    let end = stdout.last().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!stderr.contains("panicked"), "{stderr}");
    let numbers: Vec<u64> =
        end.split(", ").map(|part| part.split_once(' ').unwrap().1.parse().unwrap()).collect();
    let [sent, acknowledged, stored, lost] = numbers[..] else { panic!("{end}") };
    assert!(sent >= 12 && sent == acknowledged && acknowledged == stored, "{end}");
    assert_eq!(lost, 0);
}

#[test]
fn the_demo_rejects_an_address_that_other_machines_reach() {
    let folder = tempfile::tempdir().unwrap();
    let run = dunnage(&["demo", "--data", folder.path().to_str().unwrap(), "--listen", "0.0.0.0:0"], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("0.0.0.0:0: other machines can reach it"), "{}", run.stderr);
}
