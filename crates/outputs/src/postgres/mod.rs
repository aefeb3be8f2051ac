//! The output `[output.postgres]`: rows in PostgreSQL or TimescaleDB, a table for each schema, with typed columns.
//!
//! Messages are copied into their tables in one transaction, in the order of their IDs. The stable ID is the key, so a message that is
//! delivered again is found: the messages are then copied into a temporary table, and only the new ones are taken from there.

mod connect;
mod copy;
mod fault;
mod place;
mod row;
mod settings;
mod table;
mod value;

pub use settings::{Decimals, EXAMPLE, Period, Settings, Timescale};

use super::{Catalog, Failed, FailureKind, Message, Output, Partitions, Shape};
use connect::{Server, Session};
use copy::Row;
use dunnage_clients::secret::SecretFile;
use dunnage_codegen::sql::{Storage, Table};
use fault::Fault;
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use table::Ready;

/// Largest number of messages in a transaction, and how long they wait for more.
const BATCH: usize = 4096;
const LINGER: Duration = Duration::from_millis(50);
/// Bytes of messages in memory: those of a transaction, and the next ones, which are read meanwhile.
const MEMORY: usize = 16 << 20;
/// The name of the table for messages without a schema.
const UNTYPED: &str = "messages";

/// The output.
pub struct Postgres {
    settings: Settings,
    storage: Storage,
    server: Server,
    catalog: Mutex<Option<Arc<dyn Catalog>>>,
    /// Tables that were found to have what is needed, by schema.
    tables: Mutex<HashMap<Option<String>, Arc<Ready>>>,
    /// Connections that are not in use.
    idle: Mutex<Vec<Session>>,
    duplicates: AtomicU64,
}

/// The first rows of a call, and why there are no more.
struct Rows<'m> {
    rows: Vec<Row<'m>>,
    end: Result<(), Failed>,
}

impl Postgres {
    /// Creates the output. Returns an error for invalid settings.
    pub fn new(settings: &Settings) -> Result<Postgres, String> {
        Ok(Postgres {
            storage: settings.storage()?,
            server: Server::new(settings)?,
            settings: settings.clone(),
            catalog: Mutex::default(),
            tables: Mutex::default(),
            idle: Mutex::default(),
            duplicates: AtomicU64::new(0),
        })
    }

    async fn session(&self) -> Result<Session, Failed> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                Some(session) if session.client.is_closed() => {}
                Some(session) => return Ok(session),
                None => return self.server.connect().await,
            }
        }
    }

    /// Returns the table for messages of `schema`, as the catalog describes it.
    fn table(&self, schema: Option<&str>) -> (Option<String>, Table) {
        let catalog = self.catalog.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let named = |name: &str| self.settings.table.replace(settings::SCHEMA, name);
        let typed = schema.zip(catalog).and_then(|(schema, catalog)| {
            let versions: Vec<_> = catalog.versions(schema).collect();
            // A schema may have the name that messages without one have.
            let name = if schema == UNTYPED { format!("{schema}_schema") } else { schema.to_owned() };
            let (units, decimals) = (catalog.units(schema), self.settings.decimals());
            let table = || Table::new(&named(&name), &versions, units, decimals, self.settings.json);
            (!versions.is_empty()).then(|| (Some(schema.to_owned()), table()))
        });
        let (key, table) = typed.unwrap_or_else(|| (None, Table::untyped(&named(UNTYPED))));
        (key, Table { schema: self.settings.schema.clone(), ..table })
    }

    async fn ready(&self, session: &mut Session, schema: Option<&str>) -> Result<Arc<Ready>, Failed> {
        let (key, table) = self.table(schema);
        let known = self.tables.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(ready) = known.filter(|ready| ready.table == table) {
            return Ok(ready);
        }
        let ready = Arc::new(Ready::find(&mut session.client, table, &self.storage, &self.settings).await?);
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&ready));
        Ok(ready)
    }

    /// Finds the tables of the messages, up to the first whose table lacks something.
    async fn rows<'m>(&self, session: &mut Session, messages: &'m [Message]) -> Rows<'m> {
        let mut tables: HashMap<Option<&str>, Arc<Ready>> = HashMap::new();
        let mut rows = Vec::with_capacity(messages.len());
        for message in messages {
            let schema = message.schema.as_deref();
            let table = match tables.entry(schema) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => match self.ready(session, schema).await {
                    Ok(ready) => new.insert(ready),
                    Err(failed) => return Rows { end: Err(failed.after(rows.len())), rows },
                },
            };
            rows.push(Row { table: Arc::clone(table), message });
        }
        Rows { rows, end: Ok(()) }
    }

    /// Makes the partitions for `rows`, if the settings say so.
    async fn divide(&self, session: &mut Session, rows: &[Row<'_>]) -> Result<(), Failed> {
        let Storage::Partitions(period) = self.storage else { return Ok(()) };
        if !self.settings.create {
            return Ok(());
        }
        for table in copy::tables(rows) {
            let of_table = rows.iter().filter(|row| Arc::ptr_eq(&row.table, &table));
            table.divide(&mut session.client, period, of_table.map(|row| row.message.received_at)).await?;
        }
        Ok(())
    }

    /// Writes all rows, or those before the first that the server refuses.
    async fn write(&self, session: &mut Session, rows: &[Row<'_>]) -> Result<(), Failed> {
        self.divide(session, rows).await?;
        let (mut done, mut end, mut bad) = (0, rows.len(), rows.len());
        while done < rows.len() {
            match copy::write(&mut session.client, &rows[done..end], &self.duplicates).await {
                Ok(()) => {
                    done = end;
                    // Of two rows that are left, one is refused.
                    end = if bad > done { done + (bad - done).div_ceil(2) } else { rows.len() };
                    bad = bad.max(end);
                }
                Err(Fault::Row(_, reason)) if end - done == 1 => {
                    return Err(Failed::refused(reason).after(done));
                }
                Err(Fault::Row(place, _)) => {
                    let place = place.filter(|place| done + place < end);
                    bad = place.map_or(end, |place| done + place + 1);
                    end = done + place.map_or((end - done) / 2, |place| place.max(1));
                }
                Err(Fault::Repeated) => {
                    return Err(Failed::retry("a row was refused as repeated, and is not there").after(done));
                }
                Err(Fault::Server(failed)) => {
                    self.tables.lock().unwrap_or_else(PoisonError::into_inner).clear();
                    return Err(failed.after(done));
                }
            }
        }
        Ok(())
    }
}

#[async_trait::async_trait]
impl Output for Postgres {
    fn shape(&self) -> Shape {
        Shape { partitions: Partitions::Together, batch: BATCH, linger: LINGER }
    }

    fn memory(&self) -> usize {
        MEMORY
    }

    fn learn(&self, catalog: Arc<dyn Catalog>) {
        *self.catalog.lock().unwrap_or_else(PoisonError::into_inner) = Some(catalog);
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        let mut session = self.session().await?;
        let Rows { rows, end } = self.rows(&mut session, messages).await;
        let result = match self.write(&mut session, &rows).await {
            Ok(()) => end,
            failed => failed,
        };
        // After a failure to retry, the connection may be in any state.
        if result.as_ref().err().is_none_or(|failed| failed.kind == FailureKind::Refused) {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        }
        result
    }

    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.server.secrets()
    }

    fn duplicates(&self) -> u64 {
        self.duplicates.load(Ordering::Relaxed)
    }

    async fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
