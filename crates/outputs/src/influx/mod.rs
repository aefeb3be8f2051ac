//! The output `[output.influx]`: points in InfluxDB 1, 2 and 3, VictoriaMetrics and Telegraf, in InfluxDB's line protocol over HTTP.
//!
//! A message is a line, and the same line however often it is delivered: the database then writes the same point again, which changes nothing.

mod fields;
mod line;
mod point;
mod request;
mod settings;

pub use settings::{EXAMPLE, Settings};

use super::{Catalog, Failed, Message, Output, Partitions, Shape};
use dunnage_clients::secret::SecretFile;
use fields::Fields;
use request::{Fault, Server};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Largest number of messages in a call, and how long they wait for more.
const BATCH: usize = 5000;
const LINGER: Duration = Duration::from_millis(200);

/// The output.
pub struct Influx {
    server: Server,
    catalog: Mutex<Option<Arc<dyn Catalog>>>,
}

/// The first lines of a call, and why there are no more.
struct Lines {
    text: String,
    /// Where each line ends.
    ends: Vec<usize>,
    end: Result<(), Failed>,
}

impl Influx {
    /// Creates the output. Returns an error for invalid settings.
    pub fn new(settings: &Settings) -> Result<Influx, String> {
        Ok(Influx { server: Server::new(settings)?, catalog: Mutex::default() })
    }

    /// Makes the lines of the messages up to the first that has none.
    fn lines(&self, messages: &[Message]) -> Lines {
        let catalog = self.catalog.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut schemas: HashMap<Option<&str>, Fields<'_>> = HashMap::new();
        let (mut text, mut ends) = (String::new(), Vec::with_capacity(messages.len()));
        for message in messages {
            let fields = schemas
                .entry(message.schema.as_deref())
                .or_insert_with_key(|schema| Fields::new(*schema, catalog.as_deref()));
            if let Err(reason) = point::write(fields, message, &mut text) {
                let reason = format!("measurement {}: {reason}", fields.measurement);
                text.truncate(ends.last().copied().unwrap_or_default());
                let refused = Failed::refused(reason).after(ends.len());
                return Lines { text, ends, end: Err(refused) };
            }
            ends.push(text.len());
        }
        Lines { text, ends, end: Ok(()) }
    }
}

impl Lines {
    /// Writes all lines, or those before the first that the database refuses.
    async fn write(&self, server: &Server) -> Result<(), Failed> {
        let all = self.ends.len();
        let begin = |line: usize| if line == 0 { 0 } else { self.ends[line - 1] };
        // Of the lines up to `bad`, one is refused. A request has at most `most` lines.
        let (mut done, mut end, mut bad, mut most) = (0, all, 0, all);
        while done < all {
            let lines = end - done;
            match server.write(&self.text[begin(done)..begin(end)]).await {
                Ok(()) => {
                    done = end;
                    end = if bad > done { done + (bad - done).div_ceil(2) } else { all };
                }
                Err(Fault::Line(reason) | Fault::Size(reason)) if lines == 1 => {
                    return Err(Failed::refused(reason).after(done));
                }
                Err(Fault::Line(_)) => {
                    bad = end;
                    end = done + lines / 2;
                }
                Err(Fault::Size(_)) => {
                    most = lines / 2;
                }
                Err(Fault::Server(failed)) => return Err(failed.after(done)),
            }
            end = end.min(done + most);
        }
        Ok(())
    }
}

#[async_trait::async_trait]
impl Output for Influx {
    fn shape(&self) -> Shape {
        Shape { partitions: Partitions::Together, batch: BATCH, linger: LINGER }
    }

    fn learn(&self, catalog: Arc<dyn Catalog>) {
        *self.catalog.lock().unwrap_or_else(PoisonError::into_inner) = Some(catalog);
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        let lines = self.lines(messages);
        lines.write(&self.server).await?;
        lines.end
    }

    fn deadline(&self) -> Duration {
        // Finding one line of a batch takes two requests for each bisection.
        self.server.timeout() * (2 * BATCH.ilog2() + 1) + Duration::from_secs(5)
    }

    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.server.secrets()
    }
}
