//! The records of one call for one partition, and how far they are.

use super::{Error, Kind, Record};
use bytes::{Bytes, BytesMut};
use kafka_protocol::{
    ResponseError,
    protocol::StrBytes,
    records::{self, Compression, RecordBatchEncoder, RecordEncodeOptions, TimestampType},
};
use std::collections::VecDeque;
use tokio::sync::OwnedMutexGuard;

/// What the next batch of a partition is numbered with.
#[derive(Debug, Clone, Copy)]
pub struct Sequence {
    /// The producer's ID and epoch, from a broker.
    pub id: i64,
    pub epoch: i16,
    /// The number of the next record.
    pub next: i32,
}

/// The records of a call for one partition. While it exists, no other call writes to the partition.
pub struct Lane {
    pub partition: usize,
    /// Gets the sequence back when it is clear which records the broker has.
    place: OwnedMutexGuard<Option<Sequence>>,
    pub sequence: Option<Sequence>,
    /// The places of the records that are not written yet, by batch.
    waiting: VecDeque<Vec<usize>>,
    results: Vec<(usize, Result<(), Error>)>,
    /// Why the last attempt to write the first batch failed.
    pub failed: Option<Error>,
}

/// What the broker's answer about a batch means.
enum Verdict {
    Written,
    Refused(Error),
    /// The broker does not know the sequence.
    Lost(Error),
    Failed(Error),
}

fn verdict(partition: usize, code: i16, text: Option<&str>) -> Verdict {
    use ResponseError as E;
    let Some(error) = Error::of_code(&format!("partition {partition}"), code, text) else {
        return Verdict::Written;
    };
    match ResponseError::try_from_code(code) {
        // An earlier attempt has written it.
        Some(E::DuplicateSequenceNumber) => Verdict::Written,
        Some(
            E::OutOfOrderSequenceNumber
            | E::UnknownProducerId
            | E::InvalidProducerEpoch
            | E::InvalidProducerIdMapping,
        ) => Verdict::Lost(Error::new(Kind::Failing, error.reason)),
        _ if error.kind == Kind::Refused => Verdict::Refused(error),
        _ => Verdict::Failed(error),
    }
}

impl Lane {
    pub fn new(
        partition: usize,
        mut place: OwnedMutexGuard<Option<Sequence>>,
        waiting: VecDeque<Vec<usize>>,
    ) -> Lane {
        let sequence = place.take();
        Lane { partition, place, sequence, waiting, results: Vec::new(), failed: None }
    }

    /// Returns whether a sequence must be begun before the next batch.
    pub fn needs_sequence(&self) -> bool {
        let count = self.waiting.front().map_or(0, Vec::len);
        // Numbers are not wrapped around.
        self.sequence.is_none_or(|sequence| {
            i32::try_from(count).ok().and_then(|count| sequence.next.checked_add(count)).is_none()
        })
    }

    /// Returns the next batch in Kafka's format.
    pub fn batch(&self, records: &[Record]) -> Result<Bytes, Error> {
        let unwritable = |why: &dyn std::fmt::Display| Error::new(Kind::Other, format!("no batch: {why}"));
        let (Some(sequence), Some(places)) = (self.sequence, self.waiting.front()) else {
            return Err(unwritable(&"it has no sequence"));
        };
        let numbered = places.iter().zip(0..);
        let batch: Vec<_> =
            numbered.map(|(place, number)| record(&records[*place], number, sequence)).collect();
        let mut bytes = BytesMut::new();
        let options = RecordEncodeOptions { version: 2, compression: Compression::None };
        RecordBatchEncoder::encode(&mut bytes, &batch, &options).map_err(|e| unwritable(&e))?;
        Ok(bytes.freeze())
    }

    /// Takes note of the broker's answer about the first batch. Returns the places of its records if it was halved.
    pub fn answered(&mut self, code: i16, text: Option<&str>) -> Option<Vec<usize>> {
        self.failed = None;
        match verdict(self.partition, code, text) {
            Verdict::Written => {
                let batch = self.waiting.pop_front().unwrap_or_default();
                if let Some(sequence) = &mut self.sequence {
                    sequence.next += batch.len() as i32;
                }
                self.results.extend(batch.into_iter().map(|place| (place, Ok(()))));
            }
            Verdict::Refused(error) => return self.refuse(error),
            Verdict::Lost(error) => {
                self.sequence = None;
                self.failed = Some(error);
            }
            Verdict::Failed(error) => self.fail(error),
        }
        None
    }

    /// Refuses the only record of the first batch, or halves the batch, in which one record may be at fault. Returns what was halved.
    fn refuse(&mut self, error: Error) -> Option<Vec<usize>> {
        let mut batch = self.waiting.pop_front()?;
        if let [place] = batch[..] {
            self.results.push((place, Err(error)));
            return None;
        }
        let whole = batch.clone();
        let behind = batch.split_off(batch.len() / 2);
        self.waiting.push_front(behind);
        self.waiting.push_front(batch);
        Some(whole)
    }

    /// Takes note of a failure of the first batch. It is tried again if that can help soon.
    pub fn fail(&mut self, error: Error) {
        match error.kind {
            Kind::Denied | Kind::Other => self.give_up(&error),
            _ => self.failed = Some(error),
        }
    }

    /// Gives up all batches that are not written.
    pub fn give_up(&mut self, error: &Error) {
        let batches = self.waiting.drain(..).flatten();
        self.results.extend(batches.map(|place| (place, Err(error.clone()))));
        // A batch may yet be written under this sequence.
        self.sequence = None;
        self.failed = None;
    }

    pub fn is_done(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns the result of each record, and lets other calls write to the partition.
    pub fn finish(mut self) -> Vec<(usize, Result<(), Error>)> {
        *self.place = self.sequence;
        self.results
    }
}

fn record(record: &Record, number: i32, sequence: Sequence) -> records::Record {
    let headers = record.headers.iter();
    records::Record {
        transactional: false,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: records::NO_PARTITION_LEADER_EPOCH,
        producer_id: sequence.id,
        producer_epoch: sequence.epoch,
        timestamp_type: TimestampType::Creation,
        offset: number.into(),
        sequence: sequence.next + number,
        timestamp: record.timestamp,
        key: Some(record.key.clone()),
        value: Some(record.value.clone()),
        headers: headers.map(|(key, value)| (StrBytes::from_static_str(key), Some(value.clone()))).collect(),
    }
}
