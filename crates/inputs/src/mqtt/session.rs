//! Sessions: the state of a client that outlives its connection. A client has one connection at a time.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// Identifies a session by the client identifier and the hash of the credential, so that nobody can take over a session by its identifier
/// alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    pub client_id: String,
    pub credential: Option<[u8; 32]>,
}

/// Packet identifiers that still have a meaning in the next connection.
#[derive(Debug, Default)]
pub struct Memory {
    /// QoS 2: stored, and not yet released by the client.
    pub unreleased: HashSet<u16>,
    /// QoS 1: stored, but the connection ended before the PUBACK was sent.
    pub unacknowledged: HashSet<u16>,
}

/// All sessions of an input.
pub struct Sessions {
    slots: Mutex<HashMap<Key, Slot>>,
    /// The maximum number of sessions.
    most: usize,
}

enum Slot {
    /// Connected. Sending true ends the connection.
    Live(watch::Sender<bool>),
    Kept {
        memory: Memory,
        until: Instant,
    },
}

/// The session of a connected client.
pub struct Session {
    sessions: Arc<Sessions>,
    key: Key,
    pub memory: Memory,
    /// How long it is kept after the connection; zero discards it.
    pub keep: Duration,
    /// Becomes true when the client has connected again.
    pub taken_over: watch::Receiver<bool>,
}

impl Sessions {
    pub fn new(most: usize) -> Sessions {
        Sessions { slots: Mutex::default(), most }
    }

    /// Opens the session of `key`, and returns whether it existed; `clean` discards its state. An earlier connection of the same
    /// client is ended first, which waits until its messages are stored.
    pub async fn open(self: &Arc<Self>, key: Key, clean: bool) -> (Session, bool) {
        loop {
            let other = match self.take(&key, clean) {
                Ok(opened) => return opened,
                Err(other) => other,
            };
            tracing::warn!(
                client = key.client_id,
                "a second client connected with the same ID; the first connection ends"
            );
            other.send_replace(true);
            other.closed().await;
        }
    }

    fn take(self: &Arc<Self>, key: &Key, clean: bool) -> Result<(Session, bool), watch::Sender<bool>> {
        let (live, taken_over) = watch::channel(false);
        let before = match self.slots().entry(key.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(Slot::Live(live));
                None
            }
            Entry::Occupied(mut entry) => match entry.get() {
                Slot::Live(other) => return Err(other.clone()),
                Slot::Kept { .. } => match entry.insert(Slot::Live(live)) {
                    Slot::Kept { memory, until } if !clean && until > Instant::now() => Some(memory),
                    _ => None,
                },
            },
        };
        let present = before.is_some();
        let session = Session {
            sessions: Arc::clone(self),
            key: key.clone(),
            memory: before.unwrap_or_default(),
            keep: Duration::ZERO,
            taken_over,
        };
        Ok((session, present))
    }

    /// Removes expired sessions.
    pub fn remove_expired(&self) {
        let now = Instant::now();
        let mut slots = self.slots();
        slots.retain(|_, slot| !matches!(slot, Slot::Kept { until, .. } if *until <= now));
        slots.shrink_to_fit();
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Key, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        let mut slots = self.sessions.slots();
        let room = slots.len() <= self.sessions.most;
        if self.keep.is_zero() || !room {
            slots.remove(&self.key);
        } else {
            slots.insert(self.key.clone(), Slot::Kept { memory, until: Instant::now() + self.keep });
        }
        if !self.keep.is_zero() && !room {
            tracing::warn!(client = self.key.client_id, "the limit of sessions is reached; deleted this one");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(credential: u8) -> Key {
        Key { client_id: "c".into(), credential: Some([credential; 32]) }
    }

    #[tokio::test]
    async fn a_session_is_kept_for_its_time_and_forgotten_when_asked() {
        let sessions = Arc::new(Sessions::new(10));
        let (mut session, present) = sessions.open(key(1), false).await;
        assert!(!present);
        session.memory.unreleased.insert(7);
        session.keep = Duration::from_secs(60);
        drop(session);
        assert!(!sessions.open(key(2), false).await.1, "another credential");
        let (mut session, present) = sessions.open(key(1), false).await;
        assert!(present && session.memory.unreleased.contains(&7));
        session.keep = Duration::from_nanos(1);
        drop(session);
        std::thread::sleep(Duration::from_millis(1));
        sessions.remove_expired();
        assert!(sessions.slots().is_empty());
        let (mut session, _) = sessions.open(key(1), false).await;
        session.keep = Duration::from_secs(60);
        drop(session);
        let (session, present) = sessions.open(key(1), true).await;
        assert!(!present && session.memory.unreleased.is_empty());
        drop(session);
        assert!(sessions.slots().is_empty());
    }

    #[tokio::test]
    async fn the_second_connection_of_a_client_waits_for_the_end_of_the_first() {
        let sessions = Arc::new(Sessions::new(10));
        let (mut first, _) = sessions.open(key(1), false).await;
        first.keep = Duration::from_secs(60);
        let second = tokio::spawn({
            let sessions = Arc::clone(&sessions);
            async move { sessions.open(key(1), false).await }
        });
        first.taken_over.wait_for(|over| *over).await.unwrap();
        assert!(!second.is_finished());
        first.memory.unacknowledged.insert(9);
        drop(first);
        let (second, present) = second.await.unwrap();
        assert!(present && second.memory.unacknowledged.contains(&9));
    }

    #[tokio::test]
    async fn no_more_sessions_are_kept_than_allowed() {
        let sessions = Arc::new(Sessions::new(2));
        for n in 0..5 {
            let (mut session, _) = sessions.open(key(n), false).await;
            session.keep = Duration::from_secs(60);
        }
        assert_eq!(sessions.slots().len(), 2);
    }
}
