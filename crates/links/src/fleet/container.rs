//! One container: its device, its route, its measurements and its message.

use super::geo::Position;
use super::graph::nearest_port;
use super::iso6346;
use super::lanes::PLACES;
use super::sensors::{Sensors, Surroundings};
use super::voyage::Voyage;
use dunnage_pson::Value;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use time::OffsetDateTime;

/// The range of the mobile cells of a port, in kilometres.
const COVERAGE_KM: f64 = 15.0;

/// Owner codes of containers.
const OWNERS: [[u8; 3]; 4] = [*b"DNG", *b"LMC", *b"MNH", *b"TYR"];

/// The kind of place where a container is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Outside the range of the mobile networks.
    Sea,
    /// At sea, within the range of a port.
    Approach,
    /// In port, at the quay. The container leaves within hours.
    Terminal,
    /// In port, in the yard.
    Yard,
}

/// The detail of a container's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// All fields of the schema `container`.
    Full,
    /// The fields of the schema `container-voyage`.
    Voyage,
}

/// A container with a tracking device.
#[derive(Debug, Clone)]
pub struct Container {
    rng: ChaCha8Rng,
    device: String,
    msisdn: String,
    voyage: Voyage,
    sensors: Sensors,
    /// The height above the sea at which it is stowed, in centimetres.
    stowed_cm: i64,
    fix: Fix,
    cell: Cell,
    unix_ms: u64,
}

/// The last data of the satellite receiver.
#[derive(Debug, Clone)]
struct Fix {
    valid: bool,
    position: Position,
    altitude_cm: i64,
    speed_kmh: f64,
    heading: f64,
    satellites: i64,
}

/// The mobile network that was heard last.
#[derive(Debug, Clone)]
struct Cell {
    in_reach: bool,
    rssi: i64,
    identity: String,
}

impl Container {
    /// Creates container number `index` of the fleet of `seed`. It does not depend on the size of the fleet.
    pub(super) fn new(seed: u64, index: usize, unix_ms: u64) -> Container {
        let mut fleet = ChaCha8Rng::seed_from_u64(seed);
        let (serial, subscriber): (u32, u64) = (fleet.random(), fleet.random());
        // 7919 has no divisor in common with 10^6 or 10^9, so a million containers have different numbers.
        let step = index as u64 * 7919;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(index as u64 + 1);
        let owner = OWNERS[index % OWNERS.len()];
        let voyage = Voyage::underway(&mut rng);
        let position = voyage.position();
        let mut container = Container {
            device: iso6346::number(owner, ((u64::from(serial) + step) % 1_000_000) as u32),
            msisdn: format!("393{:09}", (subscriber % 1_000_000_000 + step) % 1_000_000_000),
            sensors: Sensors::new(&mut rng),
            stowed_cm: rng.random_range(400..4500),
            fix: Fix {
                valid: true,
                position,
                altitude_cm: 0,
                speed_kmh: voyage.speed_kmh(),
                heading: voyage.course(),
                satellites: 9,
            },
            cell: Cell { in_reach: false, rssi: 99, identity: String::new() },
            voyage,
            rng,
            unix_ms,
        };
        let last_port = nearest_port(position, f64::INFINITY).map_or(0, |(port, _)| port);
        container.cell.identity = identity(last_port, 0);
        container.measure(0.0);
        container
    }

    /// Advances the container by `hours`, one tick of the fleet, to the time `unix_ms`.
    pub(super) fn tick(&mut self, hours: f64, unix_ms: u64) {
        self.unix_ms = unix_ms;
        self.voyage.advance(hours, &mut self.rng);
        self.measure(hours);
    }

    /// Returns the number of the container (ISO 6346), which is the ID of its device.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Returns whether it is outside the range of the mobile networks: farther than 15 km from every port.
    pub fn at_sea(&self) -> bool {
        !self.cell.in_reach
    }

    /// Returns the kind of place where it is.
    pub fn place(&self) -> Place {
        match (self.at_sea(), self.voyage.moored(), self.voyage.loading()) {
            (true, ..) => Place::Sea,
            (false, false, _) => Place::Approach,
            (false, true, true) => Place::Terminal,
            (false, true, false) => Place::Yard,
        }
    }

    /// Returns its true position, even if its receiver has no fix.
    pub fn position(&self) -> Position {
        self.voyage.position()
    }

    /// Returns the time of its last measurement, in milliseconds since 1970.
    pub fn unix_ms(&self) -> u64 {
        self.unix_ms
    }

    /// Returns its message: the 20 fields of the container schema, all of them text.
    pub fn message(&self) -> Value {
        self.message_at(self.unix_ms, Detail::Full)
    }

    /// Returns its message with another time, in milliseconds since 1970.
    pub fn message_at(&self, unix_ms: u64, detail: Detail) -> Value {
        // The operator of the voyage has numbers of its own, and looks at fewer decimals.
        let (operator, places) = match detail {
            Detail::Full => (&self.msisdn[..3], 4),
            Detail::Voyage => ("3936", 2),
        };
        let msisdn = format!("{operator}{}", &self.msisdn[operator.len()..]);
        let (sensors, fix) = (&self.sensors, &self.fix);
        let flag = |on: bool| if on { "1" } else { "0" }.to_owned();
        let acceleration = sensors.acceleration.map(|counts| milli_g(counts, places)).join(" ");
        let fields = [
            ("msisdn", msisdn),
            ("iso6346", self.device.clone()),
            ("time", time_text(unix_ms)),
            ("rssi", self.cell.rssi.to_string()),
            ("cgi", self.cell.identity.clone()),
            ("ble-m", flag(sensors.mesh)),
            ("bat-soc", rounded(sensors.battery, 0)),
            ("acc", acceleration),
            ("temperature", rounded(sensors.temperature, 2)),
            ("humidity", rounded(sensors.humidity, 2)),
            ("pressure", rounded(sensors.pressure, places)),
            ("door", sensors.door.letter().to_owned()),
            ("gnss", flag(fix.valid)),
            ("latitude", rounded(fix.position.latitude, 4)),
            ("longitude", rounded(fix.position.longitude, 4)),
            ("altitude", decimal(fix.altitude_cm, 2)),
            ("speed", rounded(fix.speed_kmh, 1)),
            ("heading", rounded(fix.heading, 2)),
            ("nsat", format!("{:02}", fix.satellites)),
            ("hdop", rounded(dilution(fix.satellites), 1)),
        ];
        Value::Map(fields.map(|(key, text)| (key.to_owned(), Value::Text(text))).into())
    }

    fn measure(&mut self, hours: f64) {
        let position = self.voyage.position();
        let moored = self.voyage.moored();
        let unix_seconds = self.unix_ms as f64 / 1000.0;
        self.sensors.tick(Surroundings { position, moored, unix_seconds, hours }, &mut self.rng);
        self.listen(position);
        self.locate(position);
    }

    /// Updates the cell to that of the nearest port. Out of range, the last cell stays.
    fn listen(&mut self, position: Position) {
        let heard = nearest_port(position, COVERAGE_KM);
        self.cell.in_reach = heard.is_some();
        self.cell.rssi = 99;
        if let Some((port, km)) = heard {
            // One cell for every two kilometres from the port.
            self.cell.identity = identity(port, (km / 2.0) as usize);
            self.cell.rssi = (30 - (km * 1.6) as i64 + self.rng.random_range(-2..=1)).clamp(2, 31);
        }
    }

    /// Updates the fix. The receiver sometimes loses sight of the sky; then the last fix stays.
    fn locate(&mut self, position: Position) {
        let changes = if self.fix.valid { 0.002 } else { 0.05 };
        self.fix.valid ^= self.rng.random_bool(changes);
        if !self.fix.valid {
            self.fix.satellites = 0;
            return;
        }
        self.fix = Fix {
            valid: true,
            position,
            altitude_cm: self.stowed_cm + self.rng.random_range(-300..=300),
            speed_kmh: self.voyage.speed_kmh(),
            heading: self.voyage.course(),
            satellites: (self.fix.satellites + self.rng.random_range(-1..=1)).clamp(4, 14),
        };
    }
}

/// Returns the global identity of a port's cell: network, area and cell, the last two in hexadecimal.
fn identity(port: usize, ring: usize) -> String {
    let network = PLACES[port].network.unwrap_or("999-01");
    format!("{network}-{:X}-{:05X}", port + 1, 0x31000 + port * 0x40 + ring)
}

/// Returns the horizontal dilution of precision with this number of satellites; 25.5 without a fix.
fn dilution(satellites: i64) -> f64 {
    if satellites == 0 { 25.5 } else { 0.5 + 8.0 / satellites as f64 }
}

/// Converts counts of the accelerometer to text in mg with at most seven decimals. One count is 0.7324443 mg.
fn milli_g(counts: i64, places: u32) -> String {
    let (units, unit) = (counts * 7_324_443, 10_i64.pow(7 - places));
    decimal((units.abs() + unit / 2) / unit * units.signum(), places)
}

/// Formats `value` with `places` decimals. A value that rounds to zero has no sign.
fn rounded(value: f64, places: u32) -> String {
    let scale = f64::from(10_u32.pow(places));
    decimal(libm::round(value * scale) as i64, places)
}

/// Formats `units` of 10^-`places`.
fn decimal(units: i64, places: u32) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let (units, scale) = (units.unsigned_abs(), 10_u64.pow(places));
    if places == 0 {
        return format!("{sign}{units}");
    }
    format!("{sign}{}.{:0width$}", units / scale, units % scale, width = places as usize)
}

/// Formats a time as `DDMMYY hhmmss.s` in UTC.
fn time_text(unix_ms: u64) -> String {
    let ms = i64::try_from(unix_ms).unwrap_or(i64::MAX);
    let utc = OffsetDateTime::UNIX_EPOCH.saturating_add(time::Duration::milliseconds(ms));
    format!(
        "{:02}{:02}{:02} {:02}{:02}{:02}.{}",
        utc.day(),
        u8::from(utc.month()),
        utc.year() % 100,
        utc.hour(),
        utc.minute(),
        utc.second(),
        utc.millisecond() / 100
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acceleration_is_a_multiple_of_a_count_rounded_to_four_decimals() {
        assert_eq!(milli_g(-1357, 4), "-993.9269");
        assert_eq!(milli_g(-37, 4), "-27.1004");
        assert_eq!(milli_g(-71, 4), "-52.0035");
        assert_eq!(milli_g(0, 4), "0.0000");
        assert_eq!(milli_g(1, 4), "0.7324");
        assert_eq!(milli_g(-1, 4), "-0.7324");
        assert_eq!(milli_g(-1357, 2), "-993.93");
    }

    #[test]
    fn numbers_are_written_with_their_decimals_and_no_negative_zero() {
        assert_eq!(rounded(17.0, 2), "17.00");
        assert_eq!(rounded(-0.004, 2), "0.00");
        assert_eq!(rounded(-0.051, 1), "-0.1");
        assert_eq!(rounded(95.6, 0), "96");
        assert_eq!(decimal(-5, 4), "-0.0005");
    }

    #[test]
    fn times_are_day_month_year_and_tenths() {
        // 2023-04-20T00:29:40Z
        assert_eq!(time_text(1_681_950_580_000), "200423 002940.0");
        assert_eq!(time_text(1_681_950_580_999), "200423 002940.9");
    }
}
