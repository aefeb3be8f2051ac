//! The oneM2M output, against imitations of CSEs that answer as Mobius (7a5e0b9) and tinyIoT (832205f) were seen to answer.

use super::onem2m::{DEVICES, expect_delivered, gateway, send, serve, wait};
use crate::support::{JSON, Running};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri, header::CONTENT_TYPE},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex},
};

/// A CSE: creates and retrieves resources, and has the faults of one.
#[derive(Clone)]
struct Cse(Arc<Mutex<Resources>>, fn(&mut Resources, &New<'_>) -> Fault);

#[derive(Default)]
struct Resources {
    /// Each resource by its path. A half instance has no `cs`.
    paths: BTreeMap<String, Value>,
    tried: HashSet<String>,
}

/// A resource to create.
struct New<'a> {
    kind: &'a str,
    path: &'a str,
    attributes: &'a Value,
    parent_exists: bool,
}

/// The fault of a request to create a resource.
enum Fault {
    None,
    /// Answers with this status, this code and this text, and creates nothing.
    Answer(u16, u16, &'static str),
    /// Stores the name without the content, and never answers.
    Half,
    /// The same, and answers with an error.
    HalfAnswered,
}

type Answer = (StatusCode, HeaderMap, String);

fn answer(status: u16, code: u16, content: &Value) -> Answer {
    let code =
        [("x-m2m-rsc".parse().unwrap(), code.into()), (CONTENT_TYPE, "application/json".parse().unwrap())];
    (StatusCode::from_u16(status).unwrap(), code.into_iter().collect(), content.to_string())
}

async fn respond(State(Cse(resources, fault)): State<Cse>, method: Method, uri: Uri, body: Bytes) -> Answer {
    let half = {
        let mut resources = resources.lock().unwrap();
        let nothing = json!({});
        if method == Method::GET {
            return match resources.paths.get(uri.path()) {
                Some(found) => answer(200, 2000, found),
                None => answer(404, 4004, &json!({"m2m:dbg": "URI is invalid"})),
            };
        }
        let body: Value = serde_json::from_slice(&body).unwrap();
        let (kind, attributes) = body.as_object().unwrap().iter().next().unwrap();
        let path = format!("{}/{}", uri.path(), attributes["rn"].as_str().unwrap());
        let parent_exists = uri.path() == "/Mobius" || resources.paths.contains_key(uri.path());
        let fault = fault(&mut resources, &New { kind, path: &path, attributes, parent_exists });
        if let Fault::Answer(status, code, text) = fault {
            return answer(status, code, &json!({"m2m:dbg": text}));
        }
        if !parent_exists {
            return answer(404, 4004, &json!({"m2m:dbg": "resource does not exist"}));
        }
        if resources.paths.contains_key(&path) {
            return answer(409, 4105, &json!({"m2m:dbg": "resource already exists"}));
        }
        let mut stored = attributes.clone();
        if matches!(fault, Fault::None) && kind == "m2m:cin" {
            stored["cs"] = stored["con"].to_string().len().into();
            if [json!("null"), json!([]), json!("")].contains(&stored["con"]) {
                // A whole instance of these has a size, and no content.
                stored.as_object_mut().unwrap().remove("con");
            }
        } else {
            stored.as_object_mut().unwrap().remove("con");
        }
        resources.paths.insert(path, json!({ kind: stored }));
        match fault {
            Fault::Half => true,
            Fault::HalfAnswered => return answer(500, 5000, &json!({"m2m:dbg": "internal error"})),
            _ => return answer(201, 2001, &nothing),
        }
    };
    assert!(half);
    std::future::pending().await
}

impl Cse {
    fn new(fault: fn(&mut Resources, &New<'_>) -> Fault) -> Cse {
        Cse(Arc::default(), fault)
    }

    fn start(&self, more: &str) -> (tokio::runtime::Runtime, Running) {
        let (runtime, address) = serve(Router::new().fallback(respond).with_state(self.clone()));
        (
            runtime,
            gateway(&format!("http://{address}"), &format!("cse = 'Mobius'\ntimeout_seconds = 1\n{more}")),
        )
    }

    /// Returns the whole instances of a device: their names and contents.
    fn whole(&self, device: &str) -> Vec<(String, Value)> {
        let resources = self.0.lock().unwrap();
        let of = |(path, stored): (&String, &Value)| {
            let instance = &stored["m2m:cin"];
            let whole = path.split('/').nth(3) == Some(device) && instance["cs"].is_number();
            whole.then(|| (instance["rn"].as_str().unwrap().to_owned(), instance["con"].clone()))
        };
        resources.paths.iter().filter_map(of).collect()
    }
}

fn post(gateway: &Running, device: &str, message: &str) {
    assert_eq!(gateway.post(&format!("/ingest/{device}"), JSON, message.as_bytes()).status, 204);
}

/// Returns the reasons of the dead letters.
fn dead_letters(gateway: &Running) -> Vec<String> {
    let list = gateway.runtime.block_on(gateway.gateway.dead_letters("cse", 0, 10)).unwrap();
    list.into_iter().map(|letter| letter.reason).collect()
}

/// Answers CONFLICT to the first attempt to create each instance, and drops it.
#[test]
fn conflict_for_a_missing_instance_is_retried() {
    let cse =
        Cse::new(|resources, new| match new.kind == "m2m:cin" && resources.tried.insert(new.path.into()) {
            true if new.parent_exists => Fault::Answer(409, 4105, "resource already exists"),
            _ => Fault::None,
        });
    let (_runtime, gateway) = cse.start("");
    send(&gateway, 0..3);
    expect_delivered(&gateway, 12);
    for device in DEVICES {
        let container = if device == "la" { "~6Ca".to_owned() } else { device.replace(':', "~3A") };
        let mut numbers: Vec<_> =
            cse.whole(&container).into_iter().map(|(_, con)| con["n"].as_u64()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [Some(0), Some(1), Some(2)], "{device}");
    }
}

/// Mobius inserts name and content separately. If it crashes in between, the name stays permanently, and the retry finds it.
#[test]
fn half_instance_is_not_a_delivered_message() {
    let cse =
        Cse::new(|resources, new| match new.kind == "m2m:cin" && resources.tried.insert(new.kind.into()) {
            true if new.parent_exists => Fault::Half,
            _ => {
                if !new.parent_exists {
                    resources.tried.clear();
                }
                Fault::None
            }
        });
    let (_runtime, gateway) = cse.start("");
    post(&gateway, "d", r#"{"n":1}"#);
    post(&gateway, "d", "[]");
    expect_delivered(&gateway, 2);
    let whole = cse.whole("d");
    assert_eq!(whole.iter().map(|(_, con)| con.clone()).collect::<Vec<_>>(), [json!({"n": 1}), Value::Null]);
    assert!(whole[0].0.ends_with("-1~1") && whole[1].0.ends_with("-2"), "{whole:?}");
}

/// An emoji is not in the character set of Mobius's tables: its second insertion fails each time, with no answer.
#[test]
fn content_that_the_cse_never_stores_becomes_a_dead_letter() {
    let faults: [fn(&mut Resources, &New<'_>) -> Fault; 2] = [
        |_, new| if has_emoji(new) { Fault::Half } else { Fault::None },
        |_, new| if has_emoji(new) { Fault::HalfAnswered } else { Fault::None },
    ];
    for fault in faults {
        let cse = Cse::new(fault);
        let (_runtime, gateway) = cse.start("");
        post(&gateway, "bad", "{\"a\":\"\u{1f600}\"}");
        post(&gateway, "bad", "1");
        post(&gateway, "good", "2");
        wait(&gateway, "the others", || gateway.gateway.outputs()[0].delivered == 2);
        let reasons = dead_letters(&gateway);
        assert!(reasons.len() == 1 && reasons[0].contains("no cs"), "{reasons:?}");
    }
}

fn has_emoji(new: &New<'_>) -> bool {
    new.parent_exists && new.attributes["con"].to_string().contains('\u{1f600}')
}

/// Values that do not fit into Mobius's columns are answered with 5000, as if the database were down.
#[test]
fn names_and_labels_fit_into_the_columns_and_errors_that_stay_become_dead_letters() {
    let cse = Cse::new(|_, new| {
        let labels = serde_json::to_string_pretty(&new.attributes["lbl"]).unwrap().replace("  ", "    ");
        let long = new.attributes["rn"].as_str().unwrap().len() > 45 || labels.len() > 200;
        match long || new.attributes["con"] == "it's" {
            true => Fault::Answer(500, 5000, "[create_action] create resource error"),
            false => Fault::None,
        }
    });
    let (_runtime, gateway) = cse.start("");
    let device = format!("urn:imei:{}", "3".repeat(55));
    let path = format!("/ingest/{device}?link=iridium-sbd-mo");
    let request = gateway.agent.post(gateway.url(&path)).header("content-type", JSON);
    let request = request.header("x-request-id", "0d5a9f1e-8a3b-4c55-9d0e-6f7a8b9c0d1e");
    assert_eq!(request.send(&b"1"[..]).unwrap().status(), 204);
    wait(&gateway, "long names and labels", || gateway.gateway.outputs()[0].delivered == 1);
    post(&gateway, "bad", "\"it's\"");
    post(&gateway, "bad", "1");
    // The others show that the CSE works.
    let mut good = 1;
    wait(&gateway, "the message is given up", || {
        post(&gateway, "good", "2");
        good += 1;
        !dead_letters(&gateway).is_empty()
    });
    let reasons = dead_letters(&gateway);
    assert!(reasons.len() == 1 && reasons[0].contains("5000 [create_action]"), "{reasons:?}");
    wait(&gateway, "all others", || gateway.gateway.outputs()[0].delivered == good + 1);
}

/// tinyIoT accepts only text, and looks at an instance before it looks for the container.
#[test]
fn dead_letter_says_that_the_cse_needs_text_and_a_first_message_may_be_too_large() {
    let cse = Cse::new(|_, new| {
        let con = &new.attributes["con"];
        match new.kind == "m2m:cin" && (!con.is_string() || con.as_str().unwrap().len() > 65_536) {
            true => Fault::Answer(400, 4000, "invalid attribute : con"),
            false => Fault::None,
        }
    });
    let (_runtime, gateway) = cse.start("");
    post(&gateway, "d", "{}");
    wait(&gateway, "a dead letter", || !dead_letters(&gateway).is_empty());
    let reasons = dead_letters(&gateway);
    assert!(
        reasons[0].contains("4000 invalid attribute : con; ") && reasons[0].contains("content = \"string\""),
        "{reasons:?}"
    );
    let (_runtime, gateway) = cse.start("content = 'string'\nae = 'text'");
    post(&gateway, "big", &format!("\"{}\"", "x".repeat(70_000)));
    post(&gateway, "big", "{}");
    wait(&gateway, "the next message of the device", || gateway.gateway.outputs()[0].delivered == 1);
    let reasons = dead_letters(&gateway);
    assert!(
        reasons.len() == 1 && reasons[0].contains("4000") && !reasons[0].contains("content ="),
        "{reasons:?}"
    );
}
