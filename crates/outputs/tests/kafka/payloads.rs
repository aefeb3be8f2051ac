//! Values as envelopes, and in Avro and Protobuf with a registry of schemas.

use super::{Bench, message, open_at, retried};
use dunnage_outputs::{Catalog, Class, Failed, FailureKind, Message, Output};
use dunnage_register::Record;
use dunnage_schema::Model;
use dunnage_test_support::{
    kafka::Protocol,
    registry::Registry,
    scripted::{Reply, Scripted},
};
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde_json::{Value, json};
use std::sync::Arc;

const SOIL: &str = r#"{"title": "Soil", "type": "object", "required": ["moisture"], "additionalProperties": false,
    "properties": {"moisture": {"type": "number", "multipleOf": 0.1, "minimum": 0, "maximum": 100},
        "state": {"enum": ["dry", "wet"]}, "count": {"type": "integer", "minimum": 0, "maximum": 255}}}"#;

/// The versions of the schema `soil`.
struct Soil(Vec<Model>);

impl Catalog for Soil {
    fn path(&self, _: &str, _: Option<&str>) -> Arc<str> {
        "".into()
    }

    fn record(&self, _: &str) -> Option<Arc<Record>> {
        None
    }

    fn media_type(&self, _: &str) -> Option<&'static str> {
        None
    }

    fn versions<'a>(&'a self, schema: &str) -> Box<dyn Iterator<Item = &'a Model> + 'a> {
        let is_known = schema == "soil";
        Box::new(self.0.iter().filter(move |_| is_known))
    }
}

fn learn(output: &Arc<dyn Output>, schemas: &[&str]) {
    output.learn(Arc::new(Soil(schemas.iter().map(|schema| Model::compile(schema).unwrap()).collect())));
}

fn soil(id: i64, json: &str) -> Message {
    let mut message = message(id, "d", json);
    message.stored.schema = Some("soil".into());
    message
}

fn with_registry(payload: &str, url: &str) -> String {
    format!("payload = '{payload}'\ntimeout_seconds = 10\n[registry]\nurl = '{url}'")
}

#[track_caller]
fn refused(result: Result<(), Failed>, delivered: usize) -> String {
    let failed = result.unwrap_err();
    assert_eq!((failed.kind, failed.delivered), (FailureKind::Refused, delivered), "{}", failed.reason);
    failed.reason
}

/// A value with fixed and optional properties becomes one that Confluent's decoder of Avro returns with the schema of the registry.
#[test]
fn confluents_client_decodes_avro_with_the_schema_in_the_registry() {
    let (bench, registry) = (Bench::new(Protocol::Plaintext, ""), Registry::start());
    let output = bench.output(&with_registry("avro", &registry.url));
    let wider = SOIL.replace("\"maximum\": 255", "\"maximum\": 70000");
    learn(&output, &[SOIL, &wider]);
    let messages = [
        soil(1, r#"{"moisture":40.5,"state":"wet","count":7}"#),
        soil(2, r#"{"moisture":0}"#),
        soil(3, r#"{"moisture":100,"count":70000}"#),
    ];
    assert_eq!(bench.deliver(&output, &messages), Ok(()));
    let decoded: Vec<Value> = bench.kafka.client(&["decode", "t", &registry.url]).unwrap();
    let values: Vec<&Value> = decoded.iter().map(|line| &line["value"]).collect();
    // Numbers with decimal places are scaled integers, and texts of an enumeration its symbols, as the definition says.
    let expected = [
        json!({"moisture": 405, "state": "WET", "count": 7}),
        json!({"moisture": 0, "state": null, "count": null}),
        json!({"moisture": 1000, "state": null, "count": 70000}),
    ];
    assert_eq!(values, expected.iter().collect::<Vec<_>>());
    assert_eq!(registry.get("/subjects"), json!(["t-value"]));
    // Another output, as after a restart, finds what is registered.
    let again = bench.output(&with_registry("avro", &registry.url));
    learn(&again, &[SOIL, &wider]);
    assert_eq!(bench.deliver(&again, &messages), Ok(()));
    assert_eq!(registry.get("/subjects/t-value/versions").as_array().unwrap().len(), 1);
    incompatible(&bench, &registry);
}

/// A field without a default cannot be read from what was written before.
fn incompatible(bench: &Bench, registry: &Registry) {
    registry.require_compatibility("t-value");
    let output = bench.output(&with_registry("avro", &registry.url));
    learn(
        &output,
        &[&SOIL
            .replace("[\"moisture\"]", "[\"moisture\", \"depth\"]")
            .replace("\"state\"", "\"depth\": {\"type\": \"integer\"}, \"state\"")],
    );
    let reason = refused(bench.deliver(&output, &[soil(9, r#"{"moisture":1,"depth":3}"#)]), 0);
    assert!(reason.contains("schema registry: it answered 4"), "{reason}");
}

#[test]
fn protobuf_has_the_wire_format_of_confluent_and_the_definition_in_the_registry() {
    let (bench, registry) = (Bench::new(Protocol::Plaintext, ""), Registry::start());
    let output = bench.output(&with_registry("protobuf", &registry.url));
    learn(&output, &[SOIL]);
    let messages = [soil(1, r#"{"moisture":40.5,"state":"wet","count":7}"#), soil(2, r#"{"moisture":0}"#)];
    assert_eq!(bench.deliver(&output, &messages), Ok(()));
    let expected = [json!({"moisture": 405, "state": "STATE_WET", "count": 7}), json!({})];
    for (record, expected) in bench.kafka.wait("t", 2).iter().zip(expected) {
        let value = &record.value;
        assert_eq!((value[0], value[5]), (0, 0));
        let id = u32::from_be_bytes(value[1..5].try_into().unwrap());
        let schema = registry.get(&format!("/schemas/ids/{id}"));
        assert_eq!(schema["schemaType"], "PROTOBUF");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.proto"), schema["schema"].as_str().unwrap()).unwrap();
        let files = protox::compile(["a.proto"], [folder.path()]).unwrap();
        let pool = DescriptorPool::from_file_descriptor_set(files).unwrap();
        let first = pool.files().next().unwrap().messages().next().unwrap();
        let decoded = DynamicMessage::decode(first, &value[6..]).unwrap();
        assert_eq!(serde_json::to_value(&decoded).unwrap(), expected);
    }
}

/// Each of these is refused before anything is asked of the registry.
#[test]
fn a_message_that_its_schema_cannot_carry_is_refused_with_the_reason() {
    let bench = Bench::new(Protocol::Plaintext, "");
    for payload in ["avro", "protobuf"] {
        let registry = Scripted::start(|_, _| Reply::Text("200 OK", "{\"id\":7}"));
        let output = bench.output(&with_registry(payload, &format!("http://{}", registry.address)));
        learn(&output, &[SOIL]);
        let good = || soil(1, r#"{"moisture":1}"#);
        let mut other = message(2, "d", "{\"moisture\":1}");
        let reason = refused(bench.deliver(&output, &[good(), other.clone()]), 1);
        assert!(reason.contains("no schema"), "{reason}");
        other.stored.schema = Some("unknown".into());
        let reason = refused(bench.deliver(&output, &[other]), 0);
        assert!(reason.contains("schema unknown"), "{reason}");
        let reason = refused(bench.deliver(&output, &[good(), good(), soil(3, r#"{"moisture":101}"#)]), 2);
        assert!(reason.contains("schema soil: /moisture"), "{reason}");
        assert_eq!(registry.requests().len(), 1);
    }
    assert_eq!(bench.kafka.records("t").len(), 6);
}

#[test]
fn a_registry_that_fails_is_retried_and_one_that_refuses_a_schema_makes_a_dead_letter() {
    let bench = Bench::new(Protocol::Plaintext, "");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, "hidden\n").unwrap();
    let try_one = |url: &str| {
        let login = format!("{}\nuser = 'u'\npassword_file = {file:?}", with_registry("avro", url));
        let output = bench.output(&login);
        learn(&output, &[SOIL]);
        bench.deliver(&output, &[soil(1, r#"{"moisture":1}"#)])
    };
    retried(try_one("http://127.0.0.1:9"), Class::Connection);
    for (status, class) in [
        ("401 Unauthorized", Class::Denied),
        ("403 Forbidden", Class::Denied),
        ("500 Internal Server Error", Class::Failing),
        ("404 Not Found", Class::Missing),
    ] {
        let registry = Scripted::start(move |_, _| Reply::Text(status, "{\"message\":\"why\"}"));
        let reason = retried(try_one(&format!("http://{}", registry.address)), class);
        assert!(reason.contains(status) && reason.contains("why") && !reason.contains("hidden"), "{reason}");
        let request = &registry.requests()[0];
        assert_eq!((&*request.method, &*request.path), ("POST", "/subjects/t-value"));
        assert_eq!(request.headers["authorization"], "Basic dTpoaWRkZW4=");
    }
    let busy = Scripted::start(|_, _| Reply::Status("503 Service Unavailable\r\nretry-after: 7\r\n"));
    let failed = try_one(&format!("http://{}", busy.address)).unwrap_err();
    let seven = std::time::Duration::from_secs(7);
    assert_eq!((failed.kind, failed.class), (FailureKind::Retry(Some(seven)), Class::Busy));
    for status in ["409 Conflict", "422 Unprocessable Entity"] {
        let registry = Scripted::start(move |request, _| match &*request.path {
            "/subjects/t-value" => Reply::Text("404 Not Found", "{}"),
            _ => Reply::Text(status, "{\"message\":\"not compatible\"}"),
        });
        let reason = refused(try_one(&format!("http://{}", registry.address)), 0);
        assert!(reason.contains("not compatible"), "{reason}");
    }
    let strange = Scripted::start(|_, _| Reply::Text("200 OK", "<html>"));
    retried(try_one(&format!("http://{}", strange.address)), Class::Connection);
    let silent = Scripted::start(|_, _| Reply::Hang);
    retried(try_one(&format!("http://{}", silent.address)), Class::Timeout);
    assert_eq!(bench.kafka.client(&["read", "t"]).unwrap_or_default(), Vec::<Value>::new());
}

#[test]
fn an_envelope_is_the_object_of_the_output_to_http() {
    let bench = Bench::new(Protocol::Plaintext, "");
    let output = bench.output("payload = 'envelope'");
    assert_eq!(bench.deliver(&output, &[message(1, "d", "{\"t\":21.50}")]), Ok(()));
    let records = bench.kafka.wait("t", 1);
    let text = records[0].text();
    assert!(
        text.contains("\"name\":\"id-1\",\"device\":\"d\"") && text.ends_with("\"value\":{\"t\":21.50}}"),
        "{text}"
    );
}

#[test]
fn settings_of_the_registry_that_cannot_work_are_named() {
    for (settings, key) in [
        ("payload = 'avro'", "registry"),
        ("[registry]\nurl = 'http://127.0.0.1'", "registry"),
        ("payload = 'avro'\n[registry]\nurl = 'ftp://h'", "registry.url"),
        ("payload = 'avro'\n[registry]\nurl = 'http://u:p@h'", "registry.url"),
        ("payload = 'avro'\n[registry]\nurl = 'https://h'\nuser = 'u'", "registry.user, password_file"),
        ("payload = 'avro'\n[registry]\nurl = 'http://h'\nca_file = '/nowhere/x'", "registry.ca_file"),
        ("payload = 'avro'\n[registry]\nurl = 'https://h'\nca_file = '/nowhere/x'", "registry.ca_file"),
        (
            "payload = 'avro'\n[registry]\nurl = 'http://h'\nuser = 'u'\npassword_file = '/nowhere/x'",
            "registry.url",
        ),
    ] {
        let error = open_at("127.0.0.1:9092", settings).err().unwrap();
        assert!(error.contains(&format!(": {key}: ")), "{settings}: {error}");
    }
}
