//! Writes records to the leaders of their partitions.

use super::{
    Access, Address, Error, Kind,
    cluster::{Broker, Cluster, Topic},
    connection::Api,
    lane::{Lane, Sequence},
    partition_of,
};
use crate::secret::SecretFile;
use bytes::Bytes;
use futures_util::future::join_all;
use kafka_protocol::messages::{
    ApiKey, InitProducerIdRequest, InitProducerIdResponse, ProduceRequest, ProduceResponse,
    produce_request::{PartitionProduceData, TopicProduceData},
};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::Mutex as AsyncMutex,
    time::{Instant, sleep, timeout_at},
};

/// Since version 3, batches have their present format; since 10, an answer names a new leader, and since 13, topics have IDs.
const PRODUCE: Api = Api { key: ApiKey::Produce, versions: 3..=9 };
const INIT: Api = Api { key: ApiKey::InitProducerId, versions: 0..=4 };
/// All in-sync replicas acknowledge.
const ACKS_ALL: i16 = -1;
/// Largest batch, in bytes of keys, values and headers: half of what brokers accept by default.
const BATCH: usize = 512 << 10;
/// The size below which a broker that refuses batches does not make them smaller.
const LEAST_BATCH: usize = 8 << 10;
/// The first and the longest pause before records are sent again.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// How long a topic may be missing before a call fails. A broker that creates it needs less.
const CREATION: Duration = Duration::from_secs(5);

/// A record to write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// Its key, which chooses the partition.
    pub key: Bytes,
    /// Its value.
    pub value: Bytes,
    /// Its headers.
    pub headers: Vec<(&'static str, Bytes)>,
    /// Its time, in milliseconds since 1970 (UTC).
    pub timestamp: i64,
}

impl Record {
    fn bytes(&self) -> usize {
        let headers: usize = self.headers.iter().map(|(key, value)| key.len() + value.len()).sum();
        self.key.len() + self.value.len() + headers
    }
}

/// Writes records to one topic.
pub struct Producer {
    cluster: Cluster,
    timeout: Duration,
    /// The sequence of each partition; `None` if it is not clear what the broker has.
    sequences: Mutex<BTreeMap<usize, Arc<AsyncMutex<Option<Sequence>>>>>,
    /// Largest batch, in bytes.
    batch: AtomicUsize,
}

type Results = Vec<Result<(), Error>>;

impl Producer {
    /// Creates a producer, which connects when it has records. `timeout` is the longest time that a call takes.
    pub fn new(brokers: Vec<Address>, topic: String, access: Access, timeout: Duration) -> Producer {
        let (sequences, batch) = (Mutex::default(), AtomicUsize::new(BATCH));
        Producer { cluster: Cluster::new(brokers, topic, access), timeout, sequences, batch }
    }

    /// Returns the files that a reload reads again.
    pub fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.cluster.access.secrets()
    }

    /// Writes records, those of a partition in their order. Returns the result of each: `Ok` when all in-sync replicas have it. Once a
    /// record of a partition failed other than by being refused, none behind it is written there.
    pub async fn send(&self, records: &[Record]) -> Results {
        let until = Instant::now() + self.timeout;
        let opened = async { self.lanes(&*self.topic(until).await?, records, until).await };
        let mut lanes = match opened.await {
            Ok(lanes) => lanes,
            Err(error) => return records.iter().map(|_| Err(error.clone())).collect(),
        };
        let mut results: Results = records.iter().map(|_| Ok(())).collect();
        let mut pause = PAUSES[0];
        loop {
            self.round(&mut lanes, records, until).await;
            let (done, open): (Vec<_>, Vec<_>) = lanes.into_iter().partition(Lane::is_done);
            for (place, result) in done.into_iter().flat_map(Lane::finish) {
                results[place] = result;
            }
            lanes = open;
            if lanes.is_empty() {
                return results;
            }
            if lanes.iter().all(|lane| lane.failed.is_none()) {
                pause = PAUSES[0];
                continue;
            }
            if Instant::now() + pause >= until {
                for lane in &mut lanes {
                    let late = || Error::new(Kind::Timeout, "the brokers did not acknowledge in time");
                    let error = lane.failed.take().unwrap_or_else(late);
                    lane.give_up(&error);
                }
                continue;
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSES[1]);
        }
    }

    /// Returns the topic. A missing one may be about to be created.
    async fn topic(&self, until: Instant) -> Result<Arc<Topic>, Error> {
        let created = until.min(Instant::now() + CREATION);
        let mut pause = PAUSES[0];
        loop {
            let error = match self.cluster.topic(until).await {
                Ok(topic) => return Ok(topic),
                Err(error) => error,
            };
            let until = match error.kind {
                Kind::Denied | Kind::Other => return Err(error),
                Kind::Missing => created,
                _ => until,
            };
            if Instant::now() + pause >= until {
                return Err(error);
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSES[1]);
        }
    }

    /// Divides records by partition and batch. Waits for other calls that write to the same partitions.
    async fn lanes(&self, topic: &Topic, records: &[Record], until: Instant) -> Result<Vec<Lane>, Error> {
        let mut by_partition: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, record) in records.iter().enumerate() {
            by_partition.entry(partition_of(&record.key, topic.partitions())).or_default().push(place);
        }
        let mut lanes = Vec::with_capacity(by_partition.len());
        // In the order of the partitions, so that two calls do not wait for each other.
        for (partition, places) in by_partition {
            let place = {
                let mut sequences = self.sequences.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::clone(sequences.entry(partition).or_default())
            };
            let free = timeout_at(until, place.lock_owned()).await;
            let busy = |_| Error::new(Kind::Timeout, format!("partition {partition}: another call writes"));
            lanes.push(Lane::new(partition, free.map_err(busy)?, self.batches(places, records)));
        }
        Ok(lanes)
    }

    fn batches(&self, places: Vec<usize>, records: &[Record]) -> VecDeque<Vec<usize>> {
        let largest = self.batch.load(Ordering::Relaxed);
        let (mut batches, mut bytes) = (VecDeque::<Vec<usize>>::new(), 0);
        for place in places {
            let more = records[place].bytes();
            match batches.back_mut().filter(|_| bytes + more <= largest) {
                Some(batch) => {
                    batch.push(place);
                    bytes += more;
                }
                None => {
                    batches.push_back(vec![place]);
                    bytes = more;
                }
            }
        }
        batches
    }

    /// Sends the first batch of each lane: one request to each leader.
    async fn round(&self, lanes: &mut [Lane], records: &[Record], until: Instant) {
        let topic = match self.cluster.topic(until).await {
            Ok(topic) => topic,
            Err(error) => return lanes.iter_mut().for_each(|lane| lane.fail(error.clone())),
        };
        let mut by_leader: Vec<(&Arc<Broker>, Vec<&mut Lane>)> = Vec::new();
        for lane in lanes {
            let Some(leader) = topic.leader(lane.partition) else {
                self.cluster.forget();
                let reason = format!("partition {}: it has no leader", lane.partition);
                lane.fail(Error::new(Kind::Failing, reason));
                continue;
            };
            match by_leader.iter_mut().find(|(broker, _)| Arc::ptr_eq(broker, leader)) {
                Some((_, lanes)) => lanes.push(lane),
                None => by_leader.push((leader, vec![lane])),
            }
        }
        let until = until.min(Instant::now() + self.timeout / 2);
        let requests = by_leader.into_iter().map(|(leader, mut lanes)| async move {
            if let Err(error) = self.write(leader, &mut lanes, records, until).await {
                lanes.into_iter().for_each(|lane| lane.fail(error.clone()));
            }
        });
        join_all(requests).await;
    }

    /// Sends the first batch of each of `lanes` to their leader. An error concerns all of them.
    async fn write(
        &self,
        leader: &Broker,
        lanes: &mut [&mut Lane],
        records: &[Record],
        until: Instant,
    ) -> Result<(), Error> {
        if lanes.iter().any(|lane| lane.needs_sequence()) {
            let sequence = self.new_sequence(leader, until).await?;
            for lane in lanes.iter_mut().filter(|lane| lane.needs_sequence()) {
                lane.sequence = Some(sequence);
            }
        }
        let mut partitions = Vec::new();
        for lane in lanes.iter() {
            let data = PartitionProduceData::default().with_index(lane.partition as i32);
            partitions.push(data.with_records(Some(lane.batch(records)?)));
        }
        let topic =
            TopicProduceData::default().with_name(self.cluster.name()).with_partition_data(partitions);
        let request = ProduceRequest::default()
            .with_acks(ACKS_ALL)
            .with_timeout_ms(i32::try_from(self.timeout.as_millis() / 3).unwrap_or(i32::MAX))
            .with_topic_data(vec![topic]);
        let pause = |answer: &ProduceResponse| answer.throttle_time_ms;
        let answer = leader.request(&self.cluster.access, &PRODUCE, &request, pause, until).await;
        let answer = answer.inspect_err(|_| self.cluster.forget())?;
        for lane in lanes {
            let mut answers = answer.responses.iter().flat_map(|topic| &topic.partition_responses);
            match answers.find(|answer| answer.index == lane.partition as i32) {
                None => lane.fail(Error::new(Kind::Failing, "the broker did not answer for a partition")),
                Some(answer) => {
                    let halved = lane.answered(answer.error_code, answer.error_message.as_deref());
                    if let Some(places) = halved {
                        self.write_smaller(places.iter().map(|place| records[*place].bytes()).sum());
                    }
                }
            }
            if lane.failed.is_some() {
                self.cluster.forget();
            }
        }
        Ok(())
    }

    /// Makes batches smaller than `refused` bytes, which a broker has refused, within limits.
    fn write_smaller(&self, refused: usize) {
        self.batch.fetch_min((refused / 2).max(LEAST_BATCH), Ordering::Relaxed);
    }

    /// Begins a sequence, with a producer ID of its own.
    async fn new_sequence(&self, broker: &Broker, until: Instant) -> Result<Sequence, Error> {
        // Without a transactional ID, the time limit of transactions has no effect.
        let request = InitProducerIdRequest::default()
            .with_transactional_id(None)
            .with_transaction_timeout_ms(i32::MAX);
        let pause = |answer: &InitProducerIdResponse| answer.throttle_time_ms;
        let answer = broker.request(&self.cluster.access, &INIT, &request, pause, until).await?;
        match Error::of_code("producer ID", answer.error_code, None) {
            Some(error) => Err(error),
            None => Ok(Sequence { id: answer.producer_id.0, epoch: answer.producer_epoch, next: 0 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::Access;

    #[test]
    fn batches_keep_the_order_and_have_a_limit() {
        let access = Access::new(false, None, None, false).unwrap();
        let producer = Producer::new(Vec::new(), "t".into(), access, Duration::from_secs(1));
        let record = |bytes: usize| Record { value: vec![0; bytes].into(), ..Record::default() };
        let records = [record(300 << 10), record(200 << 10), record(600 << 10), record(1), record(512 << 10)];
        let batches = producer.batches((0..5).collect(), &records);
        assert_eq!(batches, [vec![0, 1], vec![2], vec![3], vec![4]]);
        producer.write_smaller(400 << 10);
        assert_eq!(producer.batches(vec![0, 1, 3], &records), [vec![0], vec![1], vec![3]]);
        producer.write_smaller(1);
        assert_eq!(producer.batch.load(Ordering::Relaxed), LEAST_BATCH);
    }
}
