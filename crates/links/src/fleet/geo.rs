//! Positions, distances and courses on the globe.

use libm::{asin, atan2, cos, fmod, sin, sqrt};

/// Mean radius of the Earth in kilometres.
const EARTH_KM: f64 = 6371.0;

/// A point on the globe, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
}

impl Position {
    /// Returns the distance to `other` along the great circle, in kilometres.
    pub fn distance_km(self, other: Position) -> f64 {
        let (a, b) = (self.latitude.to_radians(), other.latitude.to_radians());
        let across = sin((other.longitude - self.longitude).to_radians() / 2.0);
        let along = sin((b - a) / 2.0);
        let h = along * along + cos(a) * cos(b) * across * across;
        2.0 * EARTH_KM * asin(sqrt(h.min(1.0)))
    }
}

/// A ship's line between two places. It is straight on an equirectangular map, but shifted sideways in the
/// middle by `bow` times its length (positive is north when going east).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lane {
    from: Position,
    north: f64,
    east: f64,
    /// The length of a degree of longitude in the middle, relative to a degree of latitude.
    shrink: f64,
    bow: f64,
    /// The length in kilometres. It ignores the bow, which adds less than 0.3 %.
    pub km: f64,
}

impl Lane {
    /// Creates the line from `from` to `to`.
    pub fn new(from: Position, to: Position, bow: f64) -> Lane {
        Lane {
            from,
            north: to.latitude - from.latitude,
            east: to.longitude - from.longitude,
            shrink: cos((from.latitude + to.latitude).to_radians() / 2.0),
            bow,
            km: from.distance_km(to),
        }
    }

    /// Returns the position at `part` of the line, 0 to 1.
    pub fn at(&self, part: f64) -> Position {
        let side = self.bow * 4.0 * part * (1.0 - part);
        Position {
            latitude: self.from.latitude + self.north * part + side * self.east * self.shrink,
            longitude: self.from.longitude + self.east * part - side * self.north / self.shrink,
        }
    }

    /// Returns the course at `part` of the line, in degrees clockwise from north, from 0 to below 360.
    pub fn course(&self, part: f64) -> f64 {
        let slope = self.bow * 4.0 * (1.0 - 2.0 * part);
        let north = self.north + slope * self.east * self.shrink;
        let east = self.east * self.shrink - slope * self.north;
        fmod(atan2(east, north).to_degrees() + 360.0, 360.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn position(latitude: f64, longitude: f64) -> Position {
        Position { latitude, longitude }
    }

    #[test]
    fn a_minute_of_latitude_is_a_nautical_mile() {
        let km = position(40.0, 5.0).distance_km(position(41.0, 5.0));
        assert!((km / 60.0 - 1.852).abs() < 0.002, "{km}");
    }

    #[test]
    fn genoa_is_852_km_from_tunis() {
        let km = position(44.40, 8.93).distance_km(position(36.80, 10.18));
        assert!((km - 852.0).abs() < 5.0, "{km}");
    }

    #[test]
    fn courses_follow_the_compass() {
        let from = position(40.0, 5.0);
        for (to, degrees) in [
            (position(41.0, 5.0), 0.0),
            (position(40.0, 6.0), 90.0),
            (position(39.0, 5.0), 180.0),
            (position(40.0, 4.0), 270.0),
        ] {
            let course = Lane::new(from, to, 0.0).course(0.5);
            assert!((course - degrees).abs() < 1e-9, "{course}, not {degrees}");
        }
    }

    #[test]
    fn a_bowed_lane_meets_its_ends_and_strays_as_far_as_it_says() {
        let (from, to) = (position(40.0, 5.0), position(38.0, 8.0));
        let straight = Lane::new(from, to, 0.0);
        for bow in [-0.03, 0.03] {
            let lane = Lane::new(from, to, bow);
            assert_eq!(lane.at(0.0), from);
            assert!(lane.at(1.0).distance_km(to) < 1e-6);
            let off = lane.at(0.5).distance_km(straight.at(0.5)) / straight.km;
            assert!((off - 0.03).abs() < 0.001, "{off}");
        }
    }
}
