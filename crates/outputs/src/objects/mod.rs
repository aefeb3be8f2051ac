//! The output `[output.objects]`: objects in S3, Google Cloud Storage or Azure Blob Storage, as NDJSON, CSV or Parquet, in Hive partitions:
//! `PREFIX/schema=NAME/date=2026-01-31/BUFFER-FIRST.parquet`.
//!
//! An object is written once and complete. Its messages wait in the buffer, and those of the next objects in memory too, until there are
//! enough of them or the first has waited for long enough. A message is delivered when the store has confirmed the object that has it, so
//! nothing is kept on the local disk but the buffer.
//!
//! # Each message is in one object
//!
//! The messages of a buffer that have one schema and one day form a sequence, by their IDs. Its objects are made one after the other, each
//! from the first message that is in none. After a kill, or an answer that was lost, nobody knows whether the last object was stored, and the
//! messages come again in other batches than before. Therefore the key has the ID of the first message, and not that of the last: of two
//! attempts from the same first message, however many messages each has, the store creates only one object, because both create the same key
//! and only if there is none (`If-None-Match: *`). Whoever finds the key taken reads in the metadata of the object up to which message it
//! goes, and continues after that. With the last ID in the key, two attempts with different ends would both succeed, and the decision about
//! the end would have to be durable before, where a request that is still on its way cannot undo it.
//!
//! The first message that is in no object follows from the store as well: it is the one after the last message of the object with the
//! greatest key. The output lists the partition for it when it first writes to it, and again after each failure. So the store alone says what
//! is delivered; no state on the disk can be lost or contradict it. This needs a store whose listings show at once what was written, as
//! those of S3, Google Cloud Storage and Azure do, and one that creates objects conditionally, which is tested before a message is delivered.
//!
//! One case is left: a request that the store executes only after an operator has discarded the first message of its object. Then the others
//! may be in two objects.
//!
//! # Manifests
//!
//! For each object, `PREFIX/_manifests/...` has a small JSON object with its key, rows, IDs, bytes and SHA-256. It is written after the object
//! and before its messages count as delivered. It is made from the metadata of the object alone, so every attempt writes the same.

mod about;
mod encode;
mod fault;
mod place;
mod settings;
mod store;

pub use settings::{EXAMPLE, Settings};

use super::{Catalog, Class, Failed, Message, Output, Partitions, Shape};
use crate::records::{FileFormat, csv::Style, row};
use about::About;
use object_store::path::Path;
use place::Place;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};
use store::Store;

/// Largest number of messages in a call. Their bytes are the limit in practice.
const BATCH: usize = 1 << 20;
/// Largest number of partitions of which the last stored message is remembered.
const REMEMBERED: usize = 1024;
/// How many requests one object takes at most: the listing, the object, its metadata, and the manifest, twice for the first.
const REQUESTS: u32 = 7;

/// The output.
pub struct Objects {
    store: Store,
    prefix: Path,
    kind: FileFormat,
    style: Style,
    linger: Duration,
    bytes: usize,
    deadline: Duration,
    catalog: Mutex<Option<Arc<dyn Catalog>>>,
    /// Up to which message each sequence is stored, as far as that is certain.
    stored_to: Mutex<HashMap<Place, i64>>,
    /// All messages up to this ID were delivered before the start, except dead letters.
    resumed: AtomicI64,
    /// Whether the store has shown that it does not overwrite what is there.
    is_conditional: AtomicBool,
    duplicates: AtomicU64,
}

impl Objects {
    /// Creates the output. Returns an error for invalid settings.
    pub fn new(settings: &Settings) -> Result<Objects, String> {
        let text = |text: std::ffi::OsString| text.into_string().ok();
        let environment = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
        Objects::with(settings, environment, settings.timeout())
    }

    /// Creates the output, with credentials from the variables `environment`. A request takes at most the time `timeout`.
    pub fn with(
        settings: &Settings,
        environment: impl Iterator<Item = (String, String)>,
        timeout: Duration,
    ) -> Result<Objects, String> {
        settings.check_content()?;
        let destination = settings.destination()?;
        Ok(Objects {
            store: Store::open(settings, &destination, environment, timeout)?,
            prefix: destination.prefix,
            kind: settings.kind,
            style: settings.style(),
            linger: Duration::from_secs(settings.readable_after_seconds),
            bytes: settings.object_bytes,
            deadline: timeout * REQUESTS,
            catalog: Mutex::default(),
            stored_to: Mutex::default(),
            resumed: AtomicI64::default(),
            is_conditional: AtomicBool::new(false),
            duplicates: AtomicU64::new(0),
        })
    }

    /// Stores those of `messages`, all of `place`, that are in no object yet. Adds the IDs of those that are in one to `stored`.
    async fn append(
        &self,
        place: &Place,
        messages: Vec<Message>,
        stored: &mut HashSet<i64>,
    ) -> Result<(), Failed> {
        let resumed = self.resumed.load(Ordering::Relaxed);
        let letters = messages.partition_point(|message| message.id <= resumed);
        // Dead letters of an earlier output with this name: those after them are stored already, so each becomes an object of its own.
        for letter in &messages[..letters] {
            self.put(place, std::slice::from_ref(letter)).await?;
            // Its object says nothing about the sequence.
            self.known().remove(place);
            stored.insert(letter.id);
        }
        let mut left = &messages[letters..];
        if left.is_empty() {
            return Ok(());
        }
        let known = self.known().get(place).copied();
        let stored_to = match known {
            Some(id) => id,
            None => self.find(place).await?,
        };
        let there = left.partition_point(|message| message.id <= stored_to);
        self.duplicates.fetch_add(there as u64, Ordering::Relaxed);
        stored.extend(left[..there].iter().map(|message| message.id));
        left = &left[there..];
        while !left.is_empty() {
            let last = self.put(place, left).await?.last;
            let (of_object, rest) = left.split_at(left.partition_point(|message| message.id <= last));
            stored.extend(of_object.iter().map(|message| message.id));
            left = rest;
        }
        Ok(())
    }

    /// Finds up to which message a sequence is stored, and completes the last object.
    async fn find(&self, place: &Place) -> Result<i64, Failed> {
        let first_of = |key: &Path| place.first_of(self.kind, key);
        let greatest = self.store.greatest(&place.folder(&self.prefix), first_of).await?;
        let stored_to = match greatest {
            Some(first) => self.complete(place, first).await?.last,
            None => 0,
        };
        self.know(place, stored_to);
        Ok(stored_to)
    }

    /// Creates the object that begins with the first of `messages`. Returns what the store has: that object, or one of an earlier attempt.
    async fn put(&self, place: &Place, messages: &[Message]) -> Result<About, Failed> {
        let object = self.encode(messages).await?;
        let first = object.about.first;
        let key = place.key(&self.prefix, self.kind, first);
        // Until the store has answered, it is uncertain what it has.
        self.known().remove(place);
        let attributes = object.about.attributes(self.kind);
        let created = self.store.create(&key, object.bytes, attributes).await?;
        let about = self.complete(place, first).await?;
        if created && about != object.about {
            let reason =
                format!("{}: the store has something else than what it confirmed", self.store.shown(&key));
            return Err(Failed::retry(reason).because(Class::Failing));
        }
        if created && object.misfits > 0 {
            tracing::warn!(
                object = %key,
                values = object.misfits,
                "values do not fit the types of the schema; they are null in their columns, and kept in the column value"
            );
        }
        self.know(place, about.last);
        Ok(about)
    }

    async fn encode(&self, messages: &[Message]) -> Result<encode::Object, Failed> {
        let (messages, kind, style) = (messages.to_vec(), self.kind, self.style);
        let catalog = self.catalog.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let catalog = catalog.ok_or_else(|| Failed::retry("there is no catalog yet"))?;
        let encoded = tokio::task::spawn_blocking(move || encode::encode(&messages, kind, style, &*catalog));
        let encoded = encoded.await.map_err(|e| Failed::retry(e.to_string()))?;
        encoded.map_err(|e| Failed::retry(format!("an object cannot be written: {e}")))
    }

    /// Looks whether the store has the object that begins with the message `first`, and writes its manifest.
    async fn complete(&self, place: &Place, first: i64) -> Result<About, Failed> {
        let key = place.key(&self.prefix, self.kind, first);
        let about = self.store.about(&key).await?;
        if about.first != first {
            let reason = format!("{}: is of another first message", self.store.shown(&key));
            return Err(Failed::retry(reason).because(Class::Failing));
        }
        let manifest = about.manifest(place, self.kind, &key).map_err(|e| Failed::retry(e.to_string()))?;
        let key = place.manifest(&self.prefix, self.kind, first);
        let create = || self.store.create(&key, manifest.clone(), object_store::Attributes::default());
        create().await?;
        if !self.is_conditional.load(Ordering::Relaxed) {
            if create().await? {
                let shown = self.store.shown(&key);
                return Err(Failed::retry(format!(
                    "{shown}: the store ignores If-None-Match, so messages could be lost or doubled; use another store"
                )));
            }
            self.is_conditional.store(true, Ordering::Relaxed);
        }
        Ok(about)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<Place, i64>> {
        self.stored_to.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn know(&self, place: &Place, stored_to: i64) {
        let mut known = self.known();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(place.clone(), stored_to);
    }
}

#[async_trait::async_trait]
impl Output for Objects {
    fn shape(&self) -> Shape {
        Shape { partitions: Partitions::One, batch: BATCH, linger: self.linger }
    }

    fn memory(&self) -> usize {
        self.bytes
    }

    fn resume(&self, _buffer: &str, delivered_to: i64) {
        self.resumed.store(delivered_to, Ordering::Relaxed);
    }

    fn learn(&self, catalog: Arc<dyn Catalog>) {
        *self.catalog.lock().unwrap_or_else(PoisonError::into_inner) = Some(catalog);
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        let (rows, refused) = row::rows(messages);
        let mut places: BTreeMap<Place, Vec<Message>> = BTreeMap::new();
        let messages = &messages[..rows.len()];
        drop(rows);
        for message in messages {
            places.entry(Place::of(message)).or_default().push(message.clone());
        }
        let mut stored = HashSet::with_capacity(messages.len());
        for (place, of_place) in places {
            if let Err(failed) = self.append(&place, of_place, &mut stored).await {
                let delivered = messages.iter().take_while(|message| stored.contains(&message.id)).count();
                return Err(failed.after(delivered));
            }
        }
        refused
    }

    fn deadline(&self) -> Duration {
        self.deadline
    }

    fn duplicates(&self) -> u64 {
        self.duplicates.load(Ordering::Relaxed)
    }
}
