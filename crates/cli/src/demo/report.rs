//! The reports of the containers and their timing.

use super::input::Input;
use crate::{failure::Failure, input};
use dunnage_formats::{Format, Id, Mapping, Value};
use dunnage_links::{
    Link,
    fleet::{Container, Fleet, Place},
};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The schema of the fleet's messages.
pub const SCHEMA: &str = "container";
/// The link of containers that are not at sea.
pub const TERRESTRIAL: &str = "lte-m";
/// Number of letters at the start of a container's number that name its owner.
const OWNER: usize = 4;
/// Simulated seconds between two reports of a container.
const CADENCE: f64 = 900.0;

/// A message to be sent.
pub struct Report {
    /// The container's ID.
    pub device: String,
    /// The format of the body.
    pub format: Id,
    /// The ID of the link that carries the message.
    pub link: &'static str,
    /// The input that receives the message.
    pub input: Input,
    /// The container's position: latitude and longitude in degrees.
    pub position: (f64, f64),
    /// The encoded message.
    pub body: Vec<u8>,
}

/// The link, input and formats of the containers at a place. They use the formats in turn.
struct Choice {
    link: &'static Link,
    input: Input,
    formats: Vec<(Id, Box<dyn Format>)>,
}

/// The fleet and its clock.
pub struct Reports {
    fleet: Fleet,
    /// Simulated seconds per step.
    step: f64,
    now: f64,
    /// Simulated time at which each container reports next, in seconds.
    due: Vec<f64>,
    choices: BTreeMap<Place, Choice>,
}

impl Reports {
    pub fn new(fleet: Fleet, step: f64) -> Result<Self, Failure> {
        let count = fleet.containers().len();
        // The first reports are staggered, so that the messages are spread over time.
        let due = (0..count).map(|index| CADENCE * index as f64 / count as f64).collect();
        let model = input::Schemas::default().model(SCHEMA)?;
        let choice = |place, link: &str, input, formats: &[Id]| -> Result<_, Failure> {
            let unknown = || Failure::Failed(format!("unknown link {link}"));
            let open = |id: &Id| Ok((*id, id.open(Some(&model), Mapping::Exact)?));
            let formats = formats.iter().map(open).collect::<Result<_, Failure>>()?;
            Ok((place, Choice { link: dunnage_links::link(link).ok_or_else(unknown)?, input, formats }))
        };
        let choices = BTreeMap::from([
            choice(Place::Sea, "astrocast", Input::Satellite, &[Id::Packed])?,
            choice(Place::Approach, TERRESTRIAL, Input::Http, &[Id::Json])?,
            choice(Place::Terminal, TERRESTRIAL, Input::Coap, &[Id::Cbor])?,
            choice(Place::Yard, TERRESTRIAL, Input::Mqtt, &[Id::Cbor, Id::Json])?,
        ]);
        Ok(Reports { fleet, step, now: 0.0, due, choices })
    }

    /// Device patterns that cover all containers: their owners' letters followed by `*`.
    pub fn patterns(&self) -> BTreeSet<String> {
        let owner = |container: &Container| format!("{}*", &container.device()[..OWNER]);
        self.fleet.containers().iter().map(owner).collect()
    }

    /// The IDs of all containers.
    pub fn devices(&self) -> HashSet<String> {
        self.fleet.containers().iter().map(|container| container.device().to_owned()).collect()
    }

    /// A sample message of the fleet.
    pub fn sample(&self) -> Value {
        self.fleet.containers().first().map_or(Value::Null, Container::message)
    }

    /// The number of containers at sea, and the number of all containers.
    pub fn at_sea(&self) -> (usize, usize) {
        let containers = self.fleet.containers();
        (containers.iter().filter(|container| container.at_sea()).count(), containers.len())
    }

    /// Advances the fleet by one step and returns the reports that are due.
    pub fn step(&mut self) -> Result<Vec<Report>, Failure> {
        self.fleet.step(self.step);
        self.now += self.step;
        let mut reports = Vec::new();
        for index in 0..self.due.len() {
            if self.due[index] <= self.now {
                // A container reports at most once per step, however long the step is.
                self.due[index] = (self.due[index] + CADENCE).max(self.now);
                reports.push(self.report(index)?);
            }
        }
        Ok(reports)
    }

    /// The report that container `index` sends now. Returns an error if the message does not fit its link.
    fn report(&self, index: usize) -> Result<Report, Failure> {
        let container = &self.fleet.containers()[index];
        let Choice { link, input, formats } = &self.choices[&container.place()];
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
                Ok(Report { device, format: *format, link: &link.id, input: *input, position, body })
            }
        }
    }
}
