//! Ships stay on water.

use dunnage_links::fleet::{Fleet, Position};

/// Polygons of land.
struct Land(Vec<Polygon>);

struct Polygon {
    points: Vec<Position>,
    south_west: Position,
    north_east: Position,
}

impl Land {
    fn load() -> Land {
        let lines = include_str!("../data/land.txt").lines().filter(|line| !line.starts_with('#'));
        Land(lines.map(Polygon::parse).collect())
    }

    fn contains(&self, at: Position) -> bool {
        self.0.iter().any(|polygon| polygon.contains(at))
    }
}

impl Polygon {
    fn parse(line: &str) -> Polygon {
        let degrees = |text: &str| text.parse::<f64>().unwrap_or_else(|_| panic!("{text:?} in {line}"));
        let points: Vec<Position> = line
            .split(' ')
            .filter_map(|point| point.split_once(','))
            .map(|(north, east)| Position { latitude: degrees(north), longitude: degrees(east) })
            .collect();
        let corner = |start: f64, choose: fn(f64, f64) -> f64| Position {
            latitude: points.iter().map(|p| p.latitude).fold(start, choose),
            longitude: points.iter().map(|p| p.longitude).fold(start, choose),
        };
        let (south_west, north_east) = (corner(f64::INFINITY, f64::min), corner(f64::NEG_INFINITY, f64::max));
        Polygon { points, south_west, north_east }
    }

    /// Whether a line north from `at` crosses the boundary an odd number of times.
    fn contains(&self, at: Position) -> bool {
        let inside = (self.south_west.latitude..=self.north_east.latitude).contains(&at.latitude)
            && (self.south_west.longitude..=self.north_east.longitude).contains(&at.longitude);
        let crossed = |(a, b): (&Position, &Position)| {
            (a.longitude > at.longitude) != (b.longitude > at.longitude)
                && at.latitude
                    < a.latitude
                        + (b.latitude - a.latitude) * (at.longitude - a.longitude)
                            / (b.longitude - a.longitude)
        };
        let next = self.points.iter().cycle().skip(1);
        inside && self.points.iter().zip(next).filter(|&pair| crossed(pair)).count() % 2 == 1
    }
}

#[test]
fn land_and_sea_are_distinguished() {
    let land = Land::load();
    for (name, latitude, longitude, expected) in [
        ("Madrid", 40.4, -3.7, true),
        ("Lyon", 45.7, 4.8, true),
        ("Rome", 41.9, 12.6, true),
        ("Enna", 37.57, 14.28, true),
        ("Nuoro", 40.3, 9.3, true),
        ("Corte", 42.3, 9.15, true),
        ("Manacor", 39.57, 3.2, true),
        ("Tripoli in Arcadia", 37.5, 22.4, true),
        ("Mount Ida", 35.2, 24.8, true),
        ("Nicosia", 35.17, 33.36, true),
        ("Konya", 37.9, 32.5, true),
        ("Damascus", 33.5, 36.3, true),
        ("Cairo", 30.3, 31.2, true),
        ("Kairouan", 35.7, 10.1, true),
        ("Constantine", 36.4, 6.6, true),
        ("Sarajevo", 43.9, 18.4, true),
        ("Balearic Sea", 40.4, 2.7, false),
        ("Tyrrhenian Sea", 40.0, 12.0, false),
        ("Strait of Messina", 38.2, 15.61, false),
        ("Adriatic Sea", 43.0, 15.5, false),
        ("Ionian Sea", 37.0, 18.5, false),
        ("Aegean Sea", 39.0, 25.0, false),
        ("Levantine Sea", 34.0, 31.0, false),
    ] {
        assert_eq!(land.contains(Position { latitude, longitude }), expected, "{name}");
    }
}

#[test]
fn fifty_containers_stay_on_water_for_two_weeks() {
    let land = Land::load();
    let mut fleet = Fleet::new(42, 50);
    let mut at_sea = 0;
    let steps = 14 * 24 * 4;
    for _ in 0..steps {
        for container in fleet.containers() {
            let position = container.position();
            assert!(!land.contains(position), "{} is on land at {position:?}", container.device());
            assert!((30.0..46.0).contains(&position.latitude) && (-6.0..36.5).contains(&position.longitude));
            at_sea += u32::from(container.at_sea());
        }
        fleet.step(900.0);
    }
    let share = f64::from(at_sea) / f64::from(steps * 50);
    assert!((0.5..0.95).contains(&share), "{share} of the time at sea");
}

#[test]
fn many_fleets_start_on_water() {
    let land = Land::load();
    for seed in 0..20 {
        for container in Fleet::new(seed, 200).containers() {
            let position = container.position();
            assert!(
                !land.contains(position),
                "seed {seed}: {} is on land at {position:?}",
                container.device()
            );
        }
    }
}
