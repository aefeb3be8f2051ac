//! Many readings in one message: series of the simulated containers and weather stations. The statistics are trained on other devices.

use crate::container::{Failed, LOSSY, MEASURED, SEED, TRAINED, TRAINING_CONTAINERS};
use crate::goal::{Goal, Wanted};
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_links::fleet::Detail;
use dunnage_packed::{Layout, Training, Value};
use dunnage_schema::{Model, bundled_named};
use dunnage_simulate::{Containers, Device, Network, Sizes, Stations, train};
use serde_json::{Value as Json, json};

const DEVICES: usize = 50;
/// Readings of each device: 30 days.
const READINGS: usize = 2880;

const LOSSLESS: Network = Network { loss: 0.0, ack_loss: 0.0, ..LOSSY };

/// The readings of devices.
pub struct Source {
    name: &'static str,
    /// The schema of a reading.
    reading: Json,
    /// The fields that a message has once. The receiver knows them.
    once: [Option<&'static str>; 2],
    /// The readings of device number `index`.
    readings: fn(seed: u64, index: usize) -> Vec<Value>,
}

/// A number of readings in a message, with the goals for the means with and without a reference, and for the share within 160 bytes.
pub struct Case<'s> {
    pub source: &'s Source,
    pub count: usize,
    pub wanted: [Wanted; 3],
}

pub fn containers() -> Result<Source, Failed> {
    let mut reading: Json = serde_json::from_str(bundled_named("container-voyage").ok_or("no such schema")?)?;
    reading["properties"]["iso6346"]["x-dunnage-known"] = json!("device");
    reading["properties"]["msisdn"]["x-dunnage-known"] = json!("msisdn");
    let readings = |seed, index| {
        let containers = Containers { seed, cadence_s: 900.0, jitter_s: 30.0, detail: Detail::Voyage };
        containers.messages(index, READINGS).collect()
    };
    Ok(Source { name: "container-voyage", reading, once: [Some("iso6346"), Some("msisdn")], readings })
}

pub fn stations() -> Result<Source, Failed> {
    let reading = serde_json::from_str(include_str!("../../../examples/weather-station/station.json"))?;
    let readings = |seed, index| Stations { seed }.messages(index, READINGS).collect();
    Ok(Source { name: "weather station", reading, once: [None, None], readings })
}

/// Sends series of all sources in messages of several sizes.
pub fn goals(quick: bool) -> Result<Vec<Goal>, Failed> {
    use Wanted::{AtLeast, AtMost, Nothing};
    let (containers, stations) = (containers()?, stations()?);
    let case = |source, count, wanted| Case { source, count, wanted };
    let cases = [
        case(&containers, 12, [AtMost(158.0), AtLeast(60.0), AtMost(150.0)]),
        case(&containers, 14, [Nothing, Nothing, Nothing]),
        case(&containers, 64, [Nothing, Nothing, Nothing]),
        case(&stations, 24, [AtMost(110.0), Nothing, Nothing]),
    ];
    let mut goals = Vec::new();
    for case in cases {
        goals.extend(case.goals(if quick { DEVICES / 10 } else { DEVICES })?);
    }
    Ok(goals)
}

impl Case<'_> {
    pub fn payload(&self) -> String {
        format!("{}, {} readings", self.source.name, self.count)
    }

    /// Returns the schema of a message.
    pub fn schema(&self) -> Result<Json, Failed> {
        let mut reading = self.source.reading.clone();
        let mut once = serde_json::Map::new();
        let names: Vec<&str> = self.source.once.into_iter().flatten().collect();
        for name in &names {
            let properties = reading["properties"].as_object_mut().ok_or("no properties")?;
            once.insert((*name).to_owned(), properties.shift_remove(*name).ok_or("no such property")?);
        }
        reading["required"]
            .as_array_mut()
            .ok_or("nothing required")?
            .retain(|required| names.iter().all(|name| required != name));
        for keyword in ["$schema", "$id", "title", "examples"] {
            reading.as_object_mut().ok_or("no object")?.shift_remove(keyword);
        }
        let readings =
            json!({"type": "array", "x-dunnage-series": true, "maxItems": self.count, "items": reading});
        once.insert("readings".to_owned(), readings);
        let required: Vec<&String> = once.keys().collect();
        Ok(json!({"type": "object", "required": required, "additionalProperties": false, "properties": once}))
    }

    /// Returns the messages of a device.
    pub fn messages(&self, seed: u64, index: usize) -> Vec<Value> {
        let readings = (self.source.readings)(seed, index);
        let message = |readings: &[Value]| {
            let mut once = Vec::new();
            let mut reading = |reading: &Value| {
                let Value::Map(entries) = reading else { return reading.clone() };
                let is_once =
                    |(name, _): &&(String, Value)| self.source.once.iter().flatten().any(|once| once == name);
                let (of_message, of_reading): (Vec<_>, Vec<_>) = entries.iter().partition(is_once);
                once = of_message.into_iter().cloned().collect();
                Value::Map(of_reading.into_iter().cloned().collect())
            };
            let readings = readings.iter().map(&mut reading).collect();
            once.push(("readings".to_owned(), Value::Array(readings)));
            Value::Map(once)
        };
        readings.chunks_exact(self.count).map(message).collect()
    }

    /// Returns the layout of a schema of such messages, with statistics of other devices.
    pub fn trained(&self, mut schema: Json) -> Result<Layout, Failed> {
        let layout = Layout::untrained(&Model::compile(&schema.to_string())?);
        let mut training = Training::new(&layout)?;
        for index in 0..TRAINING_CONTAINERS {
            train(&mut training, self.messages(TRAINED, index), LOSSY, (SEED, index as u64))?;
        }
        let learnt = training.finish();
        eprintln!(
            "{}: {} bytes of statistics; bits of a reading, plain, prior and in deltas:",
            self.payload(),
            learnt.statistics.len()
        );
        for part in &learnt.parts {
            let bits =
                [part.plain, part.prior, part.delta.unwrap_or(f64::NAN)].map(|n| n / self.count as f64);
            eprintln!("  {:24} {:6.2} {:6.2} {:6.2}", part.path, bits[0], bits[1], bits[2]);
        }
        schema["x-dunnage-statistics"] = json!(BASE64_STANDARD.encode(learnt.statistics));
        Ok(Layout::new(&Model::compile(&schema.to_string())?)?)
    }

    fn goals(&self, devices: usize) -> Result<Vec<Goal>, Failed> {
        let layout = self.trained(self.schema()?)?;
        let plain = Layout::untrained(layout.model());
        let [prior, within, delta] = self.wanted;
        let mut forms = [
            Form::new("plain", &plain, None, [Wanted::Nothing, Wanted::Nothing]),
            Form::new("prior", &layout, None, [prior, within]),
            Form::new("delta, nothing lost", &layout, Some(LOSSLESS), [delta, Wanted::Nothing]),
            Form::new("delta, 30/30 lost", &layout, Some(LOSSY), [delta, Wanted::Nothing]),
        ];
        for index in 0..devices {
            let messages = self.messages(MEASURED, index);
            for form in &mut forms {
                form.send(&messages, index as u64)?;
            }
        }
        Ok(forms.into_iter().flat_map(|form| form.goals(&self.payload())).collect())
    }
}

/// A form of messages, and what those that were sent in it took.
struct Form<'l> {
    sent: &'static str,
    layout: &'l Layout,
    /// The link of deltas.
    deltas: Option<Network>,
    /// The goals for the mean, and for the share within 160 bytes.
    wanted: [Wanted; 2],
    sizes: Sizes,
    wrong: u64,
}

impl<'l> Form<'l> {
    fn new(sent: &'static str, layout: &'l Layout, deltas: Option<Network>, wanted: [Wanted; 2]) -> Form<'l> {
        Form { sent, layout, deltas, wanted, sizes: Sizes::default(), wrong: 0 }
    }

    fn send(&mut self, messages: &[Value], number: u64) -> Result<(), Failed> {
        let network = self.deltas.unwrap_or(LOSSLESS);
        let mut device = Device::new(self.layout, self.deltas.is_some(), network, (SEED, number));
        for message in messages {
            let sent = device.send(message)?;
            self.sizes.add(sent.bytes);
            self.wrong += u64::from(sent.wrong);
        }
        Ok(())
    }

    fn goals(self, payload: &str) -> [Goal; 3] {
        let figure = |metric, value, unit, wanted| Goal {
            payload: payload.to_owned(),
            sent: self.sent.to_owned(),
            metric,
            value,
            unit,
            wanted,
            repetitions: self.sizes.messages(),
        };
        [
            figure("mean", self.sizes.mean(), "B", self.wanted[0]),
            figure("<= 160 B", 100.0 * self.sizes.share(160), "%", self.wanted[1]),
            figure("wrong values", self.wrong as f64, "", Wanted::AtMost(0.0)),
        ]
    }
}
