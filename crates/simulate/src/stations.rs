//! The messages of simulated weather stations: those of `examples/weather-station`, every 15 minutes.

use dunnage_packed::Value;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::TAU;

/// The first message is of the time 2026-03-01T00:15:00Z, as the day of the year.
const FIRST_DAY: u32 = 59;
/// Messages in a day.
const PER_DAY: u32 = 96;
const WINDS: [&str; 8] = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"];
/// The days of the months of a year without a leap day.
const MONTHS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// Weather stations on roofs, each with weather of its own.
#[derive(Debug, Clone, Copy)]
pub struct Stations {
    /// The seed of all stations.
    pub seed: u64,
}

/// What the sensors of a station measure.
struct Weather {
    rng: ChaCha8Rng,
    /// The number of measurements so far.
    ticks: u32,
    pressure: f64,
    warmth: f64,
    wind: f64,
    vane: usize,
    battery: f64,
}

impl Stations {
    /// Returns `count` messages of station number `index`, for less than ten months.
    pub fn messages(self, index: usize, count: usize) -> impl Iterator<Item = Value> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(index as u64);
        let mut weather =
            Weather { rng, ticks: 0, pressure: 1014.0, warmth: 0.0, wind: 2.5, vane: 5, battery: 3.95 };
        (0..count).map(move |_| weather.measure())
    }
}

impl Weather {
    /// Returns a number with the normal distribution of this deviation, by the method of Box and Muller.
    fn normal(&mut self, deviation: f64) -> f64 {
        let (a, b): (f64, f64) = (self.rng.random(), self.rng.random());
        deviation * (-2.0 * (1.0 - a).ln()).sqrt() * (TAU * b).cos()
    }

    fn measure(&mut self) -> Value {
        self.ticks += 1;
        let sun = (TAU * (f64::from(self.ticks % PER_DAY) / f64::from(PER_DAY) - 9.0 / 24.0)).sin();
        self.pressure += self.normal(0.12) + (1014.0 - self.pressure) * 0.002;
        self.warmth += self.normal(0.12) - self.warmth * 0.01;
        self.wind = (self.wind + self.normal(0.4) + (2.5 - self.wind) * 0.05).clamp(0.0, 25.0);
        if self.rng.random_bool(0.15) {
            self.vane = (self.vane + if self.rng.random_bool(0.5) { 1 } else { 7 }) % 8;
        }
        self.battery += 0.004 * sun + (3.95 - self.battery) * 0.02;
        self.message(sun)
    }

    fn message(&mut self, sun: f64) -> Value {
        let steps = |value: f64, in_one: f64| Value::F64((value * in_one).round() / in_one);
        let gust = self.wind * 1.5 + self.normal(0.5).abs();
        let mut wind =
            vec![("speed".to_owned(), steps(self.wind, 10.0)), ("gust".to_owned(), steps(gust, 10.0))];
        if self.wind >= 0.3 {
            wind.push(("from".to_owned(), WINDS[self.vane].into()));
        }
        let is_wet = self.pressure < 1012.5 && self.rng.random_bool(0.5);
        // Tips of the bucket, each of 0.2 mm.
        let rain = if is_wet { -(1.0 - self.rng.random::<f64>()).ln() / 1.2 } else { 0.0 };
        let humidity = (68.0 - 18.0 * sun + self.normal(1.5)).clamp(20.0, 100.0);
        let temperature = match self.rng.random_bool(0.005) {
            true => Value::Null,
            false => steps(11.0 + 5.0 * sun + self.warmth, 10.0),
        };
        let fields = [
            ("time", Value::Text(time(self.ticks))),
            ("temperature", temperature),
            ("humidity", Value::U64(humidity.round() as u64)),
            ("pressure", steps(self.pressure, 10.0)),
            ("wind", Value::Map(wind)),
            ("rain", Value::F64(rain.round() / 5.0)),
            ("battery", steps(self.battery, 100.0)),
        ];
        Value::Map(fields.map(|(key, value)| (key.to_owned(), value)).into())
    }
}

/// Returns the time of a measurement.
fn time(ticks: u32) -> String {
    let (mut day, quarter) = (FIRST_DAY + ticks / PER_DAY, ticks % PER_DAY);
    let mut month = 1;
    for days in MONTHS {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    format!("2026-{month:02}-{:02}T{:02}:{:02}:00Z", day + 1, quarter / 4, quarter % 4 * 15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_packed::Layout;
    use dunnage_schema::Model;

    #[test]
    fn the_messages_are_those_of_the_stations_schema() {
        let schema = include_str!("../../../examples/weather-station/station.json");
        let layout = Layout::new(&Model::compile(schema).unwrap()).unwrap();
        let mut failed = 0;
        let all: Vec<Value> = Stations { seed: 1 }.messages(0, 3000).collect();
        for message in &all {
            layout.encode(message, &mut Vec::new()).unwrap();
            failed += usize::from(format!("{message:?}").contains("Null"));
        }
        assert!((3..40).contains(&failed), "{failed}");
        assert!(all.iter().zip(Stations { seed: 1 }.messages(1, 3000)).all(|(a, b)| *a != b));
        assert_eq!(
            [1, 96, 31 * 96].map(time),
            ["2026-03-01T00:15:00Z", "2026-03-02T00:00:00Z", "2026-04-01T00:00:00Z"]
        );
    }
}
