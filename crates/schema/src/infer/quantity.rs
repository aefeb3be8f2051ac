//! Derives properties of a field's numbers from its name.

use super::words;

/// Words that name a quantity, and its range in whole units: the physically possible values, not those that were seen.
///
/// The units are: degrees, for headings from north or from south; metres; degrees Celsius, Fahrenheit and kelvin, from a cold chamber to an
/// engine; per cent, and the overshoot of humidity sensors at 0 and 100; dBm, and the 0 to 31 and 99 of `AT+CSQ`; dB; pH; the quality of service of MQTT.
const RANGES: [(&[&str], i128, i128); 12] = [
    (&["lat", "latitude"], -90, 90),
    (&["lon", "lng", "long", "longitude"], -180, 180),
    (&["heading", "course", "bearing", "azimuth", "cog", "hdg"], -180, 360),
    (&["direction", "pitch", "roll", "yaw", "tilt"], -360, 360),
    (&["alt", "altitude", "elevation"], -1_000, 100_000),
    (&["temperature", "temp", "tmp", "dew", "dewpoint"], -100, 200),
    (&["humidity", "hum", "rh"], -10, 120),
    (&["percent", "percentage", "pct", "soc", "soh"], 0, 100),
    (&["rssi", "rsrp", "dbm"], -200, 100),
    (&["snr", "sinr", "rsrq"], -50, 50),
    (&["ph"], 0, 14),
    (&[LEVEL], 0, 2),
];

/// A quantity with a range whose numbers are whole.
const LEVEL: &str = "qos";

/// Words for quantities that are never negative and have no upper limit.
const NEVER_NEGATIVE: [&str; 49] = [
    "count",
    "counter",
    "counts",
    "cnt",
    "total",
    "num",
    "number",
    "nr",
    "seq",
    "sequence",
    "index",
    "idx",
    "id",
    "port",
    "channel",
    "uptime",
    "age",
    "duration",
    "interval",
    "period",
    "size",
    "length",
    "bytes",
    "packets",
    "frames",
    "hops",
    "sats",
    "nsat",
    "satellites",
    "hdop",
    "vdop",
    "pdop",
    "battery",
    "bat",
    "vbat",
    "batt",
    "pressure",
    "baro",
    "lux",
    "illuminance",
    "irradiance",
    "distance",
    "speed",
    "sog",
    "gust",
    "rain",
    "rainfall",
    "precipitation",
    "rpm",
];

/// Words for measured quantities, of which whole numbers alone may be chance.
const MEASURED: [&str; 15] = [
    "speed",
    "sog",
    "gust",
    "rain",
    "rainfall",
    "precipitation",
    "pressure",
    "distance",
    "voltage",
    "volt",
    "current",
    "power",
    "energy",
    "flow",
    "weight",
];

/// Words for points in time.
const TIMES: [&str; 23] = [
    "time",
    "timestamp",
    "ts",
    "dt",
    "date",
    "datetime",
    "epoch",
    "at",
    "utc",
    "unix",
    "when",
    "created",
    "updated",
    "sampled",
    "measured",
    "recorded",
    "received",
    "sent",
    "seen",
    "since",
    "until",
    "expires",
    "start",
];

/// Words after the name of a quantity that make it a point in time or a duration: `CurrentUpdatedMS`.
const CLOCKS: [&str; 14] = [
    "time",
    "timestamp",
    "ts",
    "at",
    "updated",
    "created",
    "epoch",
    "since",
    "until",
    "ms",
    "millis",
    "sec",
    "seconds",
    "minutes",
];
/// A quantity whose name is also an adjective: `currentVersion`. It is a quantity as the last word, or before a unit or a number.
const CURRENT: &str = "current";

/// Words for numbers that are not in the unit of the quantity.
const RAW: [&str; 2] = ["raw", "adc"];

/// Words for what is counted. Such a number is not a point in time, however large it is.
const COUNTED: [&str; 16] = [
    "bytes", "octets", "packets", "frames", "messages", "pulses", "count", "counts", "counter", "total",
    "errors", "steps", "wh", "kwh", "energy", "volume",
];

/// The properties that a word of a name implies.
#[derive(Debug, Clone, Copy, Default)]
struct Quantity {
    range: Option<(i128, i128)>,
    is_never_negative: bool,
    is_measured: bool,
}

impl Quantity {
    /// Returns the quantity of the last word of `name` that names one. The default implies nothing.
    fn of(name: &str) -> Quantity {
        let words = words::of(name);
        if words.iter().any(|word| RAW.contains(&word.as_str())) {
            return Quantity::default();
        }
        let is_adjective =
            |at: usize| words[at] == CURRENT && words.get(at + 1).is_some_and(|next| next.len() > 2);
        let mut named = words.iter().enumerate().rev().filter(|(at, _)| !is_adjective(*at));
        let found = named.find_map(|(at, word)| Some((at, Quantity::named(word)?)));
        let Some((at, quantity)) = found else { return Quantity::default() };
        let is_clock = words.iter().skip(at + 1).any(|word| CLOCKS.contains(&word.as_str()));
        if is_clock && !quantity.is_never_negative { Quantity::default() } else { quantity }
    }

    fn named(word: &str) -> Option<Quantity> {
        let row = RANGES.iter().find(|(words, _, _)| words.contains(&word));
        let quantity = Quantity {
            range: row.map(|(_, min, max)| (*min, *max)),
            is_never_negative: NEVER_NEGATIVE.contains(&word),
            is_measured: row.is_some() && word != LEVEL || MEASURED.contains(&word),
        };
        (quantity.range.is_some() || quantity.is_never_negative || quantity.is_measured).then_some(quantity)
    }
}

/// Returns the range in whole units that the name implies.
pub(super) fn range(name: &str) -> Option<(i128, i128)> {
    Quantity::of(name).range
}

/// Whether the name implies that no number is negative.
pub(super) fn is_never_negative(name: &str) -> bool {
    Quantity::of(name).is_never_negative
}

/// Whether the name implies measured numbers, which may have decimals even if none were seen.
pub(super) fn is_measured(name: &str) -> bool {
    Quantity::of(name).is_measured
}

/// Whether the name implies a point in time.
pub(super) fn is_time(name: &str) -> bool {
    words::of(name).iter().any(|word| TIMES.contains(&word.as_str()))
}

/// Whether the name implies that something is counted.
pub(super) fn is_counted(name: &str) -> bool {
    let words = words::of(name);
    let is_clock = words.last().is_some_and(|word| CLOCKS.contains(&word.as_str()));
    !is_clock && words.iter().any(|word| COUNTED.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_that_is_a_quantity_says_the_range() {
        assert_eq!(range("battery_temperature"), Some((-100, 200)));
        assert_eq!(range("temp1"), Some((-100, 200)));
        assert_eq!(range("temperature_count"), None);
        assert_eq!(range("temp_raw"), None);
        assert_eq!(range("template"), None);
        assert!(!is_never_negative("battery_current") && is_measured("battery_current"));
        assert!(is_never_negative("frame-count") && !is_never_negative("discount"));
        for name in ["CurrentUpdatedMS", "currentVersion", "current_user", "temperature_updated_at"] {
            assert!(!is_measured(name), "{name}");
        }
        assert!(is_never_negative("uptime_ms") && is_never_negative("wind_speed_ms"));
        assert!(is_measured("current") && is_measured("phase_current_mA") && is_measured("energy_received"));
        assert!(is_counted("tx_bytes") && is_counted("totalEnergy") && !is_counted("account"));
        assert!(is_counted("bytes_received") && is_counted("start_count") && !is_counted("count_updated_at"));
        assert!(!is_measured("qos") && range("qos") == Some((0, 2)));
        assert!(is_time("createdAt") && is_time("ts_ms") && !is_time("lifetimes"));
    }
}
