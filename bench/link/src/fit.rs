//! Messages that fit: as many readings as each limit from 8 to 160 bytes allows, and then without properties. Compared with the best that trying
//! everything finds.

use crate::container::{Failed, MEASURED};
use crate::goal::{Goal, Wanted};
use crate::series::{Case, containers, stations};
use dunnage_packed::{Known, Layout, Value};
use dunnage_schema::same;
use serde_json::json;

const LIMITS: std::ops::RangeInclusive<usize> = 8..=160;
/// Readings of a message.
const READINGS: usize = 24;
/// The interval, in messages, at which one is compared with the best part.
const COMPARED: u64 = 50;

/// Sends messages of containers and weather stations within all limits.
pub fn goals(quick: bool) -> Result<Vec<Goal>, Failed> {
    let (containers, stations) = (containers()?, stations()?);
    let case = |source| Case { source, count: READINGS, wanted: [Wanted::Nothing; 3] };
    let mut goals = Vec::new();
    for (case, messages) in [(case(&containers), 200_000), (case(&stations), 1_000_000)] {
        let mut schema = case.schema()?;
        let ranks = rank(&mut schema["properties"]["readings"]["items"])?;
        let layout = case.trained(schema)?;
        goals.extend(Fits::measure(&case, &layout, &ranks, if quick { messages / 100 } else { messages })?);
    }
    Ok(goals)
}

/// Makes all properties of a reading optional but the first two, and ranks them in their order. Returns their names, the highest rank first.
fn rank(reading: &mut serde_json::Value) -> Result<Vec<String>, Failed> {
    let properties = reading["properties"].as_object_mut().ok_or("no properties")?;
    let mut names = Vec::new();
    for (at, (name, schema)) in properties.iter_mut().enumerate().skip(2) {
        schema["x-dunnage-drop"] = json!(at);
        names.push(name.clone());
    }
    reading["required"]
        .as_array_mut()
        .ok_or("nothing required")?
        .retain(|name| names.iter().all(|optional| name != optional));
    names.reverse();
    Ok(names)
}

/// The counts of messages that were made to fit.
#[derive(Default)]
struct Fits {
    messages: u64,
    /// Those that have no form within the limit.
    without: u64,
    over: u64,
    wrong: u64,
    readings: u64,
    /// The readings of the messages that were compared, and those of the best.
    compared: [u64; 2],
}

impl Fits {
    fn measure(
        case: &Case<'_>,
        layout: &Layout,
        ranks: &[String],
        messages: u64,
    ) -> Result<[Goal; 5], Failed> {
        let mut fits = Fits::default();
        let mut limits = LIMITS.cycle();
        'devices: for index in 0.. {
            let sent = case.messages(MEASURED, index);
            // A device sends each message once for each limit, in pieces, so that few devices suffice.
            for (message, limit) in sent.iter().cycle().zip(&mut limits).take(sent.len() * LIMITS.count()) {
                if fits.messages == messages {
                    break 'devices;
                }
                fits.send(layout, message, limit, ranks)?;
            }
        }
        Ok(fits.goals(&case.payload()))
    }

    fn send(
        &mut self,
        layout: &Layout,
        message: &Value,
        limit: usize,
        ranks: &[String],
    ) -> Result<(), Failed> {
        let mut bytes = Vec::new();
        let fit = match layout.encode_fit(message, limit, &mut bytes) {
            Ok(fit) => Some(fit),
            Err(error) if error.kind() == dunnage_packed::Kind::Limit => None,
            Err(error) => return Err(error.into()),
        };
        let (sent, left_out) = fit.map_or((0, 0), |fit| (fit.readings, fit.left_out.len()));
        if left_out > 0 || sent > 0 {
            let known = layout.root().known_texts(message);
            let known = Known { device: known.get("device").map(String::as_str), texts: Some(&known) };
            let decoded = layout.decode(&bytes, known)?;
            self.over += u64::from(bytes.len() > limit);
            self.wrong += u64::from(
                !(0..=ranks.len()).any(|rank| same(&decoded, &part(message, sent, &ranks[..rank]))),
            );
        } else {
            self.without += 1;
        }
        if self.messages.is_multiple_of(COMPARED) {
            let best = best(layout, message, limit, ranks)?;
            self.compared[0] += sent as u64;
            self.compared[1] += best as u64;
        }
        self.messages += 1;
        self.readings += sent as u64;
        Ok(())
    }

    fn goals(&self, payload: &str) -> [Goal; 5] {
        let goal = |metric, value, unit, wanted| Goal {
            payload: payload.to_owned(),
            sent: "fit, 8 to 160 bytes".to_owned(),
            metric,
            value,
            unit,
            wanted,
            repetitions: self.messages,
        };
        let [sent, best] = self.compared;
        [
            goal("over the limit", self.over as f64, "", Wanted::AtMost(0.0)),
            goal("wrong values", self.wrong as f64, "", Wanted::AtMost(0.0)),
            goal("readings of the best", 100.0 * sent as f64 / best as f64, "%", Wanted::AtLeast(98.0)),
            goal("readings of a message", self.readings as f64 / self.messages as f64, "", Wanted::Nothing),
            goal(
                "without any form",
                100.0 * self.without as f64 / self.messages as f64,
                "%",
                Wanted::Nothing,
            ),
        ]
    }
}

/// Returns the first `readings` of the message without the properties `left_out`.
fn part(message: &Value, readings: usize, left_out: &[String]) -> Value {
    let Value::Map(entries) = message else { return message.clone() };
    let reading = |reading: &Value| match reading {
        Value::Map(entries) => {
            Value::Map(entries.iter().filter(|(name, _)| !left_out.contains(name)).cloned().collect())
        }
        other => other.clone(),
    };
    let entry = |(name, value): &(String, Value)| match value {
        Value::Array(items) => {
            (name.clone(), Value::Array(items.iter().take(readings).map(reading).collect()))
        }
        other => (name.clone(), other.clone()),
    };
    Value::Map(entries.iter().map(entry).collect())
}

/// Returns the most readings that fit without as few properties as possible, found by trying all; 0 if nothing fits.
fn best(layout: &Layout, message: &Value, limit: usize, ranks: &[String]) -> Result<usize, Failed> {
    for rank in 0..=ranks.len() {
        for readings in (1..=READINGS).rev() {
            let mut bytes = Vec::new();
            layout.encode(&part(message, readings, &ranks[..rank]), &mut bytes)?;
            if bytes.len() <= limit {
                return Ok(readings);
            }
        }
    }
    Ok(0)
}
