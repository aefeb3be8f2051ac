//! The consumer of a stream: finds or creates it, and resets it to the last acknowledged message.

use super::{Acknowledge, Nats, Position};
use async_nats::jetstream::{
    Context,
    consumer::{self, AckPolicy, FromConsumer, PullConsumer, pull},
    context::ConsumerInfoErrorKind,
    stream::Stream,
};
use std::{collections::BTreeSet, fmt::Display, time::Duration};

/// After this time, a message that was not acknowledged is delivered again.
const ACK_WAIT: Duration = Duration::from_secs(60);
/// The same if messages wait for outputs, which may take long. A message that was lost on the way is noticed sooner, by its number.
const ACK_WAIT_DELIVERED: Duration = Duration::from_secs(3600);
/// How many messages may wait for outputs, unless more are in flight; further ones stay in the stream.
const MAX_UNDELIVERED: usize = 16_384;

/// Why the messages of a stream cannot be received.
pub enum OpenError {
    /// A later attempt may succeed.
    Again(String),
    /// An operator has to change something.
    Refused(String),
}

impl From<String> for OpenError {
    fn from(reason: String) -> OpenError {
        OpenError::Again(reason)
    }
}

impl Nats {
    /// Returns the consumer, reset to the last acknowledged message, and the number of its next delivery.
    pub(super) async fn open(
        &self,
        context: &Context,
        position: &mut Position,
    ) -> Result<(PullConsumer, u64), OpenError> {
        let name = &self.settings.stream;
        let stream = context.get_stream(name).await.map_err(|e| format!("stream {name}: {e}"))?;
        let created = stream.cached_info().created.unix_timestamp_nanos();
        if position.stream != created {
            *position = Position { stream: created, ..Position::default() };
        }
        let mut consumer = self.consumer(&stream).await?;
        let answer = consumer.reset(position.acknowledged.map(|number| number + 1)).await;
        let answer =
            answer.map_err(|e| format!("cannot reset the consumer, which needs NATS 2.14 or newer: {e}"))?;
        let done = answer.reset_seq.saturating_sub(1);
        position.acknowledged = Some(done);
        position.stored = position.stored.max(done);
        let first = stream.cached_info().state.first_sequence;
        if done > 0 && first > done + 1 {
            let (input, up_to) = (&self.name, first - done - 1);
            tracing::error!(%input, stream = name, up_to, "the stream deleted messages before they arrived");
        }
        tracing::info!(input = %self.name, stream = name, after = done, waiting = answer.info.num_pending, "receives messages");
        Ok((consumer, answer.info.delivered.consumer_sequence + 1))
    }

    /// Finds or creates the consumer. An existing one keeps its filter: a new filter would apply from the consumer's position in the
    /// stream on, and skip every older message that only it selects.
    async fn consumer(&self, stream: &Stream) -> Result<PullConsumer, OpenError> {
        let (name, config) = (&self.settings.consumer, self.config());
        let failed = |e: &dyn Display| format!("consumer {name}: {e}");
        let info = match stream.consumer_info(name).await {
            Ok(info) => info,
            Err(e) if e.kind() == ConsumerInfoErrorKind::NotFound => {
                let made = stream.create_consumer_strict(config).await;
                return Ok(made.map_err(|e| failed(&e))?);
            }
            Err(e) => return Err(failed(&e).into()),
        };
        check(&info.config, &self.settings.subjects).map_err(|wrong| OpenError::Refused(failed(&wrong)))?;
        let there = pull::Config::try_from_consumer_config(info.config).map_err(|e| failed(&e))?;
        let wanted = pull::Config {
            ack_wait: config.ack_wait,
            max_ack_pending: config.max_ack_pending,
            ..there.clone()
        };
        if wanted != there {
            return Ok(stream.update_consumer(wanted).await.map_err(|e| failed(&e))?);
        }
        Ok(stream.get_consumer(name).await.map_err(|e| failed(&e))?)
    }

    fn config(&self) -> pull::Config {
        let in_flight = self.settings.in_flight_messages;
        let (ack_wait, unacknowledged) = match self.acknowledge {
            Acknowledge::Stored => (ACK_WAIT, in_flight),
            Acknowledge::Delivered => (ACK_WAIT_DELIVERED, in_flight.max(MAX_UNDELIVERED)),
        };
        pull::Config {
            durable_name: Some(self.settings.consumer.clone()),
            ack_policy: AckPolicy::All,
            ack_wait,
            filter_subjects: self.settings.subjects.clone(),
            max_ack_pending: i64::try_from(unacknowledged).unwrap_or(i64::MAX),
            ..Default::default()
        }
    }
}

/// Checks whether an existing consumer can be used as it is. An error says why not, and what to do.
fn check(there: &consumer::Config, subjects: &[String]) -> Result<(), String> {
    if there.ack_policy != AckPolicy::All {
        return Err(format!(
            "its acknowledgement policy is {:?}, not All; name another consumer, and the gateway creates it",
            there.ack_policy
        ));
    }
    let one = Some(&there.filter_subject).filter(|subject| !subject.is_empty());
    let has: BTreeSet<_> = there.filter_subjects.iter().chain(one).collect();
    let wants: BTreeSet<_> = subjects.iter().collect();
    if has == wants {
        return Ok(());
    }
    let list = |subjects: &BTreeSet<&String>| match subjects.is_empty() {
        true => "all subjects".to_owned(),
        false => subjects.iter().map(|subject| format!("{subject:?}")).collect::<Vec<_>>().join(", "),
    };
    Err(format!(
        "its filter is {}, but subjects is {}. With a changed filter it would skip older messages, so it stays unchanged. Set \
         subjects back; to take over the partitions of another forwarder, add an [[input]] with that forwarder's consumer; to divide \
         partitions otherwise, see docs/storage.md, \"Move partitions\"",
        list(&has),
        list(&wants)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there(filters: &[&str]) -> consumer::Config {
        let filter_subjects = filters.iter().map(|subject| (*subject).to_owned()).collect();
        consumer::Config { ack_policy: AckPolicy::All, filter_subjects, ..Default::default() }
    }

    #[test]
    fn a_consumer_is_used_only_with_the_filter_that_it_has() {
        let subjects = |list: &[&str]| list.iter().map(|subject| (*subject).to_owned()).collect::<Vec<_>>();
        assert!(check(&there(&["a.>", "b.>"]), &subjects(&["b.>", "a.>"])).is_ok());
        assert!(check(&there(&[]), &[]).is_ok());
        let single = consumer::Config { filter_subject: "a.>".into(), ..there(&[]) };
        assert!(check(&single, &subjects(&["a.>"])).is_ok());
        for (has, wants) in
            [(&["a.>"][..], &["a.>", "b.>"][..]), (&["a.>", "b.>"], &["a.>"]), (&["a.>"], &[])]
        {
            let refusal = check(&there(has), &subjects(wants)).unwrap_err();
            assert!(refusal.contains("\"a.>\"") && refusal.contains("Move partitions"), "{refusal}");
        }
        let explicit = consumer::Config { ack_policy: AckPolicy::Explicit, ..there(&[]) };
        assert!(check(&explicit, &[]).unwrap_err().contains("Explicit"));
    }
}
