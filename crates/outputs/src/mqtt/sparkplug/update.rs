//! What a message changes at a device, and what a host must get for it.

use super::{datatype::DataType, payload::Metric, readings::Reading};
use std::collections::HashMap;

/// Most metrics that a device has beyond those of its last message.
const METRICS: usize = 1000;

/// What a message changes.
#[derive(Debug, PartialEq)]
pub struct Update {
    /// All metrics of the device, with their current values.
    pub current: Vec<Metric>,
    /// Whether the host must get all of them, as a DBIRTH.
    pub is_birth: bool,
    /// What the host must get as a DDATA: after a DBIRTH, only what that does not have.
    pub data: Vec<Metric>,
}

/// Returns what a message with the values `readings`, captured at `timestamp`, changes at a device with the metrics `known`, if it has had a
/// DBIRTH.
///
/// A value that is older than the one that the host has is sent as a historical one, so that it does not replace that.
pub fn update(known: Option<Vec<Metric>>, readings: &[Reading], timestamp: u64) -> Update {
    let (mut is_birth, mut current, mut data) = (known.is_none(), known.unwrap_or_default(), Vec::new());
    let places: HashMap<_, _> =
        current.iter().enumerate().map(|(at, metric)| (metric.name().to_owned(), at)).collect();
    for reading in readings {
        let Some(known) = places.get(&reading.name).map(|at| &mut current[*at]) else {
            is_birth = true;
            current.push(reading.metric(timestamp, None));
            continue;
        };
        let metric = reading.metric(timestamp, DataType::of_number(known.datatype()));
        let is_other = known.datatype != metric.datatype || known.properties != metric.properties;
        if timestamp < known.timestamp() {
            data.push(historical(&metric, known));
        } else {
            data.push(Metric { datatype: None, properties: None, ..metric.clone() });
            is_birth |= is_other;
            *known = metric;
        }
    }
    if current.len() > METRICS.max(readings.len()) {
        return update(None, readings, timestamp);
    }
    if is_birth {
        data.retain(Metric::is_historical);
    }
    Update { current, is_birth, data }
}

/// Returns an old value. A type that is not that of the DBIRTH is in the metric.
fn historical(metric: &Metric, known: &Metric) -> Metric {
    let datatype = metric.datatype.filter(|kind| Some(*kind) != known.datatype);
    Metric { datatype, properties: None, is_historical: Some(true), ..metric.clone() }
}
