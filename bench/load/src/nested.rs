//! The paper's own message with objects in objects, and three of other domains, beside the flat one: sections 3.2 and 6.5 of the paper.

use crate::{
    Failure,
    container::{FORMATS, bytes, new},
};
use dunnage_bench_record::Record;
use dunnage_formats::{Id, Mapping, Value};
use dunnage_measure::separators;
use dunnage_schema::Model;

/// A message of `bench/corpus/nested` with its schema.
macro_rules! nested {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../corpus/nested/", $name, "/document.json")),
            include_str!(concat!("../../corpus/nested/", $name, "/schema.json")),
        )
    };
}

/// The names of the messages, their texts and their schemas; the paper's is the first.
const MESSAGES: [(&str, &str, &str); 4] = [
    nested!("container-nested"),
    nested!("dcsa-iot-event"),
    nested!("fhir-blood-pressure"),
    nested!("vehicle-diagnostics"),
];

/// A message, its name in the records, and the text of its schema.
struct Sample {
    name: String,
    message: Value,
    schema: String,
}

/// The sizes of the messages in all formats of table 2, and the shares of their JSON that are saved.
pub fn sizes() -> Result<Vec<Record>, Failure> {
    let mut records = Vec::new();
    for sample in samples()? {
        let model = Model::compile(&sample.schema)?;
        let json = bytes(Id::Json.open(None, Mapping::Exact)?.as_ref(), &sample.message)?;
        // As in table 2, JSON has spaces after commas and colons.
        let json = json + separators(&sample.message);
        for (format, id, mapping) in FORMATS {
            let size = match id {
                Id::Json => json,
                _ => bytes(id.open(Some(&model), mapping)?.as_ref(), &sample.message)?,
            };
            let reduction = (1000.0 * (1.0 - size as f64 / json as f64)).round() / 10.0;
            for figure in [("bytes", size as f64, "bytes"), ("reduction", reduction, "%")] {
                records
                    .push(Record { payload: sample.name.clone(), ..new("host", format, "encode", figure) });
            }
        }
    }
    Ok(records)
}

/// The messages, and the paper's once more without its objects, so that the cost of nesting can be told from that of the fields.
fn samples() -> Result<Vec<Sample>, Failure> {
    let json = Id::Json.open(None, Mapping::Exact)?;
    let mut samples = Vec::new();
    for (name, message, schema) in MESSAGES {
        let message = json.decode(message.as_bytes())?;
        samples.push(Sample { name: name.into(), message, schema: schema.into() });
    }
    let mut schema = Vec::new();
    json.encode(&without_objects(json.decode(samples[0].schema.as_bytes())?), &mut schema)?;
    let flat = Sample {
        name: format!("{}-flat", samples[0].name),
        message: Value::Map(leaves(&samples[0].message, fields)),
        schema: String::from_utf8(schema)?,
    };
    samples.insert(1, flat);
    Ok(samples)
}

/// The fields of an object.
type Fields = fn(&Value) -> Option<&Vec<(String, Value)>>;

/// The fields of a message, if it is an object.
fn fields(message: &Value) -> Option<&Vec<(String, Value)>> {
    match message {
        Value::Map(fields) => Some(fields),
        _ => None,
    }
}

/// The fields that a schema describes, if it is one of objects.
fn properties(schema: &Value) -> Option<&Vec<(String, Value)>> {
    fields(schema.get("properties")?)
}

/// The fields of an object, with those of the objects in it in their places.
fn leaves(object: &Value, fields: Fields) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (name, value) in fields(object).into_iter().flatten() {
        match fields(value) {
            Some(_) => found.extend(leaves(value, fields)),
            None => found.push((name.clone(), value.clone())),
        }
    }
    found
}

/// A schema with the fields of all objects in one object. All of them are required.
fn without_objects(mut schema: Value) -> Value {
    let leaves = leaves(&schema, properties);
    let names = leaves.iter().map(|(name, _)| Value::Text(name.clone())).collect();
    if let Value::Map(keywords) = &mut schema {
        keywords.retain(|(keyword, _)| !["properties", "required"].contains(&keyword.as_str()));
        keywords.push(("properties".into(), Value::Map(leaves)));
        keywords.push(("required".into(), Value::Array(names)));
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(records: &[Record], payload: &str, format: &str) -> f64 {
        let found = records.iter().find(|record| {
            [&*record.payload, &*record.format, &*record.metric] == [payload, format, "bytes"]
        });
        found.expect("a size").value
    }

    #[test]
    fn the_message_without_objects_has_the_same_values_under_their_own_names() {
        let samples = samples().expect("samples");
        assert_eq!(samples[1].name, "container-nested-flat");
        let Value::Map(fields) = &samples[1].message else { panic!("an object") };
        let names: Vec<_> = fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names[..5], ["containerID", "timestamp", "latitude", "longitude", "altitude"]);
        assert_eq!((names.len(), names[16]), (17, "doorStatus"));
        let model = Model::compile(&samples[1].schema).expect("a schema");
        assert!(model.validate(&samples[1].message).is_ok());
        let Value::Map(fields) = &samples[0].message else { panic!("an object") };
        assert!(model.validate(&Value::Map(fields.clone())).is_err());
    }

    /// What the report says: formats that name fields also name objects, Protobuf has a tag and a length for each of the five, packed nothing.
    /// Without objects, Protobuf needs a longer tag for the sixteenth field; it leaves out the last one, which has its default.
    #[test]
    fn objects_cost_names_a_tag_and_a_length_or_nothing() {
        let records = sizes().expect("sizes");
        let cost = |format| {
            size(&records, "container-nested", format) - size(&records, "container-nested-flat", format)
        };
        assert_eq!(size(&records, "container-nested", "json"), 415.0);
        assert!(cost("json") > cost("cbor") && cost("cbor") > 40.0, "{} {}", cost("json"), cost("cbor"));
        assert_eq!(cost("protobuf"), 9.0);
        assert_eq!(cost("packed"), 0.0);
    }
}
