//! What Home Assistant gets.

use super::{Bench, message, open_at};
use dunnage_outputs::{Catalog, Message, Output};
use dunnage_register::Record;
use dunnage_schema::Model;
use dunnage_test_support::subscriber::Subscriber;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

const SOIL: &str = r#"{"type": "object", "properties": {
    "moisture": {"type": "number", "x-dunnage-unit": "%"},
    "air": {"type": "object", "properties": {"t/1": {"type": "integer", "x-dunnage-unit": "degC"}}},
    "note": {"type": "string"}}}"#;

/// The schema `soil`.
struct Soil {
    model: Model,
    units: Vec<(String, String)>,
}

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
        Box::new(std::iter::once(&self.model).filter(move |_| is_known))
    }

    fn units(&self, schema: &str) -> &[(String, String)] {
        if schema == "soil" { &self.units } else { &[] }
    }
}

fn learn(output: &Arc<dyn Output>, schema: &str) {
    let (model, units) = (Model::compile(schema).unwrap(), dunnage_schema::units(schema));
    output.learn(Arc::new(Soil { model, units }));
}

fn soil(device: &str) -> Message {
    let mut message = message(device, r#"{"moisture":40.5,"air":{"t/1":21},"note":"x"}"#);
    message.stored.schema = Some("soil".into());
    message
}

/// The retained configurations of the broker, by their topics.
fn configs(bench: &Bench) -> BTreeMap<String, Value> {
    let subscriber = Subscriber::new(bench.broker.port);
    let output = bench.output("topic = 'end/{device}'");
    assert_eq!(bench.deliver(&output, &message("d", "1")), Ok(()));
    loop {
        let received = subscriber.received();
        if received.iter().any(|publish| publish.topic == "end/d") {
            let configs = received.iter().filter(|publish| publish.topic.starts_with("homeassistant/"));
            let config = |publish: &Arc<dunnage_clients::mqtt::Publish>| {
                assert!(publish.retain);
                (publish.topic.clone(), serde_json::from_slice(&publish.payload).unwrap())
            };
            return configs.map(config).collect();
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn each_value_of_a_schema_is_a_sensor_of_its_device() {
    let bench = Bench::new("");
    let output = bench.output("discovery = 'home-assistant'\nretain = true");
    learn(&output, SOIL);
    let mut named = soil("a/b");
    named.record = Some(Arc::new(Record { name: Some("Bed 1".into()), ..Record::default() }));
    assert_eq!(bench.deliver(&output, &named), Ok(()));
    let sensor = |object: &str, more: Value| {
        let mut config = json!({
            "unique_id": format!("dunnage__a_2Fb__soil__{object}"),
            "state_topic": "dunnage/a%2Fb",
            "qos": 1,
            "device": {"identifiers": ["dunnage__a_2Fb"], "name": "Bed 1"},
            "origin": {"name": "dunnage", "sw_version": env!("CARGO_PKG_VERSION")},
        });
        config.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
        (format!("homeassistant/sensor/a_2Fb/soil__{object}/config"), config)
    };
    let found = configs(&bench);
    assert_eq!(found.len(), 3, "{found:#?}");
    let (topic, config) = sensor(
        "_2Fmoisture",
        json!({"name": "moisture", "unit_of_measurement": "%",
            "value_template": r#"{{ (value_json | default({}))["moisture"] | default('') }}"#}),
    );
    assert_eq!(found[&topic], config);
    let (topic, config) = sensor(
        "_2Fair_2Ft_7E11",
        json!({"name": "air t/1", "unit_of_measurement": "°C", "device_class": "temperature",
            "value_template": r#"{{ ((value_json | default({}))["air"] | default({}))["t/1"] | default('') }}"#}),
    );
    assert_eq!(found[&topic], config);
    let (topic, config) = sensor(
        "_2Fnote",
        json!({"name": "note", "value_template": r#"{{ (value_json | default({}))["note"] | default('') }}"#}),
    );
    assert_eq!(found[&topic], config);
}

#[test]
fn fields_have_topics_and_templates_of_their_own() {
    let bench = Bench::new("");
    let output = bench.output("discovery = 'home-assistant'\npayload = 'fields'");
    learn(&output, SOIL);
    assert_eq!(bench.deliver(&output, &soil("d")), Ok(()));
    let found = configs(&bench);
    let note = &found["homeassistant/sensor/d/soil___2Fnote/config"];
    assert_eq!((&note["state_topic"], note.get("value_template")), (&json!("dunnage/d/note"), None));
    let air = &found["homeassistant/sensor/d/soil___2Fair_2Ft_7E11/config"];
    assert_eq!(air["state_topic"], "dunnage/d/air/t%2F1");
    assert_eq!(air["value_template"], "{{ value_json }}");
}

#[test]
fn sensors_are_announced_once_for_each_device_schema_and_connection() {
    let mut bench = Bench::new("");
    let subscriber = Subscriber::new(bench.broker.port);
    let output = bench.output("discovery = 'home-assistant'");
    learn(&output, SOIL);
    // The last message ends the count, because all come in order.
    let count = |subscriber: &Subscriber, messages: usize| {
        let data = |publish: &&Arc<dunnage_clients::mqtt::Publish>| publish.topic.starts_with("dunnage/");
        loop {
            let received = subscriber.received();
            if received.iter().filter(data).count() == messages {
                return received.len() - messages;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    for device in ["a", "a", "b", "a"] {
        assert_eq!(bench.deliver(&output, &soil(device)), Ok(()));
    }
    assert_eq!(bench.deliver(&output, &message("c", "1")), Ok(()));
    assert_eq!(count(&subscriber, 5), 6);
    assert!(subscriber.received()[0].topic.starts_with("homeassistant/sensor/a/"));
    learn(&output, &SOIL.replace("degC", "K"));
    for device in ["a", "a"] {
        assert_eq!(bench.deliver(&output, &soil(device)), Ok(()));
    }
    assert_eq!(count(&subscriber, 7), 9);
    bench.broker.kill();
    bench.broker.restart();
    let subscriber = Subscriber::new(bench.broker.port);
    while bench.deliver(&output, &soil("b")).is_err() {}
    assert_eq!(count(&subscriber, 1), 3);
}

#[test]
fn settings_without_a_sensor_are_named() {
    for settings in ["payload = 'raw'", "topic = '{device}/{link}'", "topic = 'x'\npayload = 'envelope'"] {
        let error = open_at("mqtt://127.0.0.1", &format!("discovery = 'home-assistant'\n{settings}"));
        assert!(error.err().unwrap().contains(": discovery: "), "{settings}");
    }
}
