//! `dunnage play`, as a process.

use crate::run::{command, dunnage};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    process::Child,
};

/// A playground, which ends with the test.
struct Playground {
    process: Child,
    url: String,
}

impl Playground {
    fn start() -> Playground {
        let mut process = command(&["play", "--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_suffix("/play").expect("the URL of the page").to_owned();
        Playground { process, url }
    }

    fn get(&self, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
        let mut request = agent().get(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.call().unwrap();
        (response.status().as_u16(), response.body_mut().read_to_string().unwrap())
    }

    fn post(&self, path: &str, question: &Value, headers: &[(&str, &str)]) -> (u16, Value) {
        let mut request = agent().post(format!("{}{path}", self.url)).content_type("application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.send(question.to_string()).unwrap();
        let body = response.body_mut().read_to_string().unwrap();
        (response.status().as_u16(), serde_json::from_str(&body).unwrap())
    }
}

impl Drop for Playground {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).build().into()
}

fn question() -> Value {
    json!({"messages": "{\"t\":21.5}", "schema": null, "links": ["kineis"], "devices": 10, "per_day": 4})
}

#[test]
fn it_serves_the_page_and_computes() {
    let playground = Playground::start();
    let (status, page) = playground.get("/play", &[]);
    assert!(status == 200 && page.contains("<title>Dunnage playground</title>"), "{status} {page}");
    assert_eq!(playground.get("/play/link.js", &[]).0, 200);
    assert_eq!(playground.get("/", &[]).1, page, "the root leads to the page");
    assert_eq!(playground.get("/index.html", &[]).0, 404, "there is no gateway");
    let about: Value = serde_json::from_str(&playground.get("/api/play", &[]).1).unwrap();
    assert_eq!(about["process"], "command");
    let (status, answer) = playground.post("/api/play", &question(), &[]);
    assert_eq!(status, 200, "{answer}");
    assert_eq!((&answer["messages"], &answer["mistakes"]), (&json!(1), &json!([])));
    assert_eq!(answer["plan"]["links"][0]["id"], "kineis");
    assert!(answer["code"][0]["files"][0]["text"].as_str().unwrap().contains("#ifndef MESSAGE_H"));
}

#[test]
fn proxies_and_other_sites_are_denied() {
    let playground = Playground::start();
    for header in [
        ("sec-fetch-site", "cross-site"),
        ("origin", "https://example.com"),
        ("host", "rebound.example:80"),
        ("x-forwarded-for", "192.0.2.1"),
    ] {
        assert_eq!(playground.get("/play", &[header]).0, 403, "{header:?}");
        let (status, problem) = playground.post("/api/play", &question(), &[header]);
        assert_eq!((status, &problem["type"]), (403, &json!("urn:dunnage:problem:forbidden")), "{header:?}");
    }
}

#[test]
fn an_address_in_use_is_an_error_that_names_the_way_out() {
    let playground = Playground::start();
    let address = playground.url.strip_prefix("http://").unwrap();
    let run = dunnage(&["play", "--listen", address], "");
    assert!(run.code == 1 && run.stderr.contains("--listen 127.0.0.1:0"), "{}", run.stderr);
}
