//! The gateway's log: warnings at start, quarantined messages and rejected topics, at a limited rate.

use super::exit_code;
use crate::run::{command, terminate};
use std::{
    io::{BufRead, BufReader},
    process::Command,
};

/// The warnings that a gateway logs at start with `settings` in its environment.
fn warnings(folder: &std::path::Path, settings: &[(&str, &str)]) -> Vec<String> {
    let mut command: Command = command(&["gateway"]);
    command.env("DUNNAGE_LOG_FORMAT", "json").env("DUNNAGE_BUFFER_PATH", folder.join("buffer.sqlite3"));
    let mut child = command.envs(settings.iter().copied()).spawn().unwrap();
    let mut warnings = Vec::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let message = line["message"].as_str().unwrap().to_owned();
        if message == "gateway started" {
            break;
        }
        if line["level"] == "WARN" {
            warnings.push(message);
        }
    }
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(0), "{settings:?}: {warnings:?}");
    warnings
}

#[test]
fn an_exposed_gateway_warns_at_start_about_missing_protection() {
    let folder = tempfile::tempdir().unwrap();
    let expect = |settings: &[(&str, &str)], expected: &[&str]| {
        let warnings = warnings(folder.path(), settings);
        let all = warnings.iter().zip(expected).all(|(warning, expected)| warning.contains(expected));
        assert!(all && warnings.len() == expected.len(), "{settings:?}: {warnings:?}");
    };
    let (here, everywhere) = (("DUNNAGE_HTTP_LISTEN", "127.0.0.1:0"), ("DUNNAGE_HTTP_LISTEN", "0.0.0.0:0"));
    let who = |who| ("DUNNAGE_ACCESS_WHO", who);
    let (none, open, clear) = ("there is no token", "any client that reaches these addresses", "unencrypted");
    expect(&[here], &[]);
    expect(&[here, who("anyone")], &[]);
    expect(&[here, who("tokens")], &[none]);
    expect(&[everywhere], &[none]);
    expect(&[everywhere, who("anyone")], &[open]);
    let made = command(&["gateway", "token", "new", "--read"])
        .env("DUNNAGE_BUFFER_PATH", folder.path().join("buffer.sqlite3"))
        .output();
    assert!(made.unwrap().status.success());
    expect(&[here, who("tokens")], &[]);
    expect(&[everywhere], &[clear]);
}

#[test]
fn quarantined_messages_are_logged_and_a_flood_is_rate_limited() {
    let folder = tempfile::tempdir().unwrap();
    let mut command: Command = command(&["gateway"]);
    command.env("DUNNAGE_HTTP_LISTEN", "127.0.0.1:0").env("DUNNAGE_LOG_FORMAT", "json");
    command.env("DUNNAGE_BUFFER_PATH", folder.path().join("buffer.sqlite3"));
    let mut child = command.spawn().unwrap();
    let log = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut log = log.map(|line| serde_json::from_str::<serde_json::Value>(&line.unwrap()).unwrap());
    let address = log.find_map(|line| Some(line["address"].as_str()?.to_owned())).unwrap();
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    for _ in 0..40 {
        let post = agent.post(format!("http://{address}/ingest/d1")).content_type("application/json");
        assert_eq!(post.send("[").unwrap().status(), 400);
    }
    terminate(&child);
    let lines: Vec<_> = log.filter(|line| line["message"] == "a message was quarantined").collect();
    assert_eq!(exit_code(&mut child), Some(0));
    let first = lines.first().unwrap();
    assert_eq!(
        (&first["level"], &first["device"], &first["kind"]),
        (&"INFO".into(), &"d1".into(), &"truncated".into())
    );
    // The burst that the rate limit allows, and a few more on a slow machine.
    assert!((10..30).contains(&lines.len()), "{}", lines.len());
}

#[test]
fn rejected_topics_are_logged_and_a_flood_is_rate_limited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    let config = format!(
        "[http]\nlisten = '127.0.0.1:0'\n[buffer]\npath = '{path}/buffer.sqlite3'\n[[input]]\nname = 'devices'\n[input.mqtt]\nlisten = '127.0.0.1:0'\n"
    );
    std::fs::write(folder.path().join("dunnage.toml"), config).unwrap();
    let mut gateway = command(&["gateway", "--config"]);
    let mut child = gateway.arg(folder.path().join("dunnage.toml")).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let listens = log.by_ref().map(|line| line.unwrap()).find(|line| line.contains("listens")).unwrap();
    let port = listens.rsplit(':').next().unwrap().trim();
    for _ in 0..15 {
        let mut publish = Command::new("mosquitto_pub");
        publish.args(["-h", "127.0.0.1", "-p", port, "-V", "5", "-q", "1", "-t", "stat/plug-1", "-m", "1"]);
        publish.output().expect("mosquitto_pub is installed: apt-get install mosquitto-clients");
    }
    terminate(&child);
    let refused = log.filter(|line| line.as_ref().unwrap().contains("a topic is refused"));
    let refused: Vec<_> = refused.map(|line| line.unwrap()).collect();
    assert!((1..=11).contains(&refused.len()), "{refused:#?}");
    assert!(refused[0].contains("stat/plug-1") && refused[0].contains("v1/DEVICE/FORMAT"), "{}", refused[0]);
    child.wait().unwrap();
}
