//! The brokers, and which of them lead the partitions of the topic.

use super::{
    Access, Address, Error, Kind,
    connection::{Api, Connection},
    sasl,
};
use kafka_protocol::{
    messages::{
        ApiKey, MetadataRequest, MetadataResponse, TopicName, metadata_request::MetadataRequestTopic,
    },
    protocol::{Decodable, Encodable, HeaderVersion, StrBytes},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::Mutex as AsyncMutex,
    time::{Instant, timeout_at},
};

/// Since version 4, the request says whether a missing topic is to be created; since 10, topics have IDs.
const METADATA: Api = Api { key: ApiKey::Metadata, versions: 4..=9 };
/// How long the leaders are believed. After it, new partitions are found.
const AGE: Duration = Duration::from_secs(30);
/// Longest wait for one broker's answer about the leaders.
const ATTEMPT: Duration = Duration::from_secs(5);

/// A broker, with a connection once it was needed.
pub struct Broker {
    address: Address,
    connection: AsyncMutex<Option<Connection>>,
}

impl Broker {
    fn new(address: Address) -> Arc<Broker> {
        Arc::new(Broker { address, connection: AsyncMutex::new(None) })
    }

    /// Sends a request, over a new connection if there is none. `pause` returns how long the broker asks not to be asked, in milliseconds.
    pub async fn request<Q, A>(
        &self,
        access: &Access,
        api: &Api,
        request: &Q,
        pause: fn(&A) -> i32,
        until: Instant,
    ) -> Result<A, Error>
    where
        Q: Encodable + HeaderVersion,
        A: Decodable + HeaderVersion,
    {
        let answer = async {
            let mut held = self.connection.lock().await;
            // Taken out, so that the half of an answer that a cancelled request leaves is not read as that to the next.
            let mut connection = match held.take() {
                Some(connection) => connection,
                None => sasl::connect(&self.address, access).await?,
            };
            let answer = connection.request(api, request).await?;
            connection.pause(pause(&answer));
            *held = Some(connection);
            Ok(answer)
        };
        let late = || Error::new(Kind::Timeout, format!("{}: no answer in time", self.address));
        timeout_at(until, answer).await.unwrap_or_else(|_| Err(late()))
    }
}

/// The topic.
pub struct Topic {
    /// The broker that leads each partition; `None` while there is none.
    leaders: Vec<Option<Arc<Broker>>>,
    read_at: Instant,
}

impl Topic {
    /// Returns the number of partitions: at least 1.
    pub fn partitions(&self) -> usize {
        self.leaders.len()
    }

    /// Returns the leader of a partition.
    pub fn leader(&self, partition: usize) -> Option<&Arc<Broker>> {
        self.leaders.get(partition)?.as_ref()
    }
}

/// The brokers of a cluster, and one of its topics.
pub struct Cluster {
    bootstrap: Vec<Address>,
    name: String,
    pub access: Access,
    known: Mutex<Known>,
    /// Held while the leaders are asked for.
    asking: AsyncMutex<()>,
}

#[derive(Default)]
struct Known {
    brokers: BTreeMap<i32, Arc<Broker>>,
    topic: Option<Arc<Topic>>,
    /// The place of the broker to ask first, so that a silent one is not always the first.
    turn: usize,
}

impl Cluster {
    pub fn new(bootstrap: Vec<Address>, name: String, access: Access) -> Cluster {
        Cluster { bootstrap, name, access, known: Mutex::default(), asking: AsyncMutex::default() }
    }

    /// Returns the topic's name.
    pub fn name(&self) -> TopicName {
        StrBytes::from_string(self.name.clone()).into()
    }

    /// Notes that the leaders have changed.
    pub fn forget(&self) {
        self.known().topic = None;
    }

    /// Returns the topic, as the cluster knew it at most 30 s ago.
    pub async fn topic(&self, until: Instant) -> Result<Arc<Topic>, Error> {
        let asked = async {
            let _one_at_a_time = self.asking.lock().await;
            let topic = self.known().topic.clone();
            match topic.filter(|topic| topic.read_at.elapsed() < AGE) {
                Some(topic) => Ok(topic),
                None => self.ask(until).await,
            }
        };
        let late = || Error::new(Kind::Timeout, "no broker answered in time");
        timeout_at(until, asked).await.unwrap_or_else(|_| Err(late()))
    }

    /// Asks the brokers one after the other, and those of the settings last, because all others may have other addresses now.
    async fn ask(&self, until: Instant) -> Result<Arc<Topic>, Error> {
        let mut brokers: Vec<_> = {
            let mut known = self.known();
            known.turn += 1;
            let mut brokers: Vec<_> = known.brokers.values().cloned().collect();
            let first = known.turn % brokers.len().max(1);
            brokers.rotate_left(first);
            brokers
        };
        brokers.extend(self.bootstrap.iter().cloned().map(Broker::new));
        let topic = MetadataRequestTopic::default().with_name(Some(self.name()));
        let request =
            MetadataRequest::default().with_topics(Some(vec![topic])).with_allow_auto_topic_creation(true);
        let mut failed = Error::new(Kind::Connection, "no broker");
        for broker in brokers {
            let until = until.min(Instant::now() + ATTEMPT);
            let pause = |answer: &MetadataResponse| answer.throttle_time_ms;
            match broker.request(&self.access, &METADATA, &request, pause, until).await {
                Ok(answer) => return self.learn(&answer),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn learn(&self, answer: &MetadataResponse) -> Result<Arc<Topic>, Error> {
        let mut known = self.known();
        let brokers = answer.brokers.iter().filter_map(|broker| {
            let address = Address { host: broker.host.to_string(), port: u16::try_from(broker.port).ok()? };
            let same = known.brokers.get(&broker.node_id.0).filter(|known| known.address == address);
            Some((broker.node_id.0, same.cloned().unwrap_or_else(|| Broker::new(address))))
        });
        known.brokers = brokers.collect();
        let about = format!("topic {}", self.name);
        let topic = answer.topics.first();
        let topic = topic.ok_or_else(|| Error::new(Kind::Missing, format!("{about}: no answer")))?;
        if let Some(error) = Error::of_code(&about, topic.error_code, None) {
            return Err(error);
        }
        if topic.partitions.is_empty() {
            return Err(Error::new(Kind::Missing, format!("{about}: it has no partitions")));
        }
        let mut leaders = vec![None; topic.partitions.len()];
        for partition in &topic.partitions {
            let index = usize::try_from(partition.partition_index).ok();
            if let Some(leader) = index.and_then(|index| leaders.get_mut(index)) {
                *leader = known.brokers.get(&partition.leader_id.0).cloned();
            }
        }
        let topic = Arc::new(Topic { leaders, read_at: Instant::now() });
        known.topic = Some(Arc::clone(&topic));
        Ok(topic)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
