//! Retention: drops messages that every output has resolved, the oldest first, a few in each transaction.
//!
//! The last message of a device always stays, because the device's list begins with it. Dead letters of configured outputs stay, too, and so do
//! references of each device, unless the buffer is full.

use super::{Totals, references, waypoints};
use crate::settings::{BufferSettings, WhenFull};
use dunnage_base::clock;
use rusqlite::{Connection, params_from_iter, types::Value};
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

/// Fewest messages that a transaction examines. With many new messages it examines four times their number, so that dropping is faster than
/// storing.
const MIN_EXAMINED: usize = 256;
/// How often retention starts again with the oldest messages. Those that had to stay may be dropped later: their device has sent again, or
/// their dead letter was resolved.
const AGAIN: Duration = Duration::from_secs(60);

/// The rules, and how far they have been applied.
pub struct Retention {
    limit_bytes: u64,
    when_full: WhenFull,
    keep: Option<Duration>,
    /// The outputs that must have resolved a message before it may be dropped.
    outputs: Vec<Arc<str>>,
    /// Selects the next messages, and for each whether it must stay.
    sql: String,
    /// The last message ID that was examined.
    looked_to: i64,
    again: Instant,
    dropping: bool,
}

/// The result of retention in one transaction.
#[derive(Debug, Clone, Copy, Default)]
pub struct Kept {
    /// Whether there is no room for more messages.
    pub full: bool,
    dropped: bool,
    looked_to: i64,
}

impl Retention {
    /// Creates the rules of `settings`. A message may be dropped once all `outputs` have resolved it. `cursors` are those in the buffer.
    pub fn new(
        settings: &BufferSettings,
        outputs: Vec<Arc<str>>,
        cursors: &HashMap<Arc<str>, i64>,
    ) -> Retention {
        for (output, message) in cursors.iter().filter(|(output, _)| !outputs.contains(*output)) {
            tracing::info!(%output, message, "an output in the buffer is no longer configured; messages are not kept for it");
        }
        let places = vec!["?"; outputs.len()].join(", ");
        let sql = format!(
            "SELECT m.id, m.received_at, m.device,
                 EXISTS (SELECT 1 FROM devices d WHERE d.device = m.device
                     AND (d.last_id = m.id OR d.messages - m.place < ?))
                 OR EXISTS (SELECT 1 FROM undelivered u WHERE u.output IN ({places}) AND u.message_id = m.id)
             FROM messages m WHERE m.id > ? AND m.id <= ? ORDER BY m.id LIMIT ?"
        );
        Retention {
            limit_bytes: settings.limit_bytes,
            when_full: settings.when_full,
            keep: (settings.keep_delivered_hours > 0)
                .then(|| Duration::from_secs(3600 * settings.keep_delivered_hours)),
            outputs,
            sql,
            looked_to: 0,
            again: Instant::now(),
            dropping: false,
        }
    }

    /// Drops messages, in the transaction that stores `stored` messages. `cursors` are those of the outputs after it.
    pub fn apply(
        &self,
        connection: &Connection,
        totals: &mut Totals,
        cursors: &HashMap<Arc<str>, i64>,
        stored: usize,
    ) -> rusqlite::Result<Kept> {
        let mut kept = Kept { looked_to: self.looked_to, ..Kept::default() };
        let over = self.is_over(connection)?;
        let room = over && self.when_full == WhenFull::DropDelivered;
        let done = self.outputs.iter().map(|output| cursors.get(output).copied().unwrap_or_default()).min();
        if let Some(done) = done.filter(|_| room || self.keep.is_some()) {
            if self.again.elapsed() >= AGAIN && self.looked_to >= done.min(totals.dropped_to) {
                kept.looked_to = 0;
            }
            let before = totals.dropped;
            self.drop_some(connection, totals, &mut kept, (done, MIN_EXAMINED.max(4 * stored)), room)?;
            kept.dropped = totals.dropped > before;
        }
        kept.full = over && !(room && kept.dropped) && self.is_over(connection)?;
        Ok(kept)
    }

    /// Takes over the result of a transaction, after its commit.
    pub fn keep(&mut self, kept: Kept) {
        if kept.looked_to < self.looked_to {
            self.again = Instant::now();
        }
        self.looked_to = kept.looked_to;
        if kept.dropped && !self.dropping {
            tracing::info!("the buffer deletes delivered messages, the oldest first");
        }
        self.dropping |= kept.dropped;
    }

    /// Starts again with the oldest messages, after the buffer was reopened.
    pub fn forget(&mut self) {
        self.looked_to = 0;
    }

    /// Returns whether the pages in use exceed the size limit.
    fn is_over(&self, connection: &Connection) -> rusqlite::Result<bool> {
        if self.limit_bytes == 0 {
            return Ok(false);
        }
        let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
        let pages = number("page_count")?.saturating_sub(number("freelist_count")?);
        Ok(pages * number("page_size")? > self.limit_bytes)
    }

    /// Examines at most `most` messages up to the ID `done`. Drops those that are old enough, or, if `room` is needed, all that need not
    /// stay.
    fn drop_some(
        &self,
        connection: &Connection,
        totals: &mut Totals,
        kept: &mut Kept,
        (done, most): (i64, usize),
        room: bool,
    ) -> rusqlite::Result<()> {
        let now = clock::now();
        let old =
            self.keep.map_or(i64::MIN, |keep| now - i64::try_from(keep.as_micros()).unwrap_or(i64::MAX));
        let mut statement = connection.prepare_cached(&self.sql)?;
        let references = Value::Integer(if room { 0 } else { references::KEPT as i64 });
        let outputs = self.outputs.iter().map(|output| Value::Text(output.to_string()));
        let range = [kept.looked_to, done, most as i64].map(Value::Integer);
        let mut rows =
            statement.query(params_from_iter([references].into_iter().chain(outputs).chain(range)))?;
        let (mut leave, mut devices) = (Vec::new(), HashMap::new());
        while let Some(row) = rows.next()? {
            let received_at: i64 = row.get(1)?;
            // The messages after this one are at least as recent. A time in the future does not end the loop: the clock was ahead when the
            // message arrived.
            if !room && (old..=now).contains(&received_at) {
                break;
            }
            kept.looked_to = row.get(0)?;
            let may_go = room || received_at < old;
            if may_go && !row.get::<_, bool>(3)? {
                leave.push(kept.looked_to);
                match devices.get_mut(row.get_ref(2)?.as_str()?) {
                    Some(last) => *last = kept.looked_to,
                    None => drop(devices.insert(row.get::<_, String>(2)?, kept.looked_to)),
                }
            }
        }
        let mut delete = connection.prepare_cached("DELETE FROM messages WHERE id = ?")?;
        for id in &leave {
            delete.execute([id])?;
        }
        for (device, last) in &devices {
            waypoints::remove(connection, device, *last)?;
        }
        totals.dropped += leave.len() as u64;
        totals.dropped_to = totals.dropped_to.max(kept.looked_to);
        Ok(())
    }
}
