//! Tokens that read a part of the devices: they learn nothing of the others.

mod answers;
mod changes;

use crate::support::{Answer, JSON, Running, answer, start_with};
use dunnage_gateway::{Config, Right, Scope, tokens};
use serde_json::{Value, json};

/// A gateway with an operator, a client that reads everything, and one that reads a part.
struct Scoped {
    gateway: Running,
    operates: String,
    reads: String,
    part: String,
}

/// Returns the scope of the devices that match `device` and have `tags`.
fn scope(device: Option<&str>, tags: &[(&str, &str)]) -> Scope {
    let tags = tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Scope::new(device.map(str::to_owned), tags.collect()).unwrap()
}

fn scoped(scope: Scope, change: impl FnOnce(&mut Config)) -> Scoped {
    let mut made = Vec::new();
    let gateway = start_with(|config| {
        let rights =
            [("olga", Right::Operate), ("all", Right::Read(Scope::EVERYTHING)), ("part", Right::Read(scope))];
        for (name, right) in rights {
            made.push(format!(
                "Bearer {}",
                tokens::add(&config.tokens(), Some(name), right, None).unwrap().1
            ));
        }
        change(config);
    });
    let [operates, reads, part] = made.try_into().unwrap();
    Scoped { gateway, operates, reads, part }
}

impl Scoped {
    fn get_with(&self, token: &str, path: &str) -> Answer {
        answer(self.gateway.agent.get(self.gateway.url(path)).header("authorization", token).call().unwrap())
    }

    /// Asks with the token for a part of the devices.
    fn get(&self, path: &str) -> Answer {
        self.get_with(&self.part, path)
    }

    /// Asks with the token for a part of the devices; the answer has to be 200.
    fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        answer.json()
    }

    fn send(&self, device: &str, link: &str, body: &str) -> u16 {
        self.gateway.post(&format!("/ingest/{device}?link={link}"), JSON, body.as_bytes()).status
    }

    /// Sets the record of a device.
    fn register(&self, device: &str, record: &Value) {
        let url = self.gateway.url(&format!("/api/register/devices/{device}"));
        let request = self.gateway.agent.put(url).header("content-type", JSON);
        let put = answer(request.header("authorization", &self.operates).send(record.to_string()).unwrap());
        assert_eq!(put.status, 200, "{}", put.text);
    }

    fn tag(&self, device: &str, site: &str) {
        self.register(device, &json!({ "tags": { "site": site } }));
    }
}

fn ids(page: &Value) -> Vec<i64> {
    page["messages"].as_array().unwrap().iter().map(|message| message["id"].as_i64().unwrap()).collect()
}

fn names(page: &Value) -> Vec<&str> {
    page["devices"].as_array().unwrap().iter().map(|device| device["device"].as_str().unwrap()).collect()
}
