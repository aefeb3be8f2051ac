//! The queries of [`Readers`].

use super::{
    alarms, changes, chosen, dead_letters,
    fleet::{self, Counted, LastMessage},
    layouts,
    message::{DeadLetter, Last, LayoutKey, Message, Quarantined, Sent},
    messages::{self, Page, Part, Times},
    position::Position,
    quarantine::{self, Filter, OfDevice},
    reader::{ReadError, Readers},
    references::{self, Named},
    replays::{self, IdRange},
};
use rusqlite::Connection;
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

/// Each query runs on a thread for blocking work, with a connection from the pool of this handle (see [`Readers::of`]).
impl Readers {
    /// Returns a page of all messages that were received at `times`, newest first. The page ends early after more than 1 MiB.
    pub async fn messages(&self, page: Page, times: Times) -> Result<Vec<Message>, ReadError> {
        let buffer = self.buffer();
        self.read(move |c| messages::messages(c, &buffer, page, times)).await
    }

    /// Returns a page of the messages of `device` that were received at `times`, newest first, or `None` for an unknown device. The page ends
    /// early after more than 1 MiB.
    pub async fn device_messages(
        &self,
        device: String,
        page: Page,
        times: Times,
    ) -> Result<Option<Vec<Message>>, ReadError> {
        let buffer = self.buffer();
        self.read(move |c| messages::device_messages(c, &buffer, &device, page, times)).await
    }

    /// Returns a page of the messages, received at `times`, of the devices that `is_chosen` names, newest first. The page ends early after
    /// more than 1 MiB, but is empty only if there are no more.
    pub async fn messages_of(
        &self,
        is_chosen: impl Fn(&str) -> bool + Send + 'static,
        page: Page,
        times: Times,
    ) -> Result<Vec<Message>, ReadError> {
        let buffer = self.buffer();
        self.read(move |c| chosen::messages(c, &buffer, is_chosen, page, times)).await
    }

    /// Returns the device of a message; `None` if the message is not in the buffer.
    pub async fn device_of(&self, id: i64) -> Result<Option<String>, ReadError> {
        self.read(move |c| chosen::device_of(c, id)).await
    }

    /// Returns the counts of the `most` devices that sent last, the last one first.
    pub async fn counted(&self, most: usize) -> Result<Vec<Counted>, ReadError> {
        self.read(move |c| fleet::counted(c, most)).await
    }

    /// Returns the counts of one device.
    pub async fn counted_of(&self, device: String) -> Result<Option<Counted>, ReadError> {
        self.read(move |c| fleet::counted_of(c, device)).await
    }

    /// Returns the list's fields of these messages. Messages that are no longer in the buffer are left out.
    pub async fn last_messages(&self, ids: Vec<i64>) -> Result<Vec<LastMessage>, ReadError> {
        self.read(move |c| fleet::last_messages(c, &ids)).await
    }

    /// Returns when the newest `most` messages of a device were received, in microseconds since 1970, newest first.
    pub async fn newest_times(&self, device: String, most: usize) -> Result<Vec<i64>, ReadError> {
        self.read(move |c| fleet::newest_times(c, &device, most)).await
    }

    /// Returns the next `limit` messages with an ID above `after`, oldest first. Ends early after more than 1 MiB.
    pub fn after(
        &self,
        after: i64,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Message>, ReadError>> + Send + use<> {
        let buffer = self.buffer();
        self.read(move |c| messages::after(c, &buffer, after, limit))
    }

    /// Returns the messages with these IDs, in the order of `ids`; `None` for one that is no longer in the buffer. Ends early after more
    /// than 1 MiB.
    pub fn by_ids(
        &self,
        ids: Vec<i64>,
    ) -> impl Future<Output = Result<Vec<Option<Message>>, ReadError>> + Send + use<> {
        let buffer = self.buffer();
        self.read(move |c| messages::by_ids(c, &buffer, &ids))
    }

    /// Returns for each of `devices` its messages with IDs above the one beside it and up to `up_to`, oldest first, at most `limit` of each,
    /// and whether it has more. The answer ends early after more than 1 MiB, so that devices may be missing at its end.
    pub fn of_devices(
        &self,
        devices: Vec<(Arc<str>, i64)>,
        up_to: i64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Part>, ReadError>> + Send + use<> {
        let buffer = self.buffer();
        self.read(move |c| messages::of_devices(c, &buffer, &devices, up_to, limit))
    }

    /// Returns how many messages each device of `position` has that are not resolved, up to `resolved_to`.
    pub async fn count_behind(&self, position: Position) -> Result<BTreeMap<Arc<str>, u64>, ReadError> {
        let count = move |c: &Connection| {
            let Position { resolved_to, behind } = position;
            let count = |(device, first): (Arc<str>, i64)| {
                let count = messages::count_of(c, &device, (first - 1, resolved_to))?;
                Ok((device, count))
            };
            behind.into_iter().map(count).collect()
        };
        self.read(count).await
    }

    /// Returns when the oldest message was received, in microseconds since 1970.
    pub async fn oldest(&self) -> Result<Option<i64>, ReadError> {
        self.read(messages::oldest).await
    }

    /// Returns the last message of `device`, if it has stored one.
    pub async fn last_of(&self, device: String) -> Result<Option<Last>, ReadError> {
        self.read(move |c| messages::last_of(c, &device)).await
    }

    /// Returns devices, when each last sent, in microseconds since 1970, and what `read` makes of it and the origin of its last message: at
    /// most `most` devices for which that is something. `may_be` says whether it may be for a device, whose last message is then read.
    pub async fn last_heard<T: Send + 'static>(
        &self,
        may_be: impl Fn(&str) -> bool + Send + 'static,
        read: impl Fn(Sent<'_>) -> Option<T> + Send + 'static,
        most: usize,
    ) -> Result<Vec<(String, i64, T)>, ReadError> {
        self.read(move |c| messages::last_heard(c, may_be, read, most)).await
    }

    /// Returns the times of receipt, in microseconds since 1970, and the origins of messages that were received after `since`: newest
    /// first, at most `most`.
    pub async fn origins(&self, since: i64, most: usize) -> Result<Vec<(i64, String)>, ReadError> {
        self.read(move |c| messages::origins(c, since, most)).await
    }

    /// Returns how far `output` is. `None` if it has resolved nothing yet.
    pub async fn position(&self, output: Arc<str>) -> Result<Option<Position>, ReadError> {
        self.read(move |c| Ok(Position::load(c, &changes::cursors(c)?)?.remove(&output))).await
    }

    /// Returns the devices with an alarm of `condition` at `output`.
    pub async fn alarms(&self, output: Arc<str>, condition: i64) -> Result<HashSet<Arc<str>>, ReadError> {
        self.read(move |c| alarms::load(c, &output, condition)).await
    }

    /// Returns the state of the replay of `output`, if it has one.
    pub async fn replay(&self, output: Arc<str>) -> Result<Option<String>, ReadError> {
        self.read(move |c| replays::load(c, &output)).await
    }

    /// Returns the IDs of the messages that were received at `times`. IDs ascend with the times, except where the clock was set back.
    pub async fn ids_at(&self, times: Times) -> Result<IdRange, ReadError> {
        self.read(move |c| IdRange::at(c, times)).await
    }

    /// Returns the IDs of the next messages in `range`, in ascending order, of the devices that the pattern `device` names, or of all, that
    /// `position` has resolved. Also returns up to which ID it has searched. Ends early with about `most` IDs, or after a long search.
    pub fn resolved_ids(
        &self,
        range: IdRange,
        device: Option<Arc<str>>,
        position: Position,
        most: usize,
    ) -> impl Future<Output = Result<(Vec<i64>, i64), ReadError>> + Send + use<> {
        self.read(move |c| {
            let is_resolved = |id, device: &str| position.is_resolved(id, device);
            replays::ids(c, range, device.as_deref(), is_resolved, most)
        })
    }

    /// Returns how many messages [`Readers::resolved_ids`] finds in `range`.
    pub async fn count_resolved(
        &self,
        range: IdRange,
        device: Option<Arc<str>>,
        position: Position,
    ) -> Result<u64, ReadError> {
        self.read(move |c| {
            let is_resolved = |id, device: &str| position.is_resolved(id, device);
            replays::count(c, range, device.as_deref(), is_resolved)
        })
        .await
    }

    /// Returns the layouts that packed messages were decoded with.
    pub async fn layouts(&self) -> Result<HashSet<Arc<LayoutKey>>, ReadError> {
        self.read(layouts::load).await
    }

    /// Returns a page of the quarantine, newest first: of `device`, or of all devices, among those that `is_chosen` names.
    pub async fn quarantined(
        &self,
        device: Option<String>,
        is_chosen: impl Fn(&str) -> bool + Send + 'static,
        page: Page,
    ) -> Result<Vec<Quarantined>, ReadError> {
        self.read(move |c| quarantine::newest(c, device.as_deref(), is_chosen, page)).await
    }

    /// Returns the messages of the quarantine with an ID above `after` and up to `last` that `filter` and `also` accept: oldest first, at
    /// most `limit`. Ends early after more than 1 MiB.
    pub async fn find_quarantined(
        &self,
        filter: Filter,
        also: impl Fn(&Quarantined) -> bool + Send + 'static,
        (after, last): (i64, i64),
        limit: usize,
    ) -> Result<Vec<Quarantined>, ReadError> {
        self.read(move |c| quarantine::find(c, &filter, also, (after, last), limit)).await
    }

    /// Returns how many messages are in the quarantine, and their bytes.
    pub async fn quarantine_size(&self) -> Result<(u64, u64), ReadError> {
        self.read(quarantine::size).await
    }

    /// Returns the quarantined messages by device, or of `device` only; the devices with the most messages first, at most `limit`.
    pub async fn quarantined_by_device(
        &self,
        device: Option<String>,
        limit: u32,
    ) -> Result<Vec<OfDevice>, ReadError> {
        self.read(move |c| quarantine::by_device(c, device.as_deref(), limit)).await
    }

    /// Returns the dead letters of `output` with message IDs above `after`, in ascending order, at most `limit`.
    pub async fn dead_letters(
        &self,
        output: Arc<str>,
        after: i64,
        limit: u32,
    ) -> Result<Vec<DeadLetter>, ReadError> {
        self.read(move |c| dead_letters::list(c, &output, after, limit)).await
    }

    /// Returns the last messages of `device` to which later ones may refer, newest first: at most 16.
    pub async fn references(&self, device: String) -> Result<Vec<Named>, ReadError> {
        self.read(move |c| references::of(c, &device)).await
    }

    /// Returns which of `ids` are dead letters of `output`, or without `ids` all of its dead letters: message IDs in ascending order, at
    /// most `limit`.
    pub async fn dead_letter_ids(
        &self,
        output: Arc<str>,
        ids: Option<Vec<i64>>,
        limit: usize,
    ) -> Result<Vec<i64>, ReadError> {
        self.read(move |c| dead_letters::ids(c, &output, ids.as_deref(), limit)).await
    }
}
