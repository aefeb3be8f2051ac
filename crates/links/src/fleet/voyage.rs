//! The voyage of a ship from port to port, with its stays in port.

use super::geo::{Lane, Position};
use super::graph::{Node, position, shortest_way};
use super::lanes::PORTS;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

const KMH_PER_KNOT: f64 = 1.852;
/// The range of ships' speeds, in knots.
const SPEED_KNOTS: (f64, f64) = (12.0, 20.0);
/// The range of hours that a container stays in a port.
const STAY_HOURS: (f64, f64) = (6.0, 48.0);
/// The number of hours before departure at which a container is brought from the yard to the quay.
const LOADING_HOURS: f64 = 6.0;
/// The maximum distance of a ship from the middle of a lane, as a fraction of the lane's length. All lanes
/// are wide enough for it.
const BOW: f64 = 0.03;
/// The maximum distance of a ship from the middle of a long lane, in kilometres.
const BOW_KM: f64 = 12.0;

/// The position and activity of a container.
#[derive(Debug, Clone)]
pub struct Voyage {
    state: State,
    /// The ship's mean speed in km/h. Its actual speed varies around this.
    cruise_kmh: f64,
    /// The last course, in degrees.
    course: f64,
}

#[derive(Debug, Clone)]
enum State {
    Moored { port: Node, hours_left: f64 },
    Sailing { way: Vec<Node>, leg: usize, lane: Lane, km: f64, kmh: f64 },
}

impl Voyage {
    /// Creates a voyage at a random point. About one container in five is in port.
    pub fn underway(rng: &mut ChaCha8Rng) -> Voyage {
        let port = rng.random_range(0..PORTS);
        let stay = rng.random_range(0.0..STAY_HOURS.1);
        let mut voyage = Voyage {
            state: State::Moored { port, hours_left: stay },
            cruise_kmh: SPEED_KNOTS.0 * KMH_PER_KNOT,
            course: rng.random_range(0.0..360.0),
        };
        if rng.random_bool(0.8) {
            voyage.sail(port, rng);
            let hours = rng.random_range(0.0..72.0);
            voyage.advance(hours, rng);
        }
        voyage
    }

    /// Advances by `hours`, but not beyond the next arrival or departure.
    pub fn advance(&mut self, hours: f64, rng: &mut ChaCha8Rng) {
        let cruise_kmh = self.cruise_kmh;
        match &mut self.state {
            State::Moored { port, hours_left } => {
                *hours_left -= hours;
                if *hours_left <= 0.0 {
                    let port = *port;
                    self.sail(port, rng);
                }
            }
            State::Sailing { way, leg, lane, km, kmh } => {
                let (slowest, fastest) = (SPEED_KNOTS.0 * KMH_PER_KNOT, SPEED_KNOTS.1 * KMH_PER_KNOT);
                *kmh += 0.05 * (cruise_kmh - *kmh) + rng.random_range(-0.1..0.1);
                *kmh = kmh.clamp(slowest, fastest);
                *km += *kmh * hours;
                while *km >= lane.km && *leg + 2 < way.len() {
                    *km -= lane.km;
                    *leg += 1;
                    *lane = bowed(way[*leg], way[*leg + 1], rng);
                }
                self.course = lane.course((*km / lane.km).min(1.0));
                if *km >= lane.km {
                    let port = way[*leg + 1];
                    let hours_left = rng.random_range(STAY_HOURS.0..STAY_HOURS.1);
                    self.state = State::Moored { port, hours_left };
                }
            }
        }
    }

    /// Returns the position.
    pub fn position(&self) -> Position {
        match &self.state {
            State::Moored { port, .. } => position(*port),
            State::Sailing { lane, km, .. } => lane.at((km / lane.km).min(1.0)),
        }
    }

    /// Returns whether the ship is in port.
    pub fn moored(&self) -> bool {
        matches!(self.state, State::Moored { .. })
    }

    /// Returns whether the container is at the quay for loading: the last hours of its stay in port.
    pub fn loading(&self) -> bool {
        matches!(self.state, State::Moored { hours_left, .. } if hours_left <= LOADING_HOURS)
    }

    /// Returns the speed in km/h.
    pub fn speed_kmh(&self) -> f64 {
        match self.state {
            State::Moored { .. } => 0.0,
            State::Sailing { kmh, .. } => kmh,
        }
    }

    /// Returns the course in degrees clockwise from north. In port, it is the course of the arrival.
    pub fn course(&self) -> f64 {
        self.course
    }

    /// Departs from `port` to another one.
    fn sail(&mut self, port: Node, rng: &mut ChaCha8Rng) {
        let to = (port + rng.random_range(1..PORTS)) % PORTS;
        let way = shortest_way(port, to);
        let [first, second, ..] = way[..] else {
            return; // no lane leaves this port; the graph's tests see to it that one does
        };
        self.cruise_kmh = rng.random_range(SPEED_KNOTS.0..SPEED_KNOTS.1) * KMH_PER_KNOT;
        let lane = bowed(first, second, rng);
        self.course = lane.course(0.0);
        self.state = State::Sailing { way, leg: 0, lane, km: 0.0, kmh: self.cruise_kmh };
    }
}

/// Returns the lane between two places, shifted a little from its middle.
fn bowed(from: Node, to: Node, rng: &mut ChaCha8Rng) -> Lane {
    let straight = Lane::new(position(from), position(to), 0.0);
    let widest = BOW.min(BOW_KM / straight.km);
    Lane::new(position(from), position(to), rng.random_range(-widest..widest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn ships_make_12_to_20_knots_call_at_port_and_leave_again() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut voyage = Voyage::underway(&mut rng);
        let (mut calls, mut last) = (0, (voyage.position(), voyage.moored()));
        let minutes = 60 * 24 * 60;
        for _ in 0..minutes {
            voyage.advance(1.0 / 60.0, &mut rng);
            let now = (voyage.position(), voyage.moored());
            calls += u32::from(now.1 && !last.1);
            if voyage.moored() {
                assert_eq!(voyage.speed_kmh(), 0.0);
            } else {
                let knots = voyage.speed_kmh() / 1.852;
                assert!((11.99..=20.01).contains(&knots), "{knots}");
            }
            // 20 knots are 617 m a minute, and the bow makes a lane a little longer.
            assert!(last.0.distance_km(now.0) < 0.75, "{last:?} {now:?}");
            last = now;
        }
        assert!((8..60).contains(&calls), "{calls} calls in 60 days");
    }
}
