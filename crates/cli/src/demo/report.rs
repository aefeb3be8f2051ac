//! What the containers of the fleet send, and when.

use super::door::Door;
use crate::{failure::Failure, input};
use dunnage_formats::{Format, Id, Mapping, Value};
use dunnage_links::{
    Link,
    fleet::{Container, Fleet, Place},
};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The schema of the fleet's messages.
pub const SCHEMA: &str = "container";
/// How many letters of a container's number are its owner's.
const OWNER: usize = 4;
/// Simulated seconds between two reports of a container.
const CADENCE: f64 = 900.0;

/// A message on its way.
pub struct Report {
    /// The container's id.
    pub device: String,
    /// How the body is encoded.
    pub format: Id,
    /// The id of the link that carries it.
    pub link: &'static str,
    /// The way that it takes.
    pub door: Door,
    /// Where its container is: latitude and longitude in degrees.
    pub position: (f64, f64),
    /// The encoded message.
    pub body: Vec<u8>,
}

/// What containers do at a place: a link, a door, and the formats that they use, in turn.
struct Choice {
    link: &'static Link,
    door: Door,
    formats: Vec<(Id, Box<dyn Format>)>,
}

/// The fleet and its clock.
pub struct Reports {
    fleet: Fleet,
    /// Simulated seconds a step takes.
    step: f64,
    now: f64,
    /// When each container reports next.
    due: Vec<f64>,
    choices: BTreeMap<Place, Choice>,
}

impl Reports {
    pub fn new(fleet: Fleet, step: f64) -> Result<Self, Failure> {
        let count = fleet.containers().len();
        // One after the other, so that the messages are spread over time.
        let due = (0..count).map(|index| CADENCE * index as f64 / count as f64).collect();
        let model = input::Schemas::default().model(SCHEMA)?;
        let choice = |place, link: &str, door, formats: &[Id]| -> Result<_, Failure> {
            let unknown = || Failure::Failed(format!("no link is called {link}"));
            let open = |id: &Id| Ok((*id, id.open(Some(&model), Mapping::Exact)?));
            let formats = formats.iter().map(open).collect::<Result<_, Failure>>()?;
            Ok((place, Choice { link: dunnage_links::link(link).ok_or_else(unknown)?, door, formats }))
        };
        let choices = BTreeMap::from([
            choice(Place::Sea, "astrocast", Door::Satellite, &[Id::Packed])?,
            choice(Place::Approach, "lte-m", Door::Http, &[Id::Json])?,
            choice(Place::Terminal, "lte-m", Door::Coap, &[Id::Cbor])?,
            choice(Place::Yard, "lte-m", Door::Mqtt, &[Id::Cbor, Id::Json])?,
        ]);
        Ok(Reports { fleet, step, now: 0.0, due, choices })
    }

    /// Patterns that fit all containers: their owners' letters.
    pub fn patterns(&self) -> BTreeSet<String> {
        let owner = |container: &Container| format!("{}*", &container.device()[..OWNER]);
        self.fleet.containers().iter().map(owner).collect()
    }

    /// The ids of all containers.
    pub fn devices(&self) -> HashSet<String> {
        self.fleet.containers().iter().map(|container| container.device().to_owned()).collect()
    }

    /// A message of the fleet.
    pub fn sample(&self) -> Value {
        self.fleet.containers().first().map_or(Value::Null, Container::message)
    }

    /// How many containers are at sea, and how many there are.
    pub fn at_sea(&self) -> (usize, usize) {
        let containers = self.fleet.containers();
        (containers.iter().filter(|container| container.at_sea()).count(), containers.len())
    }

    /// Moves the fleet on and gives the reports that are due.
    pub fn step(&mut self) -> Result<Vec<Report>, Failure> {
        self.fleet.step(self.step);
        self.now += self.step;
        let mut reports = Vec::new();
        for index in 0..self.due.len() {
            if self.due[index] <= self.now {
                // However far a step goes, a container reports once.
                self.due[index] = (self.due[index] + CADENCE).max(self.now);
                reports.push(self.report(index)?);
            }
        }
        Ok(reports)
    }

    /// What container `index` sends now: at sea something that fits the satellite.
    fn report(&self, index: usize) -> Result<Report, Failure> {
        let container = &self.fleet.containers()[index];
        let Choice { link, door, formats } = &self.choices[&container.place()];
        let (format, codec) = &formats[index % formats.len()];
        let device = container.device().to_owned();
        let mut body = Vec::new();
        codec.encode(&container.message(), &mut body).map_err(|e| Failure::about(&device, e))?;
        match link.max_payload_bytes {
            Some(limit) if body.len() > limit => Err(Failure::Failed(format!(
                "{device}: {} bytes of {format} do not fit {}",
                body.len(),
                link.name
            ))),
            _ => {
                let position = container.position();
                let position = (position.latitude, position.longitude);
                Ok(Report { device, format: *format, link: link.id, door: *door, position, body })
            }
        }
    }
}
