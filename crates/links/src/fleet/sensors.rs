//! Simulates the measurements of a container, as values that drift like real ones.

use super::geo::Position;
use core::f64::consts::TAU;
use libm::sin;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A value that wanders around zero. Each tick pulls it towards zero and adds a random kick.
#[derive(Debug, Clone)]
struct Drift {
    value: f64,
    pull: f64,
    kick: f64,
}

impl Drift {
    /// Creates a value that forgets its past after about `ticks` and has a standard deviation of half of
    /// `spread`.
    fn new(ticks: f64, spread: f64, rng: &mut ChaCha8Rng) -> Drift {
        let value = rng.random_range(-0.5..0.5) * spread;
        // A uniform kick from -k to k has the variance k²/3, and the wandering value has k²/3 / (2 * pull).
        Drift { value, pull: 1.0 / ticks, kick: spread * libm::sqrt(1.5 / ticks) }
    }

    fn tick(&mut self, rng: &mut ChaCha8Rng) -> f64 {
        self.value += self.kick * rng.random_range(-1.0..1.0) - self.pull * self.value;
        self.value
    }
}

/// The position and time of a measurement.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings {
    /// The position of the container.
    pub position: Position,
    /// Whether the container is in port.
    pub moored: bool,
    /// The time, in seconds since 1970.
    pub unix_seconds: f64,
    /// The hours since the last measurement.
    pub hours: f64,
}

/// The state of a container's door, with the letter that the message uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// `D`: dormant, nothing to report.
    Dormant,
    /// `O`: open.
    Open,
    /// `C`: closed a while ago.
    Closed,
    /// `T`: the cover of the device was touched.
    Touched,
}

impl Door {
    /// Returns the letter of the state.
    pub fn letter(self) -> &'static str {
        match self {
            Door::Dormant => "D",
            Door::Open => "O",
            Door::Closed => "C",
            Door::Touched => "T",
        }
    }

    /// Advances the door. It is opened only in port, about once in two days and for about two hours.
    fn tick(self, moored: bool, hours: f64, rng: &mut ChaCha8Rng) -> Door {
        let mut happens = |once_in_hours: f64| rng.random_bool((hours / once_in_hours).min(1.0));
        match self {
            Door::Dormant if moored && happens(48.0) => Door::Open,
            Door::Dormant if moored && happens(1000.0) => Door::Touched,
            Door::Open if !moored || happens(2.0) => Door::Closed,
            Door::Closed | Door::Touched if happens(1.0) => Door::Dormant,
            same => same,
        }
    }
}

/// The sensors of one container.
#[derive(Debug, Clone)]
pub struct Sensors {
    weather: Drift,
    damp: Drift,
    air: Drift,
    swell: [Drift; 3],
    /// The counts of the accelerometer at rest. Gravity is mostly along -x.
    rest: [f64; 3],
    /// The hours that a full battery lasts.
    battery_hours: f64,
    /// The charge of the battery in percent.
    pub battery: f64,
    /// The temperature inside, in °C.
    pub temperature: f64,
    /// The relative humidity inside, in percent.
    pub humidity: f64,
    /// The pressure in hPa.
    pub pressure: f64,
    /// The acceleration along x, y and z, in counts of 0.7324443 mg.
    pub acceleration: [i64; 3],
    /// The state of the door.
    pub door: Door,
    /// Whether a Bluetooth mesh is in range.
    pub mesh: bool,
}

impl Sensors {
    /// Creates the sensors of a container, with a random state. [`Sensors::tick`] makes the first
    /// measurement.
    pub fn new(rng: &mut ChaCha8Rng) -> Sensors {
        Sensors {
            weather: Drift::new(2000.0, 2.5, rng),
            damp: Drift::new(1500.0, 8.0, rng),
            air: Drift::new(6000.0, 6.0, rng),
            swell: [Drift::new(4.0, 12.0, rng), Drift::new(4.0, 30.0, rng), Drift::new(4.0, 22.0, rng)],
            rest: [
                rng.random_range(-1368.0..-1352.0),
                rng.random_range(-60.0..60.0),
                rng.random_range(-80.0..80.0),
            ],
            battery_hours: 24.0 * rng.random_range(60.0..150.0),
            battery: rng.random_range(20.0..100.0),
            temperature: 0.0,
            humidity: 0.0,
            pressure: 0.0,
            acceleration: [0; 3],
            door: Door::Dormant,
            mesh: rng.random_bool(0.2),
        }
    }

    /// Makes a measurement.
    pub fn tick(&mut self, around: Surroundings, rng: &mut ChaCha8Rng) {
        let warmth = daily_warmth(around);
        self.temperature = climate(around) + warmth + self.weather.tick(rng);
        self.humidity = (72.0 - 1.5 * warmth + self.damp.tick(rng)).clamp(15.0, 100.0);
        self.pressure = 1014.5 + self.air.tick(rng);
        // The ship does not roll in port.
        let roll = if around.moored { 0.1 } else { 1.0 };
        for axis in 0..3 {
            let counts = self.rest[axis] + roll * self.swell[axis].tick(rng);
            self.acceleration[axis] = libm::round(counts) as i64;
        }
        self.battery = (self.battery - 100.0 * around.hours / self.battery_hours).max(1.0);
        // The battery is recharged rarely: only when it is low and the container is in port, at a random
        // time.
        if self.battery < 20.0 && around.moored && rng.random_bool((around.hours / 12.0).min(1.0)) {
            self.battery = 100.0;
        }
        self.door = self.door.tick(around.moored, around.hours, rng);
        if around.moored && rng.random_bool((around.hours / 24.0).min(1.0)) {
            self.mesh = !self.mesh;
        }
    }
}

/// Returns the season's mean temperature at a latitude of the Mediterranean, in °C. The warmest time is
/// mid-August.
fn climate(around: Surroundings) -> f64 {
    let day = around.unix_seconds / 86_400.0 % 365.25;
    19.0 - 0.6 * (around.position.latitude - 37.0) + 7.0 * sin(TAU * (day - 135.0) / 365.25)
}

/// Returns how much warmer it is than the day's mean inside a steel box, in °C. The warmest time is 15:00 in
/// solar time.
fn daily_warmth(around: Surroundings) -> f64 {
    let solar_hour = (around.unix_seconds / 3600.0 + around.position.longitude / 15.0) % 24.0;
    4.5 * sin(TAU * (solar_hour - 9.0) / 24.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn around(unix_seconds: f64, moored: bool) -> Surroundings {
        let position = Position { latitude: 36.0, longitude: 15.0 };
        Surroundings { position, moored, unix_seconds, hours: 1.0 / 120.0 }
    }

    #[test]
    fn a_drift_deviates_by_half_its_spread() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut drift = Drift::new(50.0, 3.0, &mut rng);
        let n = 200_000;
        let squares: f64 = (0..n).map(|_| drift.tick(&mut rng)).map(|x| x * x).sum();
        let deviation = (squares / f64::from(n)).sqrt();
        assert!((1.4..1.6).contains(&deviation), "{deviation}");
    }

    #[test]
    fn afternoons_are_warmer_than_nights_and_summers_than_winters() {
        let at = |days: f64, hour: f64| around(days * 86_400.0 + hour * 3600.0, false);
        assert!(daily_warmth(at(0.0, 14.0)) > 4.0 && daily_warmth(at(0.0, 2.0)) < -4.0);
        assert!(climate(at(225.0, 12.0)) > climate(at(45.0, 12.0)) + 13.0);
    }

    #[test]
    fn a_battery_runs_down_at_sea_and_is_charged_in_port_when_low() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut sensors = Sensors::new(&mut rng);
        let (mut charges, mut last) = (0, sensors.battery);
        for tick in 0..200 * 24 * 120 {
            let moored = tick / (5 * 24 * 120) % 3 == 2;
            sensors.tick(around(f64::from(tick) * 30.0, moored), &mut rng);
            if sensors.battery > last {
                assert!(moored && last < 20.0);
                charges += 1;
            }
            last = sensors.battery;
        }
        assert!((1..=5).contains(&charges), "{charges}");
    }

    #[test]
    fn doors_open_in_port_only_and_every_state_occurs() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (mut door, mut seen) = (Door::Dormant, Vec::new());
        for hour in 0..20_000 {
            let moored = hour % 100 < 30;
            let before = door;
            door = door.tick(moored, 1.0, &mut rng);
            if door == Door::Open {
                assert!(moored || before == Door::Open);
            }
            if !seen.contains(&door.letter()) {
                seen.push(door.letter());
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, ["C", "D", "O", "T"]);
    }
}
