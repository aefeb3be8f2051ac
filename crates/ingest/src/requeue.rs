//! Decodes messages of the quarantine again, and stores those that succeed.

use crate::{Ingest, profiles::Chosen, rejected::Rejected, relayed::Reading};
use dunnage_buffer::{NewMessage, NewQuarantined, Provenance, Quarantined};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::oneshot::Receiver;

/// How long a message waits for room in the queue, and the pause between two attempts.
const PATIENCE: Duration = Duration::from_secs(30);
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

impl Ingest {
    /// Decodes a message of the quarantine with the current profiles and schemas, as its sender's content type or as `content_type`. It
    /// keeps its time of arrival.
    pub async fn decode_again(
        &self,
        kept: Quarantined,
        content_type: Option<&str>,
    ) -> Result<NewMessage, (NewQuarantined, Rejected)> {
        let mut provenance = Provenance {
            schema: kept.schema.map(Into::into),
            link: kept.link,
            key: kept.key,
            is_answered: kept.is_answered,
            origin: kept.origin.map(Into::into),
            ..Provenance::new(kept.device, kept.received_at, kept.request)
        };
        let content_type = content_type.unwrap_or(&kept.content_type);
        let profiles = self.profiles.load_full();
        let mut admitted = self.registered.admit(&mut provenance);
        let chosen = Chosen::of(Arc::clone(&profiles), &mut provenance, content_type);
        let Some(numbers) = chosen.numbers(content_type).filter(|_| admitted.is_ok()) else {
            let decoding = admitted.and_then(|()| chosen.decoding(content_type));
            return self.decode(chosen, provenance, content_type, decoding, kept.raw.into()).await;
        };
        match self.reading_alone(&provenance, &kept.raw, &numbers) {
            Ok(Reading { mut provenance, content_type, raw, .. }) => {
                admitted = self.registered.admit(&mut provenance);
                let chosen = Chosen::of(profiles, &mut provenance, &content_type);
                let decoding = admitted.and_then(|()| chosen.decoding(&content_type));
                self.decode(chosen, provenance, &content_type, decoding, raw).await
            }
            Err(rejected) => {
                self.decode(chosen, provenance, content_type, Err(rejected), kept.raw.into()).await
            }
        }
    }

    /// Queues a message that was decoded again, and leaves the quarantine, where its ID is `id`, with the commit. Waits if other messages
    /// fill the queue. The receiver gets whether the message is durable.
    pub async fn requeue(&self, message: NewMessage, id: i64) -> Result<Receiver<bool>, Rejected> {
        let mut room = self.reserve();
        let begun = Instant::now();
        while room.grow(message.raw.len() + message.json.len()).is_err() {
            if begun.elapsed() > PATIENCE {
                return Err(Rejected::queue_full());
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
        Ok(self.buffer.queue.requeue(message, room, id).await?)
    }
}
