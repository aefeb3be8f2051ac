//! The graph of sea lanes, and shortest routes through it.

use super::geo::Position;
use super::lanes::{PLACES, PORTS};
use std::sync::LazyLock;

/// A place of the graph, as an index into [`PLACES`]. Ports are below [`PORTS`].
pub type Node = usize;

/// For each place, its neighbours and their distance in kilometres.
static NEIGHBOURS: LazyLock<Vec<Vec<(Node, f64)>>> = LazyLock::new(|| {
    let mut neighbours = vec![Vec::new(); PLACES.len()];
    for (a, place) in PLACES.iter().enumerate() {
        for name in place.lanes {
            for b in (0..PLACES.len()).filter(|&b| PLACES[b].name == *name) {
                let km = position(a).distance_km(position(b));
                neighbours[a].push((b, km));
                neighbours[b].push((a, km));
            }
        }
    }
    neighbours
});

/// Returns the position of a place.
pub fn position(node: Node) -> Position {
    Position { latitude: PLACES[node].latitude, longitude: PLACES[node].longitude }
}

/// Returns the port nearest to `at` and its distance in kilometres, if that is at most `reach_km`.
pub fn nearest_port(at: Position, reach_km: f64) -> Option<(Node, f64)> {
    let mut nearest = None;
    let mut limit = reach_km;
    for (port, place) in PLACES.iter().enumerate().take(PORTS) {
        // A degree of latitude is 111 km, which rules out most ports without trigonometry.
        if (place.latitude - at.latitude).abs() * 111.0 <= limit {
            let km = at.distance_km(position(port));
            if km <= limit {
                nearest = Some((port, km));
                limit = km;
            }
        }
    }
    nearest
}

/// Returns the shortest route from `from` to `to`, both included, that calls at no other port.
/// The route is empty if the places are not connected.
pub fn shortest_way(from: Node, to: Node) -> Vec<Node> {
    let count = NEIGHBOURS.len();
    let mut km = vec![f64::INFINITY; count];
    let mut before: Vec<Option<Node>> = vec![None; count];
    let mut open: Vec<Node> = vec![from];
    km[from] = 0.0;
    // Dijkstra's algorithm. With so few places, a list is fast enough as the queue.
    while let Some(next) = (0..open.len()).min_by(|&a, &b| km[open[a]].total_cmp(&km[open[b]])) {
        let node = open.swap_remove(next);
        if node == to {
            break;
        }
        if node < PORTS && node != from {
            continue;
        }
        for &(other, length) in &NEIGHBOURS[node] {
            if km[node] + length < km[other] {
                km[other] = km[node] + length;
                before[other] = Some(node);
                open.push(other);
            }
        }
    }
    let mut way = vec![to];
    while let Some(node) = way.last().and_then(|&node| before[node]) {
        way.push(node);
    }
    way.reverse();
    if way.first() == Some(&from) { way } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> Node {
        PLACES.iter().position(|place| place.name == name).unwrap()
    }

    fn names(from: &str, to: &str) -> Vec<&'static str> {
        shortest_way(place(from), place(to)).into_iter().map(|node| PLACES[node].name).collect()
    }

    fn length_km(way: &[Node]) -> f64 {
        way.windows(2).map(|leg| position(leg[0]).distance_km(position(leg[1]))).sum()
    }

    #[test]
    fn the_table_is_in_order() {
        for (node, place) in PLACES.iter().enumerate() {
            assert_eq!(place.network.is_some(), node < PORTS, "{}", place.name);
            assert_eq!(PLACES.iter().filter(|other| other.name == place.name).count(), 1, "{}", place.name);
            for lane in place.lanes {
                assert!(PLACES.iter().any(|other| other.name == *lane), "{lane}");
            }
        }
    }

    #[test]
    fn every_port_is_reached_from_every_other_without_calling_at_a_third() {
        for from in 0..PORTS {
            for to in (0..PORTS).filter(|&to| to != from) {
                let way = shortest_way(from, to);
                assert_eq!((way.first(), way.last()), (Some(&from), Some(&to)));
                assert!(way[1..way.len() - 1].iter().all(|&node| node >= PORTS));
                assert!(length_km(&way) >= position(from).distance_km(position(to)) - 1e-6);
                let back = shortest_way(to, from);
                assert!((length_km(&way) - length_km(&back)).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn ways_lead_through_the_straits() {
        assert!(names("Naples", "Piraeus").contains(&"Messina"));
        assert!(names("Gioia Tauro", "Malta Freeport").contains(&"Messina"));
        assert!(names("Genoa", "Tunis").iter().all(|name| !name.contains("Messina")));
        assert!(names("Livorno", "Naples").contains(&"Corsica Channel"));
        let east = names("Algeciras", "Port Said");
        assert!(east.contains(&"Sicilian Channel"), "{east:?}");
        // The distance by ship from Gibraltar to Port Said is about 1,900 nautical miles.
        let miles = length_km(&shortest_way(place("Algeciras"), place("Port Said"))) / 1.852;
        assert!((1850.0..2000.0).contains(&miles), "{miles}");
    }

    #[test]
    fn a_port_is_found_from_near_it_and_not_from_beyond_the_reach() {
        for port in 0..PORTS {
            assert_eq!(nearest_port(position(port), 15.0), Some((port, 0.0)));
            let mut off = position(port);
            off.latitude += 0.1;
            let (nearest, km) = nearest_port(off, f64::INFINITY).unwrap();
            assert!(nearest == port && (11.0..11.2).contains(&km));
            assert_eq!(nearest_port(off, 11.0), None);
        }
    }
}
