//! The sizes of the paper's ten messages in every format. The schema-driven formats use the schema that `dunnage infer` derives from the
//! message itself, so each of them has the best schema that one message can give.

use crate::{Failure, payloads::Payload, results::Record, shape::Floats};
use dunnage_formats::{Id, Mapping};
use dunnage_schema::Model;

/// The sizes of a message: a record for each format that can encode it.
pub fn sizes(suite: &str, payload: &Payload) -> Result<Vec<Record>, Failure> {
    let text = serde_json::to_string(&payload.value)?;
    let schema = dunnage_schema::infer(&[&text], Some(&payload.name))?;
    let model = Model::compile(&schema.schema)?;
    let mut records = Vec::new();
    for id in Id::all() {
        let format = id.open(Some(&model), Mapping::Exact)?;
        let mut bytes = Vec::new();
        // A format that cannot hold a message has no size for it.
        if format.encode(&payload.value, &mut bytes).is_err() {
            continue;
        }
        let lossless = format.decode(&bytes)? == payload.value;
        records.push(record(suite, payload, id.name(), Floats::Lossless, bytes.len(), lossless));
    }
    let bytes = dunnage_pson::Options::new().floats(dunnage_pson::Floats::Single).to_vec(&payload.value)?;
    records.push(record(suite, payload, "pson", Floats::Single, bytes.len(), true));
    Ok(records)
}

fn record(
    suite: &str,
    payload: &Payload,
    format: &str,
    floats: Floats,
    bytes: usize,
    lossless: bool,
) -> Record {
    let subject = [&*payload.name, format, "dunnage"];
    let mut record = Record::measured(suite, "host", subject, "serialize", ("bytes", bytes as f64, "bytes"))
        .version(env!("CARGO_PKG_VERSION"));
    record.repetitions = Some(1);
    record.floats = Some(floats.name().into());
    record.note = (!lossless).then(|| "does not decode to the same message".into());
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payloads::{PAPER_GROUP, groups};

    fn bytes(records: &[Record], format: &str, floats: Floats) -> Option<f64> {
        let same = |r: &&Record| r.format == format && r.floats.as_deref() == Some(floats.name());
        records.iter().find(same).map(|record| record.value)
    }

    #[test]
    fn the_ten_pson_sizes_are_exact() {
        let exact = [43, 182, 290, 75, 7, 6, 6, 17, 13, 77];
        let single = [39, 178, 286, 47, 7, 6, 6, 13, 13, 69];
        let groups = groups().expect("the corpus can be read");
        let paper = groups.iter().find(|group| group.name == PAPER_GROUP).expect("it is there");
        let mut sum = 0;
        for ((payload, exact), single) in paper.payloads.iter().zip(exact).zip(single) {
            let records = sizes("test", payload).expect("the formats can encode it");
            assert_eq!(bytes(&records, "pson", Floats::Lossless), Some(f64::from(exact)), "{}", payload.name);
            assert_eq!(bytes(&records, "pson", Floats::Single), Some(f64::from(single)), "{}", payload.name);
            sum += single;
        }
        // The paper's average is 66.3 bytes.
        assert_eq!(sum, 664);
    }

    #[test]
    fn every_format_of_the_paper_holds_test10() {
        let groups = groups().expect("the corpus can be read");
        let payload = &groups[0].payloads[9];
        let records = sizes("test", payload).expect("the formats can encode it");
        for format in ["json", "msgpack", "protobuf", "pson", "xml", "bson", "avro", "yaml", "cbor", "packed"]
        {
            assert!(bytes(&records, format, Floats::Lossless).is_some(), "{format}");
        }
        assert!(records.iter().all(|record| record.note.is_none()), "{records:?}");
    }
}
