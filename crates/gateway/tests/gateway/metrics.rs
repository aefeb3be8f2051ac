//! `/metrics` has the metrics of docs/metrics.md, and those that the Grafana dashboard and the alerts use. BLESS=1 writes the table again.

use crate::support::{JSON, Running, coap, mqtt, start_in, start_with, wait::wait_for};
use dunnage_gateway::{OutputKind, OutputSettings, Profile};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A metric as `/metrics` shows it.
#[derive(Default)]
struct Metric {
    kind: String,
    help: String,
    labels: BTreeSet<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns a profile of a device that is silent after a second.
fn watched(device: &str) -> Profile {
    Profile { device: device.into(), silent_after_seconds: Some(1), ..Profile::default() }
}

/// Waits until `devices` devices are silent. Returns the metrics.
fn wait_until_silent(gateway: &Running, devices: usize) -> String {
    wait_for(|| {
        let text = gateway.get("/metrics").text;
        let silent = text.lines().any(|line| line == format!("dunnage_silent_devices {devices}"));
        if silent { Ok(text) } else { Err(text) }
    })
}

/// A message with a number that no binary64 holds.
const LONG: &str = r#"{"t":1.000000000000000005}"#;

/// Returns a gateway whose stages have all handled messages.
fn gateway() -> Running {
    let gateway = start_with(|config| {
        let http = toml::from_str("url = 'http://127.0.0.1:1/'\ntimeout_seconds = 1").unwrap();
        config.outputs.push(OutputSettings::new("o", OutputKind::Http(http)));
        config.profiles.push(watched("d"));
        let codec = Some(root().join("crates/vendor-codec/examples/room_sensor.js"));
        config.profiles.push(Profile { device: "room".into(), codec, ..Profile::default() });
        let tokens = config.buffer.path.with_file_name("tokens");
        std::fs::write(&tokens, "0123456789abcdef").unwrap();
        let hook = format!(
            "name = 'h'\n[webhook]\nprovider = 'chirpstack'\ntoken_file = {tokens:?}\nformat = 'json'"
        );
        config.inputs.push(toml::from_str(&hook).unwrap());
        coap::configure(config);
        config
            .inputs
            .push(toml::from_str("name = 's'\n[coap]\nlisten = '127.0.0.1:0'\ndtls = true").unwrap());
        config.inputs.push(toml::from_str("name = 'm'\n[mqtt]\nlisten = '127.0.0.1:0'").unwrap());
    });
    mqtt::Client::connect(gateway.gateway.input_address("m").unwrap(), 5, "c", false);
    let join = gateway.agent.post(gateway.url("/hooks/h?event=join"));
    assert_eq!(join.header("authorization", "Bearer 0123456789abcdef").send("{}").unwrap().status(), 200);
    coap::Client::new(gateway.gateway.input_address("coap").unwrap()).exchange(&coap::ping(1));
    let uri = format!("coaps://{}/ingest/d", gateway.gateway.input_address("s").unwrap());
    coap::libcoap("coap-client-openssl", &["-u", "nobody", "-k", "a-key-of-some-bytes", "-e", "1"], &uri);
    let key = [("idempotency-key", "k")];
    for (body, status) in [(LONG, 204), (LONG, 204), ("[", 400)] {
        let mut request = gateway.agent.post(gateway.url("/ingest/d")).header("content-type", JSON);
        for (name, value) in key {
            request = request.header(name, value);
        }
        assert_eq!(request.send(body).unwrap().status(), status);
    }
    assert_eq!(gateway.post("/ingest/d", "text/html", b"x").status, 415);
    assert_eq!(gateway.post("/ingest/room", "application/octet-stream; port=85", &[1, 0x75, 92]).status, 204);
    assert_eq!(gateway.post("/ingest/%00", JSON, b"1").status, 400);
    let refused = gateway.agent.get(gateway.url("/metrics")).header("via", "1.1 proxy").call();
    assert_eq!(refused.unwrap().status(), 401);
    gateway
}

/// Returns the metrics by the names that queries use.
fn metrics(text: &str) -> BTreeMap<String, Metric> {
    let mut found: BTreeMap<String, Metric> = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines() {
        match line.splitn(4, ' ').collect::<Vec<_>>()[..] {
            ["#", "HELP", plain, help] => {
                name = plain.to_owned();
                found.entry(name.clone()).or_default().help = help.trim_end_matches('.').to_owned();
            }
            ["#", "TYPE", _, kind] => {
                let metric = found.remove(&name).unwrap();
                if kind == "counter" && !name.ends_with("_total") {
                    name += "_total";
                }
                found.insert(name.clone(), Metric { kind: kind.to_owned(), ..metric });
            }
            [sample, ..] if sample.starts_with(&name) && !name.is_empty() => {
                let labels = sample.split_once('{').map_or("", |(_, labels)| labels).trim_end_matches('}');
                let labels = labels.split(',').filter_map(|label| Some(label.split_once('=')?.0.to_owned()));
                found.get_mut(&name).unwrap().labels.extend(labels.filter(|label| label != "le"));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn every_metric_is_in_the_table_and_every_stage_is_counted() {
    let gateway = gateway();
    let text = wait_until_silent(&gateway, 1);
    for line in [
        "dunnage_received_messages_total{input=\"http\",format=\"json\"} 3",
        "dunnage_received_messages_total{input=\"http\",format=\"\"} 1",
        "dunnage_decoded_messages_total{format=\"json\"} 2",
        "dunnage_stored_messages_total{format=\"json\"} 1",
        "dunnage_received_messages_total{input=\"http\",format=\"codec\"} 1",
        "dunnage_stored_messages_total{format=\"codec\"} 1",
        "dunnage_duplicate_messages_total 1",
        "dunnage_quarantined_messages_total{kind=\"media-type\"} 1",
        "dunnage_refused_messages_total 1",
        "dunnage_datagrams_total{input=\"coap\",outcome=\"rejected\"} 1",
        "dunnage_dtls_handshakes_total{result=\"key\"} 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name}\n{text}")).parse::<f64>().unwrap()
    };
    assert!(value("dunnage_buffer_bytes") > 0.0 && value("dunnage_buffer_wal_bytes") > 0.0);
    assert!(value("dunnage_buffer_oldest_age_seconds") > 0.0);

    let rows = metrics(&text).into_iter().map(|(name, Metric { kind, help, labels })| {
        let labels = labels.into_iter().collect::<Vec<_>>().join(", ");
        format!("| `{name}` | {kind} | {labels} | {help} |\n")
    });
    let table = rows.collect::<String>();
    let path = root().join("docs/metrics.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = ("|---|---|---|---|\n", "<!-- end metrics -->");
    let at = page.find(begin).unwrap() + begin.len();
    let to = page.find(end).unwrap();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, format!("{}{table}{}", &page[..at], &page[to..])).unwrap();
    } else {
        assert_eq!(&page[at..to], table, "docs/metrics.md; `make docs` writes it");
    }
}

#[test]
fn a_silent_device_is_in_the_metrics_until_it_sends_also_after_a_restart() {
    let gateway = start_with(|config| config.profiles.push(watched("buoy-*")));
    for device in ["buoy-1", "buoy-2", "other"] {
        assert_eq!(gateway.post(&format!("/ingest/{device}"), JSON, b"1").status, 204);
    }
    let name = "dunnage_silent_device_last_message_timestamp_seconds";
    let silent = |text: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.split_once("\"} "));
        lines.map(|(device, at)| (device[9..].to_owned(), at.parse().unwrap())).collect::<BTreeMap<_, f64>>()
    };
    let devices = |text: &str| silent(text).into_keys().collect::<Vec<_>>();
    assert_eq!(devices(&wait_until_silent(&gateway, 2)), ["buoy-1", "buoy-2"]);
    assert_eq!(gateway.post("/ingest/buoy-1", JSON, b"2").status, 204);
    let text = wait_until_silent(&gateway, 1);
    assert_eq!(devices(&text), ["buoy-2"]);
    assert!(text.contains("\ndunnage_watched_devices 2\n"), "{text}");
    let before = silent(&text)["buoy-2"];

    let (_, folder) = gateway.stop();
    let gateway = start_in(folder, |config| config.profiles.push(watched("buoy-*")));
    let text = wait_until_silent(&gateway, 2);
    assert_eq!(devices(&text), ["buoy-1", "buoy-2"]);
    assert_eq!(silent(&text)["buoy-2"], before);
}

/// promtool checks the text format 0.0.4.
#[test]
fn promtool_accepts_the_metrics() {
    let gateway = gateway();
    for accept in [None, Some("text/plain;version=0.0.4")] {
        let request = gateway.agent.get(gateway.url("/metrics"));
        let request = accept.iter().fold(request, |request, accept| request.header("accept", *accept));
        let mut answer = request.call().unwrap();
        assert_eq!(
            answer.headers()["content-type"],
            "text/plain; version=0.0.4; charset=utf-8",
            "{accept:?}"
        );
        let text = answer.body_mut().read_to_string().unwrap();
        let mut promtool = Command::new("promtool")
            .args(["check", "metrics"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("promtool: {e}; please run: apt-get install prometheus"));
        promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = promtool.wait_with_output().unwrap();
        let complaints = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success() && complaints.is_empty(), "{complaints}");
    }
}

#[test]
fn clients_that_accept_openmetrics_get_the_same_metrics() {
    let gateway = gateway();
    // The header of Prometheus 3.
    let accept = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";
    let mut answer = gateway.agent.get(gateway.url("/metrics")).header("accept", accept).call().unwrap();
    let media = answer.headers()["content-type"].to_str().unwrap().to_owned();
    assert_eq!(media, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    let text = answer.body_mut().read_to_string().unwrap();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let names = |text: &str| metrics(text).into_keys().collect::<Vec<_>>();
    assert_eq!(names(&text), names(&gateway.get("/metrics").text));
}

#[test]
fn the_dashboard_uses_existing_metrics() {
    let gateway = gateway();
    let existing = metrics(&gateway.get("/metrics").text);
    let text = std::fs::read_to_string(root().join("deploy/grafana.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let used: BTreeSet<_> =
        targets.flat_map(|target| metric_names(target["expr"].as_str().unwrap(), &existing)).collect();
    let unknown: Vec<_> = used.iter().filter(|name| !existing.contains_key(*name)).collect();
    assert!(used.len() > 20 && unknown.is_empty(), "{unknown:?}");
}

#[test]
fn alerts_use_existing_metrics() {
    let gateway = gateway();
    let existing = metrics(&gateway.get("/metrics").text);
    let text = std::fs::read_to_string(root().join("deploy/prometheus-rules.yml")).unwrap();
    let used = metric_names(&text, &existing);
    let unknown: Vec<_> = used.iter().filter(|name| !existing.contains_key(*name)).collect();
    assert!(used.len() > 8 && unknown.is_empty(), "{unknown:?}");
}

/// Returns the metrics that `text` names. Series of a histogram count as the histogram if `existing` has it.
fn metric_names(text: &str, existing: &BTreeMap<String, Metric>) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let names = words.filter(|word| word.starts_with("dunnage_")).map(|word| {
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| word.strip_suffix(end));
        base.filter(|base| existing.contains_key(*base)).unwrap_or(word).to_owned()
    });
    names.collect()
}
