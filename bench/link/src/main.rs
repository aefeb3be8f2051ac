//! Experiment.
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dunnage_links::fleet::Fleet;
use dunnage_packed::{Layout, Training, Value};
use dunnage_schema::Model;
use dunnage_simulate::{Device, Network, Sizes, train};

fn messages(seed: u64, containers: usize, seconds: f64, days: f64) -> Vec<Vec<Value>> {
    let mut fleet = Fleet::new(seed, containers);
    let mut all = vec![Vec::new(); containers];
    let steps = (days * 86400.0 / seconds) as usize;
    let mut jitter = 12345u64;
    for _ in 0..steps {
        fleet.step(seconds);
        for (i, container) in fleet.containers().iter().enumerate() {
            jitter = jitter.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let ms = (jitter >> 33) % 300 * 100;
            let mut m = container.message_at(container.unix_ms() + ms);
            if let Value::Map(entries) = &mut m {
                entries.retain(|(k, _)| k != "msisdn" && k != "iso6346");
            }
            all[i].push(m);
        }
    }
    all
}

fn schema(name: &str, every: u64) -> serde_json::Value {
    let path = format!("spec/schemas/{name}.json");
    let mut s: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for f in ["msisdn", "iso6346"] {
        s["properties"].as_object_mut().unwrap().shift_remove(f);
        s["required"].as_array_mut().unwrap().retain(|v| v != f);
    }
    s["properties"]["time"]["x-dunnage-time"]["every"] = every.into();
    s
}

/// Rounds the texts to the schema's decimals.
fn fit(m: &Value, s: &serde_json::Value) -> Value {
    let Value::Map(entries) = m else { panic!() };
    let round = |t: &str, step: &serde_json::Value| -> String {
        let places = step.to_string().split_once('.').map_or(0, |(_, d)| d.len());
        let f: f64 = t.parse().unwrap();
        let r = format!("{f:.places$}");
        if r.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
            r.trim_start_matches('-').to_owned()
        } else {
            r
        }
    };
    Value::Map(
        entries
            .iter()
            .map(|(k, v)| {
                let Value::Text(t) = v else { panic!() };
                let p = &s["properties"][k];
                let t = if let Some(n) = p.get("x-dunnage-number") {
                    if n.get("digits").is_some() { t.clone() } else { round(t, &n["multipleOf"]) }
                } else if let Some(n) = p.get("x-dunnage-numbers") {
                    t.split(' ')
                        .map(|x| {
                            if n["items"][0].get("quantum").is_some() {
                                let k = (x.parse::<f64>().unwrap() / 0.7324443).round() as i64;
                                let c = ((k * 7_324_443).abs() + 50_000) / 100_000;
                                format!("{}{}.{:02}", if k < 0 && c > 0 { "-" } else { "" }, c / 100, c % 100)
                            } else {
                                round(x, &n["items"][0]["multipleOf"])
                            }
                        })
                        .collect::<Vec<_>>()
                        .join(" ")
                } else {
                    t.clone()
                };
                (k.clone(), Value::Text(t))
            })
            .collect(),
    )
}

fn main() {
    let days = 30.0;
    for name in ["container-voyage"] {
        for (seconds, label) in [(900.0, "15 min"), (21600.0, "6 h")]
            .into_iter()
            .take(if std::env::var("DBG").is_ok() { 1 } else { 2 })
        {
            let s = schema(name, seconds as u64);
            let days = if seconds > 1000.0 { 200.0 } else { days };
            let training_messages = messages(1, 40, seconds, days);
            let layout = Layout::new(&Model::compile(&s.to_string()).unwrap()).unwrap();
            let network = Network { loss: 0.3, ack_loss: 0.3, ack_every: 1, ack_delay: 0 };
            let t0 = std::time::Instant::now();
            let mut training = Training::new(&layout).unwrap();
            for (i, device) in training_messages.into_iter().enumerate() {
                let fitted: Vec<Value> = device.iter().map(|m| fit(m, &s)).collect();
                train(&mut training, fitted, network, (9, i as u64)).unwrap();
            }
            let t1 = std::time::Instant::now();
            let bytes = training.finish();
            eprintln!(
                "{name} {label}: {} bytes of statistics, adding {:?}, training {:?}",
                bytes.len(),
                t1 - t0,
                t1.elapsed()
            );
            let mut trained = s.clone();
            trained["x-dunnage-statistics"] = BASE64_STANDARD.encode(&bytes).into();
            std::fs::write(format!("/tmp/trained-{name}-{}.json", seconds as u64), trained.to_string())
                .unwrap();
            let layout = Layout::new(&Model::compile(&trained.to_string()).unwrap()).unwrap();
            let test = messages(77, 20, seconds, days);
            for (what, deltas, network) in [
                ("prior", false, network),
                ("delta 30/30", true, network),
                ("delta 30/30, 1 in 5", true, Network { ack_every: 5, ..network }),
                ("delta 0/0", true, Network { loss: 0.0, ack_loss: 0.0, ..network }),
            ] {
                let mut sizes = Sizes::default();
                let (mut wrong, mut refused, mut delivered) = (0, 0, 0);
                for (i, device) in test.iter().enumerate() {
                    let mut d = Device::new(&layout, "x", deltas, network, (5, i as u64));
                    for m in device {
                        let sent = d.send(&fit(m, &s)).unwrap();
                        sizes.add(sent.bytes);
                        wrong += u64::from(sent.wrong);
                        refused += u64::from(sent.refused);
                        delivered += u64::from(sent.delivered);
                    }
                }
                println!(
                    "{name:18} {label:7} {what:20} mean {:.2} p50 {} p90 {} p99 {} max {} <=30 {:.3}% <=19 {:.2}% delivered {delivered} wrong {wrong} refused {refused}",
                    sizes.mean(),
                    sizes.percentile(0.5),
                    sizes.percentile(0.9),
                    sizes.percentile(0.99),
                    sizes.percentile(1.0),
                    100.0 * sizes.share(30),
                    100.0 * sizes.share(19)
                );
            }
        }
    }
}
